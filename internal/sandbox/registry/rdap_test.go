package registry

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

// domainReply holds the members of an RDAP response that tests read.
type domainReply struct {
	Conformance []string `json:"rdapConformance"`
	Class       string   `json:"objectClassName"`
	LDHName     string   `json:"ldhName"`
	UnicodeName string   `json:"unicodeName"`
	Status      []string `json:"status"`
	Events      []struct {
		Action string    `json:"eventAction"`
		Date   time.Time `json:"eventDate"`
	} `json:"events"`
	Nameservers []struct {
		Name string `json:"ldhName"`
	} `json:"nameservers"`
	Entities []struct {
		Roles []string `json:"roles"`
		VCard []any    `json:"vcardArray"`
	} `json:"entities"`
	SecureDNS struct {
		Signed *bool `json:"delegationSigned"`
	} `json:"secureDNS"`
	ErrorCode   int      `json:"errorCode"`
	Description []string `json:"description"`
}

func parse(t testing.TB, a httpAnswer) domainReply {
	t.Helper()
	if kind := a.header.Get("Content-Type"); kind != "application/rdap+json" {
		t.Errorf("content type %q", kind)
	}
	var reply domainReply
	if err := json.Unmarshal([]byte(a.body), &reply); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
	if len(reply.Conformance) == 0 {
		t.Error("no rdapConformance")
	}
	return reply
}

func TestRDAP_ShowsTakenNames(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	r := startWorld(t, Options{Now: func() time.Time { return now }})
	for _, name := range []string{"google.com", "GooGle.COM", "kaffee.de", "versicherung.net", "github.dev", "co.uk", "com.de", "xn--mller-kva.de", "müller.de"} {
		a := mustGet(t, rdapURL(t, r, name))
		if a.status != http.StatusOK {
			t.Errorf("%s: status %d", name, a.status)
			continue
		}
		reply := parse(t, a)
		want, _ := normalise(name)
		if reply.Class != "domain" || reply.LDHName != want {
			t.Errorf("%s: a %s called %s", name, reply.Class, reply.LDHName)
		}
		if strings.HasPrefix(want, "xn--mller") && reply.UnicodeName != "müller.de" {
			t.Errorf("%s: unicodeName %q", name, reply.UnicodeName)
		}
		if len(reply.Nameservers) != 2 || len(reply.Status) == 0 || reply.SecureDNS.Signed == nil {
			t.Errorf("%s: incomplete: %s", name, a.body)
		}
		dates := map[string]time.Time{}
		for _, event := range reply.Events {
			dates[event.Action] = event.Date
		}
		if !dates["registration"].Before(now) || dates["registration"].IsZero() || !dates["expiration"].After(now) ||
			dates["last changed"].After(now) || dates["last changed"].Before(dates["registration"]) {
			t.Errorf("%s: dates %v", name, dates)
		}
		var roles []string
		for _, entity := range reply.Entities {
			roles = append(roles, entity.Roles...)
			if len(entity.VCard) != 2 || entity.VCard[0] != "vcard" {
				t.Errorf("%s: no jCard: %v", name, entity.VCard)
			}
		}
		if want := []string{"registrar", "registrant", "administrative", "technical"}; !slices.Equal(roles, want) {
			t.Errorf("%s: roles %v", name, roles)
		}
		for _, canary := range Canaries {
			if !strings.Contains(a.body, canary) {
				t.Errorf("%s: canary %s is missing", name, canary)
			}
		}
	}
}

func TestRDAP_AnswersAreDeterministic(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	one, two := startWorld(t, Options{Now: clock}), startWorld(t, Options{Now: clock})
	a, b := mustGet(t, rdapURL(t, one, "google.com")), mustGet(t, rdapURL(t, two, "google.com"))
	if a.body != b.body {
		t.Errorf("two sandboxes differ:\n%s\n%s", a.body, b.body)
	}
}

func TestRDAP_FreeReservedAndPremiumNamesAreNotFound(t *testing.T) {
	t.Parallel()
	r := startWorld(t, Options{})
	plain := parse(t, mustGet(t, rdapURL(t, r, "nobody-has-this.com"))).Description
	for name, says := range map[string]string{
		"nobody-has-this.dev": "", "kaffee.ch": "", // .ch is not popular in this sandbox
		"nic.dev": "", "www.com": "", "d.dev": "", "7.com": "",
		"reserved.com": "reserved by the registry", "reserviert.de": "can't be registered",
		"premium-name.de": "premium price", "gold.com": "premium name", "casino.io": "premium",
	} {
		a := mustGet(t, rdapURL(t, r, name))
		reply := parse(t, a)
		if a.status != http.StatusNotFound || reply.ErrorCode != http.StatusNotFound {
			t.Errorf("%s: status %d, errorCode %d", name, a.status, reply.ErrorCode)
		}
		if says == "" && !slices.Equal(reply.Description, plain) {
			t.Errorf("%s differs from a free name: %q", name, reply.Description)
		}
		if says != "" && !strings.Contains(strings.Join(reply.Description, " "), says) {
			t.Errorf("%s: %q does not contain %q", name, reply.Description, says)
		}
	}
}

func TestRDAP_TakenNameWithoutNameservers(t *testing.T) {
	t.Parallel()
	r := startWorld(t, Options{})
	for _, name := range []string{"ohne-dns.de", "parked-without-dns.academy"} {
		a := mustGet(t, rdapURL(t, r, name))
		if reply := parse(t, a); a.status != http.StatusOK || len(reply.Nameservers) != 0 {
			t.Errorf("%s: status %d, nameservers %v", name, a.status, reply.Nameservers)
		}
	}
}

func TestRDAP_Paths(t *testing.T) {
	t.Parallel()
	r := startWorld(t, Options{})
	verisign, nominet := r.Hosts()["rdap.verisign.com:443"], r.Hosts()["rdap.nominet.uk:443"]
	for _, c := range []struct {
		method, url string
		status      int
		says        string
	}{
		{http.MethodGet, verisign + "/com/v1/help", 200, "rdapConformance"},
		{http.MethodGet, verisign + "/help", 200, "rdapConformance"},
		{http.MethodHead, verisign + "/com/v1/domain/google.com", 200, ""},
		{http.MethodHead, verisign + "/com/v1/domain/nobody-has-this.com", 404, ""},
		{http.MethodGet, verisign + "/com/v1/domain/google.de", 404, "not in this registry"},
		{http.MethodGet, verisign + "/com/v1/domain/google.net", 404, "not in this registry"},
		{http.MethodGet, verisign + "/com/v1/domain/google.nowhere", 404, "not in this registry"},
		{http.MethodGet, nominet + "/uk/domain/google.co.uk", 200, "google.co.uk"},
		{http.MethodGet, verisign + "/com/v1/domain/www.google.com", 400, "Query not supported"},
		{http.MethodGet, verisign + "/com/v1/domain/-.com", 400, "not a domain name"},
		{http.MethodGet, verisign + "/com/v1/domain/", 400, "not a domain name"},
		{http.MethodGet, verisign + "/domain/google.com", 404, "<html>"},
		{http.MethodGet, verisign + "/com/v1/nameserver/ns1.example", 404, "<html>"},
		{http.MethodGet, verisign + "/", 404, "<html>"},
		{http.MethodPost, verisign + "/com/v1/domain/google.com", 405, "GET"},
		{http.MethodDelete, verisign + "/com/v1/domain/google.com", 405, "GET"},
	} {
		a, err := doHTTP(t, answerTimeout, c.method, c.url, nil)
		if err != nil {
			t.Errorf("%s %s: %v", c.method, c.url, err)
			continue
		}
		if a.status != c.status || !strings.Contains(a.body, c.says) {
			t.Errorf("%s %s: %d %s", c.method, c.url, a.status, a.body)
		}
		if c.status == 405 && a.header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: Allow %q", c.method, a.header.Get("Allow"))
		}
	}
}

func TestRDAP_MagicNames(t *testing.T) {
	t.Parallel()
	r := startWorld(t, Options{Chaos: 1, Seed: 1}) // magic names are exempt from chaos
	for _, tld := range []string{".com", ".de", ".dev", ".xn--p1acf", ".co.uk"} {
		if _, err := getHTTP(t, silenceTimeout, rdapURL(t, r, "timeout-1"+tld)); !isTimeout(err) {
			t.Errorf("timeout-%s: %v", tld, err)
		}
		if a, err := getHTTP(t, answerTimeout, rdapURL(t, r, "refused-1"+tld)); !isReset(err) {
			t.Errorf("refused-%s: %d %v", tld, a.status, err)
		}
		a := mustGet(t, rdapURL(t, r, "throttled-1"+tld))
		if a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") != "0" {
			t.Errorf("throttled-%s: %d, Retry-After %q", tld, a.status, a.header.Get("Retry-After"))
		}
		a = mustGet(t, rdapURL(t, r, "unknown-1"+tld))
		if reply := parse(t, a); a.status != http.StatusBadRequest || reply.ErrorCode != http.StatusBadRequest {
			t.Errorf("unknown-%s: %d %s", tld, a.status, a.body)
		}
		ways := map[bool]int{}
		for _, label := range strings.Fields("garbled-a garbled-b garbled-c garbled-d garbled-e garbled-f garbled-g garbled-h garbled-i garbled-j garbled-k garbled-l garbled-m garbled-n") {
			a := mustGet(t, rdapURL(t, r, label+tld))
			if a.status != http.StatusOK || json.Valid([]byte(a.body)) {
				t.Errorf("%s%s: %d %s", label, tld, a.status, a.body)
			}
			ways[strings.HasPrefix(a.header.Get("Content-Type"), "text/html")]++
		}
		if ways[true] == 0 || ways[false] == 0 {
			t.Errorf("garbled-…%s: only one way of fourteen: %v", tld, ways)
		}
	}
}

func TestBootstrap(t *testing.T) {
	t.Parallel()
	r := startWorld(t, Options{})
	url := strings.Replace(r.BootstrapURL(), "https://data.iana.org", r.Hosts()["data.iana.org:443"], 1)
	a := mustGet(t, url)
	var list struct {
		Version     string       `json:"version"`
		Publication time.Time    `json:"publication"`
		Description string       `json:"description"`
		Services    [][][]string `json:"services"`
	}
	if err := json.Unmarshal([]byte(a.body), &list); err != nil {
		t.Fatal(err)
	}
	if a.status != http.StatusOK || list.Version != "1.0" || list.Publication.IsZero() || list.Description == "" {
		t.Errorf("%d %s", a.status, a.body)
	}
	found := map[string]string{}
	for _, service := range list.Services {
		for _, tld := range service[0] {
			found[tld] = service[1][0]
		}
	}
	for tld, want := range map[string]string{
		"com": "https://rdap.verisign.com/com/v1/", "academy": "https://rdap.identitydigital.services/rdap/",
		"uk": "https://rdap.nominet.uk/uk/", "xn--p1acf": "https://rdap.nic.xn--p1acf/",
		"de": "", "ch": "", "io": "", "com.de": "", "co.uk": "", "eu": "", "gr": "",
	} {
		if found[tld] != want {
			t.Errorf("%s is served by %q, want %q", tld, found[tld], want)
		}
	}
	for _, field := range []string{"Etag", "Last-Modified", "Cache-Control"} {
		if a.header.Get(field) == "" {
			t.Errorf("no %s", field)
		}
	}
	for tag, want := range map[string]int{
		a.header.Get("Etag"): 304, "W/" + a.header.Get("Etag"): 304, `"x", ` + a.header.Get("Etag"): 304, `"other"`: 200,
	} {
		again, err := doHTTP(t, answerTimeout, http.MethodGet, url, map[string]string{"If-None-Match": tag})
		if err != nil || again.status != want || (want == 304) != (again.body == "") {
			t.Errorf("If-None-Match %s: %d %v", tag, again.status, err)
		}
	}
	if other := mustGet(t, strings.Replace(url, "dns.json", "asn.json", 1)); other.status != http.StatusNotFound {
		t.Errorf("another file: %d", other.status)
	}
}
