package order

import (
	"fmt"
	"slices"
	"testing"
)

func TestLookAlikes_WarnsOfConfusableNames(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		label, tld string
		want       []string
	}{
		{"laden", ".de", nil},
		{"paypal", ".de", nil}, // the well-known name itself
		{"paypa1", ".de", []string{"known_name paypal"}},
		{"paypla", ".de", []string{"known_name paypal"}},
		{"paypall", ".de", []string{"known_name paypal"}},
		{"payal", ".de", []string{"known_name paypal"}},
		{"g00gle", ".de", []string{"known_name google"}},
		{"rnicrosoft", ".de", []string{"known_name microsoft"}},
		{"xn--pypal-4ve", ".de", []string{"script ", "known_name paypal"}}, // a Cyrillic а
		{"xn--pypal-0na", ".de", []string{"known_name paypal"}},            // à
		{"xn--80ak6aa92e", ".com", []string{"script ", "known_name apple"}},
		{"xn--e1afmkfd", ".com", nil}, // пример: not confusable with Latin
		{"xn--mller-kva", ".de", nil}, // müller
		{"meinlanden", ".de", []string{"own_name meinladen.de"}},
		{"meinladen", ".com", nil},
		{"laden", ".co", []string{"extension laden.com"}},
		{"laden", ".cm", []string{"extension laden.com"}},
		{"al", ".de", nil}, // short names are one edit from everything
	} {
		var got []string
		for _, warning := range lookAlikes(tc.label, tc.tld, []string{"meinladen.de", "ab.de"}) {
			got = append(got, fmt.Sprint(warning.Kind, " ", warning.Similar))
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s%s: %q, want %q", tc.label, tc.tld, got, tc.want)
		}
	}
}
