package premium_test

import (
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/premium"
)

func TestNet_ByFeeMarginAndRate(t *testing.T) {
	now := time.Date(2026, time.November, 16, 12, 0, 0, 0, time.UTC)
	rates := &cost.Rates{}
	rates.Set([]cost.Rate{{Day: "2026-11-13", Currency: "USD", Value: 1_250_000}, {Day: "2026-09-01", Currency: "GBP", Value: 900_000}})
	for _, test := range []struct {
		name    string
		fee     string
		years   int
		percent int
		perYear registrar.Cents
		rates   *cost.Rates
		want    registrar.Cents
		sold    bool
	}{
		{"fee in euros, no margin", "250.00 EUR", 1, 0, 0, nil, 250_00, true},
		{"both margins", "250.00 EUR", 1, 10, 5_00, nil, 280_00, true},
		{"the margin in euros is per year", "500.00 EUR", 2, 10, 5_00, nil, 560_00, true},
		{"converted", "250.00 USD", 1, 10, 0, rates, 220_00, true},
		{"rounded up, never below the fee", "250.001 EUR", 1, 0, 0, nil, 250_01, true},
		{"each year is rounded", "100.01 EUR", 2, 0, 0, nil, 100_02, true},
		{"converted with a remainder", "100.00 USD", 3, 0, 0, rates, 80_01, true},
		{"a transfer that adds no year", "250.00 EUR", 0, 10, 5_00, nil, 280_00, true},
		{"a fee of 0 costs the margin", "0.00 EUR", 1, 10, 5_00, nil, 5_00, true},
		{"no rate of the currency", "250.00 CHF", 1, 10, 0, rates, 0, false},
		{"the rate is too old", "250.00 GBP", 1, 10, 0, rates, 0, false},
		{"no rates at all", "250.00 USD", 1, 10, 0, nil, 0, false},
		{"fee unknown", "", 1, 10, 0, rates, 0, false},
		{"below zero", "-1.00 EUR", 1, 10, 5_00, nil, 0, false},
		{"implausible", "90000000000.00 EUR", 1, 0, 0, nil, 0, false},
		{"implausible for the whole term", "4000000.00 EUR", 10, 0, 200_000_00, nil, 0, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			fee, err := registrar.ParseMoney(test.fee)
			if err != nil {
				t.Fatal(err)
			}
			pricing := &premium.Pricing{MarginPercent: test.percent, MarginPerYear: test.perYear, Rates: test.rates, Now: func() time.Time { return now }}
			net, sold := pricing.Net(fee, test.years)
			if sold != test.sold || sold && net != test.want {
				t.Errorf("%v, %t, want %v, %t", net, sold, test.want, test.sold)
			}
		})
	}
	if _, sold := (*premium.Pricing)(nil).Net(registrar.Money{Amount: 1, Currency: cost.Euro}, 1); sold {
		t.Error("sold without a setting")
	}
}
