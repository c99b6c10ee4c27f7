package lifecycle

import (
	"context"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
)

// chargeStore has the charge of one registration.
type chargeStore struct {
	Store
	charge cost.Charge
	found  bool
}

func (s chargeStore) GetRegistrationCharge(context.Context, string) (cost.Charge, bool, error) {
	return s.charge, s.found, nil
}

func TestReturnedFee_OnlyOfRefundedRegistrationInAddGracePeriod(t *testing.T) {
	t.Parallel()
	registered := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	eight, minusEight := registrar.Money{Amount: 80_000, Currency: cost.Euro}, registrar.Money{Amount: -80_000, Currency: cost.Euro}
	for name, test := range map[string]struct {
		tld      string
		unpaid   bool
		state    RegistryState
		after    time.Duration
		reported registrar.Money
		charged  *registrar.Money // of the registration; nil: not in the books
		want     string           // empty: no charge
		source   cost.Source
	}{
		"reported":                      {tld: ".com", state: Gone, charged: &eight, reported: minusEight, want: "-8.00 EUR", source: cost.FromRegistry},
		"reported without a period":     {tld: ".de", state: Gone, charged: &eight, reported: minusEight, want: "-8.00 EUR", source: cost.FromRegistry},
		"reported for an unpaid term":   {tld: ".com", unpaid: true, state: Gone, charged: &eight, reported: minusEight},
		"reported as free":              {tld: ".com", state: Deleted, charged: &eight, reported: registrar.Money{Currency: cost.Euro}},
		"charged for the deletion":      {tld: ".com", state: Deleted, charged: &eight, reported: eight, want: "8.00 EUR", source: cost.FromRegistry},
		"gone at once":                  {tld: ".com", state: Gone, charged: &eight, want: "-8.00 EUR", source: cost.FromRegistration},
		"found gone after the period":   {tld: ".com", state: Gone, after: 20 * 24 * time.Hour, charged: &eight, want: "-8.00 EUR", source: cost.FromRegistration},
		"gone after the redemption":     {tld: ".com", state: Gone, after: 60 * 24 * time.Hour, charged: &eight},
		"in redemption":                 {tld: ".com", state: Deleted, charged: &eight},
		"at another registrar":          {tld: ".com", state: Elsewhere, charged: &eight},
		"unpaid":                        {tld: ".com", unpaid: true, state: Gone, charged: &eight},
		"no period":                     {tld: ".de", state: Gone, charged: &eight},
		"period unknown":                {tld: ".tk", state: Gone, charged: &eight},
		"registration not in the books": {tld: ".com", state: Gone},
		"registration of unknown cost":  {tld: ".com", state: Gone, charged: &registrar.Money{}, source: cost.Unknown},
		"free registration":             {tld: ".com", state: Gone, charged: &registrar.Money{Currency: cost.Euro}},
	} {
		now := func() time.Time { return registered.Add(time.Hour + test.after) }
		store := chargeStore{found: test.charged != nil}
		if store.found {
			store.charge = cost.Charge{ID: "prv_1", Amount: *test.charged, At: registered}
		}
		s, err := New(Config{Store: store, Brake: &Brake{}, Node: "node", Now: now})
		if err != nil {
			t.Fatal(err)
		}
		term := Term{Domain: "dom_1", Account: "one", TLD: test.tld, State: Deleting, Cause: CauseRefund, StepAt: registered.Add(time.Hour)}
		if test.unpaid {
			term.Cause = ""
		}
		var got *cost.Charge
		if !test.reported.IsZero() {
			got = s.reportedFee(term, test.reported, now())
		} else if got, err = s.unreportedFee(t.Context(), term, test.state); err != nil {
			t.Fatal(err)
		}
		switch {
		case test.source == "" && got != nil:
			t.Errorf("%s: %+v", name, got)
		case test.source != "" && (got == nil || got.Amount.String() != test.want || got.Source != test.source || got.ID != "dom_1-x" || got.Account != "one" || !got.At.Equal(term.StepAt)):
			t.Errorf("%s: %+v", name, got)
		}
	}
}
