package order

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
)

func TestCapGross_RoundingOfTheTotalLowersNoNet(t *testing.T) {
	t.Parallel()
	// 12.90 and 3 x 8.99 with VAT: 15.35 and 3 x 10.70 are announced, 47.45; VAT on the total is 7.58.
	nets := []registrar.Cents{12_90, 8_99, 8_99, 8_99}
	items := []Item{{Gross: 15_35}, {Gross: 10_70}, {Gross: 10_70}, {Gross: 10_70}}
	capped, vat, err := capGross(nets, items, 1900)
	if err != nil || !slices.Equal(capped, nets) {
		t.Errorf("%v becomes %v with VAT %v, %v", nets, capped, vat, err)
	}
	// The announced cent more covers the rounding of six equal prices.
	nets, items = slices.Repeat([]registrar.Cents{12_90}, 6), slices.Repeat([]Item{{Gross: 15_35}}, 6)
	items[3].Gross++
	if capped, vat, err := capGross(nets, items, 1900); err != nil || !slices.Equal(capped, nets) {
		t.Errorf("%v becomes %v with VAT %v, %v", nets, capped, vat, err)
	}
}

func TestCapGross_NoItemCostsMoreThanAnnounced(t *testing.T) {
	t.Parallel()
	dice := rand.New(rand.NewPCG(1, 2))
	for round := range 3000 {
		rate := []int{0, 700, 1900, 2000, 2550, 2700}[dice.IntN(6)]
		items := make([]Item, 1+dice.IntN(40))
		nets := make([]registrar.Cents, len(items))
		for i := range items {
			nets[i] = registrar.Cents(1 + dice.IntN(9000))
			announced := nets[i]
			if dice.IntN(3) == 0 { // the price has risen
				announced = max(1, announced-registrar.Cents(dice.IntN(2000)))
			}
			items[i].Gross = billing.Gross(announced, []int{rate, 0, 1900}[dice.IntN(3)])
		}
		capped, vat, err := capGross(nets, items, rate)
		if err != nil {
			t.Fatal(err)
		}
		var sum, tax, promised registrar.Cents
		for i := range items {
			gross := capped[i] + vat[i]
			if alone := billing.Gross(capped[i], rate); gross > items[i].Gross && alone > items[i].Gross || capped[i] > nets[i] || capped[i] < 0 || vat[i] < 0 {
				t.Fatalf("round %d: net %d, VAT %d for the price %d and the announced %d", round, capped[i], vat[i], nets[i], items[i].Gross)
			}
			// No more is waived than rounding requires.
			if full := billing.Gross(nets[i], rate); full <= items[i].Gross && gross < full-2 || full > items[i].Gross && gross < items[i].Gross-2 {
				t.Fatalf("round %d: charged %d of %d, announced %d", round, gross, full, items[i].Gross)
			}
			sum, tax, promised = sum+capped[i], tax+vat[i], promised+items[i].Gross
		}
		if sum+tax > promised {
			t.Fatalf("round %d: the total %d is above the announced %d", round, sum+tax, promised)
		}
		// Quoted again, the order costs the same.
		for i := range items {
			items[i].Gross = capped[i] + vat[i]
		}
		again, vatAgain, err := capGross(capped, items, rate)
		if err != nil || !slices.Equal(again, capped) || !slices.Equal(vatAgain, vat) {
			t.Fatalf("round %d: %v becomes %v in the second pass, %v", round, capped, again, err)
		}
		if want := billing.Gross(sum, rate) - sum; tax != want {
			t.Fatalf("round %d: the VAT of %d is %d, want %d", round, sum, tax, want)
		}
	}
}

func TestRenewalStatusOf_FollowsOrderAndItsLastCharge(t *testing.T) {
	t.Parallel()
	declined := []Payment{{Kind: ByMethod, Failure: CardDeclined}}
	for name, test := range map[string]struct {
		order   Order
		want    RenewalStatus
		failure registrar.Code
	}{
		"being paid":      {Order{State: Paying}, RenewalOpen, ""},
		"paid":            {Order{State: Provisioning, Payments: declined}, RenewalPaid, ""},
		"completed":       {Order{State: Completed}, RenewalPaid, ""},
		"failed items":    {Order{State: Failed}, RenewalPaid, ""},
		"no card":         {Order{State: AwaitingPayment}, RenewalUnpaid, NoPaymentMethod},
		"declined":        {Order{State: AwaitingPayment, Payments: declined}, RenewalUnpaid, CardDeclined},
		"expired since":   {Order{State: Expired, Payments: declined}, RenewalUnpaid, CardDeclined},
		"interrupted":     {Order{State: AwaitingPayment, Payments: []Payment{{Kind: ByMethod}}}, RenewalUnpaid, ""},
		"page left later": {Order{State: AwaitingPayment, Payments: append(declined, Payment{Kind: ByPage})}, RenewalUnpaid, CardDeclined},
	} {
		if got, failure := RenewalStatusOf(test.order); got != test.want || failure != test.failure {
			t.Errorf("%s: %s %q", name, got, failure)
		}
	}
}

func TestRounded_SharesOfVATDifferFromThePrices(t *testing.T) {
	t.Parallel()
	for count, want := range map[int]bool{1: false, 2: false, 6: true} {
		nets := slices.Repeat([]registrar.Cents{12_90}, count)
		vat, err := billing.SplitVAT(nets, 1900)
		if err != nil {
			t.Fatal(err)
		}
		o := Order{Totals: Totals{RateBasisPoints: 1900}}
		for i := range nets {
			o.Items = append(o.Items, Item{Net: nets[i], Gross: nets[i] + vat[i]})
		}
		if o.Rounded() != want || o.Price(o.Items[0]) != 15_35 {
			t.Errorf("%d items: %t, %s", count, o.Rounded(), o.Price(o.Items[0]))
		}
	}
}
