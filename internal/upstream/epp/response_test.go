package epp

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
)

func TestParseResponse_ToleratesPrefixesOrderAndWhitespace(t *testing.T) {
	t.Parallel()
	inf := `<D:infData xmlns:D="` + nsDomain + `" xmlns:x="urn:x"><D:name> A.TEST </D:name><D:roid>EX-1</D:roid><x:odd><x:deep/></x:odd>
		<D:status s="ok"/><D:status s="clientHold">why</D:status><D:registrant>REG-1</D:registrant><D:contact type="tech">TEC-1</D:contact>
		<D:ns><D:hostObj>NS1.test</D:hostObj></D:ns><D:host>ns1.a.test</D:host><D:clID>ClientX</D:clID><D:crID>ClientY</D:crID>
		<D:crDate>2026-01-02T03:04:05.678Z</D:crDate><D:exDate>2027-01-02T03:04:05+02:00</D:exDate><D:authInfo><D:pw>secret</D:pw></D:authInfo></D:infData>`
	ext := `<s:infData xmlns:s="` + nsSecDNS + `"><s:dsData><s:keyTag>7</s:keyTag><s:alg>13</s:alg><s:digestType>2</s:digestType><s:digest>ab cd</s:digest></s:dsData></s:infData>
		<r:infData xmlns:r="` + nsRGP + `"><r:rgpStatus s="addPeriod"/></r:infData><q:unknown xmlns:q="urn:q">x</q:unknown>`
	want := DomainInfo{
		Name: "a.test", Statuses: []string{"ok", "clientHold"}, Registrant: "REG-1", Contacts: []Contact{{Tech, "TEC-1"}},
		Nameservers: []domainchange.Nameserver{{Name: "ns1.test"}}, Sponsor: "ClientX", Creator: "ClientY",
		Created: time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC), Expires: time.Date(2027, 1, 2, 1, 4, 5, 0, time.UTC), AuthInfo: "secret",
		DS: []domainchange.DS{{KeyTag: 7, Algorithm: 13, DigestType: 2, Digest: "ABCD"}}, Grace: []string{"addPeriod"},
	}
	for name, document := range map[string]string{
		"as the schema orders": `<epp xmlns="` + nsEPP + `"><response><result code="1000"><msg>ok</msg></result><msgQ count="3" id="9"/><resData>` + inf + `</resData><extension>` + ext + `</extension><trID><clTRID>@ID@</clTRID><svTRID>S</svTRID></trID></response></epp>`,
		"trID first":           `<epp xmlns="` + nsEPP + `"><response><trID><clTRID>@ID@</clTRID><svTRID>S</svTRID></trID><result code="1000"><msg>ok</msg></result><extension>` + ext + `</extension><resData>` + inf + `</resData></response></epp>`,
		"prefixes everywhere": `<?xml version="1.0" encoding="utf-8" standalone="yes"?>
			<!-- hello --> <e:epp xmlns:e="` + nsEPP + `" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="x y">
			<e:response> <e:result code=" 1000 "> <e:msg lang="de">ok</e:msg> </e:result> <e:resData>` + inf + `</e:resData> <e:extension>` + ext + `</e:extension>
			<e:trID> <e:clTRID> @ID@ </e:clTRID> <e:svTRID> S </e:svTRID> </e:trID> </e:response> </e:epp>  `,
		"without our id": `<epp xmlns="` + nsEPP + `"><response><result code="1000"><msg/></result><resData>` + inf + `</resData><extension>` + ext + `</extension><trID><svTRID>S</svTRID></trID></response></epp>`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fakeServer{handle: func(r *Node) reply { return reply{xml: strings.ReplaceAll(document, "@ID@", tridOf(r))} }}
			got, err := f.client(t, nil).InfoDomain(t.Context(), InfoDomain{Name: "a.test"})
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestResultCodes_MapToKindsAndCodes(t *testing.T) {
	t.Parallel()
	for code, want := range map[int]struct {
		kind registrar.Kind
		code registrar.Code
	}{
		2001: {registrar.KindInternal, ResultSyntax},
		2004: {registrar.KindInvalid, ResultValue},
		2104: {registrar.KindUpstream, registrar.EPPBilling},
		2201: {registrar.KindForbidden, registrar.EPPNotAllowed},
		2202: {registrar.KindInvalid, registrar.EPPAuthInfo},
		2302: {registrar.KindConflict, registrar.EPPExists},
		2303: {registrar.KindNotFound, registrar.EPPMissing},
		2304: {registrar.KindConflict, ResultStatusProhibits},
		2305: {registrar.KindConflict, ResultInUse},
		2306: {registrar.KindInvalid, ResultPolicy},
		2400: {registrar.KindUpstream, registrar.FaultBroken},
		2500: {registrar.KindUpstream, registrar.FaultBroken},
		2502: {registrar.KindUpstream, ResultSessions},
		2999: {registrar.KindUpstream, registrar.FaultBroken},
	} {
		f := &fakeServer{handle: func(r *Node) reply {
			text := responseXML(code, tridOf(r), "", "")
			return reply{xml: strings.Replace(text, "<msg>said</msg>", `<msg>said</msg><value xmlns:d="urn:d"><d:name>secret.test</d:name></value><extValue><value><x/></value><reason>because</reason></extValue>`, 1)}
		}}
		_, err := f.client(t, nil).UpdateDomain(t.Context(), UpdateDomain{Name: "secret.test"})
		if !errors.Is(err, &registrar.Error{Kind: want.kind, Code: want.code}) {
			t.Errorf("%d: got %v", code, err)
			continue
		}
		var refused *ResultError
		if !errors.As(err, &refused) || refused.Code != code || refused.Message != "said" || !reflect.DeepEqual(refused.Reasons, []string{"secret.test", "because"}) {
			t.Errorf("%d: details %+v", code, refused)
		}
		if strings.Contains(err.Error(), "secret") || strings.Contains(refused.Error(), "secret") || errors.Is(err, ErrOutcomeUnknown) {
			t.Errorf("%d: the error contains a name or doubts a definite result: %v", code, err)
		}
	}
}

func TestCreateDomain_PendingIsNoError(t *testing.T) {
	t.Parallel()
	f := &fakeServer{handle: func(r *Node) reply { return reply{xml: responseXML(1001, tridOf(r), "", "")} }}
	got, err := f.client(t, nil).CreateDomain(t.Context(), CreateDomain{Name: "a.test"})
	if err != nil || !got.Pending {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestNextMessage_NamesItsDomain(t *testing.T) {
	t.Parallel()
	messages := []string{
		`<result code="1301"><msg>ack</msg></result><msgQ count="2" id="77"><qDate>2026-11-15T01:02:03Z</qDate><msg>Pending <b>action</b> done</msg></msgQ><resData><d:panData xmlns:d="` + nsDomain + `"><d:name paResult="1">a.test</d:name><d:paTRID><clTRID>order-1</clTRID><svTRID>S-9</svTRID></d:paTRID><d:paDate>2026-11-15T01:02:02Z</d:paDate></d:panData></resData>`,
		`<result code="1301"><msg>ack</msg></result><msgQ count="1" id="78"><msg>Transfer</msg></msgQ><resData><d:trnData xmlns:d="` + nsDomain + `"><d:name>b.test</d:name><d:trStatus>serverApproved</d:trStatus><d:reID>ClientX</d:reID><d:reDate>2026-11-01T00:00:00Z</d:reDate><d:acID>ClientY</d:acID><d:acDate>2026-11-06T00:00:00Z</d:acDate></d:trnData></resData>`,
		`<result code="1300"><msg>none</msg></result>`,
	}
	f := &fakeServer{handle: func(r *Node) reply {
		if r.Child("", "command").Children[0].Attr("op") == "ack" {
			messages = messages[1:]
			return reply{xml: `<epp xmlns="` + nsEPP + `"><response><result code="1000"><msg/></result><msgQ count="1" id="78"/><trID><svTRID>S</svTRID></trID></response></epp>`}
		}
		return reply{xml: `<epp xmlns="` + nsEPP + `"><response>` + messages[0] + `<trID><clTRID>` + tridOf(r) + `</clTRID><svTRID>S</svTRID></trID></response></epp>`}
	}}
	p := NewProvisioner(f.client(t, nil), nil)
	for _, want := range []inbox.Message{
		{ID: "77", Name: "a.test", Text: "Pending  done action", Queued: time.Date(2026, 11, 15, 1, 2, 3, 0, time.UTC), Waiting: 2},
		{ID: "78", Name: "b.test", Text: "Transfer", Waiting: 1},
	} {
		got, err := p.NextMessage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got.Kind, got.Details = "", inbox.Details{} // see TestPoll_ReadsEveryKind
		if !reflect.DeepEqual(*got, want) {
			t.Fatalf("got %+v; want %+v", got, want)
		}
		if err := p.Acknowledge(t.Context(), want.ID); err != nil {
			t.Error(err)
		}
	}
	if last, err := p.NextMessage(t.Context()); err != nil || last != nil {
		t.Errorf("got %+v, %v", last, err)
	}
}

func TestCheckDomains_ReadsFeesExactly(t *testing.T) {
	t.Parallel()
	fee := `<f:chkData xmlns:f="` + nsFee + `"><f:currency>USD</f:currency>
		<f:cd><f:objID>GOLD.test</f:objID><f:class>premium-tier1</f:class><f:command name="create"><f:period unit="y">1</f:period><f:fee description="Registration">149.50</f:fee><f:fee>0.505</f:fee><f:credit>-50.00</f:credit></f:command></f:cd>
		<f:cd><f:objID>plain.test</f:objID><f:class>standard</f:class><f:command name="create" standard="1"><f:period unit="m">24</f:period><f:fee>10.00</f:fee></f:command></f:cd>
		<f:cd><f:objID>tier.test</f:objID><f:class>tier-3</f:class><f:command name="create" standard="true"><f:fee>10</f:fee></f:command></f:cd>
		<f:cd avail="0"><f:objID>dark.test</f:objID><f:reason>minimum period is 2</f:reason></f:cd></f:chkData>`
	f := &fakeServer{handle: func(r *Node) reply {
		text := respondCheck(r).xml
		return reply{xml: strings.Replace(text, "<trID>", "<extension>"+fee+"</extension><trID>", 1)}
	}}
	got, err := f.client(t, nil).CheckDomains(t.Context(), CheckDomains{Names: []string{"dark.test", "gold.test", "plain.test", "tier.test", "none.test"}, Fee: FeeCommand{Name: "create", Years: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := got[1].Fee.Price("create"); !ok || p.String() != "100.005" || got[1].Fee.Currency != "USD" {
		t.Errorf("gold: %+v", got[1].Fee)
	}
	if p, ok := got[2].Fee.Price("create"); !ok || p.String() != "10.00" {
		t.Errorf("plain: %+v", got[2].Fee)
	}
	for i, premium := range []bool{true, true, false, false, false} {
		if got[i].Fee.Premium("create") != premium {
			t.Errorf("%s: premium %t", got[i].Name, !premium)
		}
	}
	if got[0].Fee == nil || !got[0].Fee.Unknown || got[4].Fee != nil {
		t.Errorf("dark %+v, none %+v", got[0].Fee, got[4].Fee)
	}
}

func TestParseAmount_NeverRounds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"10": "10.00", "10.5": "10.50", "10.1234": "10.1234", "0": "0.00", ".5": "0.50", "+3.10": "3.10", "-7.25": "-7.25", "10.50000000": "10.50", "0.0": "0.00",
	} {
		if got, err := registrar.ParseAmount(text); err != nil || got.String() != want {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"", ".", "-", "1,50", "1e3", "0.00001", "1.2.3", "NaN", "9999999999999", "1.-5", "--1", "+-1"} {
		if got, err := registrar.ParseAmount(text); err == nil {
			t.Errorf("%q was read as %s", text, got)
		}
	}
}

func TestParseDocument_RefusesHostileXML(t *testing.T) {
	t.Parallel()
	for name, document := range map[string]string{
		"a DTD":          `<!DOCTYPE epp [<!ENTITY a "b">]><epp xmlns="` + nsEPP + `"/>`,
		"too deep":       strings.Repeat("<a>", 100) + strings.Repeat("</a>", 100),
		"too many":       "<a>" + strings.Repeat("<b/>", maxNodes+1) + "</a>",
		"too many texts": "<a>" + strings.Repeat("x<b/>", maxJoined+2) + "</a>",
		"two roots":      "<a/><b/>",
		"nothing":        "  ",
		"cut off":        "<a><b></b>",
		"wrong nesting":  "<a><b></a></b>",
		"another entity": "<a>&x;</a>",
		"UTF-16":         `<?xml version="1.0" encoding="UTF-16"?><a/>`,
	} {
		if _, err := parseDocument([]byte(document)); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// usualDocuments are in the forms that registries send most.
func usualDocuments() map[string]string {
	ids := `<trID><clTRID>dk-1</clTRID><svTRID>S-1</svTRID></trID>`
	return map[string]string{
		"greeting": greetingXML(allServices),
		"check":    responseXML(1000, "dk-1", `<d:chkData xmlns:d="`+nsDomain+`"><d:cd><d:name avail="1">a.test</d:name></d:cd></d:chkData>`, "<x/>"),
		"indented": `<?xml version="1.0" encoding="utf-8" standalone="no"?>` + "\n<epp\n\txmlns='" + nsEPP + "' >\n  <response>\n    <result code=\"1000\">\n      <msg lang = \"en\"> Command completed </msg>\n    </result >" + ids + "</response>\n</epp>\n",
		"prefixes in their scopes": `<e:epp xmlns:e="` + nsEPP + `"><e:response><e:resData><a:x xmlns:a="urn:1" a:y="z"><a:x xmlns:a="urn:2"/><a:x/><x xmlns="urn:3"><x xmlns=""/></x></a:x></e:resData>` +
			`<undeclared:x/>text <b>in</b> parts</e:response></e:epp>`,
	}
}

// unusualDocuments are well-formed or not, and at most tolerated.
func unusualDocuments() []string {
	return []string{
		`<a b="1"c="2"/>`, `<a b="1" b="2"/>`, `<a>x</a> y`, `<a/><b/>`, `<a><b></a></b>`, `<a></ab>`, `<ab></a>`, `<a`, `<a b`, `<a b=`, `<a b="`, `<a b="<"/>`, `<a/ >`, `< a/>`, `</a>`,
		`<a:/>`, `<:a/>`, `<a:b:c/>`, `<a:1/>`, `<1/>`, `<-/>`, `<xml:a/>`, `<xmlns:a/>`, `<xmlns/>`, `<a xmlns:xmlns="x" xmlns:xml="y" xml:z=""/>`, `<a xmlns:b=""><b:c/></a>`,
		`<a>&lt;</a>`, `<a>]]></a>`, `<a b="]]>"/>`, `<a><![CDATA[x]]></a>`, `<a><!-- x --></a>`, `<a><?x?></a>`, "<a>\r\n</a>", "<a>\x00</a>", "<a>\x7f</a>", "<a>\xff</a>", "<ä>ö</ä>", "\ufeff<a/>",
		`<?xml version="1.1"?><a/>`, `<?xml version="1.0" encoding="UTF-16"?><a/>`, `<?xml version="1.0"?><?xml version="1.0"?><a/>`, ` <?xml version="1.0"?><a/>`, `<!DOCTYPE a><a/>`, ``, ` `, `x`,
		strings.Repeat("<a>", maxDepth) + strings.Repeat("</a>", maxDepth), strings.Repeat("<a>", maxDepth+1) + strings.Repeat("</a>", maxDepth+1),
		`<a>` + strings.Repeat("x<b/>", maxJoined+1) + `</a>`, `<a>` + strings.Repeat("x<b/>", maxJoined+2) + `</a>`, "<a" + manyNamespaces(maxNamespaces) + "/>", "<a" + manyNamespaces(maxNamespaces+1) + "/>",
		`<a>` + strings.Repeat("<b/>", maxNodes-1) + `</a>`, `<a>` + strings.Repeat("<b/>", maxNodes) + `</a>`,
	}
}

// manyNamespaces declares prefixes.
func manyNamespaces(count int) (attrs string) {
	for n := range count {
		attrs += fmt.Sprintf(` xmlns:p%d="urn:%d"`, n, n)
	}
	return attrs
}

func TestParsePlain_LeavesManyNamespacesToEncodingXML(t *testing.T) {
	t.Parallel()
	for count, plain := range map[int]bool{maxNamespaces: true, maxNamespaces + 1: false} {
		if checkPlain(t, []byte("<a"+manyNamespaces(count)+"/>")) != plain {
			t.Errorf("%d namespaces: plain should be %t", count, plain)
		}
	}
}

// checkPlain compares parsePlain with encoding/xml.
func checkPlain(t *testing.T, document []byte) (isPlain bool) {
	t.Helper()
	root := parsePlain(document)
	if root == nil {
		return false
	}
	if want, err := parseAny(document); err != nil || !reflect.DeepEqual(root, want) {
		t.Errorf("%.200q:\ngot  %+v\nwant %+v, %v", document, root, want, err)
	}
	return true
}

func TestParsePlain_AgreesWithEncodingXML(t *testing.T) {
	t.Parallel()
	for name, document := range usualDocuments() {
		if !checkPlain(t, []byte(document)) {
			t.Errorf("%s is left to encoding/xml", name)
		}
	}
	for _, document := range unusualDocuments() {
		checkPlain(t, []byte(document))
	}
}

func FuzzParsePlain(f *testing.F) {
	for _, document := range usualDocuments() {
		f.Add([]byte(document))
	}
	for _, document := range unusualDocuments() {
		if len(document) < 1000 {
			f.Add([]byte(document))
		}
	}
	f.Fuzz(func(t *testing.T, document []byte) { checkPlain(t, document) })
}

func FuzzParseResponse(f *testing.F) {
	f.Add([]byte(greetingXML(allServices)))
	f.Add([]byte(responseXML(1000, "abc", `<d:chkData xmlns:d="`+nsDomain+`"><d:cd><d:name avail="1">a.test</d:name></d:cd></d:chkData>`, "<x/>")))
	f.Fuzz(func(_ *testing.T, document []byte) {
		a, err := parseResponse(document)
		if err != nil {
			return
		}
		if a.greeting != nil {
			_, _, _ = loginCall(&Account{}, a.greeting, "")
			return
		}
		readCheckResults(a)
		readDomain(a.data.Child(nsDomain, "infData"), a.extension)
	})
}
