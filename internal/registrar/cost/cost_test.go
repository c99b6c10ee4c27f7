package cost_test

import (
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
)

var day = time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)

func money(t *testing.T, text string) registrar.Money {
	t.Helper()
	amount, err := registrar.ParseMoney(text)
	if err != nil {
		t.Fatal(err)
	}
	return amount
}

func ratesOf(rates ...cost.Rate) *cost.Rates {
	all := &cost.Rates{}
	all.Set(rates)
	return all
}

func TestRates_UseTheRateInForceOnTheDay(t *testing.T) {
	t.Parallel()
	rates := ratesOf(cost.Rate{"2026-11-16", "USD", 1_250_000}, cost.Rate{"2026-11-02", "USD", 1_000_000}, cost.Rate{"2026-11-18", "USD", 2_000_000})
	for _, tc := range []struct {
		amount string
		at     time.Time
		want   registrar.Cents
		known  bool
	}{
		{"10.00 USD", day, 800, true},
		{"10.00 USD", day.AddDate(0, 0, -3), 1000, true}, // a weekend: the earlier rate stays in force
		{"10.00 USD", day.AddDate(0, 0, 1), 500, true},
		{"10.00 USD", day.AddDate(0, -1, 0), 0, false}, // before the first
		{"10.00 USD", day.AddDate(0, 2, 0), 0, false},  // too old
		{"10.00 GBP", day, 0, false},
		{"10.00 EUR", day, 1000, true},
		{"0.00 EUR", day, 0, true}, // free is known
		{"-8.00 EUR", day, -800, true},
		{"0.0050 EUR", day, 1, true}, // half a cent is rounded up
		{"0.0049 EUR", day, 0, true},
		{"", day, 0, false},
	} {
		if got, known := rates.Euros(money(t, tc.amount), tc.at); got != tc.want || known != tc.known {
			t.Errorf("%q on %s: %s, %t", tc.amount, tc.at.Format(time.DateOnly), got, known)
		}
	}
}

func TestParseRates_ReadsTheFilesOfTheCentralBank(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"daily":  "Date, USD, GBP, \n16 November 2026, 1.25, 0.8, \n",
		"series": "Date,USD,CYP,GBP,\n2026-11-16,1.25,N/A,0.8,\n1999-01-04,1.1789,0.58231,0.7111,\n",
	} {
		rates, err := cost.ParseRates(strings.NewReader(file), day)
		if err != nil || len(rates) != 2 || rates[0] != (cost.Rate{"2026-11-16", "USD", 1_250_000}) || rates[1].Value != 800_000 {
			t.Errorf("%s: %v, %v", name, rates, err)
		}
	}
	for name, file := range map[string]string{
		"empty": "", "another file": "tld,register\n.de,1.00\n", "no rates": "Date,USD\n", "zero": "Date,USD\n2026-11-16,0\n", "text": "Date,USD\n2026-11-16,viel\n",
		"negative": "Date,USD\n2026-11-16,-1\n", "future": "Date,USD\n2027-11-16,1.1\n", "no date": "Date,USD\ngestern,1.1\n", "too wide": "Date,USD\n2026-11-16,1.1,1.2\n",
	} {
		if rates, err := cost.ParseRates(strings.NewReader(file), day); err == nil {
			t.Errorf("%s: accepted as %v", name, rates)
		}
	}
}

func TestCharge_PrefersRegistryThenCatalogueAndNeverGuesses(t *testing.T) {
	t.Parallel()
	extension := registrar.Extension{TLD: ".org", Costs: registrar.Costs{Register: money(t, "7.00 EUR"), Renew: money(t, "8.00 EUR"), Restore: money(t, "40.00 EUR")}}
	prices := &cost.Prices{Rates: ratesOf(), Extension: func(tld string) (registrar.Extension, bool) { return extension, tld == ".org" }}
	for _, tc := range []struct {
		operation cost.Operation
		years     int
		fee       string
		source    cost.Source
		amount    string
		known     bool
	}{
		{cost.Register, 2, "13.50 EUR", cost.FromRegistry, "13.50 EUR", true},
		{cost.Register, 2, "", cost.FromCatalogue, "14.00 EUR", true},
		{cost.Register, 1, "0.00 EUR", cost.FromRegistry, "0.00 EUR", true},
		{cost.Renew, 1, "9.00 USD", cost.FromRegistry, "9.00 USD", false},
		{cost.Restore, 1, "", cost.FromCatalogue, "48.00 EUR", true},
		{cost.Restore, 0, "", cost.FromCatalogue, "40.00 EUR", true},
		{cost.Transfer, 1, "", cost.Unknown, "", false},
	} {
		got := prices.Charge(tc.operation, ".org", tc.years, money(t, tc.fee), day)
		if got.Source != tc.source || got.Amount.String() != tc.amount || got.EurosKnown != tc.known {
			t.Errorf("%s for %d years with %q: %+v", tc.operation, tc.years, tc.fee, got)
		}
	}
	var none *cost.Prices
	if got := none.Charge(cost.Renew, ".org", 1, registrar.Money{}, day); got.Source != cost.Unknown || got.EurosKnown {
		t.Errorf("without prices: %+v", got)
	}
}

func TestBelowCost_ComparesInEurosAndObeysPermission(t *testing.T) {
	t.Parallel()
	prices := &cost.Prices{Rates: ratesOf(cost.Rate{"2026-11-16", "USD", 1_250_000})}
	extension := registrar.Extension{Costs: registrar.Costs{Register: money(t, "10.00 USD"), Renew: money(t, "10.00 GBP")}}
	if by, below := prices.BelowCost(extension, cost.Register, 2, 1599, day); !below || by != 1 {
		t.Errorf("15.99 for 16.00: %t by %s", below, by)
	}
	if _, below := prices.BelowCost(extension, cost.Register, 2, 1600, day); below {
		t.Error("a price that equals the cost is refused")
	}
	if _, below := prices.BelowCost(extension, cost.Renew, 1, 1, day); below {
		t.Error("a cost that can't be converted refuses")
	}
	extension.BelowCost = true
	if _, below := prices.BelowCost(extension, cost.Register, 1, 1, day); below {
		t.Error("an allowed price is refused")
	}
}
