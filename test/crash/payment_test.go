package crash_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/test/crash"
)

func newShop(t *testing.T, flags ...string) *crash.Shop {
	t.Helper()
	shop, err := crash.NewShop(t.Context(), binary, t.TempDir(), flags...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := shop.Close(); err != nil {
			t.Error(err)
		}
	})
	return shop
}

// inParallel runs functions concurrently and fails the test with their errors.
func inParallel(t *testing.T, all ...func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	var wait sync.WaitGroup
	for _, one := range all {
		wait.Go(func() {
			if err := one(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

func TestKill_EveryPaymentFailpointReconciles(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	for i, failpoint := range order.Failpoints() {
		supervisor := shop.Supervise(t.Context(), crash.KillOnceAt(failpoint))
		if i == 0 {
			inParallel(t, shop.SignIn)
		}
		name := func(label string) string { return fmt.Sprintf("%s-%d.org", label, i) }
		began := time.Now()
		// Together these pass every failpoint: paying and returning, paying without
		// returning with one of two names rejected, going back first, declining, and
		// agents whose token succeeds, is declined first, or needs a human.
		inParallel(t,
			func(ctx context.Context) error {
				bought, err := shop.StartOrder(ctx, name("ruhig"))
				if err != nil {
					return err
				}
				return shop.Pay(ctx, bought, true)
			},
			func(ctx context.Context) error {
				bought, err := shop.StartOrder(ctx, name("pendingfail"), name("daneben"))
				if err != nil {
					return err
				}
				return shop.Pay(ctx, bought, false)
			},
			func(ctx context.Context) error {
				bought, err := shop.StartOrder(ctx, name("umweg"))
				if err != nil {
					return err
				}
				_, _ = shop.OpenPaymentPage(ctx, bought) // the product may be killed here, and the customer tries again
				_ = shop.LeavePaymentPage(ctx, bought)
				return shop.Pay(ctx, bought, true)
			},
			func(ctx context.Context) error {
				bought, err := shop.StartOrder(ctx, name("nein"))
				if err != nil {
					return err
				}
				_, _ = shop.OpenPaymentPage(ctx, bought)
				return shop.Decline(ctx, bought)
			},
			func(ctx context.Context) error {
				id, err := shop.CreateSession(ctx, name("agent"))
				if err != nil {
					return err
				}
				return shop.CompleteUntilPaid(ctx, id)
			},
			func(ctx context.Context) error {
				id, err := shop.CreateSession(ctx, name("pendingfail-agent"))
				if err != nil {
					return err
				}
				_, _ = shop.CompleteSession(ctx, id, crash.TokenDeclined)
				return shop.CompleteUntilPaid(ctx, id)
			},
			func(ctx context.Context) error {
				id, err := shop.CreateSession(ctx, name("mensch"))
				if err != nil {
					return err
				}
				_, _ = shop.CompleteSession(ctx, id, crash.TokenHuman)
				return shop.CancelSession(ctx, id)
			},
		)
		if err := shop.WaitSettled(t.Context(), waitTimeout); err != nil {
			t.Fatalf("%s: %v", failpoint, err)
		}
		// The last failpoints are after everything is settled.
		for end := time.Now().Add(waitTimeout); supervisor.Kills() == 0 && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		if err := supervisor.Stop(); err != nil {
			t.Fatalf("%s: %v", failpoint, err)
		}
		if deaths := supervisor.Kills(); deaths != 1 {
			t.Errorf("%s: killed %d times", failpoint, deaths)
		}
		t.Logf("%s: settled after %s", failpoint, time.Since(began).Round(time.Millisecond))
		if err := shop.Reconcile(t.Context()); err != nil {
			t.Fatalf("after a kill at %s:\n%v", failpoint, err)
		}
	}
	if n := shop.InFlightConflicts(); n != 0 {
		t.Errorf("%d retries after a restart got 409 idempotency_in_flight", n)
	}
}

// The first response after the restart is the result, without waiting for a lease to expire.
func TestRetry_SameKeyRightAfterRestartIsAnswered(t *testing.T) {
	t.Parallel()
	shop := newShop(t)
	for i, failpoint := range []string{"charge_written", "intent_known", "charge_made", "paid_written"} {
		supervisor := shop.Supervise(t.Context(), crash.KillOnceAt(failpoint))
		inParallel(t, func(ctx context.Context) error {
			id, err := shop.CreateSession(ctx, fmt.Sprintf("wiederholt-%d.org", i))
			if err != nil {
				return err
			}
			began := time.Now()
			status, err := shop.CompleteWithRetry(ctx, id)
			if err != nil || status != "completed" {
				return fmt.Errorf("%s: the retry got %q, %w", failpoint, status, err)
			}
			t.Logf("%s: response after %s", failpoint, time.Since(began).Round(time.Millisecond))
			return nil
		})
		if err := shop.WaitSettled(t.Context(), waitTimeout); err != nil {
			t.Fatalf("%s: %v", failpoint, err)
		}
		if err := supervisor.Stop(); err != nil {
			t.Fatalf("%s: %v", failpoint, err)
		}
		if deaths := supervisor.Kills(); deaths != 1 {
			t.Errorf("%s: killed %d times", failpoint, deaths)
		}
		if err := shop.Reconcile(t.Context()); err != nil {
			t.Fatalf("after a kill at %s:\n%v", failpoint, err)
		}
	}
	if n := shop.InFlightConflicts(); n != 0 {
		t.Errorf("%d retries after a restart got 409 idempotency_in_flight", n)
	}
}

func TestKill_RandomDuringPaymentsReconciles(t *testing.T) {
	t.Parallel()
	settings := crash.OrderSettings{Orders: 60, Kills: 25, Chaos: 0.1, Seed: rand.Uint64(), Timeout: 2 * waitTimeout}
	if err := crash.RunRandomOrderKills(t.Context(), binary, t.TempDir(), settings, t.Output()); err != nil {
		t.Fatalf("seed %d:\n%v", settings.Seed, err)
	}
}
