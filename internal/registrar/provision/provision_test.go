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

var everything = provision.Rules{Contacts: true, HostObjects: true, CodeLength: 16}

func refused(code registrar.Code) error {
	return &registrar.Error{Kind: registrar.KindConflict, Code: code}
}

func unreachable() error { return registrar.Fault(registrar.FaultTimeout, "registry.example", nil) }

func TestTheIntentIsStoredBeforeEachCall(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rules   provision.Rules
		pending bool
		want    string
	}{
		"with contacts and hosts": {rules: everything, want: "stored contacts, contact asked=false, stored hosts, hosts, stored requested, register asked=false, stored active"},
		"without contacts":        {rules: provision.Rules{HostObjects: true}, want: "stored hosts, hosts, stored requested, register asked=false, stored active"},
		"without host objects":    {rules: provision.Rules{Contacts: true}, want: "stored contacts, contact asked=false, stored requested, register asked=false, stored active"},
		"without either":          {want: "stored requested, register asked=false, stored active"},
		"decided later":           {pending: true, want: "stored requested, register asked=false, stored pending, outcome, stored active"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				expires := time.Now().AddDate(1, 0, 0)
				h := newHouse(t, &office{rules: test.rules, pending: test.pending, expires: expires, decided: func() (provision.Outcome, error) {
					return provision.Outcome{Expires: expires}, nil
				}})
				h.order(t, "neu", ".org")
				runFor(t, time.Minute, h.Service)
				if got := strings.Join(h.log.all(), ", "); got != test.want {
					t.Errorf("got  %s\nwant %s", got, test.want)
				}
				line := h.shelf.only(t)
				domain := h.shelf.domains[line.Domain]
				if domain.Status != "active" || !domain.PaidUntil.Equal(expires) || line.RefundDue || !line.DueAt.IsZero() || line.Node != "" {
					t.Errorf("the line is %+v, the domain %+v", line, domain)
				}
				if hasContact := line.Handle != ""; hasContact != test.rules.Contacts {
					t.Errorf("the handle is %q", line.Handle)
				}
				if last := h.shelf.deeds[len(h.shelf.deeds)-1]; last.Action != provision.ActionRegistered || last.Customer != "cus_ada" {
					t.Errorf("the audit tells %+v", last)
				}
			})
		})
	}
}

func TestALineThatIsFoundInAStateIsAskedAboutBeforeItsCallIsRepeated(t *testing.T) {
	t.Parallel()
	for state, want := range map[provision.State]string{
		provision.StateContacts:  "contact asked=true",
		provision.StateHosts:     "hosts",
		provision.StateRequested: "register asked=true",
		provision.StatePending:   "outcome",
		provision.StateUndoing:   "drop contact",
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t, &office{rules: everything, decided: func() (provision.Outcome, error) { return provision.Outcome{}, nil }})
			line := h.order(t, "neu", ".org")
			line.State, line.Handle, line.Domain = state, "DK1", "dom_1"
			line.DueAt = time.Now() // the lease of the life before is released
			h.shelf.lines[line.ID] = line
			h.shelf.domains["dom_1"] = provision.Domain{ID: "dom_1", Name: "neu.org", Status: "pending"}
			runFor(t, 10*time.Second, h.Service)
			if got := h.log.all(); len(got) == 0 || got[0] != want {
				t.Errorf("%s: began with %q, want %q", state, got, want)
			}
			if line := h.shelf.only(t); !line.State.Final() {
				t.Errorf("%s became %s", state, line.State)
			}
		})
	}
}

func TestTheLeaseOfAnotherNodeIsRespectedUntilItEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, &office{})
		line := h.order(t, "neu", ".org")
		line.State, line.Domain, line.Node, line.DueAt = provision.StateRequested, "dom_1", "elsewhere", time.Now().Add(time.Minute)
		h.shelf.lines[line.ID] = line
		h.shelf.domains["dom_1"] = provision.Domain{ID: "dom_1", Name: "neu.org", Status: "pending"}
		runFor(t, 59*time.Second, h.Service)
		if calls := h.log.all(); len(calls) > 0 {
			t.Errorf("did %q under another node's lease", calls)
		}
		runFor(t, 5*time.Second, h.Service)
		if line := h.shelf.only(t); line.State != provision.StateActive {
			t.Errorf("after the lease it is %s", line.State)
		}
	})
}

func TestOfManyNodesOneCarriesALineOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, &office{rules: everything, takes: time.Second})
		h.order(t, "neu", ".org")
		nodes := []*provision.Service{h.Service}
		for i := range 4 {
			nodes = append(nodes, h.service(t, func(cfg *provision.Config) { cfg.Node = fmt.Sprint("node", i) }))
		}
		runFor(t, time.Minute, nodes...)
		registered := 0
		for _, entry := range h.log.all() {
			if strings.HasPrefix(entry, "register") {
				registered++
			}
		}
		if registered != 1 || len(h.ended) != 1 {
			t.Errorf("%d registrations, ended %v: %q", registered, h.ended, h.log.all())
		}
	})
}

func TestARefusedLineLeavesNothingBehindAndIsRefunded(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"contact", "hosts", "request"} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t, &office{rules: everything, refuse: map[string][]error{
				call: {refused("taken")}, "drop": {unreachable(), refused("in_use")}, // even then it is not forgotten
			}})
			h.order(t, "neu", ".org")
			runFor(t, time.Minute, h.Service)
			line := h.shelf.only(t)
			if line.State != provision.StateFailed || line.Failure != "taken" || !line.RefundDue || !line.DueAt.IsZero() {
				t.Errorf("%s: the line is %+v", call, line)
			}
			dropped := 0
			for _, entry := range h.log.all() {
				if entry == "drop contact" {
					dropped++
				}
			}
			if dropped != 3 || len(h.shelf.domains) != 0 {
				t.Errorf("%s: %d deletions, domains %v", call, dropped, h.shelf.domains)
			}
		})
	}
}

func TestADeniedRequestIsRefunded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, &office{pending: true, decided: func() (provision.Outcome, error) {
			return provision.Outcome{}, refused(provision.Denied)
		}})
		h.order(t, "neu", ".org")
		runFor(t, time.Minute, h.Service)
		if line := h.shelf.only(t); line.State != provision.StateFailed || line.Failure != provision.Denied || !line.RefundDue {
			t.Errorf("the line is %+v", line)
		}
	})
}

func TestALineWaitsForARegistryThatDecidesNothingAndIsNeverGivenUp(t *testing.T) {
	t.Parallel()
	billing := &registrar.Error{Kind: registrar.KindUpstream, Code: provision.Billing}
	for name, trouble := range map[string]error{"unreachable": unreachable(), "no money": billing, "our own fault": &registrar.Error{Kind: registrar.KindInternal}} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t, &office{refuse: map[string][]error{"request": slices.Repeat([]error{trouble}, 30)}})
			h.order(t, "neu", ".org")
			runFor(t, time.Hour, h.Service)
			if line := h.shelf.only(t); line.State != provision.StateRequested || line.RefundDue {
				t.Errorf("%s: after an hour the line is %+v", name, line)
			}
			// 1 s, 2 s, 4 s … 10 min: about 14 in an hour, and not thousands.
			if n := len(h.waited); n < 10 || n > 20 || h.waited[0] != registrar.CodeOf(trouble) {
				t.Errorf("%s: waited %d times: %v", name, n, h.waited)
			}
			runFor(t, 4*time.Hour, h.Service)
			if line := h.shelf.only(t); line.State != provision.StateActive {
				t.Errorf("%s: in the end the line is %s", name, line.State)
			}
		})
	}
}

func TestANameThatSomebodyHoldsMeanwhileIsRefundedWithoutACall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, &office{rules: everything})
		h.order(t, "neu", ".org")
		h.shelf.domains["dom_other"] = provision.Domain{ID: "dom_other", Name: "neu.org", Status: "active"}
		runFor(t, time.Minute, h.Service)
		line := h.shelf.only(t)
		if line.State != provision.StateFailed || line.Failure != provision.NameHeld || !line.RefundDue {
			t.Errorf("the line is %+v", line)
		}
		if calls := h.log.all(); !slices.Equal(calls, []string{"stored failed"}) || len(h.shelf.domains) != 1 {
			t.Errorf("did %q, domains %v", calls, h.shelf.domains)
		}
	})
}

func TestWhatIsUnderWayIsStoredWhenTheServiceStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, &office{rules: everything, takes: 2 * time.Second})
		h.order(t, "neu", ".org")
		runFor(t, time.Second, h.Service) // in the middle of the contact
		line := h.shelf.only(t)
		if line.State != provision.StateHosts || line.Node != "" || line.DueAt.After(time.Now()) {
			t.Errorf("the line is left as %+v", line)
		}
	})
}

func TestOrdersAreRefusedBeforeAnythingIsWritten(t *testing.T) {
	t.Parallel()
	good := provision.Order{Customer: "cus_ada", Name: registrar.NewName("neu", ".org"), Kind: provision.Register, Payment: "manual:1"}
	for name, test := range map[string]struct {
		change func(*provision.Order, *house)
		actor  registrar.Actor
		want   registrar.Code
	}{
		"a customer":            {actor: registrar.Actor{Kind: registrar.ActorPerson, Customer: "cus_ada"}, want: provision.OperatorsOnly},
		"no payment":            {change: func(o *provision.Order, _ *house) { o.Payment = "" }, want: provision.BadPayment},
		"an empty reference":    {change: func(o *provision.Order, _ *house) { o.Payment = "manual: " }, want: provision.BadPayment},
		"no account":            {change: func(o *provision.Order, _ *house) { o.Name = registrar.NewName("neu", ".xyz") }, want: provision.NoAccount},
		"no registrant":         {change: func(_ *provision.Order, h *house) { h.shelf.noHolder = true }, want: provision.NoRegistrant},
		"not to be had":         {change: func(_ *provision.Order, h *house) { h.office.offer = refused(provision.NameTaken) }, want: provision.NameTaken},
		"a transfer, no secret": {change: func(o *provision.Order, _ *house) { o.Kind = provision.Transfer }, want: provision.CodeMissing},
	} {
		h, order, actor := newHouse(t, &office{}), good, test.actor
		if test.change != nil {
			test.change(&order, h)
		}
		if actor.Kind == "" {
			actor = operator
		}
		if _, err := h.Order(t.Context(), actor, order); registrar.CodeOf(err) != test.want || len(h.shelf.lines) != 0 {
			t.Errorf("%s: %v, %d lines", name, err, len(h.shelf.lines))
		}
	}
}

func TestTheSamePaymentForTheSameNameIsTheSameLine(t *testing.T) {
	t.Parallel()
	h := newHouse(t, &office{})
	first := h.order(t, "neu", ".org")
	h.office.offer = refused(provision.NameTaken) // by the first
	if second := h.order(t, "neu", ".org"); second.ID != first.ID || len(h.shelf.lines) != 1 {
		t.Errorf("the line %s became %s", first.ID, second.ID)
	}
}

func TestAPaymentStandsForNobodyElsesOrder(t *testing.T) {
	t.Parallel()
	good := provision.Order{Customer: "cus_ada", Name: registrar.NewName("neu", ".org"), Kind: provision.Register, Payment: "manual:1"}
	for name, test := range map[string]struct {
		change func(*provision.Order)
		want   registrar.Code
	}{
		"another customer": {func(o *provision.Order) { o.Customer = "cus_bob" }, provision.PaymentUsed},
		"another term":     {func(o *provision.Order) { o.Years = 2 }, provision.PaymentUsed},
		"spaces around it": {func(o *provision.Order) { o.Payment = "manual: 1 " }, ""},
	} {
		h, order := newHouse(t, &office{}), good
		first := h.order(t, "neu", ".org")
		test.change(&order)
		line, err := h.Order(t.Context(), operator, order)
		if registrar.CodeOf(err) != test.want || err == nil && line.ID != first.ID || len(h.shelf.lines) != 1 {
			t.Errorf("%s: %v, line %s, %d lines", name, err, line.ID, len(h.shelf.lines))
		}
	}
}

func TestAPendingRequestIsRecognisedByWhenItWasAskedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, &office{
			pending: true, refuse: map[string][]error{"request": slices.Repeat([]error{unreachable()}, 12)},
			decided: func() (provision.Outcome, error) { return provision.Outcome{Pending: true}, nil },
		})
		h.order(t, "neu", ".org")
		began := time.Now()
		runFor(t, 2*time.Hour, h.Service)
		line := h.shelf.only(t)
		// The first try may have reached the registry, long before an answer came.
		if line.State != provision.StatePending || line.AskedAt.After(began.Add(time.Minute)) {
			t.Errorf("%s, asked %s after it began", line.State, line.AskedAt.Sub(began))
		}
	})
}

func TestTheCodeOfATransferIsStoredSealed(t *testing.T) {
	t.Parallel()
	h := newHouse(t, &office{})
	line, err := h.Order(t.Context(), operator, provision.Order{
		Customer: "cus_ada", Name: registrar.NewName("neu", ".org"), Kind: provision.Transfer, Payment: "manual:1", Code: "s3cret-of-the-holder",
	})
	if err != nil || line.SealedCode == "" || strings.Contains(line.SealedCode, "s3cret") {
		t.Errorf("%v, stored %q", err, line.SealedCode)
	}
}

func TestALineThatIsClaimedWhileItIsCarriedOutGetsItsNewHolder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t, &office{rules: provision.Rules{Contacts: true}, expires: time.Now().AddDate(1, 0, 0)})
		line := h.order(t, "neu", ".org")
		line.Registrant = provision.Holder{} // as an earlier version has written it
		h.shelf.lines[line.ID] = line
		h.shelf.claimed = func(customer string) bool {
			h.shelf.mu.Lock()
			defer h.shelf.mu.Unlock()
			for id, line := range h.shelf.lines {
				line.Customer = "cus_new"
				h.shelf.lines[id] = line
			}
			return customer == "cus_new"
		}
		runFor(t, time.Minute, h.Service)
		if line := h.shelf.only(t); line.State != provision.StateActive || line.RefundDue {
			t.Errorf("the line is %+v", line)
		}
		if last := h.shelf.deeds[len(h.shelf.deeds)-1]; last.Customer != "cus_new" {
			t.Errorf("the audit tells %+v", last)
		}
	})
}
