package contract

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// checkFields is everything that a CheckResult may hold: the contract's fields,
// and the additions that were decided.
var checkFields = []string{
	"domain", "tld", "available", "registerEur", "renewEur", "transferEur",
	"checkedAt", "source", "reason", "premium",
	"restoreEur", "minYears", "requires", "orderable", "orderableReason",
}

// answersWithin is the contract's bound of six seconds, and the way there and
// back on a machine that has other things to do.
const answersWithin = 6500 * time.Millisecond

func TestACheckSaysWhetherTheNameIsFreeAndWhatItCosts(t *testing.T) {
	onBoth(t, func(t *testing.T, on *target) {
		for _, test := range []struct {
			label, domain string
			want          fields
		}{
			{"free", secret + "-frei.de", fields{
				"domain": `"` + secret + `-frei.de"`, "tld": `".de"`, "available": "true",
				"registerEur": "6.90", "renewEur": "5.90", "transferEur": "5.90",
			}},
			{"free, without a decimal of its own", secret + "-frei.at", fields{
				"tld": `".at"`, "available": "true", "registerEur": "12.90", "transferEur": "0.00", "source": `"epp"`,
			}},
			{"taken", "google.de", fields{
				"domain": `"google.de"`, "tld": `".de"`, "available": "false", "reason": `"registered"`,
				"registerEur": "6.90", "renewEur": "5.90", "transferEur": "5.90",
			}},
			{"not to be determined", "unknown-" + secret + ".de", fields{
				"domain": `"unknown-` + secret + `.de"`, "tld": `".de"`, "available": "null", "reason": `"unknown"`,
				"registerEur": "6.90", "renewEur": "5.90", "transferEur": "5.90",
			}},
			{"no source but the DNS, delegated", "google.gr", fields{"available": "false", "source": `"dns"`}},
			{"no source but the DNS, not delegated", secret + "-frei.gr", fields{
				"available": "null", "registerEur": "9.90", "transferEur": "0.00",
			}},
			{"an extension of two labels", secret + "-frei.co.uk", fields{"tld": `".co.uk"`, "available": "true"}},
		} {
			got := from(t, on).check(test.domain)
			mustBe(t, test.label, got, http.StatusOK, test.want)
			onlyFields(t, test.label, got.fields, checkFields...)
			if _, err := time.Parse(time.RFC3339, got.text("checkedAt")); err != nil {
				t.Errorf("%s: checkedAt: %v", test.label, err)
			}
		}
	})
}

func TestACheckTellsWhetherTheNameCanBeOrdered(t *testing.T) {
	onBoth(t, func(t *testing.T, on *target) {
		for _, test := range []struct {
			label, domain string
			want          fields
		}{
			{"sold", secret + "-frei.de", fields{"orderable": "true", "orderableReason": "", "restoreEur": "17.90", "minYears": "", "requires": ""}},
			{"sold for two years at once", secret + "-frei.ai", fields{"orderable": "true", "registerEur": "87.90", "minYears": "2", "restoreEur": "290.90"}},
			{"sold to residents", secret + "-frei.eu", fields{"orderable": "true", "requires": `"eu_presence"`}},
			{"a rule that can't be met", secret + "-frei.it", fields{
				"available": "true", "orderable": "false", "orderableReason": `"not_eligible"`, "requires": `"it_tax_id"`,
			}},
			{"no registry account", secret + "-frei.gr", fields{"orderable": "false", "orderableReason": `"no_registry_account"`}},
			{"taken, can be transferred", "google.de", fields{"available": "false", "orderable": "true"}},
			{"reserved", "nic.dev", fields{"available": "false", "orderable": "false", "orderableReason": `"name_reserved"`}},
			{"premium", "gold.shop", fields{"available": "true", "orderable": "false", "orderableReason": `"name_premium"`, "restoreEur": ""}},
		} {
			got := from(t, on).check(test.domain)
			mustBe(t, test.label, got, http.StatusOK, test.want)
			onlyFields(t, test.label, got.fields, checkFields...)
		}
	})
}

func TestACheckAcceptsANameAsPeopleWriteIt(t *testing.T) {
	onBoth(t, func(t *testing.T, on *target) {
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
			got := from(t, on).check(test.asked)
			mustBe(t, test.label, got, http.StatusOK, fields{
				"domain": `"` + test.domain + `"`, "tld": `"` + test.tld + `"`, "available": "false",
			})
		}
		got := from(t, on).check("foo.рус")
		mustBe(t, "free under a Cyrillic extension", got, http.StatusOK, fields{
			"domain": `"foo.рус"`, "tld": `".xn--p1acf"`, "available": "true", "registerEur": "12.90",
		})
	})
}

func TestAnExtensionThatIsNotCarriedIsToldVerbatim(t *testing.T) {
	onBoth(t, func(t *testing.T, on *target) {
		for _, test := range []struct{ asked, tld string }{
			{"example.zz", ".zz"},
			{"  ExAmple.ZZ ", ".zz"},
			{"example.zz.", ".zz"},
			{"example.com.au", ".com.au"},
			{"www.foo.zz", ".zz"},
			{"a.b.c.co.jp", ".co.jp"},
			{"Bücher.рф", ".xn--p1ai"},
		} {
			got := from(t, on).check(test.asked)
			mustBe(t, test.asked, got, http.StatusOK, fields{"tld": `"` + test.tld + `"`, "supported": "false"})
			onlyFields(t, test.asked, got.fields, "domain", "tld", "supported")
			if got.text("domain") != test.asked {
				t.Errorf("%q was not given back as it came: %s", test.asked, got)
			}
		}
	})
}

func TestNoSourceIsAskedForAnExtensionThatIsNotCarried(t *testing.T) {
	t.Parallel()
	on := ownServe(t, "unsupported")
	const asked = "dotkontor_lookup_source_duration_seconds_count"
	client := from(t, on)
	for _, domain := range []string{"google.zz", "timeout-" + secret + ".zz", "www.google.com.au"} {
		mustBe(t, domain, client.check(domain), http.StatusOK, fields{"supported": "false"})
	}
	mustBe(t, "search", client.search("google.zz"), http.StatusOK, nil)
	if text := metricsOf(t, on); strings.Contains(text, asked) {
		t.Errorf("a source was asked:\n%s", linesWith(text, asked))
	}
	// The same measure moves once there is something to ask.
	mustBe(t, "google.de", client.check("google.de"), http.StatusOK, fields{"available": "false"})
	if text := metricsOf(t, on); !strings.Contains(text, asked) {
		t.Error("the metrics do not show questions to sources, so they prove nothing")
	}
}

func TestWhatCannotBeRegisteredIsNeverCalledFree(t *testing.T) {
	onBoth(t, func(t *testing.T, on *target) {
		for domain, available := range map[string]string{
			"nic.dev":       "false", // withheld by ICANN's rules; RDAP has no record of it
			"whois.shop":    "false",
			"d.dev":         "false", // one letter: only the registry can tell
			"reserved.shop": "false",
			"reserviert.de": "false",
			// Registered without nameservers, so to the DNS they look free.
			"ohne-dns.com":          "false",
			"ohne-dns.de":           "false",
			"ohne-dns.eu":           "false",
			"ohne-dns.at":           "false",
			"ohne-dns.dev":          "false",
			"parked-without-dns.io": "false",
			"ohne-dns.gr":           "null", // there is no other source than the DNS
		} {
			mustBe(t, domain, from(t, on).check(domain), http.StatusOK, fields{"available": available})
		}
	})
}

func TestAPremiumNameIsFreeWithoutAListPrice(t *testing.T) {
	onBoth(t, func(t *testing.T, on *target) {
		for _, domain := range []string{"gold.shop", "premium-" + secret + ".com", "casino.dev"} {
			got := from(t, on).check(domain)
			mustBe(t, domain, got, http.StatusOK, fields{
				"available": "true", "premium": "true", "reason": `"premium"`,
				"registerEur": "", "renewEur": "", "transferEur": "",
			})
		}
	})
}

// One extension for each way of asking.
var extensionsBySource = map[string]string{
	".dev": "RDAP alone", ".com": "RDAP and WHOIS", ".eu": "WHOIS alone", ".gr": "the DNS alone",
}

func TestAFailureOfAllSourcesIs502WithTheDomainWithinSixSeconds(t *testing.T) {
	onBothInTrouble(t, func(t *testing.T, on *target) {
		var domains []string
		for tld := range extensionsBySource {
			for _, way := range []string{"timeout", "refused", "garbled", "throttled"} {
				domains = append(domains, way+"-"+secret+tld)
			}
		}
		together(domains, func(domain string) {
			got := from(t, on).check(strings.ToUpper(domain))
			mustRefuse(t, domain, got, http.StatusBadGateway)
			mustBe(t, domain, got, http.StatusBadGateway, fields{"domain": `"` + domain + `"`})
			if got.took > answersWithin {
				t.Errorf("%s: the answer took %s", domain, got.took)
			}
		})
	})
}

func TestSourcesThatDoNotDecideAreNoFailure(t *testing.T) {
	onBoth(t, func(t *testing.T, on *target) {
		for tld, sources := range extensionsBySource {
			got := from(t, on).check("unknown-" + secret + "-2" + tld)
			mustBe(t, sources, got, http.StatusOK, fields{"tld": `"` + tld + `"`, "available": "null"})
			onlyFields(t, sources, got.fields, checkFields...)
		}
	})
}
