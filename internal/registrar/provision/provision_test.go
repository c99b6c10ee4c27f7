package provision_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

var allRules = provision.Rules{Contacts: true, HostObjects: true, CodeLength: 16}

func refused(code registrar.Code) error {
	return &registrar.Error{Kind: registrar.KindConflict, Code: code}
}

func unreachable() error { return registrar.Fault(registrar.FaultTimeout, "registry.example", nil) }

func TestRun_StoresIntentBeforeEachCall(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rules   provision.Rules
		pending bool
		want    string
	}{
		"with contacts and hosts": {rules: allRules, want: "stored contacts, contact maybe_sent=false, stored hosts, hosts, stored requested, register maybe_sent=false, stored active"},
		"without contacts":        {rules: provision.Rules{HostObjects: true}, want: "stored hosts, hosts, stored requested, register maybe_sent=false, stored active"},
		"without host objects":    {rules: provision.Rules{Contacts: true}, want: "stored contacts, contact maybe_sent=false, stored requested, register maybe_sent=false, stored active"},
		"without either":          {want: "stored requested, register maybe_sent=false, stored active"},
		"decided later":           {pending: true, want: "stored requested, register maybe_sent=false, stored pending, outcome, stored active"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				expires := time.Now().AddDate(1, 0, 0)
				env := newEnv(t, &fakeRegistry{rules: test.rules, pending: test.pending, expires: expires, outcome: func() (provision.Outcome, error) {
					return provision.Outcome{Expires: expires}, nil
				}})
				env.createItem(t, "neu", ".org")
				runFor(t, time.Minute, env.Service)
				if got := strings.Join(env.log.all(), ", "); got != test.want {
					t.Errorf("got  %s\nwant %s", got, test.want)
				}
				item := env.store.onlyItem(t)
				domain := env.store.domains[item.Domain]
				if domain.Status != "active" || !domain.PaidUntil.Equal(expires) || item.RefundDue || !item.DueAt.IsZero() || item.Node != "" {
					t.Errorf("item %+v, domain %+v", item, domain)
				}
				if hasContact := item.Handle != ""; hasContact != test.rules.Contacts {
					t.Errorf("handle = %q", item.Handle)
				}
				if last := env.store.events[len(env.store.events)-1]; last.Action != provision.ActionRegistered || last.Customer != "cus_ada" {
					t.Errorf("audit event = %+v", last)
				}
			})
		})
	}
}

func TestRun_ResumedItemChecksBeforeRepeatingCall(t *testing.T) {
	t.Parallel()
	for state, want := range map[provision.State]string{
		provision.StateContacts:  "contact maybe_sent=true",
		provision.StateHosts:     "hosts",
		provision.StateRequested: "register maybe_sent=true",
		provision.StatePending:   "outcome",
		provision.StateUndoing:   "delete contact",
	} {
		synctest.Test(t, func(t *testing.T) {
			env := newEnv(t, &fakeRegistry{rules: allRules, outcome: func() (provision.Outcome, error) { return provision.Outcome{}, nil }})
			item := env.createItem(t, "neu", ".org")
			item.State, item.Handle, item.Domain = state, "DK1", "dom_1"
			item.DueAt = time.Now() // the lease of the previous run has ended
			env.store.items[item.ID] = item
			env.store.domains["dom_1"] = provision.Domain{ID: "dom_1", Name: "neu.org", Status: "pending"}
			runFor(t, 10*time.Second, env.Service)
			if got := env.log.all(); len(got) == 0 || got[0] != want {
				t.Errorf("%s: first call in %q, want %q", state, got, want)
			}
			if item := env.store.onlyItem(t); !item.State.Final() {
				t.Errorf("%s became %s", state, item.State)
			}
		})
	}
}

func TestRun_RespectsLeaseOfAnotherNodeUntilExpiry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t, &fakeRegistry{})
		item := env.createItem(t, "neu", ".org")
		item.State, item.Domain, item.Node, item.DueAt = provision.StateRequested, "dom_1", "elsewhere", time.Now().Add(time.Minute)
		env.store.items[item.ID] = item
		env.store.domains["dom_1"] = provision.Domain{ID: "dom_1", Name: "neu.org", Status: "pending"}
		runFor(t, 59*time.Second, env.Service)
		if calls := env.log.all(); len(calls) > 0 {
			t.Errorf("did %q under another node's lease", calls)
		}
		runFor(t, 5*time.Second, env.Service)
		if item := env.store.onlyItem(t); item.State != provision.StateActive {
			t.Errorf("after the lease it is %s", item.State)
		}
	})
}

// A failover can lose the confirmation of a commit. The item must not wait for its lease.
func TestRun_LostCommitIsResumedWithinSeconds(t *testing.T) {
	t.Parallel()
	for _, state := range []provision.State{provision.StateContacts, provision.StateHosts, provision.StateRequested, provision.StateActive} {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				env := newEnv(t, &fakeRegistry{rules: allRules})
				env.createItem(t, "neu", ".org")
				env.store.lostCommit = state
				runFor(t, 20*time.Second, env.Service)
				if item := env.store.onlyItem(t); item.State != provision.StateActive || env.store.lostCommit != "" {
					t.Errorf("after 20 s it is %s, due at %s", item.State, item.DueAt)
				}
			})
		})
	}
}

func TestRun_OneOfManyNodesProvisionsItem(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t, &fakeRegistry{rules: allRules, latency: time.Second})
		env.createItem(t, "neu", ".org")
		nodes := []*provision.Service{env.Service}
		for i := range 4 {
			nodes = append(nodes, env.newNode(t, func(cfg *provision.Config) { cfg.Node = fmt.Sprint("node", i) }))
		}
		runFor(t, time.Minute, nodes...)
		registered := 0
		for _, entry := range env.log.all() {
			if strings.HasPrefix(entry, "register") {
				registered++
			}
		}
		if registered != 1 || len(env.ended) != 1 {
			t.Errorf("%d registrations, ended %v: %q", registered, env.ended, env.log.all())
		}
	})
}

func TestRun_RefusedItemIsCleanedUpAndRefunded(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"contact", "hosts", "request"} {
		synctest.Test(t, func(t *testing.T) {
			env := newEnv(t, &fakeRegistry{rules: allRules, errors: map[string][]error{
				call: {refused("taken")}, "drop": {unreachable(), refused("in_use")}, // the deletion is retried
			}})
			env.createItem(t, "neu", ".org")
			runFor(t, time.Minute, env.Service)
			item := env.store.onlyItem(t)
			if item.State != provision.StateFailed || item.Failure != "taken" || !item.RefundDue || !item.DueAt.IsZero() {
				t.Errorf("%s: item = %+v", call, item)
			}
			dropped := 0
			for _, entry := range env.log.all() {
				if entry == "delete contact" {
					dropped++
				}
			}
			if dropped != 3 || len(env.store.domains) != 0 {
				t.Errorf("%s: %d deletions, domains %v", call, dropped, env.store.domains)
			}
		})
	}
}

func TestRun_DeniedRequestIsRefunded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t, &fakeRegistry{pending: true, outcome: func() (provision.Outcome, error) {
			return provision.Outcome{}, refused(registrar.RegistryDenied)
		}})
		env.createItem(t, "neu", ".org")
		runFor(t, time.Minute, env.Service)
		if item := env.store.onlyItem(t); item.State != provision.StateFailed || item.Failure != registrar.RegistryDenied || !item.RefundDue {
			t.Errorf("item = %+v", item)
		}
	})
}

func TestRun_UndecidedItemIsRetriedForever(t *testing.T) {
	t.Parallel()
	billing := &registrar.Error{Kind: registrar.KindUpstream, Code: provision.Billing}
	for name, trouble := range map[string]error{"unreachable": unreachable(), "no funds": billing, "internal fault": &registrar.Error{Kind: registrar.KindInternal}} {
		synctest.Test(t, func(t *testing.T) {
			env := newEnv(t, &fakeRegistry{errors: map[string][]error{"request": slices.Repeat([]error{trouble}, 30)}})
			env.createItem(t, "neu", ".org")
			runFor(t, time.Hour, env.Service)
			if item := env.store.onlyItem(t); item.State != provision.StateRequested || item.RefundDue {
				t.Errorf("%s: after an hour: item = %+v", name, item)
			}
			// 1 s, 2 s, 4 s … 10 min: about 14 in an hour, and not thousands.
			if n := len(env.retries); n < 10 || n > 20 || env.retries[0] != registrar.CodeOf(trouble) {
				t.Errorf("%s: %d retries: %v", name, n, env.retries)
			}
			runFor(t, 4*time.Hour, env.Service)
			if item := env.store.onlyItem(t); item.State != provision.StateActive {
				t.Errorf("%s: finally: item is %s", name, item.State)
			}
		})
	}
}

func TestRun_NameHeldMeanwhileIsRefundedWithoutCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t, &fakeRegistry{rules: allRules})
		env.createItem(t, "neu", ".org")
		env.store.domains["dom_other"] = provision.Domain{ID: "dom_other", Name: "neu.org", Status: "active"}
		runFor(t, time.Minute, env.Service)
		item := env.store.onlyItem(t)
		if item.State != provision.StateFailed || item.Failure != registrar.NameHeld || !item.RefundDue {
			t.Errorf("item = %+v", item)
		}
		if calls := env.log.all(); !slices.Equal(calls, []string{"stored failed"}) || len(env.store.domains) != 1 {
			t.Errorf("did %q, domains %v", calls, env.store.domains)
		}
	})
}

func TestRun_StoresProgressOnShutdown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t, &fakeRegistry{rules: allRules, latency: 2 * time.Second})
		env.createItem(t, "neu", ".org")
		runFor(t, time.Second, env.Service) // while the contact is created
		item := env.store.onlyItem(t)
		if item.State != provision.StateHosts || item.Node != "" || item.DueAt.After(time.Now()) {
			t.Errorf("item = %+v", item)
		}
	})
}

func TestCreateItem_RejectedBeforeAnythingIsStored(t *testing.T) {
	t.Parallel()
	good := provision.PaidItem{Customer: "cus_ada", Name: registrar.NewName("neu", ".org"), Kind: provision.Register, Payment: "manual:1"}
	for name, test := range map[string]struct {
		change func(*provision.PaidItem, *testEnv)
		actor  registrar.Actor
		want   registrar.Code
	}{
		"customer":              {actor: registrar.Actor{Kind: registrar.ActorPerson, Customer: "cus_ada"}, want: registrar.OperatorsOnly},
		"no payment":            {change: func(o *provision.PaidItem, _ *testEnv) { o.Payment = "" }, want: provision.BadPayment},
		"empty reference":       {change: func(o *provision.PaidItem, _ *testEnv) { o.Payment = "manual: " }, want: provision.BadPayment},
		"no account":            {change: func(o *provision.PaidItem, _ *testEnv) { o.Name = registrar.NewName("neu", ".xyz") }, want: registrar.NoRegistryAccount},
		"no registrant":         {change: func(_ *provision.PaidItem, env *testEnv) { env.store.noRegistrant = true }, want: provision.NoRegistrant},
		"taken":                 {change: func(_ *provision.PaidItem, env *testEnv) { env.registry.availability = refused(provision.NameTaken) }, want: provision.NameTaken},
		"transfer without code": {change: func(o *provision.PaidItem, _ *testEnv) { o.Kind = provision.Transfer }, want: provision.CodeMissing},
	} {
		env, paid, actor := newEnv(t, &fakeRegistry{}), good, test.actor
		if test.change != nil {
			test.change(&paid, env)
		}
		if actor.Kind == "" {
			actor = operator
		}
		if _, err := env.CreateItem(t.Context(), actor, paid); registrar.CodeOf(err) != test.want || len(env.store.items) != 0 {
			t.Errorf("%s: %v, %d items", name, err, len(env.store.items))
		}
	}
}

func TestCreateItem_SamePaymentReturnsSameItem(t *testing.T) {
	t.Parallel()
	env := newEnv(t, &fakeRegistry{})
	first := env.createItem(t, "neu", ".org")
	env.registry.availability = refused(provision.NameTaken) // by the first
	if second := env.createItem(t, "neu", ".org"); second.ID != first.ID || len(env.store.items) != 1 {
		t.Errorf("item %s became %s", first.ID, second.ID)
	}
}

func TestCreateItem_PaymentCannotBeReused(t *testing.T) {
	t.Parallel()
	good := provision.PaidItem{Customer: "cus_ada", Name: registrar.NewName("neu", ".org"), Kind: provision.Register, Payment: "manual:1"}
	for name, test := range map[string]struct {
		change func(*provision.PaidItem)
		want   registrar.Code
	}{
		"another customer": {func(o *provision.PaidItem) { o.Customer = "cus_bob" }, provision.PaymentUsed},
		"another term":     {func(o *provision.PaidItem) { o.Years = 2 }, provision.PaymentUsed},
		"spaces around it": {func(o *provision.PaidItem) { o.Payment = "manual: 1 " }, ""},
	} {
		env, paid := newEnv(t, &fakeRegistry{}), good
		first := env.createItem(t, "neu", ".org")
		test.change(&paid)
		item, err := env.CreateItem(t.Context(), operator, paid)
		if registrar.CodeOf(err) != test.want || err == nil && item.ID != first.ID || len(env.store.items) != 1 {
			t.Errorf("%s: %v, item %s, %d items", name, err, item.ID, len(env.store.items))
		}
	}
}

func TestRun_PendingRequestKeepsTimeOfFirstAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t, &fakeRegistry{
			pending: true, errors: map[string][]error{"request": slices.Repeat([]error{unreachable()}, 12)},
			outcome: func() (provision.Outcome, error) { return provision.Outcome{Pending: true}, nil },
		})
		env.createItem(t, "neu", ".org")
		began := time.Now()
		runFor(t, 2*time.Hour, env.Service)
		item := env.store.onlyItem(t)
		// The first attempt may have reached the registry long before a response arrived.
		if item.State != provision.StatePending || item.RequestedAt.After(began.Add(time.Minute)) {
			t.Errorf("%s, requested %s after the start", item.State, item.RequestedAt.Sub(began))
		}
	})
}

func TestCreateItem_SealsAuthCode(t *testing.T) {
	t.Parallel()
	env := newEnv(t, &fakeRegistry{})
	item, err := env.CreateItem(t.Context(), operator, provision.PaidItem{
		Customer: "cus_ada", Name: registrar.NewName("neu", ".org"), Kind: provision.Transfer, Payment: "manual:1", Code: "s3cret-of-the-holder",
	})
	if err != nil || item.SealedCode == "" || strings.Contains(item.SealedCode, "s3cret") {
		t.Errorf("%v, stored %q", err, item.SealedCode)
	}
}

func TestRun_TransferIsAuditedAsReceived(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t, &fakeRegistry{expires: time.Now().AddDate(1, 0, 0)})
		if _, err := env.CreateItem(t.Context(), operator, provision.PaidItem{
			Customer: "cus_ada", Name: registrar.NewName("neu", ".org"), Kind: provision.Transfer, Payment: "manual:1", Code: "s3cret-of-the-holder",
		}); err != nil {
			t.Fatal(err)
		}
		runFor(t, time.Minute, env.Service)
		if last := env.store.events[len(env.store.events)-1]; last.Action != provision.ActionReceived {
			t.Errorf("audit event = %+v", last)
		}
	})
}

func TestRun_ItemClaimedMeanwhileGetsNewRegistrant(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t, &fakeRegistry{rules: provision.Rules{Contacts: true}, expires: time.Now().AddDate(1, 0, 0)})
		item := env.createItem(t, "neu", ".org")
		item.Registrant = registrar.Registrant{} // as written by earlier versions
		env.store.items[item.ID] = item
		env.store.claimed = func(customer string) bool {
			env.store.mu.Lock()
			defer env.store.mu.Unlock()
			for id, item := range env.store.items {
				item.Customer = "cus_new"
				env.store.items[id] = item
			}
			return customer == "cus_new"
		}
		runFor(t, time.Minute, env.Service)
		if item := env.store.onlyItem(t); item.State != provision.StateActive || item.RefundDue {
			t.Errorf("item = %+v", item)
		}
		if last := env.store.events[len(env.store.events)-1]; last.Customer != "cus_new" {
			t.Errorf("audit event = %+v", last)
		}
	})
}

// Customers are shown these times, and the registry's are compared with them.
func TestItem_TimesAreBusinessTimes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		business := time.Now().AddDate(1, 0, 0)
		env := newEnv(t, &fakeRegistry{}, func(cfg *provision.Config) { cfg.Now = func() time.Time { return business } })
		item := env.createItem(t, "spaeter", ".de")
		if !item.CreatedAt.Equal(business) || !item.RequestedAt.Equal(business) || !item.DueAt.Equal(time.Now()) {
			t.Errorf("stored %+v", item)
		}
		runFor(t, time.Minute, env.Service)
		if ended := env.store.items[item.ID]; ended.State != provision.StateActive || !ended.UpdatedAt.Equal(business) || !ended.RequestedAt.Equal(business) {
			t.Errorf("ended as %+v", ended)
		}
	})
}
