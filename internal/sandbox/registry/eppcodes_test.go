package registry

import (
	"strings"
	"testing"
	"time"
)

func TestEPP_ResultCodes(t *testing.T) {
	t.Parallel()
	zones := append([]Zone{{TLD: ".ai", MinYears: 2, MaxYears: 10}}, someZones...)
	r := startEPPWorld(t, Options{Zones: zones})
	speakers := map[string]*eppClient{}
	for _, account := range []string{"dotkontor", "andere", "pleite"} {
		speakers[account] = logIn(t, r, account)
	}
	year := func(n int) string { return r.Now().AddDate(n, 0, 0).Format(time.DateOnly) }
	years := func(n string) string { return `<:period unit="y">` + n + `</:period>` }
	renew := func(name, date, more string) string {
		return objectCommand("domain", "renew", `<:name>`+name+`</:name><:curExpDate>`+date+`</:curExpDate>`+more)
	}
	update := func(name, body string) string {
		return objectCommand("domain", "update", `<:name>`+name+`</:name>`+body)
	}
	host := func(verb, body string) string { return objectCommand("host", verb, body) }
	status := func(s string) string { return `<:status s="` + s + `"/>` }
	ds := `<secDNS:dsData><secDNS:keyTag>1</secDNS:keyTag><secDNS:alg>13</secDNS:alg><secDNS:digestType>2</secDNS:digestType><secDNS:digest>` +
		strings.Repeat("ab", 32) + `</secDNS:digest></secDNS:dsData>`
	sec := func(verb, body string) string {
		return `<secDNS:` + verb + ` xmlns:secDNS="urn:ietf:params:xml:ns:secDNS-1.1">` + body + `</secDNS:` + verb + `>`
	}
	for _, step := range []struct {
		who, code, command, ext string
		says                    []string
	}{
		// check
		{"dotkontor", "1000", objectCommand("domain", "check", `<:name>frei.com</:name><:name>google.com</:name><:name>nic.academy</:name><:name>premium-x.de</:name><:name>-x.com</:name>`), "", []string{
			`avail="1">frei.com<`, `avail="0">google.com</domain:name><domain:reason>In use`, `avail="0">nic.academy</domain:name><domain:reason>Reserved`, `avail="1">premium-x.de<`, "Invalid name",
		}},
		{"dotkontor", "2307", objectCommand("domain", "check", `<:name>frei.com</:name><:name>frei.nirgends</:name>`), "", nil},
		{
			"dotkontor", "1000", objectCommand("domain", "check", `<:name>frei.com</:name><:name>premium-x.com</:name><:name>gold.com</:name>`),
			`<fee:check xmlns:fee="urn:ietf:params:xml:ns:epp:fee-1.0"><fee:command name="create"><fee:period unit="y">2</fee:period></fee:command><fee:command name="renew"/><fee:command name="transfer"/><fee:command name="restore"/></fee:check>`,
			[]string{"<fee:class>standard<", ">16.00<", "<fee:class>premium<", ">500.00<", "<fee:class>premium-gold<", ">5000.00<", `standard="1"`, `standard="0"`},
		},
		{
			"dotkontor", "1000", objectCommand("domain", "check", `<:name>frei.com</:name>`),
			`<fee:check xmlns:fee="urn:ietf:params:xml:ns:epp:fee-1.0"><fee:currency>USD</fee:currency><fee:command name="create"/></fee:check>`,
			[]string{`<fee:cd avail="0">`, "Only EUR"},
		},
		{"dotkontor", "2306", objectCommand("domain", "check", strings.Repeat(`<:name>frei.com</:name>`, 101)), "", nil},
		// contacts
		{"dotkontor", "1000", objectCommand("contact", "check", `<:id>holder-1</:id>`), "", []string{`avail="1"`}},
		{"dotkontor", "1000", contactCreate("holder-1"), "", nil},
		{"dotkontor", "2302", contactCreate("holder-1"), "", nil},
		{"dotkontor", "2001", contactCreate("h1"), "", nil},
		{"dotkontor", "2005", strings.Replace(contactCreate("holder-2"), `type="loc"`, `type="int"`, 1), "", nil},
		{"dotkontor", "2005", strings.Replace(contactCreate("holder-2"), `a@b.example`, `a b`, 1), "", nil},
		{"dotkontor", "2005", strings.Replace(contactCreate("holder-2"), `>DE<`, `>de<`, 1), "", nil},
		{"dotkontor", "2001", strings.Replace(contactCreate("holder-2"), `+49.30123`, `+4930123`, 1), "", nil},
		{"dotkontor", "1000", objectCommand("contact", "info", `<:id>holder-1</:id>`), "", []string{"Jürgen", "<contact:clID>dotkontor<", "secret-1"}},
		{"andere", "2201", objectCommand("contact", "info", `<:id>holder-1</:id>`), "", nil},
		{"andere", "2202", objectCommand("contact", "info", `<:id>holder-1</:id><:authInfo><:pw>wrong-1</:pw></:authInfo>`), "", nil},
		{"andere", "1000", objectCommand("contact", "info", `<:id>holder-1</:id><:authInfo><:pw>secret-1</:pw></:authInfo>`), "", nil},
		{"dotkontor", "2303", objectCommand("contact", "info", `<:id>nobody</:id>`), "", nil},
		{"dotkontor", "2101", strings.Replace(objectCommand("contact", "transfer", `<:id>holder-1</:id>`), "<transfer>", `<transfer op="request">`, 1), "", nil},
		{"dotkontor", "1000", objectCommand("contact", "update", `<:id>holder-1</:id><:add><:status s="clientDeleteProhibited"/></:add><:chg><:postalInfo type="loc"><:org>Kaffee GmbH</:org></:postalInfo><:disclose flag="0"><:name type="loc"/><:email/></:disclose></:chg>`), "", nil},
		{"dotkontor", "1000", objectCommand("contact", "info", `<:id>holder-1</:id>`), "", []string{"Kaffee GmbH", `<contact:disclose flag="0">`}},
		{"dotkontor", "2003", objectCommand("contact", "update", `<:id>holder-1</:id>`), "", nil},
		{"andere", "2201", objectCommand("contact", "delete", `<:id>holder-1</:id>`), "", nil},
		{"dotkontor", "2304", objectCommand("contact", "delete", `<:id>holder-1</:id>`), "", nil},
		{"dotkontor", "1000", objectCommand("contact", "update", `<:id>holder-1</:id><:rem><:status s="clientDeleteProhibited"/></:rem>`), "", nil},
		// hosts
		{"dotkontor", "1000", host("create", `<:name>ns1.anderswo.example</:name>`), "", nil},
		{"dotkontor", "2302", host("create", `<:name>NS1.anderswo.example</:name>`), "", nil},
		{"dotkontor", "2306", host("create", `<:name>ns2.anderswo.example</:name><:addr>192.0.2.1</:addr>`), "", nil},
		{"dotkontor", "2303", host("create", `<:name>ns1.frei.com</:name><:addr>192.0.2.1</:addr>`), "", nil},
		{"dotkontor", "2201", host("create", `<:name>ns1.google.com</:name><:addr>192.0.2.1</:addr>`), "", nil},
		{"dotkontor", "2005", host("create", `<:name>ns1.frei.com</:name><:addr ip="v6">192.0.2.1</:addr>`), "", nil},
		{"dotkontor", "2005", host("create", `<:name>under_score.example</:name>`), "", nil},
		{"dotkontor", "2102", host("update", `<:name>ns1.anderswo.example</:name><:chg><:name>ns9.anderswo.example</:name></:chg>`), "", nil},
		{"dotkontor", "1000", host("check", `<:name>ns1.anderswo.example</:name><:name>ns7.anderswo.example</:name>`), "", []string{`avail="0">ns1`, `avail="1">ns7`}},
		// create
		{"dotkontor", "1000", domainCreate("kaffee-eins.com", years("2"), `<:ns><:hostObj>ns1.anderswo.example</:hostObj></:ns>`), "", []string{"<domain:exDate>" + year(2), "<fee:creData", ">16.00<"}},
		{"andere", "2302", domainCreate("kaffee-eins.com"), "", nil},
		{"dotkontor", "2302", domainCreate("google.com"), "", nil},
		{"dotkontor", "2302", domainCreate("co.uk", contactsXML), "", nil},
		{"dotkontor", "2306", domainCreate("nic.academy", contactsXML), "", nil},
		{"dotkontor", "2306", domainCreate("a.b.com"), "", nil},
		{"dotkontor", "2306", domainCreate("ab--cd.com"), "", nil},
		{"dotkontor", "2307", domainCreate("frei.nirgends"), "", nil},
		{"dotkontor", "2005", domainCreate("fr_ei.com"), "", nil},
		{"dotkontor", "2005", domainCreate("bücher.com"), "", nil},
		{"dotkontor", "2004", domainCreate("frei.com", years("11")), "", nil},
		{"dotkontor", "2004", domainCreate("frei.ai", years("1"), contactsXML), "", nil},
		{"dotkontor", "1000", domainCreate("frei.ai", contactsXML), "", []string{"<domain:exDate>" + year(2)}},
		{"dotkontor", "2306", domainCreate("frei.com", `<:period unit="m">12</:period>`), "", nil},
		{"dotkontor", "2001", domainCreate("frei.com", years("0")), "", nil},
		{"dotkontor", "2306", domainCreate("frei.com", contactsXML), "", nil},
		{"dotkontor", "2306", domainCreate("frei.dev", contactsXML), "", nil},
		{"dotkontor", "2003", domainCreate("frei.ch"), "", nil},
		{"dotkontor", "2003", domainCreate("frei.ch", `<:registrant>holder-1</:registrant>`), "", nil},
		{"dotkontor", "2303", domainCreate("frei.ch", strings.ReplaceAll(contactsXML, "holder-1", "nobody")), "", nil},
		{"dotkontor", "1000", domainCreate("frei.ch", contactsXML), "", nil},
		{"dotkontor", "1000", domainCreate("frei.de", `<:ns><:hostAttr><:hostName>ns1.frei.de</:hostName><:hostAddr ip="v4">192.0.2.7</:hostAddr></:hostAttr><:hostAttr><:hostName>ns1.anderswo.example</:hostName></:hostAttr></:ns>`, `<:registrant>holder-1</:registrant>`), "", nil},
		{"dotkontor", "2306", domainCreate("frei.com", `<:ns><:hostAttr><:hostName>ns1.x.example</:hostName></:hostAttr></:ns>`), "", nil},
		{"dotkontor", "2303", domainCreate("frei.com", `<:ns><:hostObj>ns5.anderswo.example</:hostObj></:ns>`), "", nil},
		{"dotkontor", "2003", domainCreate("premium-eins.com"), "", nil},
		{"dotkontor", "2004", domainCreate("premium-eins.com"), feeExt("create", "249.99"), nil},
		{"dotkontor", "1000", domainCreate("premium-eins.com"), feeExt("create", "250.00"), []string{">250.00<"}},
		{"dotkontor", "2004", domainCreate("frei.com"), feeExt("create", "1"), nil},
		{"dotkontor", "2004", domainCreate("frei.com"), strings.Replace(feeExt("create", "100"), "EUR", "USD", 1), nil},
		{"dotkontor", "2104", domainCreate("unpaid-x.com"), "", nil},
		{"pleite", "2104", domainCreate("frei.com"), "", nil},
		{"dotkontor", "2306", domainCreate("frei.com"), sec("create", strings.Replace(ds, "abab", "ab", 1)), nil},
		{"dotkontor", "1000", domainCreate("signiert.com", `<:ns><:hostObj>ns1.anderswo.example</:hostObj></:ns>`), sec("create", ds), nil},
		{"dotkontor", "1000", domainCommand("info", "signiert.com"), "", []string{"<secDNS:infData", "ABABAB", `<rgp:rgpStatus s="addPeriod"/>`}},
		// info
		{"dotkontor", "1000", domainCommand("info", "kaffee-eins.com"), "", []string{`<domain:status s="ok"/>`, "secret-1", "<domain:hostObj>ns1.anderswo.example<"}},
		{"andere", "1000", domainCommand("info", "kaffee-eins.com"), "", []string{"<domain:clID>dotkontor<"}},
		{"andere", "2202", objectCommand("domain", "info", `<:name>kaffee-eins.com</:name><:authInfo><:pw>falsch</:pw></:authInfo>`), "", nil},
		{"dotkontor", "2303", domainCommand("info", "frei.com"), "", nil},
		{"dotkontor", "1000", domainCommand("info", "google.com"), "", []string{"clientTransferProhibited"}},
		// update
		{"dotkontor", "2003", update("kaffee-eins.com", ""), "", nil},
		{"andere", "2201", update("kaffee-eins.com", `<:add>`+status("clientHold")+`</:add>`), "", nil},
		{"dotkontor", "2306", update("kaffee-eins.com", `<:add>`+status("serverHold")+`</:add>`), "", nil},
		{"dotkontor", "2001", update("kaffee-eins.com", `<:add>`+status("hold")+`</:add>`), "", nil},
		{"dotkontor", "2306", update("kaffee-eins.com", `<:rem>`+status("clientHold")+`</:rem>`), "", nil},
		{"dotkontor", "1000", update("kaffee-eins.com", `<:add>`+status("clientUpdateProhibited")+status("clientRenewProhibited")+status("clientDeleteProhibited")+status("clientTransferProhibited")+`</:add>`), "", nil},
		{"dotkontor", "2304", update("kaffee-eins.com", `<:add>`+status("clientHold")+`</:add>`), "", nil},
		{"dotkontor", "2304", renew("kaffee-eins.com", year(2), ""), "", nil},
		{"dotkontor", "2304", domainCommand("delete", "kaffee-eins.com"), "", nil},
		{"andere", "2304", domainTransfer("request", "kaffee-eins.com", "secret-1"), "", nil},
		{"dotkontor", "1000", update("kaffee-eins.com", `<:rem>`+status("clientUpdateProhibited")+status("clientRenewProhibited")+status("clientDeleteProhibited")+status("clientTransferProhibited")+`</:rem><:chg><:authInfo><:pw>secret-2</:pw></:authInfo></:chg>`), "", nil},
		{"dotkontor", "2306", update("kaffee-eins.com", `<:chg><:registrant>holder-1</:registrant></:chg>`), "", nil},
		{"dotkontor", "1000", update("kaffee-eins.com", ""), sec("update", `<secDNS:add>`+ds+`</secDNS:add>`), nil},
		{"dotkontor", "2102", update("kaffee-eins.com", ""), sec("update", `<secDNS:chg><secDNS:maxSigLife>5</secDNS:maxSigLife></secDNS:chg>`), nil},
		{"dotkontor", "1000", update("kaffee-eins.com", ""), sec("update", `<secDNS:rem><secDNS:all>true</secDNS:all></secDNS:rem>`), nil},
		{"dotkontor", "2304", update("kaffee-eins.com", ""), rgpExt("request", ""), nil},
		// hosts below a domain
		{"dotkontor", "1000", host("create", `<:name>ns1.kaffee-eins.com</:name><:addr ip="v4">192.0.2.53</:addr><:addr ip="v6">2001:db8::53</:addr>`), "", nil},
		{"andere", "2201", host("create", `<:name>ns2.kaffee-eins.com</:name>`), "", nil},
		{"dotkontor", "1000", update("signiert.com", `<:add><:ns><:hostObj>ns1.kaffee-eins.com</:hostObj></:ns></:add>`), "", nil},
		{"dotkontor", "1000", host("info", `<:name>ns1.kaffee-eins.com</:name>`), "", []string{`s="linked"`, `ip="v6">2001:db8::53<`}},
		{"dotkontor", "2305", host("delete", `<:name>ns1.kaffee-eins.com</:name>`), "", nil},
		{"dotkontor", "2305", domainCommand("delete", "kaffee-eins.com"), "", nil},
		{"dotkontor", "2305", objectCommand("contact", "delete", `<:id>holder-1</:id>`), "", nil},
		{"dotkontor", "1000", host("update", `<:name>ns1.kaffee-eins.com</:name><:rem><:addr ip="v6">2001:db8::53</:addr></:rem>`), "", nil},
		{"dotkontor", "1000", update("signiert.com", `<:rem><:ns><:hostObj>ns1.kaffee-eins.com</:hostObj></:ns></:rem>`), "", nil},
		{"dotkontor", "1000", host("delete", `<:name>ns1.kaffee-eins.com</:name>`), "", nil},
		// renew
		{"dotkontor", "2004", renew("kaffee-eins.com", year(1), ""), "", nil},
		{"dotkontor", "2105", renew("kaffee-eins.com", year(2), years("9")), "", nil},
		{"andere", "2201", renew("kaffee-eins.com", year(2), ""), "", nil},
		{"dotkontor", "2303", renew("frei.com", year(2), ""), "", nil},
		{"dotkontor", "2003", renew("premium-eins.com", year(1), ""), "", nil},
		{"dotkontor", "1000", renew("kaffee-eins.com", year(2), years("3")), feeExt("renew", "24.00"), []string{"<domain:exDate>" + year(5), "<fee:renData"}},
		// transfer
		{"dotkontor", "2106", domainTransfer("request", "kaffee-eins.com", "secret-2"), "", nil},
		{"dotkontor", "2301", domainTransfer("approve", "kaffee-eins.com", ""), "", nil},
		{"dotkontor", "2303", domainTransfer("request", "frei.com", "secret-2"), "", nil},
		{"andere", "2003", domainTransfer("request", "kaffee-eins.com", ""), "", nil},
		{"andere", "2202", domainTransfer("request", "kaffee-eins.com", "secret-1"), "", nil},
		{"dotkontor", "2304", domainTransfer("request", "google.com", "auth-google"), "", nil},
		{"andere", "1001", domainTransfer("request", "kaffee-eins.com", "secret-2"), "", []string{"<domain:trStatus>pending<"}},
		{"andere", "2300", domainTransfer("request", "kaffee-eins.com", "secret-2"), "", nil},
		{"andere", "2201", domainTransfer("approve", "kaffee-eins.com", ""), "", nil},
		{"dotkontor", "2201", domainTransfer("cancel", "kaffee-eins.com", ""), "", nil},
		{"dotkontor", "2304", domainCommand("delete", "kaffee-eins.com"), "", nil},
		{"andere", "1000", domainTransfer("query", "kaffee-eins.com", ""), "", []string{"<domain:reID>andere<"}},
		{"pleite", "2201", domainTransfer("query", "kaffee-eins.com", ""), "", nil},
		{"dotkontor", "1000", domainTransfer("reject", "kaffee-eins.com", ""), "", []string{"clientRejected"}},
		{"dotkontor", "2301", domainTransfer("reject", "kaffee-eins.com", ""), "", nil},
		// delete
		{"andere", "2201", domainCommand("delete", "kaffee-eins.com"), "", nil},
		{"dotkontor", "1000", domainCommand("delete", "kaffee-eins.com"), "", []string{"<fee:delData", "-40.00"}},
		{"dotkontor", "2303", domainCommand("delete", "kaffee-eins.com"), "", nil},
		{"andere", "1000", domainCreate("kaffee-eins.com"), "", nil},
		// poll
		{"dotkontor", "2003", `<poll op="ack"/>`, "", nil},
		{"dotkontor", "2303", `<poll op="ack" msgID="999999"/>`, "", nil},
		{"dotkontor", "2002", `<poll op="req" msgID="1"/>`, "", nil},
		{"pleite", "1300", `<poll op="req"/>`, "", nil},
		// session and structure
		{"dotkontor", "2002", loginCommand("dotkontor", "kontor-geheim", allServices), "", nil},
		{"dotkontor", "2000", `<dance/>`, "", nil},
		{"dotkontor", "2103", domainCommand("info", "google.com"), `<x:y xmlns:x="urn:example:x"/>`, nil},
		{"dotkontor", "2103", objectCommand("contact", "check", `<:id>holder-1</:id>`), feeExt("create", "1"), nil},
		{"dotkontor", "2307", `<check><x:check xmlns:x="urn:example:x"/></check>`, "", nil},
	} {
		answer := speakers[step.who].mustReturn(step.code, step.command, step.ext)
		if !answer.has(step.says...) {
			t.Errorf("%s does not contain %q: %s", step.command, step.says, answer.text)
		}
	}
}

func TestEPPLogin_MustMatchGreeting(t *testing.T) {
	t.Parallel()
	r := startEPPWorld(t, Options{Sessions: 2})
	good := loginCommand("dotkontor", "kontor-geheim", allServices)
	s := dialEPP(t, r)
	for code, command := range map[string]string{
		"2002": domainCommand("info", "google.com"),
		"2100": strings.Replace(good, "<version>1.0", "<version>2.0", 1),
		"2102": strings.Replace(good, "<lang>en", "<lang>fr", 1),
		"2307": strings.Replace(good, "host-1.0", "host-9.9", 1),
		"2103": strings.Replace(good, "rgp-1.0", "rgp-9.9", 1),
		"2001": strings.Replace(good, "kontor-geheim", "kurz", 1),
		"2200": strings.Replace(good, "kontor-geheim", "falsch-1", 1),
	} {
		s.mustReturn(code, command)
	}
	s.mustReturn("2002", `<logout/>`)
	s.mustReturn("2200", loginCommand("niemand", "kontor-geheim", allServices))
	s.mustReturn("2501", loginCommand("dotkontor", "falsch-2", allServices))
	if !s.isClosed() {
		t.Error("three wrong passwords, and the connection is still open")
	}

	// The next login reports the failures and sets a long password.
	long := "a password of far more than sixteen characters"
	sec := func(body string) string {
		return `<loginSec:loginSec xmlns:loginSec="urn:ietf:params:xml:ns:epp:loginSec-1.0">` + body + `</loginSec:loginSec>`
	}
	s = dialEPP(t, r)
	changed := strings.Replace(good, "</pw>", "</pw><newPW>[LOGIN-SECURITY]</newPW>", 1)
	if answer := s.mustReturn("1000", changed, sec(`<loginSec:userAgent><loginSec:app>Test</loginSec:app></loginSec:userAgent><loginSec:newPW>`+long+`</loginSec:newPW>`)); !answer.has(`name="failedLogins"`, `value="2"`) {
		t.Errorf("the failed logins are not reported: %s", answer.text)
	}
	second := dialEPP(t, r)
	second.mustReturn("2200", good)
	second.mustReturn("2003", strings.Replace(good, "kontor-geheim", "[LOGIN-SECURITY]", 1))
	second.mustReturn("1000", strings.Replace(good, "kontor-geheim", "[LOGIN-SECURITY]", 1), sec(`<loginSec:pw>`+long+`</loginSec:pw>`))

	third := dialEPP(t, r)
	third.mustReturn("2502", strings.Replace(good, "kontor-geheim", "[LOGIN-SECURITY]", 1), sec(`<loginSec:pw>`+long+`</loginSec:pw>`))
	if !third.isClosed() {
		t.Error("the connection stays open after exceeding the session limit")
	}
	second.mustReturn("1500", `<logout/>`)
	if !second.isClosed() {
		t.Error("the connection is open after the logout")
	}
}

func TestEPPLogin_UnrequestedServiceIsRefused(t *testing.T) {
	t.Parallel()
	r := startEPPWorld(t, Options{})
	s := dialEPP(t, r)
	s.mustReturn("1000", loginCommand("dotkontor", "kontor-geheim", `<objURI>urn:ietf:params:xml:ns:domain-1.0</objURI>`))
	s.mustReturn("2307", contactCreate("holder-1"))
	s.mustReturn("2103", domainCreate("frei.com"), feeExt("create", "8"))
	if answer := s.mustReturn("1000", domainCreate("frei.com")); answer.has("fee:") {
		t.Errorf("the response contains fees: %s", answer.text)
	}
	if answer := s.mustReturn("1000", domainCommand("info", "frei.com")); answer.has("rgp:") {
		t.Errorf("the response contains grace periods: %s", answer.text)
	}
}
