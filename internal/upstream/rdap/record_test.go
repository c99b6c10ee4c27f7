package rdap

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

const canary = "zzkanarie"

func recordOf(t *testing.T, body string) *lookup.Record {
	t.Helper()
	finding, fault := classifyObject([]byte(body), registrar.NewName("kranich-canary-47", ".example"))
	if fault != nil || finding.State != lookup.Registered || finding.Record == nil {
		t.Fatalf("%+v, %v for %s", finding, fault, body)
	}
	return finding.Record
}

func summary(r *lookup.Record) string {
	date := func(t time.Time) string {
		if t.IsZero() {
			return "-"
		}
		return t.Format(time.RFC3339)
	}
	return fmt.Sprintf("%s %s %s | %s | %s | %s", date(r.Created), date(r.Updated), date(r.Expires),
		strings.Join(r.Nameservers, " "), strings.Join(r.Status, ", "), r.Registrar)
}

// domainJSON is a domain object with the given additional members.
func domainJSON(members string) string {
	return `{"objectClassName":"domain","ldhName":"kranich-canary-47.example",` + members + `}`
}

func TestRecord_ServerVariants(t *testing.T) {
	t.Parallel()
	for rule, c := range map[string]struct{ members, want string }{
		"all there is": {
			`"status":["client transfer prohibited","active","server hold"],
			"events":[{"eventAction":"registration","eventDate":"2020-01-02T03:04:05Z"},{"eventAction":"expiration","eventDate":"2030-01-02T03:04:05.678Z"},{"eventAction":"last changed","eventDate":"2022-02-03T04:05:06+02:00"},{"eventAction":"last update of RDAP database","eventDate":"2001-01-01T00:00:00Z"}],
			"nameservers":[{"objectClassName":"nameserver","ldhName":"NS1.Example.NET."},{"ldhName":"ns2.example.net","ipAddresses":{"v4":["192.0.2.1"]}}],
			"entities":[{"roles":["registrar"],"handle":"9999","publicIds":[{"type":"IANA Registrar ID","identifier":"9999"}],"vcardArray":["vcard",[["version",{},"text","4.0"],["fn",{},"text","Example Registrar, Inc."]]]}]`,
			"2020-01-02T03:04:05Z 2022-02-03T04:05:06+02:00 2030-01-02T03:04:05Z | ns1.example.net ns2.example.net | clientTransferProhibited, ok, serverHold | Example Registrar, Inc.",
		},
		"words in other case":       {`"STATUS":["Client Transfer Prohibited","CLIENTHOLD"],"Events":[{"EventAction":"Registration","eventdate":"2020-01-02t03:04:05z"}]`, "2020-01-02T03:04:05Z - - |  | clientTransferProhibited, clientHold | "},
		"dates without zone":        {`"events":[{"eventAction":"registration","eventDate":"2020-01-02T03:04:05"},{"eventAction":"expiration","eventDate":"2030-01-02"},{"eventAction":"last changed","eventDate":"2022-01-02 03:04:05"}]`, "2020-01-02T03:04:05Z 2022-01-02T03:04:05Z 2030-01-02T00:00:00Z |  |  | "},
		"impossible dates":          {`"events":[{"eventAction":"registration","eventDate":"0000-00-00T00:00:00Z"},{"eventAction":"expiration","eventDate":"9999-12-31T00:00:00Z"},{"eventAction":"last changed","eventDate":7}]`, "- - - |  |  | "},
		"the first of two counts":   {`"events":[{"eventAction":"registration","eventDate":"2020-01-02T00:00:00Z"},{"eventAction":"registration","eventDate":"2021-01-02T00:00:00Z"}]`, "2020-01-02T00:00:00Z - - |  |  | "},
		"one instead of a list":     {`"status":"active","nameservers":{"ldhName":"ns1.example.net"},"events":{"eventAction":"registration","eventDate":"2020-01-02T00:00:00Z"},"entities":{"roles":"registrar","handle":"EX-1"}`, "2020-01-02T00:00:00Z - - | ns1.example.net | ok | EX-1"},
		"bare nameservers":          {`"nameservers":["NS1.EXAMPLE.NET","ns1.example.net","192.0.2.1","localhost","a b",7,null]`, "- - - | ns1.example.net |  | "},
		"nameserver in U-labels":    {`"nameservers":[{"unicodeName":"ns1.büro.example"}]`, "- - - | ns1.xn--bro-hoa.example |  | "},
		"wrong types hide only one": {`"status":{"a":1},"nameservers":7,"events":"x","entities":[7,null,{"roles":7},{"roles":["registrar"],"vcardArray":7,"publicIds":"x","handle":[]},{"roles":["Registrar"],"handle":"EX-1"}]`, "- - - |  |  | EX-1"},
		"number before handle":      {`"entities":[{"roles":["registrar"],"handle":"X","publicIds":[{"identifier":"9999"}]}]`, "- - - |  |  | 9999"},
		"a name is no address":      {`"entities":[{"roles":["registrar"],"vcardArray":["vcard",[["fn",{},"text","zzkanarie@example.net"]]],"handle":"https://example.net"}]`, "- - - |  |  | "},
		"own status of a registry":  {`"status":["In Redemption","zu lang ` + strings.Repeat("x", 50) + `","<b>","redemption period"]`, "- - - |  | in redemption, redemptionPeriod | "},
	} {
		if got := summary(recordOf(t, domainJSON(c.members))); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", rule, got, c.want)
		}
	}
}

func TestRecord_EntitiesLeakNoPersonalData(t *testing.T) {
	t.Parallel()
	card := `"vcardArray":["vcard",[["fn",{},"text","zzkanarie"],["org",{},"text","zzkanarie"],["adr",{},"text",["","","zzkanarie"]],["tel",{},"uri","tel:zzkanarie"],["email",{},"text","zzkanarie@example.net"]]],"handle":"zzkanarie","publicIds":[{"identifier":"zzkanarie"}],"remarks":[{"description":["zzkanarie"]}]`
	registrarCard := `"roles":["registrar"],"vcardArray":["vcard",[["fn",{},"text","Example"],["kind",{},"text","org"],["tel",{},"uri","tel:zzkanarie"],["email",{},"text","zzkanarie@example.net"],["adr",{"label":"zzkanarie"},"text",["zzkanarie"]]]]`
	for rule, entities := range map[string]string{
		"registrant":                       `[{"roles":["registrant"],` + card + `}]`,
		"every role of a person":           `[{"roles":["administrative","technical","billing","abuse","noc","reseller","sponsor","proxy"],` + card + `}]`,
		"no role":                          `[{` + card + `}]`,
		"a registrant as registrar":        `[{"roles":["registrant","registrar"],` + card + `}]`,
		"a registrar as registrant":        `[{"roles":["REGISTRAR","Registrant"],` + card + `}]`,
		"nested in a registrant":           `[{"roles":["registrant"],` + card + `,"entities":[{"roles":["registrar"],` + card + `}]}]`,
		"nested in the registrar":          `[{` + registrarCard + `,"entities":[{"roles":["abuse"],` + card + `},{"roles":["registrar"],` + card + `}]}]`,
		"a card of an individual":          `[{"roles":["registrar"],"vcardArray":["vcard",[["fn",{},"text","zzkanarie"],["kind",{},"text","individual"]]],"handle":"EX-1"}]`,
		"behind the registrar":             `[{` + registrarCard + `},{"roles":["registrant"],` + card + `}]`,
		"the registrar's other fields":     `[{` + registrarCard + `}]`,
		"a card within a card":             `[{"roles":["registrar"],"vcardArray":["vcard",[["x",{},"text",["fn",{},"text","zzkanarie"]]]],"handle":"EX-1"}]`,
		"a name with structure is no name": `[{"roles":["registrar"],"vcardArray":["vcard",[["n",{},"text",["zzkanarie","zzkanarie"]]]],"handle":"EX-1"}]`,
	} {
		body := domainJSON(`"entities":` + entities + `,"remarks":[{"title":"zzkanarie","description":["zzkanarie"]}],"port43":"zzkanarie.example.net","links":[{"value":"zzkanarie"}],"secureDNS":{"zzkanarie":1}`)
		if !strings.Contains(body, canary) {
			t.Errorf("%s has no canary", rule)
		}
		if got := summary(recordOf(t, body)); strings.Contains(strings.ToLower(got), canary) {
			t.Errorf("%s: the canary is in %s", rule, got)
		}
	}
}

func TestRecord_StatusAndRegistrarLeakNoPersonalData(t *testing.T) {
	t.Parallel()
	for _, members := range []string{
		`"status":["zzkanarie","active zzkanarie","Max Zzkanarie"]`,
		`"status":"zzkanarie"`,
		`"entities":[{"roles":["registrar"],"vcardArray":["vcard",[["fn",{},"text","Example GmbH, Tel 030 123456 zzkanarie"]]]}]`,
	} {
		if got := summary(recordOf(t, domainJSON(members))); strings.Contains(strings.ToLower(got), canary) || strings.Contains(got, "123456") {
			t.Errorf("%s: %s", members, got)
		}
	}
}

func TestRecord_SizeIsBounded(t *testing.T) {
	t.Parallel()
	var servers, statuses []string
	for i := range 500 {
		servers = append(servers, fmt.Sprintf(`{"ldhName":"ns%d.example.net"}`, i))
	}
	for _, who := range []string{"client", "server"} {
		for _, what := range []string{"delete", "renew", "transfer", "update"} {
			statuses = append(statuses, fmt.Sprintf("%q, %q, %q, %q", who+" "+what+" prohibited", "pending "+what, what+" prohibited", what+" period"))
		}
	}
	statuses = append(statuses, `"active","inactive","locked","reserved","linked","granted","hold","expired","frozen","paid","connect","failed"`)
	r := recordOf(t, domainJSON(`"nameservers":[`+strings.Join(servers, ",")+`],"status":[`+strings.Join(statuses, ",")+`],"entities":[{"roles":["registrar"],"handle":"`+strings.Repeat("ä", 5000)+`"}]`))
	if len(r.Nameservers) != lookup.MaxNameservers || len(r.Status) != lookup.MaxStatuses || len([]rune(r.Registrar)) != lookup.MaxRegistrarRunes {
		t.Errorf("%d nameservers, %d statuses, %d runes", len(r.Nameservers), len(r.Status), len([]rune(r.Registrar)))
	}
	checkRecord(t, r)
}

// checkRecord checks the invariants of every record.
func checkRecord(t *testing.T, r *lookup.Record) {
	t.Helper()
	if r == nil {
		return
	}
	if len(r.Nameservers) > lookup.MaxNameservers || len(r.Status) > lookup.MaxStatuses || len([]rune(r.Registrar)) > lookup.MaxRegistrarRunes {
		t.Errorf("exceeds the limits: %s", summary(r))
	}
	for _, host := range r.Nameservers {
		if again, err := registrar.ParseHost(host); err != nil || again != host || !strings.Contains(host, ".") {
			t.Errorf("nameserver %q", host)
		}
	}
	for _, text := range append([]string{r.Registrar}, r.Status...) {
		if strings.ContainsFunc(text, unicode.IsControl) || strings.Contains(text, "@") || strings.TrimSpace(text) != text {
			t.Errorf("text %q", text)
		}
	}
}
