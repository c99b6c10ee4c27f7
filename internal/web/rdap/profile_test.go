package rdap

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pb33f/jsonpath/pkg/jsonpath"
	"go.yaml.in/yaml/v4"
)

// query returns the JSON values at a path, by an implementation of RFC 9535 that is not ours.
func query(t *testing.T, text, path string) []string {
	t.Helper()
	parsed, err := jsonpath.NewPath(path)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var document yaml.Node // JSON is YAML
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	found := []string{}
	for _, node := range parsed.Query(&document) {
		var value any
		if err := node.Decode(&value); err != nil {
			t.Fatal(err)
		}
		encoded, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, string(encoded))
	}
	return found
}

const (
	domainPath     = "/rdap/domain/teeladen.com"
	domainURL      = base + domainPath
	registrarPath  = "$.entities[?(@.roles[0]=='registrar')]"
	registrantPath = "$.entities[?(@.roles[0]=='registrant')]"
)

// rule is one rule of docs/rdap.md. The values at path of the response to a query must be want.
type rule struct {
	number int
	query  string // default: domainPath
	path   string
	want   []string
}

func quoted(words ...string) []string {
	for i, word := range words {
		words[i] = `"` + word + `"`
	}
	return words
}

var profileRules = []rule{
	{3, "/rdap/help", "$.rdapConformance[*]", quoted(levelZero, responseProfile, technicalGuide)},
	{3, "/rdap/help", "$.notices[*].title", quoted("Terms of Service", "Queries")},
	{4, "/rdap/domain/test.invalid", "$.errorCode", []string{"404"}},
	{5, "", "$.ldhName", quoted("teeladen.com")},
	{5, "", "$.unicodeName", []string{}},
	{5, "/rdap/domain/b%C3%BCcher.com", "$['ldhName','unicodeName']", quoted("xn--bcher-kva.com", "bücher.com")},
	{5, "/rdap/domain/XN--BCHER-KVA.COM", "$['ldhName','unicodeName']", quoted("xn--bcher-kva.com", "bücher.com")},
	{6, "", "$.rdapConformance[*]", quoted(levelZero, responseProfile, technicalGuide, "redacted")},
	{6, "", "$.entities..rdapConformance", []string{}},
	{7, "/rdap/domain/teeladen.de", "$.rdapConformance[*]", quoted(levelZero, "redacted")},
	{8, "", "$.handle", []string{}},
	{8, "", "$.redacted[?(@.name.type=='Registry Domain ID')]['prePath','method']", quoted("$.handle", "removal")},
	{9, "", "$.events[*].eventAction", quoted("registration", "last changed", "expiration", "registrar expiration", "last update of RDAP database")},
	{9, "", "$.events[*].eventDate", quoted("2024-05-01T10:00:00Z", "2024-11-01T10:00:00Z", "2027-05-01T10:00:00Z", "2027-05-02T10:00:00Z", "2026-05-01T10:00:00Z")},
	{9, "/rdap/domain/xn--bcher-kva.com", "$.events[?(@.eventAction=='last changed')]", []string{}},
	{9, "/rdap/domain/unread.com", "$.events[*].eventAction", quoted("last update of RDAP database")},
	{10, "", "$.status[*]", quoted("client transfer prohibited")},
	{11, "", "$.secureDNS", []string{`{"delegationSigned":true,"dsData":[{"algorithm":13,"digest":"AB01","digestType":2,"keyTag":4711}]}`}},
	{11, "/rdap/domain/xn--bcher-kva.com", "$.secureDNS", []string{`{"delegationSigned":false}`}},
	{11, "/rdap/domain/unread.com", "$.secureDNS", []string{}},
	{12, "", "$.nameservers[*].ldhName", quoted("ns1.example.net", "ns2.teeladen.com")},
	{12, "", "$.nameservers[*]['handle','status']", []string{}},
	{12, "", "$.nameservers[*].ipAddresses", []string{`{"v4":["192.0.2.1"],"v6":["2001:db8::1"]}`}},
	{13, "", registrarPath + ".handle", quoted("1234")},
	{13, "", registrarPath + ".publicIds[*]", []string{`{"identifier":"1234","type":"IANA Registrar ID"}`}},
	{13, "", registrarPath + ".vcardArray[1][?(@[0]=='fn')][3]", quoted("Kontor GmbH")},
	{13, "/rdap/entity/1234", "$['handle','roles']", []string{`"1234"`, `["registrar"]`}},
	{13, "/rdap/entity/1234", "$.vcardArray[1][*][0]", quoted("version", "fn", "adr", "tel", "email")},
	{14, "", registrarPath + ".entities[?(@.roles[0]=='abuse')].vcardArray[1][*][3]", quoted("4.0", "Abuse Contact", "tel:+4940123457", "abuse@kontor.example")},
	{15, "", registrarPath + ".links[?(@.rel=='about')]['value','href']", quoted(domainURL, base+"/rdap/")},
	{16, "", registrantPath + ".roles", []string{`["registrant"]`}},
	{16, "", registrantPath + ".handle", []string{}},
	{16, "", registrantPath + ".links[?(@.rel=='self')].href", quoted(base + "/rdap/entity/h-teeladen_1")},
	{17, "", registrantPath + ".vcardArray[1][*][0]", quoted("version", "fn", "adr", "contact-uri")},
	{17, "", registrantPath + ".vcardArray[1][?(@[0]=='contact-uri')][3]", quoted(base + "/contact")},
	{17, "", registrantPath + ".vcardArray[1][?(@[0]=='adr')][1]", []string{`{"cc":"DE"}`}},
	{18, "/rdap/entity/h-teeladen_1", "$['handle','roles']", []string{`"h-teeladen_1"`, `["registrant"]`}},
	{18, "/rdap/entity/h-teeladen_1", "$.redacted[?(@.name.type=='Registry Registrant ID')]", []string{}},
	{20, "", "$.redacted[?(@.method=='removal')].name.type", quoted("Registry Domain ID", "Registry Registrant ID", "Registrant Organization", "Registrant Phone")},
	{21, "", "$.redacted[?(@.method=='emptyValue')].name.type", quoted("Registrant Name", "Registrant Street", "Registrant City", "Registrant Postal Code")},
	{22, "", "$.redacted[?(@.method=='replacementValue')].name.type", quoted("Registrant Email")},
	{23, "", registrantPath + ".vcardArray[1][?(@[0]=='adr')][3]", []string{`["","","","","Hamburg","",""]`}},
	{24, "", "$.notices[?(@.title=='Terms of Service')].links[*]['value','rel','href']", quoted(domainURL, "terms-of-service", base+"/terms")},
	{25, "", "$.notices[?(@.title=='Status Codes')].description[*]", quoted("For more information on domain status codes, please visit https://icann.org/epp")},
	{25, "", "$.notices[?(@.title=='Status Codes')].links[*]['value','rel','href']", quoted(domainURL, "glossary", "https://icann.org/epp")},
	{26, "", "$.notices[?(@.title=='RDDS Inaccuracy Complaint Form')].description[*]", quoted("URL of the ICANN RDDS Inaccuracy Complaint Form: https://icann.org/wicf")},
	{26, "", "$.notices[?(@.title=='RDDS Inaccuracy Complaint Form')].links[*]['value','rel','href']", quoted(domainURL, "help", "https://icann.org/wicf")},
	{26, "/rdap/domain/teeladen.de", "$.notices[?(@.title=='RDDS Inaccuracy Complaint Form')]", []string{}},
	{27, "", "$.entities..notices", []string{}},
	{28, "/rdap/domain/deleted.com", "$.status[*]", quoted("pending delete", "redemption period")},
}

func TestProfile_Rules(t *testing.T) {
	mux := newMux(t, accredited, 1000)
	for _, rule := range profileRules {
		path := rule.query
		if path == "" {
			path = domainPath
		}
		if got := query(t, get(t, mux, path).text, rule.path); !slices.Equal(got, rule.want) {
			t.Errorf("rule %d: %s of %s is %q, want %q", rule.number, rule.path, path, got, rule.want)
		}
	}
}

func TestProfile_EveryRuleOfTheDocumentHasATest(t *testing.T) {
	text, err := os.ReadFile("../../../docs/rdap.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| (\d+) \|.*\| ([^|]+) \|$`).FindAllStringSubmatch(string(text), -1)
	if len(rows) < 30 {
		t.Fatalf("%d rules", len(rows))
	}
	for i, row := range rows {
		if row[1] != fmt.Sprint(i+1) {
			t.Errorf("rule %s is at place %d", row[1], i+1)
		}
		tested := slices.ContainsFunc(profileRules, func(r rule) bool { return fmt.Sprint(r.number) == row[1] })
		if named := strings.Contains(row[2], "TestProfile_Rules"); named != tested {
			t.Errorf("rule %s: its row says %q, and the table has it: %v", row[1], row[2], tested)
		}
		if !strings.Contains(row[2], "Test") {
			t.Errorf("rule %s names no test: %q", row[1], row[2])
		}
	}
}

func TestProfile_EveryLinkHasValueRelAndHref(t *testing.T) {
	mux := newMux(t, accredited, 1000)
	for _, path := range []string{domainPath, "/rdap/domain/b%C3%BCcher.com?a=b", "/rdap/entity/1234", "/rdap/entity/h1", "/rdap/help"} {
		text := get(t, mux, path).text
		values, links := query(t, text, "$..links[*].value"), query(t, text, "$..links[*]")
		if len(links) == 0 || len(values) != len(links) || len(query(t, text, "$..links[*].rel")) != len(links) || len(query(t, text, "$..links[*].href")) != len(links) {
			t.Errorf("%s: %q", path, links)
		}
		for _, value := range values {
			if value != `"`+base+path+`"` {
				t.Errorf("%s: the value of a link is %s", path, value)
			}
		}
	}
}

// What is said to be redacted is, and where it was said to be.
func TestProfile_RedactionPathsHitWhatTheySay(t *testing.T) {
	mux := newMux(t, accredited, 1000)
	for _, path := range []string{domainPath, "/rdap/entity/h-teeladen_1"} {
		r := get(t, mux, path)
		var answer struct{ Redacted []redaction }
		if err := json.Unmarshal([]byte(r.text), &answer); err != nil || len(answer.Redacted) < 7 {
			t.Fatalf("%s: %d redactions, %v", path, len(answer.Redacted), err)
		}
		for _, redacted := range answer.Redacted {
			if redacted.PathLang != "jsonpath" || redacted.Name.Type == "" || redacted.Reason.Description == "" {
				t.Errorf("%s: %+v", path, redacted)
			}
			switch redacted.Method {
			case "removal":
				if hits := query(t, r.text, redacted.PrePath); len(hits) != 0 {
					t.Errorf("%s: %s is still there: %q", path, redacted.Name.Type, hits)
				}
			case "emptyValue":
				hits := query(t, r.text, redacted.PostPath)
				if len(hits) == 0 || slices.ContainsFunc(hits, func(hit string) bool { return hit != `""` }) {
					t.Errorf("%s: %s is %q", path, redacted.Name.Type, hits)
				}
			case "replacementValue":
				before, after := query(t, r.text, redacted.PrePath), query(t, r.text, redacted.ReplacementPath)
				if len(before) != 0 || len(after) != 1 {
					t.Errorf("%s: %s is %q, replaced by %q", path, redacted.Name.Type, before, after)
				}
			default:
				t.Errorf("%s: method %s", path, redacted.Method)
			}
		}
	}
}

// An unaccredited registrar claims no profile and no reserved id.
func TestProfile_NotClaimedWithoutAccreditation(t *testing.T) {
	for name, change := range map[string]func(*Registrar){
		"no IANA id": func(r *Registrar) { r.IANAID = "" }, "no abuse email": func(r *Registrar) { r.AbuseEmail = "" },
		"no abuse phone": func(r *Registrar) { r.AbusePhone = "" }, "no name": func(r *Registrar) { r.Name = "" }, "nothing": func(r *Registrar) { *r = Registrar{} },
	} {
		published := accredited
		change(&published)
		mux := newMux(t, published, 1000)
		for _, path := range []string{domainPath, "/rdap/help"} {
			if r := get(t, mux, path); strings.Contains(r.text, "icann_rdap") {
				t.Errorf("%s: %s claims %v", name, path, r.object["rdapConformance"])
			}
		}
		if published.IANAID != "" {
			continue
		}
		text := get(t, mux, domainPath).text
		if found := query(t, text, registrarPath+"['handle','publicIds']"); len(found) != 0 || strings.Contains(text, `"999`) {
			t.Errorf("%s: the registrar has the identifiers %q", name, found)
		}
		if r := get(t, mux, "/rdap/entity/"); r.status != http.StatusBadRequest {
			t.Errorf("%s: the registrar is found without a handle: %d", name, r.status)
		}
	}
}

func TestServe_HeadIsGetWithoutBody(t *testing.T) {
	server := httptest.NewServer(newMux(t, accredited, 10))
	defer server.Close()
	for path, want := range map[string]int{domainPath: 200, "/rdap/domain/other.com": 404, "/rdap/help": 200} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodHead, server.URL+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := server.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
		if response.StatusCode != want || response.Header.Get("Content-Type") != "application/rdap+json" || response.ContentLength <= 0 {
			t.Errorf("%s: %d, %v", path, response.StatusCode, response.Header)
		}
	}
}
