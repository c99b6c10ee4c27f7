package epp

import (
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
)

// Namespaces that appear in poll messages only.
const (
	nsChangePoll  = "urn:ietf:params:xml:ns:changePoll-1.0"           // RFC 8590
	nsMaintenance = "urn:ietf:params:xml:ns:epp:maintenance-1.0"      // RFC 9167
	nsLowBalance  = "http://www.verisign.com/epp/lowbalance-poll-1.0" // Verisign
	nsRGPPoll     = "http://www.verisign.com/epp/rgp-poll-1.0"        // Verisign
	nsFREDPrefix  = "http://www.nic.cz/xml/epp/fred-"                 // CZ.NIC; any version
)

// messageObjects are requested at login as objects: they exist in poll messages only.
var messageObjects = []string{nsMaintenance, nsLowBalance, nsRGPPoll}

// messageExtensions may accompany the data of a message. All but the first two add
// nothing that a message needs.
var messageExtensions = []string{nsChangePoll, nsRGP, nsSecDNS, nsFee}

var objectTypes = map[string]inbox.Object{nsDomain: inbox.ObjectDomain, nsContact: inbox.ObjectContact, nsHost: inbox.ObjectHost}

// messageOf reads a poll response. Parts that are not understood do not affect the
// others; the raw frame is attached if there are any.
func (c *Client) messageOf(a *response) *inbox.Message {
	m := &inbox.Message{
		ID: a.queue.Attr("id"), Waiting: int(number(a.queue.Attr("count"), 31)), Queued: a.queue.timeValue(nsEPP, "qDate"),
	}
	text := a.queue.Child(nsEPP, "msg")
	if text != nil {
		m.Text = shorten(strings.TrimSpace(allText(text)), inbox.MaxText)
	}
	understood := !a.extensionUnread
	parts := append(foreignParts(text), children(a.data)...)
	for _, part := range parts {
		understood = c.readPart(m, part) && understood
	}
	for _, part := range children(a.extension) {
		understood = readMessageExtension(m, part) && understood
	}
	if m.Kind == "" {
		m.Kind = inbox.KindText
		if !understood {
			m.Kind = inbox.KindUnparsed
		}
	}
	if !understood {
		m.Raw = rawText(a.raw)
	}
	return m
}

func children(n *Node) []*Node {
	if n == nil {
		return nil
	}
	return n.Children
}

// foreignParts returns the elements of a message text that belong to no EPP schema:
// some registries send data there.
func foreignParts(text *Node) (parts []*Node) {
	for _, child := range children(text) {
		if child.Space != nsEPP && child.Space != "" {
			parts = append(parts, child)
		}
	}
	return parts
}

// readPart reads one element of resData. It returns false if it is not understood.
func (c *Client) readPart(m *inbox.Message, part *Node) bool {
	object := objectTypes[part.Space]
	switch {
	case object != "" && part.Local == "trnData":
		return c.readTransfer(m, object, part)
	case object != "" && part.Local == "panData":
		return readPending(m, object, part)
	case object != "" && (part.Local == "infData" || part.Local == "renData"): // RFC 5731, 3.1.2 and 3.2.3
		return readState(m, object, part)
	case part.is(nsRGPPoll, "pollData"):
		status := part.Child(nsRGPPoll, "rgpStatus").Attr("s")
		if !setObject(m, inbox.ObjectDomain, part.value(nsRGPPoll, "name")) || status == "" {
			return false
		}
		m.Kind, m.Details.Grace = inbox.KindRedemption, []string{status}
	case part.is(nsLowBalance, "pollData"):
		threshold := part.Child(nsLowBalance, "creditThreshold")
		return setBalance(m, inbox.Balance{
			Registrar: part.value(nsLowBalance, "registrarName"), Limit: part.value(nsLowBalance, "creditLimit"),
			Threshold: threshold.text(), ThresholdType: threshold.Attr("type"), Available: part.value(nsLowBalance, "availableCredit"),
		})
	case strings.HasPrefix(part.Space, nsFREDPrefix) && part.Local == "lowCreditData":
		return setBalance(m, inbox.Balance{
			Zone: part.value(part.Space, "zone"), Threshold: part.Child(part.Space, "limit").value(part.Space, "credit"), ThresholdType: inbox.FixedThreshold,
			Available: part.Child(part.Space, "credit").value(part.Space, "credit"),
		})
	case part.is(nsMaintenance, "infData"):
		return readMaintenance(m, part)
	default:
		return false
	}
	return true
}

// maxID bounds names and client IDs, which databases index. RFC 5730 and DNS allow less.
const maxID = 255

// setObject sets what the message is about; false if that is missing or can't be a name.
func setObject(m *inbox.Message, object inbox.Object, id string) bool {
	if id == "" || len(id) > maxID {
		return false
	}
	m.Details.Object = object
	if object == inbox.ObjectDomain {
		m.Name = strings.ToLower(id)
	} else {
		m.Details.ObjectID = id
	}
	return true
}

// clientID cuts what can't be a client ID.
func clientID(text string) string { return strings.ToValidUTF8(text[:min(len(text), maxID)], "") }

// idOf returns the name of a domain or host, or the id of a contact.
func idOf(object inbox.Object, part *Node) string {
	if object == inbox.ObjectContact {
		return part.value(part.Space, "id")
	}
	return part.value(part.Space, "name")
}

var transferStatuses = []string{"pending", "clientApproved", "clientRejected", "clientCancelled", "serverApproved", "serverCancelled"}

func (c *Client) readTransfer(m *inbox.Message, object inbox.Object, part *Node) bool {
	if !setObject(m, object, idOf(object, part)) {
		return false
	}
	if object != inbox.ObjectDomain {
		m.Kind = inbox.KindTransfer
		return true
	}
	t := &inbox.Transfer{
		Status: part.value(nsDomain, "trStatus"), RequestedBy: clientID(part.value(nsDomain, "reID")), RequestedAt: part.timeValue(nsDomain, "reDate"),
		DecidedBy: clientID(part.value(nsDomain, "acID")), DecidedAt: part.timeValue(nsDomain, "acDate"), Expires: part.timeValue(nsDomain, "exDate"),
	}
	if !slices.Contains(transferStatuses, t.Status) {
		return false
	}
	t.Ours = strings.EqualFold(t.RequestedBy, c.account.ClientID)
	m.Kind, m.Details.Transfer = inbox.KindTransfer, t
	return true
}

func readPending(m *inbox.Message, object inbox.Object, part *Node) bool {
	id := part.Child(part.Space, "name")
	if object == inbox.ObjectContact {
		id = part.Child(part.Space, "id")
	}
	result := id.Attr("paResult")
	performed := parseBool(result, false)
	if !setObject(m, object, id.text()) || parseBool(result, true) != performed {
		return false // the result is missing
	}
	trid := part.Child(part.Space, "paTRID")
	m.Kind = inbox.KindPendingAction
	m.Details.Pending = &inbox.Pending{
		Performed: performed, ClTRID: trid.value(nsEPP, "clTRID"), SvTRID: trid.value(nsEPP, "svTRID"), At: part.timeValue(part.Space, "paDate"),
	}
	return true
}

func readState(m *inbox.Message, object inbox.Object, part *Node) bool {
	if !setObject(m, object, idOf(object, part)) {
		return false
	}
	s := &inbox.State{
		Sponsor: part.value(part.Space, "clID"), Updated: part.timeValue(part.Space, "upDate"), Expires: part.timeValue(part.Space, "exDate"),
	}
	for _, status := range part.All(part.Space, "status") {
		s.Statuses = appendBounded(s.Statuses, status.Attr("s"))
	}
	m.Kind, m.Details.State = inbox.KindUpdate, s
	return true
}

// setBalance sets a low balance; false if the amount is missing.
func setBalance(m *inbox.Message, balance inbox.Balance) bool {
	if balance.Available == "" {
		return false
	}
	m.Kind, m.Details.Balance = inbox.KindBalance, &balance
	return true
}

func readMaintenance(m *inbox.Message, part *Node) bool {
	for _, item := range slices.Concat(part.All(nsMaintenance, "item"), part.All(nsMaintenance, "maint")) {
		id := item.Child(nsMaintenance, "id")
		one := inbox.Maintenance{
			ID: id.text(), Name: id.Attr("name"), Notice: item.value(nsMaintenance, "pollType"),
			Environment: item.Child(nsMaintenance, "environment").Attr("type"), Start: item.timeValue(nsMaintenance, "start"),
			End: item.timeValue(nsMaintenance, "end"), Reason: item.value(nsMaintenance, "reason"), Detail: item.value(nsMaintenance, "detail"),
			Description: shorten(strings.Join(item.texts(nsMaintenance, "description"), "\n"), inbox.MaxText),
		}
		for _, system := range item.Child(nsMaintenance, "systems").All(nsMaintenance, "system") {
			one.Systems = appendBounded(one.Systems, inbox.System{
				Name: system.value(nsMaintenance, "name"), Host: system.value(nsMaintenance, "host"), Impact: system.value(nsMaintenance, "impact"),
			})
		}
		for _, tld := range item.Child(nsMaintenance, "tlds").texts(nsMaintenance, "tld") {
			one.TLDs = appendBounded(one.TLDs, tld)
		}
		if one.ID == "" || one.Start.IsZero() {
			return false
		}
		m.Details.Maintenance = appendBounded(m.Details.Maintenance, one)
	}
	if len(m.Details.Maintenance) == 0 {
		return false
	}
	m.Kind = inbox.KindMaintenance
	return true
}

// readMessageExtension reads one extension of a message, after its data. It returns
// false if it is not understood.
func readMessageExtension(m *inbox.Message, part *Node) bool {
	switch {
	case part.is(nsChangePoll, "changeData"):
		operation, reference := part.Child(nsChangePoll, "operation"), part.Child(nsChangePoll, "caseId")
		if operation.text() == "" {
			return false
		}
		m.Kind = inbox.KindChange
		m.Details.Change = &inbox.Change{
			Before: part.Attr("state") == "before", Operation: operation.Text, Custom: operation.Attr("op"), At: part.timeValue(nsChangePoll, "date"),
			SvTRID: part.value(nsChangePoll, "svTRID"), Who: part.value(nsChangePoll, "who"), CaseType: reference.Attr("type"),
			CaseName: reference.Attr("name"), Case: reference.text(), Reason: shorten(part.value(nsChangePoll, "reason"), inbox.MaxText),
		}
		return true
	case part.is(nsRGP, "infData"), part.is(nsRGP, "upData"):
		for _, status := range part.All(nsRGP, "rgpStatus") {
			m.Details.Grace = appendBounded(m.Details.Grace, status.Attr("s"))
		}
		if m.Kind == inbox.KindUpdate && len(m.Details.Grace) > 0 {
			m.Kind = inbox.KindRedemption
		}
		return true
	default:
		return slices.Contains(messageExtensions, part.Space)
	}
}

func appendBounded[T any](list []T, more T) []T {
	if len(list) >= inbox.MaxList {
		return list
	}
	return append(list, more)
}

// shorten cuts a text after so many characters.
func shorten(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return string([]rune(text)[:limit-1]) + "…"
}

var (
	secretElement = regexp.MustCompile(`(?is)(<(?:[\w.-]+:)?(?:pw|newPW|authInfo)(?:\s[^<>]*[^<>/])?>).*?(</(?:[\w.-]+:)?(?:pw|newPW|authInfo)\s*>|\z)`)
	queueElement  = regexp.MustCompile(`<(?:[\w.-]+:)?msgQ\s[^<>]*?\bid\s*=\s*(?:"([^"<>]+)"|'([^'<>]+)')`)
	nameElement   = regexp.MustCompile(`<[\w.-]+:name(?:\s[^<>]*)?>\s*([A-Za-z0-9.-]{3,253})\s*<`)
)

// rawText returns a frame in the form that is stored: without auth codes, bounded and
// in valid UTF-8.
func rawText(frame []byte) string {
	text := strings.ReplaceAll(strings.ToValidUTF8(string(frame), "�"), "\x00", "�")
	text = secretElement.ReplaceAllString(text, "$1$2")
	if len(text) > inbox.MaxRaw {
		text = strings.ToValidUTF8(text[:inbox.MaxRaw], "")
	}
	return text
}

// messageOfFrame returns the message of a frame that is no valid response; nil if its
// id can't be read. The name makes the domain due for a sync.
func messageOfFrame(frame []byte) *inbox.Message {
	found := queueElement.FindSubmatch(frame)
	if found == nil {
		return nil
	}
	id := strings.TrimSpace(html.UnescapeString(string(slices.Concat(found[1], found[2]))))
	if id == "" || !utf8.ValidString(id) || strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r == utf8.RuneError }) {
		return nil
	}
	m := &inbox.Message{ID: id, Kind: inbox.KindUnparsed, Raw: rawText(frame)}
	if name := nameElement.FindSubmatch(frame); name != nil && strings.Contains(string(name[1]), ".") {
		m.Details.Object, m.Name = inbox.ObjectDomain, strings.ToLower(string(name[1]))
	}
	return m
}
