package provision_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

func TestRun_CompletedItemHasOneChargeWithItsSource(t *testing.T) {
	t.Parallel()
	eight := registrar.Money{Amount: 80_000, Currency: cost.Euro}
	for name, test := range map[string]struct {
		fee     registrar.Money
		pending bool
		errors  []error
		source  cost.Source
		charges int
	}{
		"reported":                 {fee: eight, source: cost.FromRegistry, charges: 1},
		"reported, decided later":  {fee: eight, pending: true, source: cost.FromRegistry, charges: 1},
		"reported after an outage": {fee: eight, errors: []error{unreachable()}, source: cost.FromRegistry, charges: 1},
		"not reported":             {source: cost.Unknown, charges: 1},
		"refused, so not a charge": {fee: eight, errors: []error{refused("taken")}},
		"no funds, then reported":  {fee: eight, errors: []error{noFunds(), noFunds()}, source: cost.FromRegistry, charges: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				env := newEnv(t, &fakeRegistry{
					fee: test.fee, pending: test.pending, expires: time.Now().AddDate(1, 0, 0), errors: map[string][]error{"request": test.errors},
					outcome: func() (provision.Outcome, error) { return provision.Outcome{Expires: time.Now().AddDate(1, 0, 0)}, nil },
				})
				item := env.createItem(t, "neu", ".org")
				runFor(t, time.Hour, env.Service)
				if len(env.store.charges) != test.charges {
					t.Fatalf("%d charges, want %d", len(env.store.charges), test.charges)
				}
				if test.charges == 0 {
					return
				}
				charge := env.store.charges[0]
				if charge.ID != item.ID || charge.Source != test.source || charge.Amount != test.fee || charge.Operation != cost.Register || charge.Domain == "" {
					t.Errorf("charge %+v", charge)
				}
			})
		})
	}
}

func noFunds() error { return &registrar.Error{Kind: registrar.KindUpstream, Code: provision.Billing} }
