package contract

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"
)

// searched are the extensions of a search without one, with their prices.
var searched = []struct{ tld, price string }{
	{".de", "6.90"},
	{".com", "12.90"},
	{".eu", "7.90"},
	{".net", "14.90"},
	{".org", "13.90"},
	{".shop", "33.90"},
	{".io", "54.90"},
	{".dev", "14.90"},
}

// entries are the results of a search, each field byte for byte.
func entries(t *testing.T, label string, got answer) []map[string]json.RawMessage {
	t.Helper()
	mustBe(t, label, got, http.StatusOK, nil)
	onlyFields(t, label, got.fields, "sld", "results")
	var list []map[string]json.RawMessage
	if err := json.Unmarshal(got.fields["results"], &list); err != nil {
		t.Errorf("%s: %v in %s", label, err, got)
	}
	for _, entry := range list {
		onlyFields(t, label, entry,
			"domain", "tld", "available", "priceEur", "error", "checkedAt", "source", "reason", "premium",
			"restoreEur", "minYears", "requires", "orderable", "orderableReason")
	}
	return list
}

// entryMustBe compares the named fields of one entry, byte for byte.
func entryMustBe(t *testing.T, label string, entry map[string]json.RawMessage, want fields) {
	t.Helper()
	for key, value := range want {
		if text := string(entry[key]); text != value {
			t.Errorf("%s: %s is %q, want %q", label, key, text, value)
		}
	}
}

func TestASearchWithoutExtensionAnswersForEightInOrder(t *testing.T) {
	onBoth(t, func(t *testing.T, on *target) {
		for _, test := range []struct{ query, sld, available string }{
			{"google", "google", "false"},
			{"  GooGle ", "google", "false"},
			{secret + "-Neu9", secret + "-neu9", "true"},
			{"unknown-" + secret, "unknown-" + secret, "null"},
		} {
			got := from(t, on).search(test.query)
			list := entries(t, test.query, got)
			if got.text("sld") != test.sld || len(list) != len(searched) {
				t.Errorf("%s: got %s", test.query, got)
				continue
			}
			for i, want := range searched {
				entryMustBe(t, test.query, list[i], fields{
					"domain": `"` + test.sld + want.tld + `"`, "tld": `"` + want.tld + `"`,
					"available": test.available, "priceEur": want.price, "error": "",
				})
			}
		}
	})
}

func TestASearchWithoutADotIsForAName(t *testing.T) {
	onBoth(t, func(t *testing.T, on *target) {
		for _, query := range []string{"shop", "SHOP", "de"} {
			if list := entries(t, query, from(t, on).search(query)); len(list) != len(searched) {
				t.Errorf("%q was answered with %d entries, want %d", query, len(list), len(searched))
			}
		}
	})
}

func TestASearchWithAnExtensionAnswersForThatOneAlone(t *testing.T) {
	onBoth(t, func(t *testing.T, on *target) {
		for _, test := range []struct {
			query, sld string
			want       fields
		}{
			{"google.de", "google", fields{
				"domain": `"google.de"`, "tld": `".de"`, "available": "false", "priceEur": "6.90", "error": "",
			}},
			{"GOOGLE.CO.UK", "google", fields{"domain": `"google.co.uk"`, "tld": `".co.uk"`, "available": "false", "priceEur": "7.90"}},
			{secret + "-allein.berlin", secret + "-allein", fields{"tld": `".berlin"`, "available": "true", "priceEur": "54.90"}},
			{"google.рус", "google", fields{"tld": `".xn--p1acf"`, "available": "false"}},
			{"gold.shop", "gold", fields{"available": "true", "priceEur": "null", "premium": "true", "error": ""}},
			{"nic.dev", "nic", fields{"available": "false", "error": ""}},
		} {
			got := from(t, on).search(test.query)
			list := entries(t, test.query, got)
			if got.text("sld") != test.sld || len(list) != 1 {
				t.Errorf("%s: got %s", test.query, got)
				continue
			}
			entryMustBe(t, test.query, list[0], test.want)
		}
	})
}

func TestASearchUnderAnExtensionThatIsNotCarriedIsAnEntryWithError(t *testing.T) {
	onBoth(t, func(t *testing.T, on *target) {
		for query, tld := range map[string]string{"google.zz": ".zz", "Google.com.au": ".com.au"} {
			list := entries(t, query, from(t, on).search(query))
			if len(list) != 1 {
				t.Errorf("%s: %d entries, want 1", query, len(list))
				continue
			}
			entryMustBe(t, query, list[0], fields{
				"domain": `"google` + tld + `"`, "tld": `"` + tld + `"`,
				"available": "null", "priceEur": "null", "error": "true",
			})
		}
	})
}

func TestAFailureInsideASearchStaysInItsEntry(t *testing.T) {
	onBothInTrouble(t, func(t *testing.T, on *target) {
		together([]string{"timeout", "refused", "garbled", "throttled"}, func(way string) {
			label := way + "-" + secret + "-suche"
			got := from(t, on).search(label)
			list := entries(t, label, got)
			if len(list) != len(searched) {
				t.Errorf("%s: got %s", label, got)
			}
			for _, entry := range list {
				entryMustBe(t, label, entry, fields{"available": "null", "priceEur": "null", "error": "true"})
			}
			if got.took > answersWithin {
				t.Errorf("%s: the answer took %s", label, got.took)
			}
		})
	})
}

// Names that a check accepts, or finds fault with in its own way.
var badQueries = []string{"bücher", "bücher.de", "ａｂｃ", "foo bar", "foo_bar", "straße.com"}

func TestABadSearchIs400(t *testing.T) {
	onBoth(t, func(t *testing.T, on *target) {
		// Without a dot these are names, and only a check misses the extension.
		namesToASearch := []string{"kaffeehaus", "de"}
		for _, test := range badNames {
			if !slices.Contains(namesToASearch, test.name) {
				mustRefuse(t, test.rule, from(t, on).search(test.name), http.StatusBadRequest)
			}
		}
		for _, query := range badQueries {
			mustRefuse(t, query, from(t, on).search(query), http.StatusBadRequest)
		}
	})
}
