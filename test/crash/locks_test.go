package crash_test

import (
	"slices"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// holding is a registry that offers holds; the product sets them.
type holding struct{ admin.Holds }

func (holding) LacksHold(string) bool { return false }

// The locks are stored by this process, so the product finds them as after a kill at lock_written and
// lock_ended.
func TestKill_LockedDomainIsHeldAndReleasedOnce(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	if _, err := env.AddPaidItem(t.Context(), "phishing", ".org"); err != nil {
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
	domain, _, err := env.DB.DomainByName(t.Context(), "phishing.org")
	if err != nil {
		t.Fatal(err)
	}
	finishChange(t, env, domain.ID) // the lock of a new domain
	locks, err := admin.New(admin.Config{Store: env.DB, Holds: holding{}})
	if err != nil {
		t.Fatal(err)
	}
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}
	lock, _, err := locks.SetLock(t.Context(), operator, admin.LockRequest{
		Name: domain.Name, Cause: admin.Abuse, Reason: "Phishing", Restrictions: []admin.Restriction{admin.Hold}, ReviewAt: time.Now().AddDate(0, 1, 0),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, held := range []bool{true, false} {
		if !held {
			if _, err := locks.LiftLock(t.Context(), operator, lock.ID); err != nil {
				t.Fatal(err)
			}
		}
		for _, failpoint := range []string{"change_written", "change_carried"} {
			if err := runUntilKilledAt(t.Context(), env, failpoint); err != nil {
				t.Fatalf("held %t: %v", held, err)
			}
		}
		server, err := env.Serve(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		testkit.Eventually(t, "the registry's decision", func() bool {
			there, _ := registryDomain(t, env, domain.Name)
			stored, _, err := env.DB.GetDomainLock(t.Context(), lock.ID)
			if err != nil {
				t.Fatal(err)
			}
			return slices.Contains(there.Statuses(), "clientHold") == held && stored.HoldStepAt.IsZero() != held
		})
		if err := server.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	changes, err := env.DB.ListDomainChanges(t.Context(), domain.ID, 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []domainchange.ChangeKind{domainchange.Hold, domainchange.Release} {
		done := slices.DeleteFunc(slices.Clone(changes), func(c domainchange.Change) bool { return c.Kind != kind || c.State != domainchange.StatusDone })
		if len(done) != 1 {
			t.Errorf("%s was executed %d times", kind, len(done))
		}
	}
	if err := env.Reconcile(t.Context()); err != nil {
		t.Error(err)
	}
}
