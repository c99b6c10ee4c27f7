package billing

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// fakeValidator stands in for VIES: ids ending in 1 are valid, ids ending in 9 fail.
type fakeValidator struct{ asked []string }

func (r *fakeValidator) Valid(_ context.Context, id string) (bool, error) {
	r.asked = append(r.asked, id)
	if strings.HasSuffix(id, "9") {
		return false, registrar.Fault(registrar.FaultTimeout, "vies.example", nil)
	}
	return strings.HasSuffix(id, "1"), nil
}

func newAssessor(t *testing.T, oss bool) (*Assessor, *fakeValidator) {
	t.Helper()
	rates, err := EmbeddedRates()
	if err != nil {
		t.Fatal(err)
	}
	ids := &fakeValidator{}
	return New(Config{Rates: rates, Validator: ids, OSS: oss}), ids
}

var today = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func TestAssess_AppliesRuleTable(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		oss     bool
		party   Party
		rate    int
		rule    Rule
		country string
		id      string
		open    bool // unchecked
		asked   int
	}{
		{name: "Germany", party: Party{Country: "DE", PostalCode: "10115"}, rate: 1900, rule: RuleDomestic, country: "DE"},
		{name: "Germany, with OSS", oss: true, party: Party{Country: "DE"}, rate: 1900, rule: RuleDomestic, country: "DE"},
		{name: "a German business", party: Party{Country: "DE", VATID: "DE136695971"}, rate: 1900, rule: RuleDomestic, country: "DE"},
		{name: "an EU consumer without OSS", party: Party{Country: "AT", PostalCode: "1010"}, rate: 1900, rule: RuleEUConsumer, country: "DE"},
		{name: "an EU consumer with OSS", oss: true, party: Party{Country: "AT", PostalCode: "1010"}, rate: 2000, rule: RuleOSS, country: "AT"},
		{name: "half a percent", oss: true, party: Party{Country: "FI", PostalCode: "00100"}, rate: 2550, rule: RuleOSS, country: "FI"},
		{name: "a valid id", party: Party{Country: "AT", VATID: "ATU12345671"}, rule: RuleReverseCharge, country: "AT", id: "ATU12345671", asked: 1},
		{name: "a valid id with OSS", oss: true, party: Party{Country: "AT", VATID: "atu 123 45671"}, rule: RuleReverseCharge, country: "AT", id: "ATU12345671", asked: 1},
		{name: "an invalid id", oss: true, party: Party{Country: "AT", VATID: "ATU12345672"}, rate: 2000, rule: RuleOSS, country: "AT", asked: 1},
		{name: "an id of another country", party: Party{Country: "AT", VATID: "FR12345678901"}, rate: 1900, rule: RuleEUConsumer, country: "DE"},
		{name: "a German id abroad", party: Party{Country: "AT", VATID: "DE123456781"}, rate: 1900, rule: RuleEUConsumer, country: "DE"},
		{name: "VIES is down", party: Party{Country: "AT", VATID: "ATU12345679"}, rate: 1900, rule: RuleEUConsumer, country: "DE", open: true, asked: 1},
		{name: "VIES is down, with OSS", oss: true, party: Party{Country: "AT", VATID: "ATU12345679"}, rate: 2000, rule: RuleOSS, country: "AT", open: true, asked: 1},
		{name: "Greece is EL", party: Party{Country: "GR", VATID: "EL123456781"}, rule: RuleReverseCharge, country: "GR", id: "EL123456781", asked: 1},
		{name: "an address in EL", oss: true, party: Party{Country: "EL"}, rate: 2400, rule: RuleOSS, country: "GR"},
		{name: "Northern Ireland is outside for services", party: Party{Country: "GB", PostalCode: "BT1 5GS", VATID: "XI123456781"}, rule: RuleOutsideEU, country: "GB"},
		{name: "an XI id does not count elsewhere", party: Party{Country: "IE", VATID: "XI123456781"}, rate: 1900, rule: RuleEUConsumer, country: "DE"},
		{name: "Switzerland", party: Party{Country: "CH"}, rule: RuleOutsideEU, country: "CH"},
		{name: "the United States, with OSS", oss: true, party: Party{Country: "US"}, rule: RuleOutsideEU, country: "US"},
		{name: "no country", party: Party{}, rate: 1900, rule: RuleUnknownCountry, country: "DE"},
		{name: "no such country", oss: true, party: Party{Country: "ZZ"}, rate: 1900, rule: RuleUnknownCountry, country: "DE"},
		{name: "not a country", party: Party{Country: "EU", VATID: "EU372000041"}, rate: 1900, rule: RuleUnknownCountry, country: "DE"},
		{name: "the Canary Islands", oss: true, party: Party{Country: "ES", PostalCode: "35001", VATID: "ESX1234567X"}, rule: RuleOutsideEU, country: "ES"},
		{name: "mainland Spain", oss: true, party: Party{Country: "ES", PostalCode: "28001"}, rate: 2100, rule: RuleOSS, country: "ES"},
		{name: "Büsingen", party: Party{Country: "DE", PostalCode: "D-78266"}, rule: RuleOutsideEU, country: "DE"},
		{name: "Livigno", party: Party{Country: "IT", PostalCode: "23041"}, rule: RuleOutsideEU, country: "IT"},
		{name: "the Azores", oss: true, party: Party{Country: "PT", PostalCode: "9500-123"}, rate: 1600, rule: RuleOSS, country: "PT"},
		{name: "Madeira", oss: true, party: Party{Country: "PT", PostalCode: "9000-001"}, rate: 2200, rule: RuleOSS, country: "PT"},
		{name: "Lisbon", oss: true, party: Party{Country: "PT", PostalCode: "1000-001"}, rate: 2300, rule: RuleOSS, country: "PT"},
		{name: "the Azores without OSS", party: Party{Country: "PT", PostalCode: "9500-123"}, rate: 1900, rule: RuleEUConsumer, country: "DE"},
		{name: "Monaco counts as France", oss: true, party: Party{Country: "MC", PostalCode: "98000"}, rate: 2000, rule: RuleOSS, country: "MC"},
		{name: "a business in Monaco", party: Party{Country: "MC", VATID: "FR12345678901"}, rule: RuleReverseCharge, country: "MC", id: "FR12345678901", asked: 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a, ids := newAssessor(t, test.oss)
			got, err := a.Assess(t.Context(), test.party, []registrar.Cents{10_000}, today)
			if err != nil {
				t.Fatal(err)
			}
			vat := registrar.Cents(test.rate)
			if got.RateBasisPoints != test.rate || got.Rule != test.rule || got.Country != test.country || got.VATID != test.id || got.Unchecked != test.open || !slices.Equal(got.VAT, []registrar.Cents{vat}) {
				t.Errorf("got %+v, want rate %d by %s of %s, id %q, unchecked %t", got, test.rate, test.rule, test.country, test.id, test.open)
			}
			if len(ids.asked) != test.asked {
				t.Errorf("VIES was queried for %q, want %d queries", ids.asked, test.asked)
			}
		})
	}
}

func TestRate_UsesGermanDayOfSale(t *testing.T) {
	t.Parallel()
	rates, err := EmbeddedRates()
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		country, at string
		want        int
	}{
		{"DE", "2020-06-30T21:59:59Z", 1900}, // 23:59:59 in Germany
		{"DE", "2020-06-30T22:00:00Z", 1600},
		{"DE", "2020-12-31T22:59:59Z", 1600},
		{"DE", "2020-12-31T23:00:00Z", 1900},
		{"EE", "2025-06-30T12:00:00Z", 2200},
		{"EE", "2025-07-01T12:00:00Z", 2400},
		{"RO", "2025-07-31T12:00:00Z", 1900},
		{"RO", "2025-08-01T12:00:00Z", 2100},
		{"LU", "2023-06-01T12:00:00Z", 1600},
		{"FR", "2013-12-31T12:00:00Z", 1960},
	}
	for _, test := range tests {
		at, err := time.Parse(time.RFC3339, test.at)
		if err != nil {
			t.Fatal(err)
		}
		if got, known := rates.Rate(test.country, "", at); !known || got.BasisPoints != test.want {
			t.Errorf("%s at %s: %+v, want %d", test.country, test.at, got, test.want)
		}
	}
}

func TestRates_CoverExactlyTheMemberStates(t *testing.T) {
	t.Parallel()
	rates, err := EmbeddedRates()
	if err != nil {
		t.Fatal(err)
	}
	states := strings.Fields("AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK")
	for _, country := range append(states, "MC") {
		if rate, known := rates.Rate(country, "", today); !known || rate.Outside || rate.BasisPoints < 1500 || rate.BasisPoints > 2700 {
			t.Errorf("%s: %+v, %t", country, rate, known)
		}
	}
	if len(rates.byCountry) != len(states)+1 {
		t.Errorf("%d countries have rates, want the %d member states and Monaco", len(rates.byCountry), len(states))
	}
}

func TestParseRates_RejectsMalformedRows(t *testing.T) {
	t.Parallel()
	for _, row := range []string{"DEU,,19,,", "DE,1.1.2021,19,,", "DE,,190,,", "DE,,-1,,", "DE,,19.123,,", "DE,,,,", "DE,,19,6993-6991,", "DE,,19,699-6991,", "DE,,19,6x,", "DE,,19,"} {
		if _, err := parseRates(strings.NewReader("country,from,rate,postcodes,place\n" + row + "\n")); err == nil {
			t.Errorf("%q: no error", row)
		}
	}
}

func TestAssess_CanceledContextIsAnError(t *testing.T) {
	t.Parallel()
	a, _ := newAssessor(t, false)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Assess(ctx, Party{Country: "AT", VATID: "ATU12345679"}, []registrar.Cents{100}, today); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestAssess_LogsUncheckedVATIDWithoutItsValue(t *testing.T) {
	t.Parallel()
	a, _ := newAssessor(t, false)
	var log strings.Builder
	a.Logger = slog.New(slog.NewTextHandler(&log, nil))
	if _, err := a.Assess(t.Context(), Party{Country: "AT", VATID: "ATU12345679"}, nil, today); err != nil {
		t.Fatal(err)
	}
	if text := log.String(); !strings.Contains(text, "reason=timeout") || strings.Contains(text, "12345679") {
		t.Errorf("log: %q", text)
	}
}

func TestSplitVAT_RoundsOnceOverTheSum(t *testing.T) {
	t.Parallel()
	tests := []struct {
		nets []registrar.Cents
		rate int
		want []registrar.Cents
	}{
		{[]registrar.Cents{690}, 1900, []registrar.Cents{131}},                     // 131.1
		{[]registrar.Cents{50}, 1900, []registrar.Cents{10}},                       // 9.5, half-up
		{[]registrar.Cents{690, 690, 690}, 1900, []registrar.Cents{131, 131, 131}}, // 393.3
		{[]registrar.Cents{13, 13, 13, 13}, 1900, []registrar.Cents{3, 3, 2, 2}},   // 9.88: not 4 times 2.47
		{[]registrar.Cents{1, 1, 1}, 1900, []registrar.Cents{1, 0, 0}},             // 0.57
		{[]registrar.Cents{0, 50, 0}, 1900, []registrar.Cents{0, 10, 0}},
		{[]registrar.Cents{0, 0}, 1900, []registrar.Cents{0, 0}},
		{[]registrar.Cents{690}, 0, []registrar.Cents{0}},
		{nil, 1900, nil},
	}
	for _, test := range tests {
		if got, err := SplitVAT(test.nets, test.rate); err != nil || !slices.Equal(got, test.want) {
			t.Errorf("SplitVAT(%v, %d) = %v, %v; want %v", test.nets, test.rate, got, err, test.want)
		}
	}
	for _, nets := range [][]registrar.Cents{{-1}, {maxNet, 1}, {1 << 62}} {
		if _, err := SplitVAT(nets, 1900); registrar.CodeOf(err) != BadNet {
			t.Errorf("SplitVAT(%v) = %v", nets, err)
		}
	}
}

func FuzzSplitVAT(f *testing.F) {
	f.Add(uint16(1900), uint32(690), uint32(1290), uint32(0), uint8(20))
	f.Add(uint16(2550), uint32(1), uint32(1), uint32(1), uint8(3))
	f.Add(uint16(10000), uint32(1<<31), uint32(7), uint32(99), uint8(255))
	f.Fuzz(func(t *testing.T, rate uint16, a, b, c uint32, count uint8) {
		if rate > 10_000 {
			return
		}
		nets := make([]registrar.Cents, count)
		var sum registrar.Cents
		for i := range nets {
			nets[i] = registrar.Cents([]uint32{a, b, c}[i%3]>>(i%5)) + registrar.Cents(i)
			sum += nets[i]
		}
		shares, err := SplitVAT(nets, int(rate))
		if err != nil {
			t.Fatal(err)
		}
		var total registrar.Cents
		for i, share := range shares {
			total += share
			// Exact is net*rate/10000; a share is less than a cent away from it.
			if off := share*10_000 - nets[i]*registrar.Cents(rate); share < 0 || off <= -10_000 || off >= 10_000 {
				t.Fatalf("the share of %d at %d is %d", nets[i], rate, share)
			}
		}
		// Half-up: 2*total-1 <= 2*exact < 2*total+1, in ten-thousandths of a cent.
		exact := sum * registrar.Cents(rate)
		if off := exact - total*10_000; off < -5_000 || off >= 5_000 {
			t.Fatalf("the shares of %d at %d add up to %d", sum, rate, total)
		}
	})
}
