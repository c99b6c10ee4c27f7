package rdap

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

var idn = registrar.NewName("xn--brche-lva", ".example")

// classifyCases are complete responses and their findings; broken means a fault.
var classifyCases = []struct {
	rule, contentType, body string
	status                  int
	name                    registrar.Name
	want                    lookup.State
	premium, broken         bool
	throttled, moved        bool
}{
	{rule: "domain object", status: 200, body: `{"objectClassName":"domain","ldhName":"KRANICH-CANARY-47.example.","entities":[{"vcardArray":["x"]}]}`, want: lookup.Registered},
	{rule: "class in other case", status: 200, body: `{"objectClassName":"Domain","ldhName":"kranich-canary-47.example"}`, want: lookup.Registered},
	{rule: "wrong media type, right JSON", status: 200, contentType: "text/html", body: `{"objectClassName":"domain","ldhName":"kranich-canary-47.example"}`, want: lookup.Registered},
	{rule: "no name in the object", status: 200, body: `{"objectClassName":"domain","status":["active"]}`, want: lookup.Registered},
	{rule: "name of another type", status: 200, body: `{"objectClassName":"domain","ldhName":7,"status":{"a":1},"nameservers":"x"}`, want: lookup.Registered},
	{rule: "byte order mark", status: 200, body: "\xef\xbb\xbf" + `{"objectClassName":"domain"}`, want: lookup.Registered},
	{rule: "A-label", status: 200, name: idn, body: `{"objectClassName":"domain","ldhName":"xn--brche-lva.example"}`, want: lookup.Registered},
	{rule: "U-label", status: 200, name: idn, body: `{"objectClassName":"domain","unicodeName":"Brüche.example"}`, want: lookup.Registered},
	{rule: "U-label in the wrong member", status: 200, name: idn, body: `{"objectClassName":"domain","ldhName":"brüche.example"}`, want: lookup.Registered},
	{rule: "reserved object", status: 200, body: `{"objectClassName":"domain","status":["reserved"]}`, want: lookup.Reserved},
	{rule: "blocked, but with nameservers", status: 200, body: `{"objectClassName":"domain","status":["blocked"],"nameservers":[{}]}`, want: lookup.Registered},
	{rule: "reserved among other statuses", status: 200, body: `{"objectClassName":"domain","status":["active","reserved"]}`, want: lookup.Registered},

	{rule: "another name", status: 200, body: `{"objectClassName":"domain","ldhName":"other.example"}`, broken: true},
	{rule: "another IDN", status: 200, name: idn, body: `{"objectClassName":"domain","unicodeName":"bräche.example"}`, broken: true},
	{rule: "another class", status: 200, body: `{"objectClassName":"nameserver","ldhName":"kranich-canary-47.example"}`, broken: true},
	{rule: "no class", status: 200, body: `{"ldhName":"kranich-canary-47.example"}`, broken: true},
	{rule: "error object with status 200", status: 200, body: `{"errorCode":404}`, broken: true},
	{rule: "web page with status 200", status: 200, contentType: "text/html", body: `<!doctype html><title>domain</title>`, broken: true},
	{rule: "list with status 200", status: 200, body: `[{"objectClassName":"domain"}]`, broken: true},
	{rule: "empty with status 200", status: 200, broken: true},
	{rule: "half an object", status: 200, body: `{"objectClassName":"domain"`, broken: true},
	{rule: "two objects", status: 200, body: `{"objectClassName":"domain"}{}`, broken: true},
	{rule: "depth bomb", status: 200, body: `{"objectClassName":"domain","entities":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, broken: true},

	{rule: "RDAP 404", status: 404, body: `{"errorCode":404,"title":"Not Found","description":["The domain was not found"]}`, want: lookup.NotFound},
	{rule: "RDAP 404, code as text", status: 404, body: `{"errorCode":"404","description":"nothing"}`, want: lookup.NotFound},
	{rule: "RDAP 404 known by its conformance", status: 404, body: `{"rdapConformance":["rdap_level_0"]}`, want: lookup.NotFound},
	{rule: "RDAP 404 as a web page's type", status: 404, contentType: "text/html", body: `{"errorCode":404}`, want: lookup.NotFound},
	{rule: "bare 404", status: 404, want: lookup.NotFound},
	{rule: "bare 404 of RDAP's type", status: 404, contentType: "application/rdap+json; charset=utf-8", want: lookup.NotFound},
	{rule: "bare 404 of JSON's type", status: 404, contentType: "application/json", body: " \n", want: lookup.NotFound},
	{rule: "bare 404 of a web page's type", status: 404, contentType: "text/html; charset=utf-8", want: lookup.Undecided},
	{rule: "bare 404 of a text's type", status: 404, contentType: "text/plain", want: lookup.Undecided},

	{rule: "404 as text", status: 404, contentType: "text/plain", body: "Domain not found", want: lookup.NotFound},
	{rule: "404 as text with the name", status: 404, contentType: "text/plain", body: "The domain Kranich-Canary-47.example. was not found.\n", want: lookup.NotFound},
	{rule: "404 as text about an object", status: 404, body: "Object not found", want: lookup.NotFound},
	{rule: "404 as text about a record", status: 404, contentType: "text/plain", body: "The requested record does not exist", want: lookup.NotFound},
	{rule: "404 as text, no such domain", status: 404, contentType: "text/plain;charset=UTF-8", body: "No such domain!", want: lookup.NotFound},
	{rule: "404 as text, no object", status: 404, contentType: "text/plain", body: "No object with this name exists", want: lookup.NotFound},
	{rule: "404 as text, number first", status: 404, contentType: "application/json", body: "404 - domain name not registered", want: lookup.NotFound},
	{rule: "short text of RDAP's type", status: 404, contentType: "application/rdap+json", body: "Not Found", want: lookup.NotFound},
	{rule: "short text of RDAP's type with number", status: 404, contentType: "Application/RDAP+JSON", body: "404 not found.", want: lookup.NotFound},
	{rule: "short text of JSON's type", status: 404, contentType: "application/json", body: "Not Found", broken: true},
	{rule: "short text", status: 404, contentType: "text/plain", body: "Not Found", broken: true},
	{rule: "short text without a type", status: 404, body: "not found", broken: true},
	{rule: "404 of Go's file server", status: 404, contentType: "text/plain; charset=utf-8", body: "404 page not found\n", broken: true},
	{rule: "404 of Go's file server called RDAP", status: 404, contentType: "application/rdap+json", body: "404 page not found\n", broken: true},
	{rule: "404 of an ingress", status: 404, contentType: "text/plain; charset=utf-8", body: "default backend - 404", broken: true},
	{rule: "404 of a mesh", status: 404, contentType: "text/plain", body: "no healthy upstream", broken: true},
	{rule: "404 of a mesh, in length", status: 404, contentType: "text/plain", body: "upstream connect error or disconnect/reset before headers. reset reason: connection failure", broken: true},
	{rule: "404 of a service that is away", status: 404, contentType: "text/plain", body: "Service Unavailable", broken: true},
	{rule: "404 of an edge that knows no such host", status: 404, contentType: "text/plain", body: "Domain not found: rdap.example.net", broken: true},
	{rule: "404 of an edge that knows no such host name", status: 404, contentType: "text/plain", body: "Server name not found", broken: true},
	{rule: "404 of a store", status: 404, contentType: "text/plain", body: "Object not found in bucket", broken: true},
	{rule: "404 of a cache", status: 404, contentType: "text/plain", body: "Object not found in cache", broken: true},
	{rule: "404 of a failed lookup", status: 404, contentType: "text/plain", body: "Domain not found: database error", broken: true},
	{rule: "404 of a script", status: 404, contentType: "text/plain", body: "The requested URL was not found on this server.", broken: true},
	{rule: "404 in XML", status: 404, contentType: "application/xml", body: "domain not found", broken: true},
	{rule: "404 as a long text", status: 404, contentType: "text/plain", body: "Domain not found" + strings.Repeat(" and so on", 50), broken: true},
	{rule: "404 about another name", status: 404, contentType: "text/plain", body: "Domain reiher.example not found", broken: true},
	{rule: "404 with terms", status: 404, body: `{"errorCode":404,"notices":[{"title":"Terms","description":["All rights reserved. Mining of data is prohibited. A domain name may be reserved."]}]}`, want: lookup.NotFound},
	{rule: "404 of a web server", status: 404, contentType: "text/html; charset=utf-8", body: "<html><h1>Not Found</h1></html>", broken: true},
	{rule: "404 of a web server without a type", status: 404, body: "\n<!DOCTYPE html>", broken: true},
	{rule: "404 called HTML", status: 404, contentType: "text/html", body: "Not Found", broken: true},
	{rule: "404 of a gateway", status: 404, contentType: "application/json", body: `{"message":"Not Found"}`, broken: true},
	{rule: "404 as a list", status: 404, body: `[]`, broken: true},
	{rule: "404 with junk", status: 404, body: "\x00\xff", broken: true},
	{rule: "404 that is half JSON", status: 404, body: `{"errorCode":404`, broken: true},
	{rule: "404 with another code", status: 404, body: `{"errorCode":500}`, broken: true},
	{rule: "404 with an object", status: 404, body: `{"objectClassName":"domain","rdapConformance":[]}`, broken: true},

	{rule: "reserved by description", status: 404, body: `{"errorCode":404,"description":["This domain name is reserved by the registry."]}`, want: lookup.Reserved},
	{rule: "reserved by title", status: 404, body: `{"errorCode":404,"title":"Reserved"}`, want: lookup.Reserved},
	{rule: "reserved by notice", status: 404, body: `{"errorCode":404,"notices":[{"title":"Status","description":["Not available for registration"]}]}`, want: lookup.Reserved},
	{rule: "blocked", status: 404, body: `{"errorCode":404,"description":"The name has been blocked"}`, want: lookup.Reserved},
	{rule: "prohibited", status: 404, body: `{"errorCode":404,"description":["Prohibited string"]}`, want: lookup.Reserved},
	{rule: "reserved as text", status: 404, contentType: "text/plain", body: "reserved name", want: lookup.Reserved},
	{rule: "premium", status: 404, body: `{"errorCode":404,"description":["This is a premium domain"]}`, want: lookup.NotFound, premium: true},
	{rule: "premium and reserved", status: 404, body: `{"errorCode":404,"description":["premium name","This name is reserved"]}`, want: lookup.Reserved},
	{rule: "the wrong registry", status: 404, body: `{"errorCode":404,"description":["not in this registry"]}`, want: lookup.Undecided},

	{rule: "a mesh in RDAP's form", status: 404, body: `{"errorCode":404,"title":"no healthy upstream"}`, broken: true},
	{rule: "an outage in RDAP's form", status: 404, body: `{"errorCode":404,"title":"Not Found","description":["Service temporarily unavailable"]}`, broken: true},
	{rule: "a time-out in RDAP's form", status: 404, body: `{"errorCode":404,"description":"Backend timed out"}`, broken: true},
	{rule: "a failed lookup in RDAP's form", status: 404, body: `{"rdapConformance":["rdap_level_0"],"description":["Unable to contact the registry database."]}`, broken: true},
	{rule: "a web server in RDAP's form", status: 404, body: `{"errorCode":404,"description":["The requested URL /v1/domain/kranich-canary-47.example was not found on this server."]}`, broken: true},
	{rule: "a framework in RDAP's form", status: 404, body: `{"errorCode":404,"title":"Not Found","description":["No handler found for GET /v1/domain/kranich-canary-47.example"]}`, broken: true},
	{rule: "a missing route in RDAP's form", status: 404, body: `{"errorCode":404,"title":"Route not found"}`, broken: true},
	{rule: "a missing address decides nothing", status: 404, body: `{"errorCode":404,"description":["The requested URL was not found."]}`, want: lookup.Undecided},
	{rule: "a limit in RDAP's form", status: 404, body: `{"errorCode":404,"title":"Rate limit exceeded"}`, throttled: true},
	{rule: "too many queries in RDAP's form", status: 404, body: `{"errorCode":404,"description":["Too many requests"]}`, throttled: true},
	{rule: "too many queries as text", status: 404, contentType: "text/plain", body: "Too many requests, domain not found", throttled: true},
	{rule: "pending create", status: 404, body: `{"errorCode":404,"description":["Object is pending create"]}`, want: lookup.Undecided},
	{rule: "in redemption", status: 404, body: `{"errorCode":404,"title":"Not Found","description":["The domain is in redemption"]}`, want: lookup.Undecided},
	{rule: "pending delete as text", status: 404, contentType: "text/plain", body: "Domain not found: pending delete", want: lookup.Undecided},
	{rule: "registered all the same", status: 404, body: `{"errorCode":404,"description":["Domain kranich-canary-47.example is already registered"]}`, want: lookup.Undecided},
	{rule: "such words in terms", status: 404, body: `{"errorCode":404,"notices":[{"title":"Terms","description":["The service is temporarily unavailable during maintenance. There is a rate limit. Names pending deletion are not shown."]}]}`, want: lookup.NotFound},
	{rule: "such words in a condition", status: 404, body: `{"errorCode":404,"description":["Domain not found.","If the rate limit is exceeded, try again later."]}`, want: lookup.NotFound},
	{rule: "such words in the name", status: 404, name: registrar.NewName("gateway-maintenance-pending", ".example"), body: `{"errorCode":404,"description":["Domain GATEWAY-MAINTENANCE-PENDING.EXAMPLE not found"]}`, want: lookup.NotFound},
	{rule: "a resource", status: 404, body: `{"errorCode":404,"title":"Resource not found","description":["The server could not find the requested resource."]}`, want: lookup.NotFound},
	{rule: "404 of another host", status: 404, moved: true, body: `{"errorCode":404}`, want: lookup.Undecided},
	{rule: "bare 404 of another host", status: 404, moved: true, want: lookup.Undecided},
	{rule: "reserved at another host", status: 404, moved: true, body: `{"errorCode":404,"title":"Reserved"}`, want: lookup.Reserved},
	{rule: "object of another host", status: 200, moved: true, body: `{"objectClassName":"domain"}`, want: lookup.Registered},

	{rule: "400", status: 400, body: `{"errorCode":400}`, want: lookup.Undecided},
	{rule: "403", status: 403, body: `{"errorCode":403}`, want: lookup.Undecided},
	{rule: "501", status: 501, body: `{"errorCode":501}`, want: lookup.Undecided},
	{rule: "403 of a web server", status: 403, body: "<html>", broken: true},
	{rule: "400 without a body", status: 400, broken: true},
	{rule: "501 of a web server", status: 501, body: "no", broken: true},
	{rule: "418", status: 418, body: `{"errorCode":418}`, broken: true},
	{rule: "502", status: 502, body: `{"errorCode":502}`, broken: true},
}

func TestClassify_Responses(t *testing.T) {
	t.Parallel()
	for _, c := range classifyCases {
		name := c.name
		if name == (registrar.Name{}) {
			name = queriedName
		}
		got, fault := classify(reply{
			status:     c.status,
			header:     http.Header{"Content-Type": {c.contentType}},
			body:       []byte(c.body),
			url:        mustURL(t, "https://rdap.example.net/v1/domain/"+name.ASCII()),
			redirected: c.moved,
		}, name)
		switch {
		case c.throttled:
			if fault == nil || fault.Code != registrar.FaultThrottled {
				t.Errorf("%s: %+v, %v; want a refusal", c.rule, got, fault)
			}
		case c.broken && (fault == nil || fault.Code != registrar.FaultBroken || got != lookup.Finding{}):
			t.Errorf("%s: %+v, %v; want a broken response", c.rule, got, fault)
		case !c.broken && (fault != nil || got.State != c.want || got.Premium != c.premium):
			t.Errorf("%s: %+v, %v; want state %d, premium %t", c.rule, got, fault, c.want, c.premium)
		}
	}
}

// FuzzClassify looks for a body that is classified as registered without the domain
// class, and for a web page that is trusted.
func FuzzClassify(f *testing.F) {
	for _, c := range classifyCases {
		if len(c.body) < 1000 {
			f.Add(c.status, c.contentType, []byte(c.body))
		}
	}
	f.Add(200, "", []byte(domainJSON(`"status":["client hold"],"events":[{"eventAction":"registration","eventDate":"2020-01-02T03:04:05Z"}],"nameservers":[{"ldhName":"ns1.example.net"}],"entities":[{"roles":["registrar"],"vcardArray":["vcard",[["fn",{},"text","Example"]]]}]`)))
	at := &url.URL{Scheme: "https", Host: "rdap.example.net", Path: "/domain/" + queriedName.ASCII()}
	f.Fuzz(func(t *testing.T, status int, contentType string, body []byte) {
		got, fault := classify(reply{status: status, header: http.Header{"Content-Type": {contentType}}, body: body, url: at, redirected: strings.Contains(contentType, "moved")}, queriedName)
		if fault != nil {
			if got != (lookup.Finding{}) {
				t.Errorf("a fault with %+v", got)
			}
			return
		}
		checkRecord(t, got.Record)
		masked, _ := maskName(strings.TrimPrefix(strings.TrimSpace(string(body)), "\xef\xbb\xbf"), queriedName)
		page := strings.HasPrefix(strings.TrimSpace(string(body)), "<")
		switch {
		case got.State == lookup.Free:
			t.Error("RDAP never says free")
		case page:
			t.Errorf("a web page is trusted: %+v", got)
		case got.State == lookup.NotFound && strings.Contains(contentType, "moved"):
			t.Error("a 404 of another host is trusted")
		case got.State == lookup.NotFound && !strings.HasPrefix(masked, "{") && otherNotFound().MatchString(masked):
			t.Errorf("a gateway's text is trusted: %q", masked)
		case got.State == lookup.Registered && status != 200, got.State == lookup.NotFound && status != 404:
			t.Errorf("status %d is called %d", status, got.State)
		case got.Premium && got.State != lookup.NotFound:
			t.Errorf("premium with state %d", got.State)
		}
	})
}

// FuzzParseBootstrap looks for an accepted document with a label that has no usable
// URL.
func FuzzParseBootstrap(f *testing.F) {
	f.Add([]byte(goodBootstrap))
	f.Add([]byte(`{"services":[]}`))
	f.Add([]byte(`{"services":[[["a"],["https://x/"],["y"]]]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		list, err := parseBootstrap(body)
		if err != nil {
			return
		}
		if len(list.bases) == 0 {
			t.Error("an empty list was accepted")
		}
		for label, base := range list.bases {
			if base == nil || base.Host == "" || !strings.HasSuffix(base.Path, "/") {
				t.Errorf("label %q has the base %v", label, base)
			}
		}
	})
}
