package crash_test

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/transferaway"
	"github.com/dotkontor/dotkontor/test/crash"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// silentRegistry never responds, so that a decision stays open for the product.
type silentRegistry struct{}

func (silentRegistry) OutgoingRules(string) transferaway.Rules {
	return transferaway.Rules{Answer: true}
}

func (silentRegistry) QueryTransfer(context.Context, string) (transferaway.RegistryTransfer, error) {
	return transferaway.RegistryTransfer{}, registrar.Fault(registrar.FaultRefused, "epp.example", nil)
}

func (silentRegistry) AnswerTransfer(context.Context, string, bool, string) error {
	return registrar.Fault(registrar.FaultRefused, "epp.example", nil)
}

// runUntil runs the product until a condition holds.
func runUntil(t *testing.T, env *crash.Env, what string, holds func() bool) {
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
	testkit.Eventually(t, what, holds)
}

// hasTransfer reports whether a domain has one transfer, in that state and not in progress.
func hasTransfer(t *testing.T, env *crash.Env, domain string, want transferaway.State) bool {
	t.Helper()
	all, err := env.DB.ListDomainOutgoingTransfers(t.Context(), domain, 2)
	if err != nil {
		t.Fatal(err)
	}
	return len(all) == 1 && all[0].State == want && all[0].Node == ""
}

func countRows(t *testing.T, env *crash.Env, query string, args ...any) (n int) {
	t.Helper()
	if err := env.DB.SQL().Reader().QueryRowContext(t.Context(), query, args...).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// A decision about an outgoing transfer survives a kill at every point: the registry gets it
// once, and the customer one mail about its end.
func TestKill_TransferDecisionReachesRegistryOnce(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	decisions := map[transferaway.State]string{transferaway.StateStopped: "stop", transferaway.StateApproved: "go"}
	names := make(map[string]string) // ids
	for _, failpoint := range transferaway.Failpoints() {
		for _, word := range decisions {
			label := "ruhig-" + word + "-" + failpoint[len("transfer_"):]
			if _, err := env.AddPaidItem(t.Context(), label, ".org"); err != nil {
				t.Fatal(err)
			}
			names[label+".org"] = ""
		}
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
	unlocked := func() bool {
		for _, id := range names {
			if countRows(t, env, "SELECT count(*) FROM domain_changes WHERE domain_id = $1 AND due_at > 0", id) > 0 {
				return false
			}
		}
		return true
	}
	domains := make(map[string]provision.Domain)
	for name := range names {
		dom, _, err := env.DB.DomainByName(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		names[name], domains[name] = dom.ID, dom
	}
	runUntil(t, env, "locks of new domains", unlocked)
	asking := newChangeRequester(t, env)
	for _, dom := range domains {
		asking(t, dom, domainchange.ChangeRequest{Kind: domainchange.Unlock})
	}
	runUntil(t, env, "unlocked domains", unlocked)
	for name := range names {
		if err := env.Control.TransferAway(t.Context(), name, "request"); err != nil {
			t.Fatal(err)
		}
	}
	runUntil(t, env, "pending transfers", func() bool {
		for _, id := range names {
			if !hasTransfer(t, env, id, transferaway.StatePending) {
				return false
			}
		}
		return true
	})
	service, err := transferaway.New(transferaway.Config{
		Store: env.DB, Node: "asker",
		Registries:  []transferaway.NamedRegistry{{Name: "sandbox", Serves: func(string) bool { return true }, Registry: silentRegistry{}}},
		HoldsDomain: func(context.Context, string, string) (bool, error) { return true, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, failpoint := range transferaway.Failpoints() {
		for want, word := range decisions {
			name := "ruhig-" + word + "-" + failpoint[len("transfer_"):] + ".org"
			id := names[name]
			decide := service.Stop
			if want == transferaway.StateApproved {
				decide = service.Approve
			}
			if _, err := decide(t.Context(), registrar.Actor{
				Kind: registrar.ActorPerson, Customer: domains[name].Customer, Through: "ses_kill", Address: netip.MustParseAddr("192.0.2.7"), SignedInAt: time.Now(),
			}, id, "sentence"); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if failpoint != "transfer_decided" { // there the process that took the decision has ended
				if err := runUntilKilledAt(t.Context(), env, failpoint); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			runUntil(t, env, "decided transfer", func() bool { return hasTransfer(t, env, id, want) })
			held, err := env.Control.Holdings(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			here := false
			for _, one := range held.Domains {
				here = here || one.Name == name && one.Transfer.Status == "clientRejected"
			}
			if here != (want == transferaway.StateStopped) {
				t.Errorf("%s: the domain is here: %t", name, here)
			}
			for action, times := range map[registrar.Action]int{transferaway.ActionOpened: 1, transferaway.ActionStop: 1, transferaway.ActionApprove: 1, transferaway.ActionStopped: 1, transferaway.ActionLeft: 1} {
				stop := action == transferaway.ActionStop || action == transferaway.ActionStopped
				if action != transferaway.ActionOpened && stop != (want == transferaway.StateStopped) {
					times = 0
				}
				if got := countRows(t, env, "SELECT count(*) FROM audit_events WHERE object = $1 AND action = $2", name, string(action)); got != times {
					t.Errorf("%s: %s was audited %d times, want %d", name, action, got, times)
				}
			}
		}
	}
}
