package registry

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// epoch is the start time of these tests; their clocks stand still unless advanced.
var epoch = time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)

func frozenClock() time.Time { return epoch }

func advance(t testing.TB, r *Registry, span string) {
	t.Helper()
	by, err := ParseDuration(span)
	if err == nil {
		err = r.Advance(by)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// domainSummary is the sponsor's view of a domain: statuses, grace period, expiry
// and sponsor.
func (s *eppClient) domainSummary(name string) string {
	s.t.Helper()
	answer := s.do(domainCommand("info", name))
	if answer.code == "2303" {
		return "gone"
	}
	var parts []string
	for _, piece := range strings.Split(answer.text, ` s="`)[1:] {
		status, _, _ := strings.Cut(piece, `"`)
		parts = append(parts, status)
	}
	for _, element := range []string{"<domain:exDate>", "<domain:clID>"} {
		if _, rest, found := strings.Cut(answer.text, element); found {
			text, _, _ := strings.Cut(rest, "<")
			parts = append(parts, strings.TrimSuffix(text, "T12:00:00.000Z"))
		}
	}
	return strings.Join(parts, " ")
}

func TestLifecycle_FollowsClock(t *testing.T) {
	t.Parallel()
	report := rgpExt("report", rgpReport)
	type step struct {
		after   string // advance of the clock before the step
		command string
		ext     string
		code    string
		state   string // of the domain afterwards
		says    string // the next message, if any
	}
	renewal := objectCommand("domain", "renew", `<:name>lebenslauf.com</:name><:curExpDate>2028-03-01</:curExpDate>`)
	create := step{command: domainCreate("lebenslauf.com"), code: "1000", state: "inactive addPeriod 2028-03-01 dotkontor"}
	afterAdd := step{after: "5d", state: "inactive 2028-03-01 dotkontor"}
	deleted := step{command: domainCommand("delete", "lebenslauf.com"), code: "1001", state: "pendingDelete redemptionPeriod 2028-03-01 dotkontor"}
	for title, steps := range map[string][]step{
		"a delete in the add period removes the name at once": {
			create, {after: "4d23h", command: domainCommand("delete", "lebenslauf.com"), code: "1000", state: "gone"},
		},
		"a deleted name is freed after 35 days": {
			create, afterAdd, deleted,
			{after: "29d23h", state: "pendingDelete redemptionPeriod 2028-03-01 dotkontor"},
			{after: "1h", state: "pendingDelete pendingDelete 2028-03-01 dotkontor"},
			{command: objectCommand("domain", "update", `<:name>lebenslauf.com</:name>`), ext: rgpExt("request", ""), code: "2304", state: "pendingDelete pendingDelete 2028-03-01 dotkontor"},
			{after: "5d", state: "gone", says: `<domain:name paResult="1">lebenslauf.com<`},
			{command: domainCreate("lebenslauf.com"), code: "1000", state: "inactive addPeriod 2028-04-10 dotkontor"},
		},
		"a deleted name is freed after 35 days in one jump": {
			create, afterAdd, deleted, {after: "300d", state: "gone", says: `<domain:paDate>2027-04-10T12:00:00.000Z<`},
		},
		"a restore with its report brings the name back": {
			create, afterAdd, deleted,
			{after: "20d", command: objectCommand("domain", "update", `<:name>lebenslauf.com</:name>`), ext: rgpExt("request", ""), code: "1000", state: "pendingDelete pendingRestore 2028-03-01 dotkontor"},
			{command: objectCommand("domain", "update", `<:name>lebenslauf.com</:name>`), ext: rgpExt("report", ""), code: "2003", state: "pendingDelete pendingRestore 2028-03-01 dotkontor"},
			{after: "6d", command: objectCommand("domain", "update", `<:name>lebenslauf.com</:name>`), ext: report, code: "1000", state: "inactive 2028-03-01 dotkontor"},
		},
		"a restore without a report returns to redemption": {
			create, afterAdd, deleted,
			{after: "20d", command: objectCommand("domain", "update", `<:name>lebenslauf.com</:name>`), ext: rgpExt("request", ""), code: "1000", state: "pendingDelete pendingRestore 2028-03-01 dotkontor"},
			{after: "7d", state: "pendingDelete redemptionPeriod 2028-03-01 dotkontor", says: "Restore report missing"},
			{after: "30d", state: "pendingDelete pendingDelete 2028-03-01 dotkontor"},
		},
		"auto-renewal, and a delete refunds the year": {
			create,
			{after: "366d", state: "inactive autoRenewPeriod 2029-03-01 dotkontor", says: "<domain:renData"},
			{after: "44d", state: "inactive autoRenewPeriod 2029-03-01 dotkontor"},
			deleted,
		},
		"after 45 days the added year stays": {
			create,
			{after: "411d", state: "inactive 2029-03-01 dotkontor", says: "<domain:renData"},
			{command: domainCommand("delete", "lebenslauf.com"), code: "1001", state: "pendingDelete redemptionPeriod 2029-03-01 dotkontor"},
		},
		"a renewal has a period of its own": {
			create, afterAdd,
			{command: renewal, code: "1000", state: "inactive renewPeriod 2029-03-01 dotkontor"},
			{after: "5d", state: "inactive 2029-03-01 dotkontor"},
		},
		"ten years in one jump are ten renewals": {
			create, {after: "3654d", state: "inactive autoRenewPeriod 2038-03-01 dotkontor", says: "2029-03-01"},
		},
	} {
		t.Run(title, func(t *testing.T) {
			t.Parallel()
			r := startEPPWorld(t, Options{Now: frozenClock})
			s := logIn(t, r, "dotkontor")
			for i, step := range steps {
				if step.after != "" {
					advance(t, r, step.after)
				}
				if step.command != "" {
					s.mustReturn(step.code, step.command, step.ext)
				}
				if got := s.domainSummary("lebenslauf.com"); got != step.state {
					t.Errorf("step %d: the domain is %q, want %q", i, got, step.state)
				}
				message := s.poll()
				if (message != "") != (step.says != "") || !strings.Contains(message, step.says) {
					t.Errorf("step %d: the message is %q, want one with %q", i, message, step.says)
				}
			}
		})
	}
}

func TestTransfer_CompletesAfterFiveDaysUnlessAnswered(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		title, op, by, after string
		status, sponsor      string
		expires              string
		gaining, losing      []string // content of the messages
	}{
		{"no response", "", "", "5d", "serverApproved", "dotkontor", "2029-03-01", []string{"serverApproved"}, []string{"pending", "serverApproved"}},
		{"approved", "approve", "andere", "", "clientApproved", "dotkontor", "2029-03-01", []string{"clientApproved"}, []string{"pending", "clientApproved"}},
		{"rejected", "reject", "andere", "4d", "clientRejected", "andere", "2028-03-01", []string{"clientRejected"}, []string{"pending"}},
		{"cancelled", "cancel", "dotkontor", "4d", "clientCancelled", "andere", "2028-03-01", nil, []string{"pending", "clientCancelled"}},
	} {
		t.Run(test.title, func(t *testing.T) {
			t.Parallel()
			r := startEPPWorld(t, Options{Now: frozenClock})
			ours, theirs := logIn(t, r, "dotkontor"), logIn(t, r, "andere")
			theirs.mustReturn("1000", domainCreate("wandern.com"))
			theirs.mustReturn("1000", objectCommand("host", "create", `<:name>ns1.wandern.com</:name><:addr>192.0.2.9</:addr>`))
			advance(t, r, "6d")
			ours.mustReturn("1001", domainTransfer("request", "wandern.com", "secret-1"))
			if got := theirs.domainSummary("wandern.com"); got != "pendingTransfer inactive 2028-03-01 andere" {
				t.Errorf("while it is pending the domain is %q", got)
			}
			if test.after != "" {
				advance(t, r, test.after)
			}
			if test.op != "" {
				who := map[string]*eppClient{"andere": theirs, "dotkontor": ours}[test.by]
				who.mustReturn("1000", domainTransfer(test.op, "wandern.com", ""))
			}
			if answer := ours.mustReturn("1000", domainTransfer("query", "wandern.com", "secret-1")); !answer.has(test.status) {
				t.Errorf("the transfer is not %s: %s", test.status, answer.text)
			}
			if answer := ours.mustReturn("1000", domainCommand("info", "wandern.com")); !answer.has("<domain:clID>"+test.sponsor+"<", "<domain:exDate>"+test.expires) {
				t.Errorf("want %s until %s: %s", test.sponsor, test.expires, answer.text)
			}
			if answer := ours.mustReturn("1000", objectCommand("host", "info", `<:name>ns1.wandern.com</:name>`)); !answer.has("<host:clID>" + test.sponsor + "<") {
				t.Errorf("the host did not move along: %s", answer.text)
			}
			for who, want := range map[*eppClient][]string{ours: test.gaining, theirs: test.losing} {
				for _, status := range want {
					if message := who.poll(); !strings.Contains(message, "<domain:trStatus>"+status+"<") {
						t.Errorf("the message does not contain %s: %q", status, message)
					}
				}
				if message := who.poll(); message != "" {
					t.Errorf("a message too many: %s", message)
				}
			}
		})
	}
}

func TestTransfer_InAutoRenewPeriodAddsOneYear(t *testing.T) {
	t.Parallel()
	r := startEPPWorld(t, Options{Now: frozenClock})
	ours, theirs := logIn(t, r, "dotkontor"), logIn(t, r, "andere")
	theirs.mustReturn("1000", domainCreate("wandern.com"))
	advance(t, r, "370d") // auto-renewed until 2029
	ours.mustReturn("1001", domainTransfer("request", "wandern.com", "secret-1"))
	advance(t, r, "5d")
	if got := ours.domainSummary("wandern.com"); got != "inactive transferPeriod 2029-03-01 dotkontor" {
		t.Errorf("the domain is %q", got)
	}
}

func TestLifecycle_DETransfersAtOnceAndDeletesToTransit(t *testing.T) {
	t.Parallel()
	r := startEPPWorld(t, Options{Now: frozenClock})
	ours, theirs := logIn(t, r, "dotkontor"), logIn(t, r, "andere")
	theirs.mustReturn("1000", contactCreate("holder-1"))
	theirs.mustReturn("1000", domainCreate("wandern.de", `<:registrant>holder-1</:registrant>`))
	ours.mustReturn("2202", domainTransfer("request", "wandern.de", "falsch"))
	if answer := ours.mustReturn("1000", domainTransfer("request", "wandern.de", "secret-1")); !answer.has("serverApproved") {
		t.Errorf("the answer is %s", answer.text)
	}
	if got := ours.domainSummary("wandern.de"); got != "inactive 2028-03-01 dotkontor" {
		t.Errorf("the domain is %q", got)
	}
	if message := theirs.poll(); !strings.Contains(message, "serverApproved") {
		t.Errorf("the old provider got the message %q", message)
	}
	if message := ours.poll(); message != "" {
		t.Errorf("the new provider got the message %q", message)
	}
	ours.mustReturn("1000", domainCommand("delete", "wandern.de"))
	if answer := ours.mustReturn("1000", domainCommand("info", "wandern.de")); !answer.has("<domain:clID>denic-transit<") {
		t.Errorf("the domain is not in TRANSIT: %s", answer.text)
	}
	if text := mustAskWHOIS(t, r, "whois.denic.de:43", "wandern.de"); !strings.Contains(text, "Status: connect") || !strings.Contains(text, "transit") {
		t.Errorf("WHOIS says %s", text)
	}
	theirs.mustReturn("1000", domainTransfer("request", "wandern.de", "secret-1"))
	theirs.mustReturn("1000", domainCommand("delete", "wandern.de"))
	advance(t, r, "30d")
	if got := ours.domainSummary("wandern.de"); got != "gone" {
		t.Errorf("after TRANSIT the domain is %q", got)
	}
}

func TestCreate_PendingIsDecidedLater(t *testing.T) {
	t.Parallel()
	r := startEPPWorld(t, Options{Now: frozenClock})
	s := logIn(t, r, "dotkontor")
	for name, want := range map[string]struct{ state, result string }{
		"pending-eins.com":     {"inactive addPeriod 2028-03-01", `paResult="1"`},
		"pendingfail-eins.com": {"gone", `paResult="0"`},
	} {
		answer := s.mustReturn("1001", domainCreate(name))
		_, rest, _ := strings.Cut(answer.text, "<trID>")
		trID, _, _ := strings.Cut(rest, "</trID>")
		if got := s.domainSummary(name); !strings.HasPrefix(got, "pendingCreate 2028-03-01") {
			t.Errorf("while it is pending %s is %q", name, got)
		}
		s.mustReturn("2304", domainCommand("delete", name))
		s.mustReturn("2302", domainCreate(name))
		if s.poll() != "" {
			t.Errorf("there is a message about %s already", name)
		}
		advance(t, r, "5s")
		if got := s.domainSummary(name); !strings.HasPrefix(got, want.state) {
			t.Errorf("%s is %q, want %q", name, got, want.state)
		}
		if message := s.poll(); !strings.Contains(message, want.result+">"+name) || !strings.Contains(message, "<domain:paTRID>"+trID+"</domain:paTRID>") {
			t.Errorf("the message about %s is %s", name, message)
		}
	}
}

func TestEPP_ChangesAppearInRDAPWHOISAndDNS(t *testing.T) {
	t.Parallel()
	r := startEPPWorld(t, Options{})
	s := logIn(t, r, "dotkontor")
	see := func(name string) (status int, whois string, servers int) {
		answer, err := queryDNS(t, answerTimeout, "udp", r.DNS(), name, dns.TypeNS)
		if err != nil {
			t.Fatal(err)
		}
		return mustGet(t, rdapURL(t, r, name)).status, mustAskWHOIS(t, r, "whois.verisign-grs.com:43", name), len(answer.Answer)
	}
	check := func(when string, status, servers int, text string) {
		t.Helper()
		gotStatus, whois, gotServers := see("sofort.com")
		if gotStatus != status || gotServers != servers || !strings.Contains(whois, text) {
			t.Errorf("%s: RDAP %d, %d name servers, WHOIS %s", when, gotStatus, gotServers, whois)
		}
	}
	check("before", http.StatusNotFound, 0, "No match")
	s.mustReturn("1000", objectCommand("host", "create", `<:name>ns1.anderswo.example</:name>`))
	s.mustReturn("1000", domainCreate("sofort.com", `<:ns><:hostObj>ns1.anderswo.example</:hostObj></:ns>`))
	check("registered", http.StatusOK, 1, "Registrar: dotkontor Sandbox")
	s.mustReturn("1000", objectCommand("host", "create", `<:name>ns1.sofort.com</:name><:addr>192.0.2.77</:addr>`))
	if answer, err := queryDNS(t, answerTimeout, "udp", r.DNS(), "ns1.sofort.com", dns.TypeA); err != nil || len(answer.Answer) != 1 || !strings.Contains(answer.Answer[0].String(), "192.0.2.77") {
		t.Errorf("the glue is %v, %v", answer, err)
	}
	s.mustReturn("1000", objectCommand("host", "delete", `<:name>ns1.sofort.com</:name>`))
	s.mustReturn("1000", objectCommand("domain", "update", `<:name>sofort.com</:name><:add><:status s="clientHold"/></:add>`))
	check("on hold", http.StatusOK, 0, "Domain Status: clientHold")
	s.mustReturn("1000", objectCommand("domain", "update", `<:name>sofort.com</:name><:rem><:status s="clientHold"/></:rem>`))
	advance(t, r, "6d")
	s.mustReturn("1001", domainCommand("delete", "sofort.com"))
	check("deleted", http.StatusOK, 0, "Domain Status: redemptionPeriod")
	advance(t, r, "35d")
	check("freed", http.StatusNotFound, 0, "No match")

	// A name of the table that was transferred and deleted is free afterwards.
	s.mustReturn("1001", domainTransfer("request", "transfer-haus.com", "auth-transfer-haus"))
	advance(t, r, "5d")
	if answer := s.mustReturn("1000", domainCommand("info", "transfer-haus.com")); !answer.has("<domain:clID>dotkontor<") {
		t.Errorf("the domain was not transferred: %s", answer.text)
	}
	s.mustReturn("1001", domainCommand("delete", "transfer-haus.com"))
	advance(t, r, "36d")
	if status, _, _ := see("transfer-haus.com"); status != http.StatusNotFound {
		t.Errorf("a freed name of the table is %d in RDAP", status)
	}
}

func TestSeedDomain_LifecycleFollowsClock(t *testing.T) {
	t.Parallel()
	held := func(name, registrar string, expires int, statuses ...string) SeedDomain {
		return SeedDomain{Name: name, Registrar: registrar, Statuses: statuses, Created: epoch.AddDate(-3, 0, 0), Expires: epoch.AddDate(0, 0, expires)}
	}
	r := startEPPWorld(t, Options{Now: frozenClock, Seeds: []SeedDomain{
		held("kommt.com", worldRegistrars[0].name, 200, "pendingTransfer"),
		held("geht.io", ProductName, -55, "redemptionPeriod", "pendingDelete"),
		held("weg.de", "DENIC TRANSIT (Sandbox)", 300),
	}})
	s := logIn(t, r, "dotkontor")
	for name, want := range map[string]string{
		"kommt.com": "pendingTransfer inactive 2027-09-17 andere", "geht.io": "pendingDelete redemptionPeriod 2027-01-05 dotkontor",
		"weg.de": "inactive 2027-12-26 denic-transit",
	} {
		if got := s.domainSummary(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	advance(t, r, "30d")
	for name, want := range map[string]string{"kommt.com": "inactive 2028-09-17 dotkontor", "geht.io": "gone", "weg.de": "gone"} {
		if got := s.domainSummary(name); got != want {
			t.Errorf("after 30 days %s is %q, want %q", name, got, want)
		}
	}
	for message := s.poll(); message != ""; message = s.poll() {
		if !strings.Contains(message, "kommt.com") && !strings.Contains(message, "geht.io") {
			t.Errorf("a message about something else: %s", message)
		}
	}
}

func TestCreate_ConcurrentRequestsRegisterOnce(t *testing.T) {
	t.Parallel()
	r := startEPPWorld(t, Options{Sessions: 50})
	const many = 50
	var speakers []*eppClient
	for i := range many {
		speakers = append(speakers, logIn(t, r, []string{"dotkontor", "andere"}[i%2]))
	}
	codes := make([]string, many)
	var group sync.WaitGroup
	start := make(chan struct{})
	for i, s := range speakers {
		group.Go(func() {
			<-start
			if err := s.send(s.wrap(domainCreate("einmalig.com"))); err != nil {
				codes[i] = err.Error()
				return
			}
			answer, err := s.receive()
			if codes[i] = answer.code; err != nil {
				codes[i] = err.Error()
			}
		})
	}
	close(start)
	group.Wait()
	slices.Sort(codes)
	if codes[0] != "1000" || codes[1] != "2302" || codes[many-1] != "2302" {
		t.Errorf("the answers are %v", codes)
	}
}

func TestExpiry_ZonesThatDoNotRenewByThemselves(t *testing.T) {
	t.Parallel()
	r := startEPPWorld(t, Options{Now: frozenClock, Zones: []Zone{{TLD: ".se"}}, Seeds: []SeedDomain{
		{Name: "frist.se", Registrar: ProductName, Created: epoch.AddDate(-1, 0, 10), Expires: epoch.AddDate(0, 0, 10), Nameservers: []string{"ns1.example.net"}},
	}})
	s := logIn(t, r, ProductAccount)
	renew := objectCommand("domain", "renew", `<:name>frist.se</:name><:curExpDate>2027-03-11</:curExpDate>`)
	advance(t, r, "11d")
	if got := s.domainSummary("frist.se"); got != "serverHold 2027-03-11 dotkontor" {
		t.Errorf("after its expiry it is %q", got)
	}
	if message := s.poll(); !strings.Contains(message, "Domain expired") {
		t.Errorf("the message is %q", message)
	}
	advance(t, r, "60d")
	s.mustReturn("1000", renew, "")
	if got := s.domainSummary("frist.se"); got != "ok renewPeriod 2028-03-11 dotkontor" {
		t.Errorf("renewed after 61 days it is %q", got)
	}
	renew = strings.Replace(renew, "2027-", "2028-", 1)
	advance(t, r, "378d")
	s.mustReturn("2105", renew, "")
	advance(t, r, "5d")
	if got := s.domainSummary("frist.se"); got != "gone" {
		t.Errorf("in the end it is %q", got)
	}
}
