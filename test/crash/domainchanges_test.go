package crash_test

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
	"github.com/dotkontor/dotkontor/test/crash"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// unreachableRegistry never responds, so that a change stays open for the product.
type unreachableRegistry struct{}

func (unreachableRegistry) Capabilities(string) domainchange.Capabilities {
	return domainchange.Capabilities{MinNameservers: 2, MaxNameservers: 13, Lock: true, Code: true, CodeLength: 16, Contacts: true}
}

func (unreachableRegistry) FetchRecord(context.Context, string) (domainchange.Record, error) {
	return domainchange.Record{}, registrar.Fault(registrar.FaultRefused, "epp.example", nil)
}

func (unreachableRegistry) ApplyChange(context.Context, domainchange.Task) (domainchange.Result, error) {
	return domainchange.Result{}, registrar.Fault(registrar.FaultRefused, "epp.example", nil)
}

// finishChange runs the product until the newest change is final and returns it.
func finishChange(t *testing.T, env *crash.Env, dom string) domainchange.Change {
	t.Helper()
	server, err := env.Serve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	}()
	var last domainchange.Change
	testkit.Eventually(t, "final change", func() bool {
		changes, err := env.DB.ListDomainChanges(t.Context(), dom, 1)
		if err != nil {
			t.Fatal(err)
		}
		last = changes[0]
		return last.State.Final()
	})
	return last
}

func registryDomain(t *testing.T, env *crash.Env, name string) (dom *ledger.Domain, held ledger.Sponsored) {
	t.Helper()
	held, err := env.Control.Holdings(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, dom := range held.Domains {
		if dom.Name == name {
			return dom, held
		}
	}
	t.Fatalf("the registry does not have %s", name)
	return nil, held
}

func hostsOf(dom *ledger.Domain) (hosts []string) {
	for _, server := range dom.Nameservers {
		hosts = append(hosts, server.Host)
	}
	return hosts
}

func TestKill_DomainChangeIsAppliedAndAuditedOnce(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	const name = "ruhig-wandel.org"
	if _, err := env.AddPaidItem(t.Context(), "ruhig-wandel", ".org"); err != nil {
		t.Fatal(err)
	}
	server, err := env.Serve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := env.WaitProvisioned(t.Context(), waitTimeout); err != nil {
		t.Fatal(err)
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	dom, _, err := env.DB.DomainByName(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	finishChange(t, env, dom.ID) // the lock of a new domain
	asking := newChangeRequester(t, env)
	audited := 1
	for _, failpoint := range []string{"change_written", "change_carried", "change_ended"} {
		for _, request := range []domainchange.ChangeRequest{
			{Kind: domainchange.Nameservers, Nameservers: "ns1." + failpoint[7:] + ".example\nns2." + failpoint[7:] + ".example"},
			{Kind: domainchange.UpdateRegistrant},
		} {
			asking(t, dom, request)
			if err := runUntilKilledAt(t.Context(), env, failpoint); err != nil {
				t.Fatalf("%s at %s: %v", request.Kind, failpoint, err)
			}
			change := finishChange(t, env, dom.ID)
			if change.State != domainchange.StatusDone {
				t.Fatalf("%s at %s: %s %s", request.Kind, failpoint, change.State, change.Failure)
			}
			there, held := registryDomain(t, env, name)
			if request.Kind == domainchange.UpdateRegistrant && (there.Registrant != change.Handle || len(held.Unused) != 0) {
				t.Errorf("at %s: the registry has %s, unused %v", failpoint, there.Registrant, held.Unused)
			}
			if request.Kind == domainchange.Nameservers {
				hosts := hostsOf(there)
				if !slices.Contains(hosts, change.Desired.Nameservers[0].Name) || len(hosts) != 2 {
					t.Errorf("at %s: the registry has %v", failpoint, hosts)
				}
			}
			audited++
			events, err := env.DB.ListObjectAuditEvents(t.Context(), dom.Customer, name, 100)
			if err != nil {
				t.Fatal(err)
			}
			events = slices.DeleteFunc(events, func(event registrar.AuditEvent) bool { return !slices.Contains(domainchange.Actions(), event.Action) })
			if len(events) != audited {
				t.Errorf("%s at %s: %d audit events, want %d", request.Kind, failpoint, len(events), audited)
			}
			if dom, _, err = env.DB.DomainByName(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := env.Reconcile(t.Context()); err != nil {
		t.Error(err)
	}
}

// Whenever the process is killed, a new domain is registered, its order is done, and it is
// locked by one change with one audit event and no mail.
func TestKill_NewDomainIsLockedOnce(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	for i, failpoint := range []string{"lock_stored", "change_written", "change_carried", "change_ended"} {
		label := fmt.Sprintf("ruhig-schloss-%d", i)
		if _, err := env.AddPaidItem(t.Context(), label, ".org"); err != nil {
			t.Fatal(err)
		}
		if err := runUntilKilledAt(t.Context(), env, failpoint); err != nil {
			t.Fatalf("%s: %v", failpoint, err)
		}
		name := label + ".org"
		dom, _, err := env.DB.DomainByName(t.Context(), name)
		if err != nil || dom.Status != registrar.DomainActive {
			t.Fatalf("%s: the domain is %q, %v", failpoint, dom.Status, err)
		}
		change := finishChange(t, env, dom.ID)
		if change.Kind != domainchange.Lock || change.State != domainchange.StatusDone || change.Actor.Kind != registrar.ActorSystem {
			t.Errorf("%s: %s %s by %s", failpoint, change.Kind, change.State, change.Actor.Kind)
		}
		if there, _ := registryDomain(t, env, name); !slices.Contains(there.Statuses(), "clientTransferProhibited") {
			t.Errorf("%s: the registry has %v", failpoint, there.Statuses())
		}
		changes, err := env.DB.ListDomainChanges(t.Context(), dom.ID, 10)
		if err != nil || len(changes) != 1 {
			t.Errorf("%s: %d changes, %v", failpoint, len(changes), err)
		}
		events, err := env.DB.ListObjectAuditEvents(t.Context(), dom.Customer, name, 100)
		if err != nil {
			t.Fatal(err)
		}
		locked := slices.DeleteFunc(events, func(event registrar.AuditEvent) bool { return event.Action != "domain_locked" })
		if len(locked) != 1 {
			t.Errorf("%s: %d audit events of the lock", failpoint, len(locked))
		}
	}
	var mails int
	if err := env.DB.SQL().Reader().QueryRowContext(t.Context(), `SELECT count(*) FROM mails WHERE kind = 'domain_changed'`).Scan(&mails); err != nil || mails != 0 {
		t.Errorf("%d mails about locks, %v", mails, err)
	}
	if err := env.Reconcile(t.Context()); err != nil {
		t.Error(err)
	}
}

// Whenever the process is killed, the nameservers of a signed domain are not changed before the
// TTL of its DS record has passed since the removal, and they are changed once.
func TestKill_SignedDomainWaitsForTTLBeforeNameservers(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	const name = "ruhig-signiert.org"
	if _, err := env.AddPaidItem(t.Context(), "ruhig-signiert", ".org"); err != nil {
		t.Fatal(err)
	}
	server, err := env.Serve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := env.WaitProvisioned(t.Context(), waitTimeout); err != nil {
		t.Fatal(err)
	}
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	dom, _, err := env.DB.DomainByName(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	finishChange(t, env, dom.ID) // the lock of a new domain
	asking := newChangeRequester(t, env)
	newest := func() domainchange.Change {
		changes, err := env.DB.ListDomainChanges(t.Context(), dom.ID, 1)
		if err != nil {
			t.Fatal(err)
		}
		return changes[0]
	}
	for i, failpoint := range []string{"ds_found", "ds_removed", "ds_waiting", "ns_begun"} {
		asking(t, dom, domainchange.ChangeRequest{Kind: domainchange.AddDS, DS: "2371 13 2 1F987CC6583E92DF0890718C42A50A6E4C2C6F6F3E0C0DBE9C30BFD40AE8BC1F"})
		finishChange(t, env, dom.ID)
		before, _ := registryDomain(t, env, name)
		host := fmt.Sprintf("ns1.schritt%d.example", i)
		asking(t, dom, domainchange.ChangeRequest{Kind: domainchange.Nameservers, Nameservers: host + "\nns2.schritt.example"})
		if failpoint == "ns_begun" { // the first step is not killed
			runUntilWaiting(t, env, newest)
			endWait(t, env, dom.ID)
		}
		if err := runUntilKilledAt(t.Context(), env, failpoint); err != nil {
			t.Fatalf("%s: %v", failpoint, err)
		}
		if there, _ := registryDomain(t, env, name); !slices.Equal(hostsOf(there), hostsOf(before)) {
			t.Fatalf("killed at %s: the registry has %v", failpoint, there.Nameservers)
		}
		if failpoint != "ns_begun" {
			waiting := runUntilWaiting(t, env, newest)
			there, _ := registryDomain(t, env, name)
			if left := time.Until(waiting.WaitUntil); left < 23*time.Hour || left > 24*time.Hour || !slices.Equal(hostsOf(there), hostsOf(before)) {
				t.Fatalf("after a kill at %s it waits %s; the registry has %v", failpoint, left, there.Nameservers)
			}
			endWait(t, env, dom.ID)
		}
		change := finishChange(t, env, dom.ID)
		there, _ := registryDomain(t, env, name)
		if change.State != domainchange.StatusDone || !slices.Contains(hostsOf(there), host) {
			t.Errorf("after a kill at %s: %s %s; the registry has %v", failpoint, change.State, change.Failure, there.Nameservers)
		}
		for action, want := range map[registrar.Action]int{domainchange.ActionPlanned: i + 1, "ds_removed": i + 1, "nameservers_changed": i + 1} {
			events, err := env.DB.ListObjectAuditEvents(t.Context(), dom.Customer, name, 100)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(slices.DeleteFunc(events, func(event registrar.AuditEvent) bool { return event.Action != action })); got != want {
				t.Errorf("after a kill at %s: %d times %s, want %d", failpoint, got, action, want)
			}
		}
	}
	if err := env.Reconcile(t.Context()); err != nil {
		t.Error(err)
	}
}

// runUntilWaiting runs the product until the newest change waits.
func runUntilWaiting(t *testing.T, env *crash.Env, newest func() domainchange.Change) (change domainchange.Change) {
	t.Helper()
	server, err := env.Serve(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "waiting change", func() bool {
		change = newest()
		return change.State == domainchange.StatusWaiting
	})
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
	return change
}

// endWait ends the wait of the domain's change.
func endWait(t *testing.T, env *crash.Env, dom string) {
	t.Helper()
	if _, err := env.DB.SQL().Writer().ExecContext(t.Context(), `UPDATE domain_changes SET wait_until = 1 WHERE wait_until > 0 AND domain_id = $1`, dom); err != nil {
		t.Fatal(err)
	}
}

// newChangeRequester stores changes for the product to carry out.
func newChangeRequester(t *testing.T, env *crash.Env) func(*testing.T, provision.Domain, domainchange.ChangeRequest) {
	t.Helper()
	seal, err := registrar.NewSeal([32]byte{}) // no auth codes are requested
	if err != nil {
		t.Fatal(err)
	}
	holders, err := holder.New(env.DB, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	service, err := domainchange.New(domainchange.Config{
		Holder: holders.Registrant, Store: env.DB, Seal: seal, Node: "asker",
		Registries: []domainchange.NamedRegistry{{Name: "sandbox", Serves: func(string) bool { return true }, Registry: unreachableRegistry{}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T, dom provision.Domain, request domainchange.ChangeRequest) {
		t.Helper()
		_, _, err := service.RequestChange(t.Context(), registrar.Actor{
			Kind: registrar.ActorPerson, Customer: dom.Customer, Through: "ses_kill", Address: netip.MustParseAddr("192.0.2.7"), SignedInAt: time.Now(),
		}, dom.ID, request)
		if err != nil {
			t.Fatal(err)
		}
	}
}
