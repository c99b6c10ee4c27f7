package contract

import (
	"net/http"
	"strings"
	"testing"
)

// badNames violate each rule about names.
var badNames = []struct{ rule, name string }{
	{"empty", ""},
	{"white space alone", " \t\n"},
	{"no extension", "kaffeehaus"},
	{"more than one label", "www.example.com"},
	{"more than one label before .co.uk", "www.example.co.uk"},
	{"a customer of .io is no extension", "foo.github.io"},
	{"a bare extension", "de"},
	{"a bare extension with its dot", ".de"},
	{"a bare extension of two labels", "co.uk"},
	{"an empty label", "foo..de"},
	{"an empty first label", ".foo.de"},
	{"two trailing dots", "foo.de.."},
	{"a dot alone", "."},
	{"a label over 63 octets", strings.Repeat("a", 64) + ".de"},
	{"an A-label over 63 octets", strings.Repeat("ü", 60) + ".de"},
	{"a name over 253 octets", strings.Repeat("abcdefg.", 32) + "de"},
	{"a hyphen first", "-foo.de"},
	{"a hyphen last", "foo-.de"},
	{"hyphens at 3 and 4", "fo--o.de"},
	{"hyphens at 3 and 4 with an umlaut", "fö--o.de"},
	{"xn-- of nothing", "xn--.de"},
	{"xn-- of no Punycode", "xn--zzzzzzz99.de"},
	{"xn-- of plain letters", "xn--kaffeehaus-.de"},
	{"an underscore", "foo_bar.de"},
	{"an IPv4 address", "192.0.2.1"},
	{"an IPv6 address", "2001:db8::1"},
	{"an IPv6 address in brackets", "[2001:db8::1]"},
	{"a URL", "https://foo.de"},
	{"a path", "foo.de/bar"},
	{"a query", "foo.de?bar"},
	{"a port", "foo.de:443"},
	{"an e-mail address", "foo@bar.de"},
	{"a control character", "fo\x00o.de"},
	{"a line break", "fo\no.de"},
	{"an escape", "fo\x1b[31mo.de"},
	{"a control character beyond ASCII", "fo\u0085o.de"},
	{"a space", "fo o.de"},
	{"a space beyond ASCII", "fo\u00a0o.de"},
	{"a symbol", "☃.de"},
	{"an exclamation mark", "foo!.de"},
	{"a joiner that joins nothing", "l\u200dl.de"},
	{"a combining mark first", "\u0301a.de"},
	{"directions that do not mix", "א1a.de"},
}

func TestCheck_InvalidNameIs400WithReason(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		sentences := make(map[string]bool)
		for _, test := range badNames {
			got := newCaller(t, on).check(test.name)
			wantErrorResponse(t, test.rule, got, http.StatusBadRequest)
			sentences[got.text("error")] = true
		}
		// Each rule has its own message.
		if len(sentences) < 15 {
			t.Errorf("%d rules have %d different messages", len(badNames), len(sentences))
		}
	})
}

func TestCheck_LongestAllowedNamesAreAnswered(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		for _, domain := range []string{strings.Repeat("a", 63) + ".de", "a--b.de", "1.de", "x-" + marker + "-9.de"} {
			wantResponse(t, domain, newCaller(t, on).check(domain), http.StatusOK, wantFields{
				"domain": `"` + domain + `"`, "available": "true",
			})
		}
	})
}

// endpoints are the two paths with their required field.
var endpoints = []struct{ path, field, value string }{
	{checkPath, "domain", "google.de"},
	{searchPath, "query", "google.de"},
}

const maxBody = 16 << 10

func TestBody_InvalidIs400(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		for _, end := range endpoints {
			good := object(end.field, end.value)
			for _, test := range []struct{ rule, body, contentType string }{
				{"empty", "", ""},
				{"empty with a JSON type", "", "application/json"},
				{"broken JSON", `{"` + end.field + `":"google.de"`, ""},
				{"not JSON", end.field + "=google.de", ""},
				{"trailing data", good + good, ""},
				{"trailing letters", good + "x", ""},
				{"an array", "[" + good + "]", ""},
				{"null", "null", ""},
				{"a string", `"google.de"`, ""},
				{"a number", "7", ""},
				{"the field is missing", `{}`, ""},
				{"another field", `{"name":"google.de"}`, ""},
				{"the field is null", `{"` + end.field + `":null}`, ""},
				{"the field is a number", `{"` + end.field + `":7}`, ""},
				{"the field is an array", `{"` + end.field + `":["google.de"]}`, ""},
				{"the field is an object", `{"` + end.field + `":{}}`, ""},
				{"the key in upper case", `{"` + strings.ToUpper(end.field[:1]) + end.field[1:] + `":"google.de"}`, ""},
				{"a byte order mark", "\ufeff" + good, ""},
				{"too large by one byte", padded(good, maxBody+1), ""},
				{"far too large", padded(good, 1<<20), ""},
				{"plain text", good, "text/plain"},
				{"a form", good, "application/x-www-form-urlencoded"},
				{"another JSON", good, "application/json-patch+json"},
				{"no media type", good, ";;"},
			} {
				r := request{path: end.path, body: test.body, invalid: true}
				if test.contentType != "" {
					r.header = map[string]string{"Content-Type": test.contentType}
				}
				wantErrorResponse(t, end.path+": "+test.rule, newCaller(t, on).send(r), http.StatusBadRequest)
			}
		}
	})
}

// padded pads body with white space.
func padded(body string, length int) string {
	return body + strings.Repeat(" ", length-len(body))
}

func TestBody_ValidVariantsAreAccepted(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		for _, end := range endpoints {
			good := object(end.field, end.value)
			for _, test := range []struct{ rule, body, contentType string }{
				{"no content type", good, ""},
				{"JSON", good, "application/json"},
				{"JSON in upper case", good, "Application/JSON"},
				{"with a character set", good, "application/json; charset=utf-8"},
				{"unknown fields", strings.Replace(good, "{", `{"x":{"y":[1,null]},"Domain":7,"Query":7,`, 1), ""},
				{"white space around", "\r\n\t " + good + " \n", ""},
				{"escapes", strings.Replace(good, "google", `\u0067oogl\u0065`, 1), ""},
				{"as large as allowed", padded(good, maxBody), ""},
			} {
				got := newCaller(t, on).send(request{
					path: end.path, body: test.body, invalid: test.contentType == "",
					header: map[string]string{"Content-Type": test.contentType},
				})
				wantResponse(t, end.path+": "+test.rule, got, http.StatusOK, nil)
				if !strings.Contains(string(got.body), `"domain":"google.de","tld":".de","available":false`) {
					t.Errorf("%s: %s: got %s", end.path, test.rule, got)
				}
			}
		}
	})
}
