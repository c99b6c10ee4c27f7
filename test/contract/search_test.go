package contract

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"
)

// searchedTLDs are the default extensions of a search, with prices.
var searchedTLDs = []struct{ tld, price string }{
	{".de", "6.90"},
	{".com", "12.90"},
	{".eu", "7.90"},
	{".net", "14.90"},
	{".org", "13.90"},
	{".shop", "33.90"},
	{".io", "54.90"},
	{".dev", "14.90"},
}

// entries returns the results of a search with raw fields.
func entries(t *testing.T, label string, got apiResponse) []map[string]json.RawMessage {
	t.Helper()
	wantResponse(t, label, got, http.StatusOK, nil)
	wantOnlyFields(t, label, got.fields, "sld", "results")
	var list []map[string]json.RawMessage
	if err := json.Unmarshal(got.fields["results"], &list); err != nil {
		t.Errorf("%s: %v in %s", label, err, got)
	}
	for _, entry := range list {
		wantOnlyFields(t, label, entry,
			"domain", "tld", "available", "priceEur", "error", "checkedAt", "source", "reason", "premium",
			"restoreEur", "minYears", "requires", "orderable", "orderableReason")
	}
	return list
}

// wantEntry compares named fields of an entry byte for byte.
func wantEntry(t *testing.T, label string, entry map[string]json.RawMessage, want wantFields) {
	t.Helper()
	for key, value := range want {
		if text := string(entry[key]); text != value {
			t.Errorf("%s: %s is %q, want %q", label, key, text, value)
		}
	}
}

func TestSearch_WithoutExtensionReturnsEightInOrder(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		for _, test := range []struct{ query, sld, available string }{
			{"google", "google", "false"},
			{"  GooGle ", "google", "false"},
			{marker + "-Neu9", marker + "-neu9", "true"},
			{"unknown-" + marker, "unknown-" + marker, "null"},
		} {
			got := newCaller(t, on).search(test.query)
			list := entries(t, test.query, got)
			if got.text("sld") != test.sld || len(list) != len(searchedTLDs) {
				t.Errorf("%s: got %s", test.query, got)
				continue
			}
			for i, want := range searchedTLDs {
				wantEntry(t, test.query, list[i], wantFields{
					"domain": `"` + test.sld + want.tld + `"`, "tld": `"` + want.tld + `"`,
					"available": test.available, "priceEur": want.price, "error": "",
				})
			}
		}
	})
}

func TestSearch_WithoutDotIsALabel(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		for _, query := range []string{"shop", "SHOP", "de"} {
			if list := entries(t, query, newCaller(t, on).search(query)); len(list) != len(searchedTLDs) {
				t.Errorf("%q got %d entries, want %d", query, len(list), len(searchedTLDs))
			}
		}
	})
}

func TestSearch_WithExtensionReturnsOneEntry(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		for _, test := range []struct {
			query, sld string
			want       wantFields
		}{
			{"google.de", "google", wantFields{
				"domain": `"google.de"`, "tld": `".de"`, "available": "false", "priceEur": "6.90", "error": "",
			}},
			{"GOOGLE.CO.UK", "google", wantFields{"domain": `"google.co.uk"`, "tld": `".co.uk"`, "available": "false", "priceEur": "7.90"}},
			{marker + "-allein.berlin", marker + "-allein", wantFields{"tld": `".berlin"`, "available": "true", "priceEur": "54.90"}},
			{"google.рус", "google", wantFields{"tld": `".xn--p1acf"`, "available": "false"}},
			{"gold.shop", "gold", wantFields{"available": "true", "priceEur": "2750.00", "premium": "true", "error": ""}},
			{"nic.dev", "nic", wantFields{"available": "false", "error": ""}},
		} {
			got := newCaller(t, on).search(test.query)
			list := entries(t, test.query, got)
			if got.text("sld") != test.sld || len(list) != 1 {
				t.Errorf("%s: got %s", test.query, got)
				continue
			}
			wantEntry(t, test.query, list[0], test.want)
		}
	})
}

func TestSearch_UnlistedExtensionIsEntryWithError(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		for query, tld := range map[string]string{"google.zz": ".zz", "Google.com.au": ".com.au"} {
			list := entries(t, query, newCaller(t, on).search(query))
			if len(list) != 1 {
				t.Errorf("%s: %d entries, want 1", query, len(list))
				continue
			}
			wantEntry(t, query, list[0], wantFields{
				"domain": `"google` + tld + `"`, "tld": `"` + tld + `"`,
				"available": "null", "priceEur": "null", "error": "true",
			})
		}
	})
}

func TestSearch_FailureStaysInItsEntry(t *testing.T) {
	onFaultyTargets(t, func(t *testing.T, on *target) {
		inParallel([]string{"timeout", "refused", "garbled", "throttled"}, func(way string) {
			label := way + "-" + marker + "-suche"
			got := newCaller(t, on).search(label)
			list := entries(t, label, got)
			if len(list) != len(searchedTLDs) {
				t.Errorf("%s: got %s", label, got)
			}
			for _, entry := range list {
				wantEntry(t, label, entry, wantFields{"available": "null", "priceEur": "null", "error": "true"})
			}
			if got.took > responseLimit {
				t.Errorf("%s: the response took %s", label, got.took)
			}
		})
	})
}

// Names that a check accepts or rejects differently.
var badQueries = []string{"bücher", "bücher.de", "ａｂｃ", "foo bar", "foo_bar", "straße.com"}

func TestSearch_InvalidQueryIs400(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		// Without a dot these are valid for a search; a check requires the extension.
		namesToASearch := []string{"kaffeehaus", "de"}
		for _, test := range badNames {
			if !slices.Contains(namesToASearch, test.name) {
				wantErrorResponse(t, test.rule, newCaller(t, on).search(test.name), http.StatusBadRequest)
			}
		}
		for _, query := range badQueries {
			wantErrorResponse(t, query, newCaller(t, on).search(query), http.StatusBadRequest)
		}
	})
}
