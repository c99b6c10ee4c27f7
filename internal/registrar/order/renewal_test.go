package order_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// renewals returns a charge of so many domains, announced at a gross amount.
func (env *testEnv) renewals(count int, gross registrar.Cents) order.RenewalCharge {
	charge := order.RenewalCharge{Customer: anna, ExpiresAt: env.now().Add(72 * time.Hour), LookAt: env.now().Add(time.Minute)}
	for i := range count {
		charge.Items = append(charge.Items, order.RenewalItem{
			Domain: fmt.Sprintf("dom_%d", i), Name: fmt.Sprintf("name-%d.de", i), TLD: ".de", TermEnd: env.now().Add(14 * 24 * time.Hour), Years: 1, MaxGross: gross,
		})
	}
	return charge
}

func TestChargeRenewals_LargeOrderWithoutMethodIsPaidByHandAtItsPrice(t *testing.T) {
	t.Parallel()
	env, _ := newBudgetEnv(t, order.MaxPortalItems, order.MaxPortalItems)
	attempt, err := env.service.ChargeRenewals(t.Context(), env.renewals(120, 1190))
	if err != nil || attempt.Order.State != order.AwaitingPayment || len(attempt.Order.Items) != 120 || len(attempt.Order.Payments) != 0 {
		t.Fatalf("%+v, %v", attempt.Order, err)
	}
	o := env.get(attempt.Order.ID)
	if status, failure := order.RenewalStatusOf(o); status != order.RenewalUnpaid || failure != order.NoPaymentMethod {
		t.Errorf("the status is %s %q", status, failure)
	}
	env.market.net = 5000 // a higher price does not apply, nor does the identity check over 500 EUR
	secret := env.secret(o)
	env.provider.pay(env.pay(secret, o.Totals.Gross))
	if err := env.service.HandleReturn(t.Context(), annaInPerson, secret); err != nil {
		t.Fatal(err)
	}
	env.wantState(o.ID, order.Provisioning)
	env.checkInvariants()
}

func TestChargeRenewals_InterruptedChargeIsCanceledOrFoundPaid(t *testing.T) {
	t.Parallel()
	for name, paid := range map[string]bool{"confirmed": true, "not confirmed": false} {
		synctest.Test(t, func(t *testing.T) {
			env := newEnv(t)
			env.store.methods[anna] = order.PaymentMethod{ProviderCustomer: "cus_1", ID: "pm_1", Label: "Visa"}
			// The answer of the confirmation is lost.
			env.provider.afterCharge = func() {}
			env.provider.beforeCharge = func() {
				env.provider.set(func(p *fakeProvider) {
					if paid {
						p.crashing = true
					} else {
						p.down = errDown
					}
				})
			}
			attempt, err := env.service.ChargeRenewals(t.Context(), env.renewals(2, 1190))
			if err != nil || attempt.Order.State != order.Paying {
				t.Fatalf("%s, %v", attempt.Order.State, err)
			}
			env.provider.set(func(p *fakeProvider) { p.crashing, p.down, p.beforeCharge = false, nil, nil })
			env.runFor(env.startNode("node"), time.Minute)
			o := env.get(attempt.Order.ID)
			status, failure := order.RenewalStatusOf(o)
			want, why := order.RenewalPaid, registrar.Code("")
			if !paid { // the provider gets a rest before the next attempt
				want, why = order.RenewalUnpaid, order.ProviderUnavailable
			}
			if status != want || failure != why {
				t.Errorf("%s: the order is %s: %s %q", name, o.State, status, failure)
			}
			env.checkInvariants()
		})
	}
}
