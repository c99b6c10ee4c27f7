package order_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func TestHandleEvent_DuringChargeQueriesProviderOnlyIfUndecided(t *testing.T) {
	t.Parallel()
	for name, token := range map[string]string{"paid": "spt_ok", "undecided": "spt_slow"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				env := newEnv(t)
				made := env.createSession(order.Register, &carla, "eins")
				var events sync.WaitGroup
				env.provider.afterCharge = func() {
					intent := env.get(made.Order.ID).Payments[0].Intent
					if token == "spt_slow" {
						env.provider.forcePay(intent, func(s *order.PaymentStatus) { s.Amount, s.Intent = made.Order.Totals.Gross, intent })
					}
					events.Go(func() {
						if err := env.service.HandleEvent(t.Context(), order.Event{Intent: intent}); err != nil {
							t.Error(err)
						}
					})
					time.Sleep(10 * time.Millisecond) // the event arrives before the response to the charge
				}
				if got, err := env.complete(made.Order.ID, token); err != nil || got.Status != order.SessionCompleted {
					t.Errorf("%+v, %v", got, err)
				}
				events.Wait()
				want := 0
				if token == "spt_slow" {
					want = 1
				}
				if fetches := env.provider.chargeFetches; fetches != want {
					t.Errorf("the charge was fetched %d times, want %d", fetches, want)
				}
				env.checkInvariants()
			})
		})
	}
}
