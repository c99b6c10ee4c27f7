package rdap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/publicrecord"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
)

const base = "https://domains.example"

var accredited = Registrar{
	Name: "Kontor GmbH", IANAID: "1234", Street: "Kai 1", PostalCode: "20457", City: "Hamburg", Country: "DE",
	Email: "post@kontor.example", Phone: "+4940123456", AbuseEmail: "abuse@kontor.example", AbusePhone: "+4940123457",
}

var registered = time.Date(2024, 5, 1, 10, 0, 0, 123456789, time.UTC)

// records are by name, and by handle.
type records map[string]publicrecord.Record

func (r records) Domain(_ context.Context, name string) (publicrecord.Record, error) {
	if name == "broken.com" {
		return publicrecord.Record{}, errors.New("a driver's error about broken.com")
	}
	record, found := r[name]
	if !found {
		return record, registrar.NotFound(publicrecord.NotFound)
	}
	return record, nil
}

func (r records) Registrant(_ context.Context, handle string) (publicrecord.Record, error) {
	for _, record := range r {
		if record.Handle == handle {
			return record, nil
		}
	}
	return publicrecord.Record{}, registrar.NotFound(publicrecord.NotFound)
}

func testRecords() records {
	whole := publicrecord.Record{
		Name: "teeladen.com", TLD: ".com", Handle: "h-teeladen_1", Statuses: []string{"client transfer prohibited"},
		Registered: registered, Changed: registered.AddDate(0, 6, 0), Expires: registered.AddDate(3, 0, 0), PaidUntil: registered.AddDate(3, 0, 1), ReadAt: registered.AddDate(2, 0, 0),
		Delegated: true, Nameservers: []domainchange.Nameserver{
			{Name: "NS1.example.net"}, {Name: "ns2.teeladen.com", Addresses: []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")}},
		},
		DS: []domainchange.DS{{KeyTag: 4711, Algorithm: 13, DigestType: 2, Digest: "AB01"}}, State: "Hamburg", Country: "DE",
	}
	idn, country, deleted, unread := whole, whole, whole, publicrecord.Record{Name: "unread.com", TLD: ".com", Handle: "h4", Statuses: []string{"active"}, ReadAt: registered}
	idn.Name, idn.DS, idn.Changed, idn.Handle = "xn--bcher-kva.com", nil, time.Time{}, "h1"
	country.Name, country.TLD, country.Handle = "teeladen.de", ".de", "h2"
	deleted.Name, deleted.Statuses, deleted.Handle = "deleted.com", []string{"pending delete", "redemption period"}, "h3"
	all := make(records)
	for _, record := range []publicrecord.Record{whole, idn, country, deleted, unread} {
		all[record.Name] = record
	}
	return all
}

// limiter allows left requests.
type limiter struct{ left int }

func (l *limiter) Allow(ratelimit.Key) ratelimit.Decision {
	l.left--
	return ratelimit.Decision{Allowed: l.left >= 0, RetryAfter: 4200 * time.Millisecond}
}

func newMux(t testing.TB, published Registrar, left int) *http.ServeMux {
	t.Helper()
	handler, err := New(Config{
		BaseURL: base, Records: testRecords(), Budget: &limiter{left}, Registrar: published, Terms: "/terms", Contact: "/contact",
		Address: func(*http.Request) netip.Addr { return netip.MustParseAddr("192.0.2.7") }, Now: func() time.Time { return registered },
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for _, route := range handler.Routes() {
		mux.HandleFunc(route.Method+" "+route.Path, route.Handler)
	}
	return mux
}

// response is a response in both forms.
type response struct {
	status int
	header http.Header
	text   string
	object map[string]any
}

func get(t testing.TB, mux http.Handler, path string) response {
	t.Helper()
	recorder := httptest.NewRecorder()
	mux.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, http.NoBody))
	r := response{status: recorder.Code, header: recorder.Header(), text: recorder.Body.String()}
	if err := json.Unmarshal(recorder.Body.Bytes(), &r.object); err != nil {
		t.Fatalf("%s: %d %s: %v", path, r.status, r.text, err)
	}
	return r
}

func TestServe_StatusOfEveryKindOfQuery(t *testing.T) {
	mux := newMux(t, accredited, 1000)
	for path, want := range map[string]int{
		"/rdap/domain/teeladen.com": 200, "/rdap/domain/TEELADEN.COM": 200, "/rdap/domain/teeladen.com.": 200, "/rdap/domain/teeladen.com?x=y": 200,
		"/rdap/domain/b%C3%BCcher.com": 200, "/rdap/domain/xn--bcher-kva.com": 200,
		"/rdap/entity/1234": 200, "/rdap/entity/h-teeladen_1": 200, "/rdap/help": 200,
		"/rdap/domain/other.com": 404, "/rdap/domain/test.invalid": 404, "/rdap/domain/com": 404, "/rdap/domain/www.teeladen.com": 404,
		"/rdap/entity/1235": 404, "/rdap/entity/x": 404, "/rdap/entity/%00": 404,
		"/rdap/domain/a%20b.com": 400, "/rdap/domain/%20teeladen.com": 400, "/rdap/domain/a%2Fb.com": 400, "/rdap/domain/-a.com": 400, "/rdap/domain/192.0.2.1": 400,
		"/rdap/domain/a..com": 400, "/rdap/domain/%FF.com": 400, "/rdap/domain/xn--a.com": 400, "/rdap/domain/" + strings.Repeat("a", 64) + ".com": 400,
		"/rdap/domain/": 400, "/rdap/domain": 400, "/rdap/domain/a.com/b": 400, "/rdap/entity/": 400, "/rdap/": 400, "/rdap": 400, "/rdap/foo": 400, "/rdap/help/x": 400,
		"/rdap/domains?name=tee*.com": 501, "/rdap/nameserver/ns1.example.net": 501, "/rdap/nameservers?ip=192.0.2.1": 501,
		"/rdap/entities?fn=Max": 501, "/rdap/ip/192.0.2.1": 501, "/rdap/autnum/64496": 501,
		"/rdap/domain/broken.com": 500,
	} {
		r := get(t, mux, path)
		if r.status != want || r.header.Get("Content-Type") != "application/rdap+json" || r.header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %d, want %d, %v", path, r.status, want, r.header)
		}
		if r.header.Get("Location") != "" || strings.Contains(r.text, "driver") {
			t.Errorf("%s: %v %s", path, r.header, r.text)
		}
		if want == 200 {
			continue
		}
		title, _ := r.object["title"].(string)
		description, _ := r.object["description"].([]any)
		if fmt.Sprint(r.object["errorCode"]) != fmt.Sprint(want) || title == "" || len(description) == 0 || fmt.Sprint(r.object["rdapConformance"]) != "[rdap_level_0]" {
			t.Errorf("%s: %s", path, r.text)
		}
	}
}

func TestServe_LookupsOverBudgetAre429WithRetryAfter(t *testing.T) {
	mux := newMux(t, accredited, 2)
	for i, want := range []int{200, 404, 429, 429} {
		r := get(t, mux, []string{"/rdap/domain/teeladen.com", "/rdap/entity/x", "/rdap/domain/teeladen.com", "/rdap/entity/1234"}[i])
		if r.status != want || (want == 429) != (r.header.Get("Retry-After") == "5") {
			t.Errorf("request %d: %d, Retry-After %q", i, r.status, r.header.Get("Retry-After"))
		}
	}
	if r := get(t, mux, "/rdap/help"); r.status != 200 {
		t.Errorf("help counts: %d", r.status)
	}
}

func TestNew_RequiresItsDependencies(t *testing.T) {
	if _, err := New(Config{BaseURL: base}); err == nil {
		t.Error("a handler without records was built")
	}
}

// Whatever the path, the response is an RDAP object of a known status without a redirect.
func FuzzServe_AnyPathIsAnRDAPResponse(f *testing.F) {
	for _, path := range []string{"domain/teeladen.com", "domain/bücher.com", "entity/1234", "entity/h1", "help", "", "domains", "domain/a%2fb", "domain/..", "nameserver/x", "domain/\x00"} {
		f.Add(path)
	}
	mux := newMux(f, accredited, 1<<30)
	f.Fuzz(func(t *testing.T, path string) {
		request := httptest.NewRequest(http.MethodGet, "/rdap/help", http.NoBody)
		request.URL.Path, request.URL.RawPath = Path+path, ""
		recorder := httptest.NewRecorder()
		mux.ServeHTTP(recorder, request)
		if recorder.Code == http.StatusMovedPermanently || recorder.Code == http.StatusTemporaryRedirect { // ServeMux cleans it; package web refuses such paths first
			return
		}
		var object struct {
			Conformance []string `json:"rdapConformance"`
			ErrorCode   int      `json:"errorCode"`
		}
		if err := json.Unmarshal(recorder.Body.Bytes(), &object); err != nil || len(object.Conformance) == 0 || object.ErrorCode != 0 && object.ErrorCode != recorder.Code {
			t.Errorf("%q: %d %s, %v", path, recorder.Code, recorder.Body, err)
		}
		switch recorder.Code {
		case 200, 400, 404, 501:
		default:
			t.Errorf("%q: %d", path, recorder.Code)
		}
	})
}
