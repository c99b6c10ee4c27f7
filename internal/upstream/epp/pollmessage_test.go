package epp

import (
	"encoding/binary"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
	"github.com/dotkontor/dotkontor/test/testkit/eppschema"
)

const trnData = `<domain:trnData xmlns:domain="` + nsDomain + `"><domain:name>Teeladen.org</domain:name><domain:trStatus>pending</domain:trStatus>` +
	`<domain:reID>Rival-1</domain:reID><domain:reDate>2026-11-10T08:00:00.0Z</domain:reDate><domain:acID>ClientX</domain:acID>` +
	`<domain:acDate>2026-11-15T08:00:00.0Z</domain:acDate><domain:exDate>2028-03-01T00:00:00.0Z</domain:exDate></domain:trnData>`

const infData = `<domain:infData xmlns:domain="` + nsDomain + `"><domain:name>teeladen.org</domain:name><domain:roid>D1-ORG</domain:roid>` +
	`<domain:status s="serverHold"/><domain:status s="serverUpdateProhibited"/><domain:clID>ClientX</domain:clID>` +
	`<domain:upDate>2026-11-12T10:00:00Z</domain:upDate><domain:exDate>2027-03-01T00:00:00Z</domain:exDate>` +
	`<domain:authInfo><domain:pw>geheim-2fooBAR</domain:pw></domain:authInfo></domain:infData>`

const changeData = `<changePoll:changeData xmlns:changePoll="` + nsChangePoll + `" state="after"><changePoll:operation op="hold">custom</changePoll:operation>` +
	`<changePoll:date>2026-11-12T10:00:00Z</changePoll:date><changePoll:svTRID>S-77</changePoll:svTRID><changePoll:who>URS Admin</changePoll:who>` +
	`<changePoll:caseId type="urs">urs-123</changePoll:caseId><changePoll:reason lang="en">URS lock</changePoll:reason></changePoll:changeData>`

const vendorData = `<v:extra xmlns:v="urn:example:vendor-1.0"><v:pw><![CDATA[geheim]]></v:pw><v:code>7</v:code></v:extra>`

func at(month time.Month, day, hour int) time.Time {
	return time.Date(2026, month, day, hour, 0, 0, 0, time.UTC)
}

// pollFrame is a complete response with one message.
func pollFrame(text, data, extension string) string {
	if data != "" {
		data = "<resData>" + data + "</resData>"
	}
	if extension != "" {
		extension = "<extension>" + extension + "</extension>"
	}
	return `<epp xmlns="` + nsEPP + `"><response><result code="1301"><msg>Command completed successfully; ack to dequeue</msg></result>` +
		`<msgQ count="3" id="4711"><qDate>2026-11-12T10:00:01Z</qDate><msg>` + text + `</msg></msgQ>` + data + extension +
		`<trID><svTRID>S-1</svTRID></trID></response></epp>`
}

type messageCase struct {
	frame   string
	name    string
	kind    inbox.Kind
	details inbox.Details
	raw     bool // parts are not understood
	schema  bool // the schemas contain every element
}

var serverState = &inbox.State{
	Statuses: []string{"serverHold", "serverUpdateProhibited"}, Sponsor: "ClientX", Updated: at(11, 12, 10), Expires: time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC),
}

func messageCases() map[string]messageCase {
	transfer := &inbox.Transfer{
		Status: "pending", RequestedBy: "Rival-1", RequestedAt: at(11, 10, 8), DecidedBy: "ClientX", DecidedAt: at(11, 15, 8),
		Expires: time.Date(2028, 3, 1, 0, 0, 0, 0, time.UTC),
	}
	ours := *transfer
	ours.Status, ours.RequestedBy, ours.Ours = "serverApproved", "CLIENTX", true
	change := &inbox.Change{Operation: "custom", Custom: "hold", At: at(11, 12, 10), SvTRID: "S-77", Who: "URS Admin", CaseType: "urs", Case: "urs-123", Reason: "URS lock"}
	domain := func(d inbox.Details) inbox.Details { d.Object = inbox.ObjectDomain; return d }
	pan := func(prefix, space, id string) string {
		return strings.NewReplacer("P:", prefix+":", "SPACE", space).Replace(`<P:panData xmlns:` + prefix + `="SPACE">` + id +
			`<P:paTRID><clTRID>order-1</clTRID><svTRID>S-9</svTRID></P:paTRID><P:paDate>2026-11-12T10:00:00Z</P:paDate></P:panData>`)
	}
	pending := func(performed bool) *inbox.Pending {
		return &inbox.Pending{Performed: performed, ClTRID: "order-1", SvTRID: "S-9", At: at(11, 12, 10)}
	}
	maintenance := `<maint:infData xmlns:maint="` + nsMaintenance + `"><maint:item><maint:id name="Core upgrade">2e6df9b0</maint:id><maint:type lang="en">Routine</maint:type>` +
		`<maint:pollType>create</maint:pollType><maint:systems><maint:system><maint:name>EPP</maint:name><maint:host>epp.registry.example</maint:host><maint:impact>full</maint:impact></maint:system>` +
		`<maint:system><maint:name>WHOIS</maint:name><maint:impact>partial</maint:impact></maint:system></maint:systems><maint:environment type="production"/>` +
		`<maint:start>2026-12-01T02:00:00Z</maint:start><maint:end>2026-12-01T06:00:00Z</maint:end><maint:reason>planned</maint:reason>` +
		`<maint:detail>https://registry.example/notice/123</maint:detail><maint:description lang="en">New database</maint:description>` +
		`<maint:tlds><maint:tld>org</maint:tld><maint:tld>info</maint:tld></maint:tlds><maint:intervention><maint:connection>false</maint:connection><maint:implementation>false</maint:implementation></maint:intervention>` +
		`<maint:crDate>2026-11-01T00:00:00Z</maint:crDate></maint:item></maint:infData>`
	low := `<b:pollData xmlns:b="` + nsLowBalance + `"><b:registrarName>Kontor GmbH</b:registrarName><b:creditLimit>1000.00</b:creditLimit>` +
		`<b:creditThreshold type="PERCENT">10</b:creditThreshold><b:availableCredit>80.50</b:availableCredit></b:pollData>`
	return map[string]messageCase{
		"transfer request": {pollFrame("Transfer requested.", trnData, ""), "teeladen.org", inbox.KindTransfer, domain(inbox.Details{Transfer: transfer}), false, true},
		"our transfer": {
			pollFrame("Transfer approved.", strings.NewReplacer("Rival-1", "CLIENTX", "pending", "serverApproved").Replace(trnData), ""),
			"teeladen.org", inbox.KindTransfer, domain(inbox.Details{Transfer: &ours}), false, true,
		},
		"unknown transfer status": {
			pollFrame("Transfer.", strings.Replace(trnData, "pending", "frozen", 1), ""), "teeladen.org", inbox.KindUnparsed, domain(inbox.Details{}), true, false,
		},
		"contact transfer": {
			pollFrame("Transfer.", `<c:trnData xmlns:c="`+nsContact+`"><c:id>DK1</c:id><c:trStatus>pending</c:trStatus><c:reID>Rival</c:reID><c:reDate>2026-11-10T08:00:00Z</c:reDate><c:acID>ClientX</c:acID><c:acDate>2026-11-15T08:00:00Z</c:acDate></c:trnData>`, ""),
			"", inbox.KindTransfer,
			inbox.Details{Object: inbox.ObjectContact, ObjectID: "DK1"},
			false, true,
		},
		"performed": {
			pollFrame("Created.", pan("domain", nsDomain, `<P:name paResult="1">teeladen.org</P:name>`), ""),
			"teeladen.org", inbox.KindPendingAction, domain(inbox.Details{Pending: pending(true)}), false, true,
		},
		"refused contact": {
			pollFrame("Refused.", pan("contact", nsContact, `<P:id paResult="0">DK1</P:id>`), ""),
			"", inbox.KindPendingAction,
			inbox.Details{Object: inbox.ObjectContact, ObjectID: "DK1", Pending: pending(false)},
			false, true,
		},
		"performed host": {
			pollFrame("Done.", pan("host", nsHost, `<P:name paResult="true">ns1.teeladen.org</P:name>`), ""),
			"", inbox.KindPendingAction,
			inbox.Details{Object: inbox.ObjectHost, ObjectID: "ns1.teeladen.org", Pending: pending(true)},
			false, true,
		},
		"pending action without result": {
			pollFrame("Done.", pan("domain", nsDomain, `<P:name>teeladen.org</P:name>`), ""),
			"teeladen.org", inbox.KindUnparsed, domain(inbox.Details{}), true, false,
		},
		"update": {pollFrame("Renewed.", infData, ""), "teeladen.org", inbox.KindUpdate, domain(inbox.Details{State: serverState}), false, true},
		"renewal by the registry": {
			pollFrame("Auto renewed.", `<domain:renData xmlns:domain="`+nsDomain+`"><domain:name>teeladen.org</domain:name><domain:exDate>2027-03-01T00:00:00Z</domain:exDate></domain:renData>`, ""),
			"teeladen.org", inbox.KindUpdate, domain(inbox.Details{State: &inbox.State{Expires: time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)}}), false, true,
		},
		"redemption": {
			pollFrame("Deleted.", infData, `<rgp:infData xmlns:rgp="`+nsRGP+`"><rgp:rgpStatus s="redemptionPeriod"/></rgp:infData>`),
			"teeladen.org", inbox.KindRedemption, domain(inbox.Details{State: serverState, Grace: []string{"redemptionPeriod"}}), false, true,
		},
		"Verisign's redemption": {
			pollFrame("Restore report due.", `<r:pollData xmlns:r="`+nsRGPPoll+`"><r:name>teeladen.org</r:name><r:rgpStatus s="pendingRestore"/><r:reqDate>2026-11-12T10:00:00Z</r:reqDate><r:reportDueDate>2026-11-19T10:00:00Z</r:reportDueDate></r:pollData>`, ""),
			"teeladen.org", inbox.KindRedemption, domain(inbox.Details{Grace: []string{"pendingRestore"}}), false, false,
		},
		"change": {
			pollFrame("Registry initiated update of domain.", infData, changeData), "teeladen.org", inbox.KindChange,
			domain(inbox.Details{State: serverState, Change: change}), false, true,
		},
		"change beside an unknown extension": {
			pollFrame("Registry initiated update of domain.", infData, vendorData+changeData), "teeladen.org", inbox.KindChange,
			domain(inbox.Details{State: serverState, Change: change}), true, false,
		},
		"low balance": {
			pollFrame("Low Account Balance", low, ""), "", inbox.KindBalance,
			inbox.Details{Balance: &inbox.Balance{Registrar: "Kontor GmbH", Limit: "1000.00", Threshold: "10", ThresholdType: "PERCENT", Available: "80.50"}},
			false, false,
		},
		"CZ.NIC's low balance": {
			pollFrame(`<f:lowCreditData xmlns:f="http://www.nic.cz/xml/epp/fred-1.5"><f:zone>cz</f:zone><f:limit><f:zone>cz</f:zone><f:credit>5000.00</f:credit></f:limit><f:credit><f:zone>cz</f:zone><f:credit>4999.00</f:credit></f:credit></f:lowCreditData>`, "", ""),
			"", inbox.KindBalance,
			inbox.Details{Balance: &inbox.Balance{Threshold: "5000.00", ThresholdType: "FIXED", Available: "4999.00", Zone: "cz"}},
			false, false,
		},
		"maintenance": {pollFrame("Maintenance.", maintenance, ""), "", inbox.KindMaintenance, inbox.Details{Maintenance: []inbox.Maintenance{{
			ID: "2e6df9b0", Name: "Core upgrade", Notice: "create", Environment: "production", Start: at(12, 1, 2), End: at(12, 1, 6), Reason: "planned",
			Detail: "https://registry.example/notice/123", Description: "New database", TLDs: []string{"org", "info"},
			Systems: []inbox.System{{Name: "EPP", Host: "epp.registry.example", Impact: "full"}, {Name: "WHOIS", Impact: "partial"}},
		}}}, false, false},
		"maintenance as maint:maint": {pollFrame("Maintenance.", strings.ReplaceAll(maintenance, "maint:item", "maint:maint"), ""), "", inbox.KindMaintenance, inbox.Details{Maintenance: []inbox.Maintenance{{
			ID: "2e6df9b0", Name: "Core upgrade", Notice: "create", Environment: "production", Start: at(12, 1, 2), End: at(12, 1, 6), Reason: "planned",
			Detail: "https://registry.example/notice/123", Description: "New database", TLDs: []string{"org", "info"},
			Systems: []inbox.System{{Name: "EPP", Host: "epp.registry.example", Impact: "full"}, {Name: "WHOIS", Impact: "partial"}},
		}}}, false, false},
		"text":           {pollFrame("Price change on 1 January.", "", ""), "", inbox.KindText, inbox.Details{}, false, true},
		"unknown data":   {pollFrame("Watermark.", vendorData, ""), "", inbox.KindUnparsed, inbox.Details{}, true, false},
		"unknown format": {pollFrame("Note.", "", vendorData), "", inbox.KindUnparsed, inbox.Details{}, true, false},
	}
}

// pollOnce returns the message of a frame.
func pollOnce(t *testing.T, answer reply, change func(*Account)) (*inbox.Message, error) {
	t.Helper()
	f := &fakeServer{handle: func(*Node) reply { return answer }}
	return f.client(t, change).Poll(t.Context())
}

func TestPoll_ReadsEveryKind(t *testing.T) {
	t.Parallel()
	seen := make(map[inbox.Kind]bool)
	for name, test := range messageCases() {
		got, err := pollOnce(t, reply{xml: test.frame}, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		seen[got.Kind] = true
		if got.ID != "4711" || got.Waiting != 3 || got.Kind != test.kind || got.Name != test.name || (got.Raw != "") != test.raw || got.Text == "" && test.kind != inbox.KindBalance {
			t.Errorf("%s: got %+v", name, got)
		}
		if !reflect.DeepEqual(got.Details, test.details) {
			t.Errorf("%s: got details %+v", name, got.Details)
		}
		if strings.Contains(got.Raw, "geheim") || test.raw && !strings.Contains(got.Raw, `id="4711"`) {
			t.Errorf("%s: raw frame %s", name, got.Raw)
		}
	}
	for _, kind := range inbox.Kinds() {
		if !seen[kind] {
			t.Errorf("no message of kind %s", kind)
		}
	}
}

func TestPoll_TestFramesConformToSchemas(t *testing.T) {
	t.Parallel()
	schemas := eppschema.Folder()
	if schemas == "" {
		t.Skip("EPP_XSD_DIR is not set: frames are not validated against the EPP schemas")
	}
	var frames []string
	for _, test := range messageCases() {
		if test.schema {
			frames = append(frames, test.frame)
		}
	}
	if err := eppschema.Validate(schemas, frames); err != nil {
		t.Error(err)
	}
}

func TestPoll_UnreadableFrameWithIDIsMessage(t *testing.T) {
	t.Parallel()
	valid := pollFrame("Transfer requested.", trnData, vendorData)
	cutOff, _, _ := strings.Cut(valid, "<trID>")
	long := pollFrame(strings.Repeat("x", maxFrame), infData, "")
	framed := binary.BigEndian.AppendUint32(nil, uint32(len(long)+headerOctets))
	for name, answer := range map[string]reply{
		"cut off":        {xml: cutOff},
		"within a code":  {xml: valid[:strings.Index(valid, "geheim")+6]},
		"no result":      {xml: strings.Replace(valid, `code="1301"`, `code="x"`, 1)},
		"another entity": {xml: strings.Replace(valid, "requested.", "&unknown;", 1)},
		"not UTF-8":      {xml: strings.Replace(valid, "requested.", "r\xfcckg\x00ngig", 1)},
		"too long":       {raw: append(framed, long...), drop: true},
	} {
		got, err := pollOnce(t, answer, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.ID != "4711" || got.Kind != inbox.KindUnparsed || got.Raw == "" || len(got.Raw) > inbox.MaxRaw || strings.ContainsAny(got.Raw, "\x00") || strings.Contains(got.Raw, "geheim") {
			t.Errorf("%s: got %+v", name, got)
		}
		if name != "too long" && (got.Name != "teeladen.org" || got.Details.Object != inbox.ObjectDomain) {
			t.Errorf("%s: about %q", name, got.Name)
		}
	}
	for name, frame := range map[string]string{
		"no id": strings.Replace(valid, ` id="4711"`, "", 1) + "<", "empty id": strings.Replace(valid, "4711", " ", 1) + "<", "no EPP": "<html/>",
	} {
		if got, err := pollOnce(t, reply{xml: frame}, nil); err == nil {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

// rejectingExtension rejects every response.
type rejectingExtension struct{ gatewayExtension }

func (rejectingExtension) ReadExtension(Command, *Node) error { return errMissingData }

func TestPoll_MessageRejectedByProtocolExtensionIsKept(t *testing.T) {
	t.Parallel()
	got, err := pollOnce(t, reply{xml: pollFrame("Transfer requested.", trnData, vendorData)}, func(a *Account) { a.ProtocolExtension = &rejectingExtension{} })
	if err != nil || got.Kind != inbox.KindTransfer || got.Raw == "" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestPoll_ListsAndTextsAreBounded(t *testing.T) {
	t.Parallel()
	statuses := strings.Repeat(`<domain:status s="ok"/>`, 10*inbox.MaxList)
	got, err := pollOnce(t, reply{xml: pollFrame(strings.Repeat("ü", 2*inbox.MaxText), strings.Replace(infData, `<domain:status s="serverHold"/>`, statuses, 1), "")}, nil)
	if err != nil || len(got.Details.State.Statuses) != inbox.MaxList || len([]rune(got.Text)) != inbox.MaxText {
		t.Errorf("%v: %d statuses, a text of %d characters", err, len(got.Details.State.Statuses), len([]rune(got.Text)))
	}
}

func TestLogin_RequestsMessageServicesThatAreOffered(t *testing.T) {
	t.Parallel()
	greeting := strings.Replace(greetingXML("<extURI>"+nsChangePoll+"</extURI>"), "<svcExtension>", "<objURI>"+nsMaintenance+"</objURI><objURI>"+nsLowBalance+"</objURI><svcExtension>", 1)
	f := &fakeServer{handle: respondOK, greeting: greeting}
	if _, err := f.client(t, nil).UpdateDomain(t.Context(), UpdateDomain{Name: "a.test"}); err != nil {
		t.Fatal(err)
	}
	for _, uri := range []string{nsChangePoll, nsMaintenance, nsLowBalance} {
		if !strings.Contains(f.frames[0], "URI>"+uri+"<") {
			t.Errorf("%s is not requested: %s", uri, f.frames[0])
		}
	}
	if strings.Contains(f.frames[0], nsRGPPoll) {
		t.Error("a service that is not offered is requested")
	}
}

func FuzzMessage(f *testing.F) {
	for _, test := range messageCases() {
		f.Add([]byte(test.frame))
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		var m *inbox.Message
		if a, err := parseResponse(frame); err != nil {
			m = messageOfFrame(frame)
		} else if a.code == CodeAckToDequeue && a.queue.Attr("id") != "" {
			m = (&Client{}).messageOf(a)
		}
		if m == nil {
			return
		}
		if m.ID == "" || !slices.Contains(inbox.Kinds(), m.Kind) || len(m.Raw) > inbox.MaxRaw || strings.Contains(m.Raw, "\x00") || m.Kind == inbox.KindUnparsed && m.Raw == "" {
			t.Errorf("got %+v", m)
		}
	})
}
