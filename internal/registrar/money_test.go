package registrar

import (
	"encoding/json"
	"errors"
	"testing"
)

func TestCents_TwoDecimalsBothWays(t *testing.T) {
	for text, want := range map[string]Cents{"0.00": 0, "6.90": 690, "12.05": 1205, "1234567.89": 123456789} {
		got, err := ParseCents(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("ParseCents(%q) = %d, %v, printed as %s", text, got, err, got)
		}
	}
	if got := Cents(-5).String(); got != "-0.05" {
		t.Errorf("-5 cents are printed as %s", got)
	}
	for text, want := range map[string]Cents{"0.00": 0, "6.90": 690, "-0.05": -5} {
		var got Cents
		written, err := json.Marshal(want)
		if err := errors.Join(err, json.Unmarshal(written, &got)); err != nil || string(written) != text || got != want {
			t.Errorf("%d is written as %s and read as %d: %v", want, written, got, err)
		}
	}
	for _, text := range []string{`6`, `6.9`, `"6.90"`, `1e2`, `null`, `--1.00`} {
		var got Cents
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is read as %d", text, got)
		}
	}
	for _, text := range []string{"", "6", "6.9", "6.900", ".90", "-1.00", "+1.00", "1e3.00", "1,00", "6.9O", "92233720368547758.07"} {
		if got, err := ParseCents(text); err == nil {
			t.Errorf("ParseCents(%q) = %d, want an error", text, got)
		}
	}
}

func TestCents_MarshalJSONNumberWithTwoDecimals(t *testing.T) {
	got, err := json.Marshal(struct{ Price Cents }{690})
	if err != nil || string(got) != `{"Price":6.90}` {
		t.Errorf("got %s, %v", got, err)
	}
}
