package crash_test

import (
	"context"
	"slices"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/sandbox/stripe"
	"github.com/dotkontor/dotkontor/test/crash"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// noChanges is for decisions of the test, which the product then executes.
type noChanges struct{ dispute.Changes }

type noTransfers struct{ dispute.Transfers }

// waitForDispute waits until a dispute has a status and a lock, and no work is left.
func waitForDispute(t *testing.T, shop *crash.Shop, id string, status dispute.Status, lock dispute.Lock, changes ...domainchange.ChangeKind) {
	t.Helper()
	testkit.Eventually(t, "dispute "+string(status)+" "+string(lock), func() bool {
		d, _, err := shop.DB.GetDispute(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if d.Status != status || d.Lock != lock {
			return false
		}
		domains, err := shop.DB.ListDisputedDomains(t.Context(), d.Order)
		if err != nil || len(domains) != 1 {
			t.Fatal(domains, err)
		}
		all, err := shop.DB.ListDomainChanges(t.Context(), domains[0].ID, 20)
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range changes {
			done := slices.DeleteFunc(slices.Clone(all), func(c domainchange.Change) bool {
				return c.Kind != kind || c.Desired.Lock != id || c.State != domainchange.StatusDone
			})
			if len(done) > 1 {
				t.Fatalf("%s was executed %d times", kind, len(done))
			}
			if len(done) == 0 {
				return false
			}
		}
		return true
	})
}

// A dispute locks its domain once and a denial holds it once, wherever the product is killed.
func TestKill_DisputeLocksAndHoldsOnceAtEveryFailpoint(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "ops"}
	service, err := dispute.New(dispute.Config{Store: shop.DB, Changes: noChanges{}, Transfers: noTransfers{}})
	if err != nil {
		t.Fatal(err)
	}
	for i, failpoint := range dispute.Failpoints() {
		supervisor := shop.Supervise(t.Context(), crash.KillOnceAt(failpoint))
		if i == 0 {
			inParallel(t, shop.SignIn)
		}
		var bought crash.Purchase
		inParallel(t, func(ctx context.Context) (err error) {
			if bought, err = shop.StartOrder(ctx, "streit-"+string(rune('a'+i))+".com"); err != nil {
				return err
			}
			if err := shop.Pay(ctx, bought, true); err != nil {
				return err
			}
			return shop.WaitSettled(ctx, waitTimeout)
		})
		made, err := shop.Dispute(t.Context(), stripe.DisputeRequest{Order: bought.ID})
		if err != nil {
			t.Fatal(err)
		}
		waitForDispute(t, shop, made.ID, dispute.NeedsResponse, dispute.LockActive, domainchange.Lock)
		if err := shop.MoveDispute(t.Context(), made.ID, "lost"); err != nil {
			t.Fatal(err)
		}
		waitForDispute(t, shop, made.ID, dispute.Lost, dispute.LockActive)
		testkit.Eventually(t, "decision", func() bool { // the product may store a new version meanwhile
			lost, _, err := shop.DB.GetDispute(t.Context(), made.ID)
			return err == nil && service.Decide(t.Context(), operator, made.ID, lost.Version, dispute.Deny, "unpaid") == nil
		})
		waitForDispute(t, shop, made.ID, dispute.Lost, dispute.LockDenied, domainchange.Lock, domainchange.Hold)
		if i == 0 { // the bank changes its mind: the hold ends
			if err := shop.MoveDispute(t.Context(), made.ID, "won"); err != nil {
				t.Fatal(err)
			}
			waitForDispute(t, shop, made.ID, dispute.Won, dispute.LockLifted, domainchange.Release)
		}
		// Decisions are made in this process, so the product is not killed there.
		if supervisor.Kills() == 0 && failpoint != "dispute_decided" {
			t.Errorf("%s: the product was not killed", failpoint)
		}
		if err := supervisor.Stop(); err != nil {
			t.Fatal(err)
		}
	}
	if err := shop.Reconcile(t.Context()); err != nil {
		t.Error(err)
	}
}
