package account

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func validRegistrant() Registrant {
	return Registrant{
		Kind: Person, Name: "Ada Lovelace", Street: "Am Deich 1", PostalCode: "20457", City: "Hamburg", Country: "DE",
		Phone: "+49 40 123456",
	}
}

func TestRegistrant_ReportsEveryProblemAtOnce(t *testing.T) {
	t.Parallel()
	_, err := Registrant{
		Kind: "robot", Name: " ", Organisation: strings.Repeat("x", 101), Street: "\x00", PostalCode: "1", City: "...",
		Country: "US", Phone: "call me", VATID: "DE123456789",
	}.normalise()
	var problems *FieldError
	if !errors.As(err, &problems) {
		t.Fatalf("got %v", err)
	}
	want := map[string]registrar.Code{
		FieldKind: FieldUnknown, FieldName: FieldMissing, FieldOrganisation: FieldTooLong, FieldStreet: FieldUnusable,
		FieldPostalCode: FieldForm, FieldCity: FieldUnusable, FieldState: FieldMissing, FieldPhone: FieldForm, FieldVATID: FieldForm,
	}
	if !maps.Equal(problems.Fields, want) {
		t.Errorf("got %v, want %v", problems.Fields, want)
	}
	if registrar.KindOf(err) != registrar.KindInvalid || registrar.CodeOf(err) != RegistrantInvalid {
		t.Errorf("the error is %v", err)
	}
}

func TestRegistrant_MissingCountryStillReportsMissingFields(t *testing.T) {
	t.Parallel()
	_, _, err := NormaliseRegistrant(Registrant{Kind: Person}, "")
	var problems *FieldError
	if !errors.As(err, &problems) {
		t.Fatalf("got %v", err)
	}
	want := map[string]registrar.Code{
		FieldName: FieldMissing, FieldEmail: FieldForm, FieldStreet: FieldMissing, FieldPostalCode: FieldMissing,
		FieldCity: FieldMissing, FieldCountry: FieldUnknown, FieldPhone: FieldMissing,
	}
	if !maps.Equal(problems.Fields, want) {
		t.Errorf("got %v, want %v", problems.Fields, want)
	}
}

func TestRegistrant_RequiredFieldsDependOnKindAndCountry(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*Registrant)
		field  string // empty: valid
		code   registrar.Code
	}{
		"person":                    {func(*Registrant) {}, "", ""},
		"company without its name":  {func(r *Registrant) { r.Kind = Company }, FieldOrganisation, FieldMissing},
		"Canada without a province": {func(r *Registrant) { r.Country, r.PostalCode = "CA", "k1a 0b1" }, FieldState, FieldMissing},
		"Hong Kong has no codes":    {func(r *Registrant) { r.Country, r.PostalCode = "HK", "" }, "", ""},
		"Germany has codes":         {func(r *Registrant) { r.PostalCode = "" }, FieldPostalCode, FieldMissing},
		"unknown country":           {func(r *Registrant) { r.Country = "XX" }, FieldCountry, FieldUnknown},
		"no phone":                  {func(r *Registrant) { r.Phone = "" }, FieldPhone, FieldMissing},
		"15 digits":                 {func(r *Registrant) { r.Phone = "+49 30 12345678901" }, "", ""},
		"16 digits":                 {func(r *Registrant) { r.Phone = "+49 30 123456789012" }, FieldPhone, FieldTooLong},
		"16 digits, domestic":       {func(r *Registrant) { r.Phone = "030 123456789012" }, FieldPhone, FieldTooLong},
		"many digits":               {func(r *Registrant) { r.Phone = "+49" + strings.Repeat(" 30", 40) }, FieldPhone, FieldTooLong},
		"a line break":              {func(r *Registrant) { r.City = "Ham\nburg" }, FieldCity, FieldUnusable},
	} {
		r := validRegistrant()
		c.change(&r)
		_, err := r.normalise()
		var problems *FieldError
		switch errors.As(err, &problems); {
		case c.field == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.field != "" && (problems == nil || len(problems.Fields) != 1 || problems.Fields[c.field] != c.code):
			t.Errorf("%s: got %v, want %s=%s", name, err, c.field, c.code)
		}
	}
}

func TestNormalisePostalCode_UsesCountryFormat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ country, typed, want string }{
		{"DE", "01067", "01067"},
		{"DE", "D-01067", "01067"},
		{"DE", "DE 01067", "01067"},
		{"DE", "1067", ""},
		{"DE", "0106A", ""},
		{"AT", "A-1010", "1010"},
		{"CH", "8001", "8001"},
		{"NL", "1017ab", "1017 AB"},
		{"PL", "00950", "00-950"},
		{"SE", "11455", "114 55"},
		{"GB", "sw1a1aa", "SW1A 1AA"},
		{"GB", "M1 1AE", "M1 1AE"},
		{"IE", "d02af30", "D02 AF30"},
		{"US", "90210", "90210"},
		{"US", "902101234", "90210-1234"},
		{"CA", "k1a 0b1", "K1A 0B1"},
		{"KE", "00100", "00100"},
		{"KE", "1", ""},
	} {
		if got, ok := normalisePostalCode(c.country, c.typed); ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%s %q: got %q, %v, want %q", c.country, c.typed, got, ok, c.want)
		}
	}
}

func TestFormatPhone_RoundTrips(t *testing.T) {
	t.Parallel()
	for stored, want := range map[string]string{
		"+49.4055501234": "+49 40 55501234", "+49.15112345678": "+49 151 12345678", "+49.8912345": "+49 89 12345",
		"+49.4101123456": "+49 4101123456", "+43.123456": "+43 1 23456", "+1.2125550100": "+1 2125550100", "+49.3012": "+49 3012",
		"": "", "?": "?",
	} {
		if got := FormatPhone(stored); got != want {
			t.Errorf("%s is shown as %q, want %q", stored, got, want)
		}
		if again, ok := normalisePhone("FR", want); ok != strings.HasPrefix(stored, "+") || ok && again != stored {
			t.Errorf("%q is read back as %q, %t", want, again, ok)
		}
	}
}

func TestNormalisePhone_ReturnsEPPForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ country, typed, want string }{
		{"DE", "+49 30 123456", "+49.30123456"},
		{"DE", "+49 (0)30 / 123-456", "+49.30123456"},
		{"DE", "0049 30 123456", "+49.30123456"},
		{"DE", "030 123456", "+49.30123456"},
		{"AT", "+49.30123456", "+49.30123456"},
		{"AT", "01 23456", "+43.123456"},
		{"IT", "06 1234567", "+39.061234567"},
		{"US", "1 (212) 555-0100", "+1.2125550100"},
		{"US", "212.555.0100", "+1.2125550100"},
		{"BS", "+1 242 555 0100", "+1.2425550100"},
		{"PT", "+351 21 1234567", "+351.211234567"},
		{"DE", "030", ""},
		{"DE", "+49", ""},
		{"DE", "+999 1234567", ""},
		{"DE", "30+123456", ""},
		{"DE", "030 12345x", ""},
	} {
		if got, ok := normalisePhone(c.country, c.typed); ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%s %q: got %q, %v, want %q", c.country, c.typed, got, ok, c.want)
		}
	}
}

func TestCallingCodes_NoCodeIsPrefixOfAnother(t *testing.T) {
	t.Parallel()
	codes := callingCodes()
	if len(codes) != 249 || len(Countries()) != 249 {
		t.Errorf("%d countries, ISO 3166-1 has 249", len(codes))
	}
	for a, x := range codes {
		for b, y := range codes {
			if x != y && strings.HasPrefix(y, x) {
				t.Errorf("the calling code of %s is a prefix of that of %s", a, b)
			}
		}
	}
	for _, list := range []string{countriesWithStates, countriesWithoutPostalCodes} {
		for country := range strings.FieldsSeq(list) {
			if codes[country] == "" {
				t.Errorf("%s is not a country", country)
			}
		}
	}
	for country := range postalCodes {
		if codes[country] == "" || strings.Contains(countriesWithoutPostalCodes, country) {
			t.Errorf("the form of postal codes of %s can't be used", country)
		}
	}
}

func TestNormalise_ForeignVATIDIsNotCalledInvalid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		country, id string
		want        registrar.Code
	}{
		{"GB", "GB999999973", FieldForeign},
		{"GB", "999999973", FieldForeign},
		{"GB", "XI12", FieldForm},
		{"CH", "CHE-123.456.789 MWST", FieldForeign},
		{"NO", "NO 123 456 789 MVA", FieldForeign},
		{"NO", "123456789MVA", FieldForeign},
		{"DE", "GB999999973", FieldForeign},
		{"DE", "DE123456789", FieldForm},
		{"GR", "123456789", FieldForm},
		{"DE", "ZZ123456789", FieldForm},
		{"DE", "G", FieldForm},
		{"", "123456789", FieldForm},
	} {
		var wrong *FieldError
		_, err := Registrant{Country: c.country, VATID: c.id}.normalise()
		if !errors.As(err, &wrong) || wrong.Fields[FieldVATID] != c.want {
			t.Errorf("%s in %q: %v, want %s", c.id, c.country, err, c.want)
		}
	}
}

func TestNormaliseVATID_ChecksCountryFormat(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ typed, want string }{
		{"DE136695976", "DE136695976"},
		{"de 136 695 976", "DE136695976"},
		{"DE136695975", ""}, // wrong check digit
		{"DE13669597", ""},
		{"ATU12345678", "ATU12345678"},
		{"AT12345678", ""},
		{"GR123456789", "EL123456789"},
		{"EL123456789", "EL123456789"},
		{"XI123456789", "XI123456789"},
		{"FRXX123456789", "FRXX123456789"},
		{"NL123456789B01", "NL123456789B01"},
		{"BE0123456789", "BE0123456789"},
		{"US123456789", ""},
		{"GB123456789", ""},
		{"DE", ""},
		{"", ""},
	} {
		if got, ok := normaliseVATID(c.typed); ok != (c.want != "") || ok && got != c.want {
			t.Errorf("%q: got %q, %v, want %q", c.typed, got, ok, c.want)
		}
	}
}
