package contract

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// checkFields are the fields of a CheckResult: those of the contract and of decisions.md.
var checkFields = []string{
	"domain", "tld", "available", "registerEur", "renewEur", "transferEur",
	"checkedAt", "source", "reason", "premium",
	"restoreEur", "minYears", "requires", "orderable", "orderableReason",
}

// responseLimit is the contract's limit of six seconds, plus time for a busy machine.
const responseLimit = 6500 * time.Millisecond

func TestCheck_AvailabilityAndPrices(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		for _, test := range []struct {
			label, domain string
			want          wantFields
		}{
			{"free", marker + "-frei.de", wantFields{
				"domain": `"` + marker + `-frei.de"`, "tld": `".de"`, "available": "true",
				"registerEur": "6.90", "renewEur": "5.90", "transferEur": "5.90",
			}},
			{"available, without decimals", marker + "-frei.at", wantFields{
				"tld": `".at"`, "available": "true", "registerEur": "12.90", "transferEur": "0.00", "source": `"epp"`,
			}},
			{"taken", "google.de", wantFields{
				"domain": `"google.de"`, "tld": `".de"`, "available": "false", "reason": `"registered"`,
				"registerEur": "6.90", "renewEur": "5.90", "transferEur": "5.90",
			}},
			{"undetermined", "unknown-" + marker + ".de", wantFields{
				"domain": `"unknown-` + marker + `.de"`, "tld": `".de"`, "available": "null", "reason": `"unknown"`,
				"registerEur": "6.90", "renewEur": "5.90", "transferEur": "5.90",
			}},
			{"no source but the DNS, delegated", "google.gr", wantFields{"available": "false", "source": `"dns"`}},
			{"no source but the DNS, not delegated", marker + "-frei.gr", wantFields{
				"available": "null", "registerEur": "9.90", "transferEur": "0.00",
			}},
			{"an extension of two labels", marker + "-frei.co.uk", wantFields{"tld": `".co.uk"`, "available": "true"}},
		} {
			got := newCaller(t, on).check(test.domain)
			wantResponse(t, test.label, got, http.StatusOK, test.want)
			wantOnlyFields(t, test.label, got.fields, checkFields...)
			if _, err := time.Parse(time.RFC3339, got.text("checkedAt")); err != nil {
				t.Errorf("%s: checkedAt: %v", test.label, err)
			}
		}
	})
}

func TestCheck_Orderable(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		for _, test := range []struct {
			label, domain string
			want          wantFields
		}{
			{"sold", marker + "-frei.de", wantFields{"orderable": "true", "orderableReason": "", "restoreEur": "", "minYears": "", "requires": ""}},
			{"sold for two years at once", marker + "-frei.ai", wantFields{"orderable": "true", "registerEur": "87.90", "minYears": "2", "restoreEur": "290.90"}},
			{"sold to residents", marker + "-frei.eu", wantFields{"orderable": "true", "requires": `"eu_presence"`}},
			{"a rule that can't be met", marker + "-frei.it", wantFields{
				"available": "true", "orderable": "false", "orderableReason": `"not_eligible"`, "requires": `"it_tax_id"`,
			}},
			{"no registry account", marker + "-frei.gr", wantFields{"orderable": "false", "orderableReason": `"no_registry_account"`}},
			{"taken, can be transferred", "google.de", wantFields{"available": "false", "orderable": "true"}},
			{"reserved", "nic.dev", wantFields{"available": "false", "orderable": "false", "orderableReason": `"name_reserved"`}},
			{"premium", "gold.shop", wantFields{"available": "true", "orderable": "true", "orderableReason": "", "registerEur": "2750.00", "restoreEur": "550.00"}},
		} {
			got := newCaller(t, on).check(test.domain)
			wantResponse(t, test.label, got, http.StatusOK, test.want)
			wantOnlyFields(t, test.label, got.fields, checkFields...)
		}
	})
}

func TestCheck_NormalizesInput(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		for _, test := range []struct{ label, asked, domain, tld string }{
			{"upper case", "GOOGLE.De", "google.de", ".de"},
			{"white space around", " \t google.de \n", "google.de", ".de"},
			{"trailing dot", "google.de.", "google.de", ".de"},
			{"umlaut", "bücher.de", "bücher.de", ".de"},
			{"umlaut in upper case", "BÜCHER.de", "bücher.de", ".de"},
			{"the same as A-label", "XN--Bcher-KVA.de", "xn--bcher-kva.de", ".de"},
			{"extension in Cyrillic", "google.рус", "google.рус", ".xn--p1acf"},
			{"extension as A-label", "google.XN--P1ACF", "google.xn--p1acf", ".xn--p1acf"},
		} {
			got := newCaller(t, on).check(test.asked)
			wantResponse(t, test.label, got, http.StatusOK, wantFields{
				"domain": `"` + test.domain + `"`, "tld": `"` + test.tld + `"`, "available": "false",
			})
		}
		got := newCaller(t, on).check("foo.рус")
		wantResponse(t, "free under a Cyrillic extension", got, http.StatusOK, wantFields{
			"domain": `"foo.рус"`, "tld": `".xn--p1acf"`, "available": "true", "registerEur": "12.90",
		})
	})
}

func TestCheck_UnlistedExtensionEchoesInput(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		for _, test := range []struct{ asked, tld string }{
			{"example.zz", ".zz"},
			{"  ExAmple.ZZ ", ".zz"},
			{"example.zz.", ".zz"},
			{"example.com.au", ".com.au"},
			{"www.foo.zz", ".zz"},
			{"a.b.c.co.jp", ".co.jp"},
			{"Bücher.рф", ".xn--p1ai"},
		} {
			got := newCaller(t, on).check(test.asked)
			wantResponse(t, test.asked, got, http.StatusOK, wantFields{"tld": `"` + test.tld + `"`, "supported": "false"})
			wantOnlyFields(t, test.asked, got.fields, "domain", "tld", "supported")
			if got.text("domain") != test.asked {
				t.Errorf("%q was not returned unchanged: %s", test.asked, got)
			}
		}
	})
}

func TestCheck_UnlistedExtensionQueriesNobody(t *testing.T) {
	t.Parallel()
	on := startOwnServe(t, "unsupported")
	const asked = "dotkontor_lookup_source_duration_seconds_count"
	client := newCaller(t, on)
	for _, domain := range []string{"google.zz", "timeout-" + marker + ".zz", "www.google.com.au"} {
		wantResponse(t, domain, client.check(domain), http.StatusOK, wantFields{"supported": "false"})
	}
	wantResponse(t, "search", client.search("google.zz"), http.StatusOK, nil)
	if text := readMetrics(t, on); strings.Contains(text, asked) {
		t.Errorf("a source was queried:\n%s", linesContaining(text, asked))
	}
	// The same metric changes for a listed extension.
	wantResponse(t, "google.de", client.check("google.de"), http.StatusOK, wantFields{"available": "false"})
	if text := readMetrics(t, on); !strings.Contains(text, asked) {
		t.Error("the metrics do not count queries to sources, so the test proves nothing")
	}
}

func TestCheck_UnregistrableNameIsNeverAvailable(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		for domain, available := range map[string]string{
			"nic.dev":       "false", // reserved by ICANN; RDAP has no record
			"whois.shop":    "false",
			"d.dev":         "false", // one letter: only the registry knows
			"reserved.shop": "false",
			"reserviert.de": "false",
			// Registered without nameservers, so DNS does not show them.
			"ohne-dns.com":          "false",
			"ohne-dns.de":           "false",
			"ohne-dns.eu":           "false",
			"ohne-dns.at":           "false",
			"ohne-dns.dev":          "false",
			"parked-without-dns.io": "false",
			"ohne-dns.gr":           "null", // DNS is the only source
		} {
			wantResponse(t, domain, newCaller(t, on).check(domain), http.StatusOK, wantFields{"available": available})
		}
	})
}

// The registry's fee and 10 %.
func TestCheck_PremiumNameHasItsOwnPrice(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		for domain, price := range map[string][2]string{
			"gold.shop": {"2750.00", "550.00"}, "premium-" + marker + ".com": {"275.00", "275.00"}, "casino.dev": {"2750.00", "550.00"}, "premium-" + marker + ".ai": {"275.00", "275.00"},
		} {
			got := newCaller(t, on).check(domain)
			wantResponse(t, domain, got, http.StatusOK, wantFields{
				"available": "true", "premium": "true", "reason": `"premium"`, "source": `"epp"`,
				"registerEur": price[0], "renewEur": price[1], "transferEur": price[1],
			})
		}
	})
}

// One extension for each kind of source.
var extensionsBySource = map[string]string{
	".dev": "RDAP alone", ".com": "RDAP and WHOIS", ".eu": "WHOIS alone", ".gr": "the DNS alone",
}

func TestCheck_AllSourcesFailingIs502WithinSixSeconds(t *testing.T) {
	onFaultyTargets(t, func(t *testing.T, on *target) {
		var domains []string
		for tld := range extensionsBySource {
			for _, way := range []string{"timeout", "refused", "garbled", "throttled"} {
				domains = append(domains, way+"-"+marker+tld)
			}
		}
		inParallel(domains, func(domain string) {
			got := newCaller(t, on).check(strings.ToUpper(domain))
			wantErrorResponse(t, domain, got, http.StatusBadGateway)
			wantResponse(t, domain, got, http.StatusBadGateway, wantFields{"domain": `"` + domain + `"`})
			if got.took > responseLimit {
				t.Errorf("%s: the response took %s", domain, got.took)
			}
		})
	})
}

func TestCheck_UndecidedSourcesAreNotAnError(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		for tld, sources := range extensionsBySource {
			got := newCaller(t, on).check("unknown-" + marker + "-2" + tld)
			wantResponse(t, sources, got, http.StatusOK, wantFields{"tld": `"` + tld + `"`, "available": "null"})
			wantOnlyFields(t, sources, got.fields, checkFields...)
		}
	})
}
