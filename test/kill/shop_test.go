package kill_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/test/kill"
)

func openShop(t *testing.T, flags ...string) *kill.Shop {
	t.Helper()
	shop, err := kill.OpenShop(t.Context(), binary, t.TempDir(), flags...)
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

// together does things at once and fails the test with what went wrong.
func together(t *testing.T, all ...func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
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

func TestAKillAtEveryBoundaryOfAPaymentLeavesTheBooksRight(t *testing.T) {
	t.Parallel()
	shop := openShop(t)
	for i, boundary := range order.Boundaries() {
		keeper := shop.Keep(t.Context(), kill.OnceAt(boundary))
		if i == 0 {
			together(t, shop.SignIn)
		}
		name := func(label string) string { return fmt.Sprintf("%s-%d.org", label, i) }
		began := time.Now()
		// One who pays and comes back, one who only pays and for whom one of two
		// names is denied, one who goes back first, one who thinks better of it, and
		// agents with tokens that pay, are declined first, or leave it to a human:
		// together they pass every boundary.
		together(t,
			func(ctx context.Context) error {
				bought, err := shop.Prepare(ctx, name("ruhig"))
				if err != nil {
					return err
				}
				return shop.Pay(ctx, bought, true)
			},
			func(ctx context.Context) error {
				bought, err := shop.Prepare(ctx, name("pendingfail"), name("daneben"))
				if err != nil {
					return err
				}
				return shop.Pay(ctx, bought, false)
			},
			func(ctx context.Context) error {
				bought, err := shop.Prepare(ctx, name("umweg"))
				if err != nil {
					return err
				}
				_, _ = shop.Open(ctx, bought) // the product may die here, and the human tries again
				_ = shop.Back(ctx, bought)
				return shop.Pay(ctx, bought, true)
			},
			func(ctx context.Context) error {
				bought, err := shop.Prepare(ctx, name("nein"))
				if err != nil {
					return err
				}
				_, _ = shop.Open(ctx, bought)
				return shop.Decline(ctx, bought)
			},
			func(ctx context.Context) error {
				id, err := shop.Session(ctx, name("agent"))
				if err != nil {
					return err
				}
				return shop.CompleteAtLast(ctx, id)
			},
			func(ctx context.Context) error {
				id, err := shop.Session(ctx, name("pendingfail-agent"))
				if err != nil {
					return err
				}
				_, _ = shop.Complete(ctx, id, kill.TokenDeclined)
				return shop.CompleteAtLast(ctx, id)
			},
			func(ctx context.Context) error {
				id, err := shop.Session(ctx, name("mensch"))
				if err != nil {
					return err
				}
				_, _ = shop.Complete(ctx, id, kill.TokenHuman)
				return shop.Cancel(ctx, id)
			},
		)
		if err := shop.Settled(t.Context(), patience); err != nil {
			t.Fatalf("%s: %v", boundary, err)
		}
		// The last boundaries lie behind what makes all settled.
		for end := time.Now().Add(patience); keeper.Deaths() == 0 && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		if err := keeper.Stop(); err != nil {
			t.Fatalf("%s: %v", boundary, err)
		}
		if deaths := keeper.Deaths(); deaths != 1 {
			t.Errorf("%s: killed %d times", boundary, deaths)
		}
		t.Logf("%s: all is settled after %s", boundary, time.Since(began).Round(time.Millisecond))
		if err := shop.Check(t.Context()); err != nil {
			t.Fatalf("after a kill at %s:\n%v", boundary, err)
		}
	}
	if n := shop.InFlight(); n != 0 {
		t.Errorf("%d retries after a restart got 409 idempotency_in_flight", n)
	}
}

// The first answer after the restart is the result: no wait for the end of a lease.
func TestRetry_SameKeyDirectlyAfterRestartIsAnswered(t *testing.T) {
	t.Parallel()
	shop := openShop(t)
	for i, boundary := range []string{"charge_written", "intent_known", "charge_made", "paid_written"} {
		keeper := shop.Keep(t.Context(), kill.OnceAt(boundary))
		together(t, func(ctx context.Context) error {
			id, err := shop.Session(ctx, fmt.Sprintf("wiederholt-%d.org", i))
			if err != nil {
				return err
			}
			began := time.Now()
			status, err := shop.Retry(ctx, id)
			if err != nil || status != "completed" {
				return fmt.Errorf("%s: the retry got %q, %w", boundary, status, err)
			}
			t.Logf("%s: answered after %s", boundary, time.Since(began).Round(time.Millisecond))
			return nil
		})
		if err := shop.Settled(t.Context(), patience); err != nil {
			t.Fatalf("%s: %v", boundary, err)
		}
		if err := keeper.Stop(); err != nil {
			t.Fatalf("%s: %v", boundary, err)
		}
		if deaths := keeper.Deaths(); deaths != 1 {
			t.Errorf("%s: killed %d times", boundary, deaths)
		}
		if err := shop.Check(t.Context()); err != nil {
			t.Fatalf("after a kill at %s:\n%v", boundary, err)
		}
	}
	if n := shop.InFlight(); n != 0 {
		t.Errorf("%d retries after a restart got 409 idempotency_in_flight", n)
	}
}

func TestRandomKillsWhilePeoplePayLeaveTheBooksRight(t *testing.T) {
	t.Parallel()
	settings := kill.OrderSettings{Orders: 60, Kills: 25, Chaos: 0.1, Seed: rand.Uint64(), Patience: 2 * patience}
	if err := kill.RandomOrders(t.Context(), binary, t.TempDir(), settings, t.Output()); err != nil {
		t.Fatalf("seed %d:\n%v", settings.Seed, err)
	}
}
