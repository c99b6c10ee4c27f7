package acp

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/web/acp/orderdoc"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// view is a session as an agent may see it, before it is written in a shape.
type view struct {
	order.Session
	doc      orderdoc.Order
	messages []message
	links    []webLink // the legal pages
	// open means that it can still be paid, paid that it was.
	open, paid bool
}

// message is information for the agent or its buyer about a session.
type message struct {
	Type        string `json:"type"`
	Code        string `json:"code,omitempty"`
	Param       string `json:"param,omitempty"`
	Resolution  string `json:"resolution,omitempty"`   // says who can resolve it; required by 2026-04-17, unknown before
	ContentType string `json:"content_type,omitempty"` // required by the protocol and not in our own shape
	Content     string `json:"content"`
}

// Types of messages, and who resolves them.
const (
	messageInfo     = "info"
	messageError    = "error"
	resolvedByAgent = "recoverable"
	resolvedByBuyer = "requires_buyer_input"
)

// newView converts a session. permalinks is the URL prefix of order pages.
func newView(s order.Session, sh *shape, permalinks string) view {
	v := view{Session: s, doc: orderdoc.New(s.Order, permalinks+s.Order.ID), messages: []message{}}
	switch s.Status {
	case order.NotReady, order.Ready, order.InProgress:
		v.open = true
	case order.SessionCompleted:
		v.paid = true
	case order.SessionCanceled:
	case order.SessionExpired:
		v.Status = order.SessionCanceled // the same for an agent
	}
	if s.Status != order.NotReady && s.Status != order.Ready {
		v.PayURL, v.VerifyURL = "", "" // no human action is required
	}
	v.addMessages(s.Status, sh)
	return v
}

// itemID is an agent's name for an item: register:example.de.
func itemID(kind order.Kind, name string) string { return string(kind) + ":" + name }

// addMessages adds what the agent or its buyer needs to know.
func (v *view) addMessages(status order.SessionStatus, sh *shape) {
	add := func(kind, code, param, resolution, text string) {
		m := message{Type: kind, Code: code, Param: param, ContentType: sh.contentType, Content: text}
		if sh == v2026 {
			m.Resolution = resolution
		}
		v.messages = append(v.messages, m)
	}
	inform := func(text string) { add(messageInfo, "", "", "", text) }
	switch {
	case v.paid:
		v.reportOutcome(inform)
		return
	case status == order.InProgress:
		inform("A payment is in progress. Read the session again in a few seconds.")
		return
	case status == order.SessionExpired:
		inform(messageSessionExpired)
		return
	case !v.open:
		inform(messageCanceled)
		return
	}
	for i, item := range v.Order.Items {
		at := fmt.Sprintf("$.line_items[%d]", i)
		if reason, refused := v.Refused[item.ID]; refused {
			code := codeOutOfStock
			if registrar.CodeOf(reason) == provision.Undecided {
				code = codeInvalid // the protocol has no code for an undecided name
			}
			add(messageError, code, at, resolvedByAgent, item.Name+": "+itemMessage(reason))
		}
		for _, missing := range v.MissingByItem[item.ID] {
			switch missing {
			case order.MissingRegistrant, order.MissingIdentity: // reported once, below
			case order.MissingCode:
				add(messageError, codeMissing, at, resolvedByBuyer, "The auth code of "+item.Name+" is missing. The buyer enters it at "+v.PayURL)
			default:
				if text, by := rejectedField(v.Session, item, missing, sh); text != "" {
					add(messageError, codeInvalid, "$.buyer", by, text)
					continue
				}
				add(messageError, codeMissing, at, resolvedByBuyer, "The registry of "+item.TLD+" has a requirement that the registrant does not meet yet ("+missing+"). The buyer resolves this at "+v.PayURL)
			}
		}
	}
	if slices.Contains(v.Missing, order.MissingRegistrant) {
		param, what := missingData(v.Session, sh)
		add(messageError, codeMissing, param, resolvedByAgent, what)
	}
	if slices.Contains(v.Missing, order.MissingIdentity) || v.Problem == order.ProblemIdentity {
		add(messageError, "requires_sign_in", "$.buyer", resolvedByBuyer, "The buyer must sign in and verify their identity at "+cmp.Or(v.VerifyURL, v.PayURL))
	}
	switch v.Problem {
	case order.ProblemHuman:
		add(messageError, "requires_3ds", "$.payment_data", resolvedByBuyer, "The bank requires the buyer to authenticate. The buyer pays at "+v.PayURL)
	case order.ProblemPaying:
		add(messageInfo, "", "", resolvedByBuyer, "The buyer is paying at "+v.PayURL+" right now. Read the session again to see the result.")
	case order.ProblemNoPayment:
		add(messageInfo, "", "", resolvedByBuyer, "There was no usable payment data. The buyer pays at "+v.PayURL)
	case "":
		if sh.linksInMessages && v.PayURL != "" {
			add(messageInfo, "", "", resolvedByBuyer, "A human can continue and pay at "+v.PayURL)
		}
	}
	if v.Unquoted {
		since := "the last query"
		if !v.AskedAt.IsZero() {
			since = v.AskedAt.UTC().Format(time.RFC3339)
		}
		inform("A registry was not queried again. Availability and prices are those of " + since + ", and are queried again at completion.")
	}
}

// reportOutcome reports the outcome of each paid item.
func (v *view) reportOutcome(inform func(text string)) {
	outcomes := map[order.ItemState]string{
		order.ItemProvisioning: "in progress", order.ItemActive: "done", order.ItemWaiting: "in progress",
		order.ItemFailed: "failed; its price will be refunded", order.ItemRefunded: "failed; its price was refunded",
	}
	some := false
	for _, item := range v.Order.Items {
		inform(orderdoc.Describe(item) + ": " + outcomes[item.State] + ".")
		some = some || item.State != order.ItemFailed && item.State != order.ItemRefunded
	}
	if some && !v.Order.Claimed {
		inform("The buyer gets an email with a link. Whoever opens it and signs in manages the domains.")
	}
}

// wireFields are the fields of order.Session.MissingFields as requests name them, and
// whether they belong to the address.
var wireFields = map[string]struct {
	word  string
	place bool
}{
	"first_name": {"first_name", false}, "last_name": {"last_name", false}, "email": {"email", false}, "phone": {"phone_number", false},
	"organisation": {"company.name", false}, "vat_id": {"company.tax_id", false},
	"street": {"line_one", true}, "postal_code": {"postal_code", true}, "city": {"city", true}, "state": {"state", true}, "country": {"country", true},
}

// missingData returns which registrant data is missing or invalid, and where to send
// it. param names a single field.
func missingData(s order.Session, sh *shape) (param, text string) {
	if len(s.MissingFields) == 0 { // an account's own data
		return "$.buyer", "The registrant data is incomplete. The customer signs in and completes it."
	}
	var person, place []string
	for _, field := range s.MissingFields {
		switch known, ok := wireFields[field]; {
		case !ok:
			person = append(person, field)
		case known.place:
			place = append(place, known.word)
		default:
			person = append(person, known.word)
		}
	}
	param = "$.buyer"
	list := person
	if len(person) == 0 {
		param, list = sh.addressPath, place
	}
	if len(list) == 1 {
		param += "." + list[0]
	}
	return param, "Registrant data is missing or invalid: " + strings.Join(append(person, place...), ", ") +
		". Tell it in buyer and " + strings.TrimPrefix(sh.addressPath, "$.") + "."
}

// rejectedField explains a field of the registrant that the registry of an item rejects, and
// says who changes it; empty if what is missing is something else.
func rejectedField(s order.Session, item order.Item, missing string, sh *shape) (text, resolution string) {
	text = ui.RegistrantProblem(missing)
	switch {
	case text == "":
		return "", ""
	case s.Order.Claimed: // an account's own data
		return item.Name + ": " + text + " The buyer changes it at " + s.PayURL, resolvedByBuyer
	default:
		return item.Name + ": " + text + " Send other data in buyer and " + strings.TrimPrefix(sh.addressPath, "$.") + ".", resolvedByAgent
	}
}

// firstRejectedField explains the first rejected field of an order's registrant.
func firstRejectedField(s order.Session, sh *shape) string {
	for _, item := range s.Order.Items {
		for _, missing := range s.MissingByItem[item.ID] {
			if text, _ := rejectedField(s, item, missing, sh); text != "" {
				return text
			}
		}
	}
	return ""
}

// webLink is a link to a legal page.
type webLink struct {
	Type string `json:"type"`
	URL  string `json:"url"`
}

// links returns the legal pages with the version's link types.
func (h *Handler) links(sh *shape) []webLink {
	list := []webLink{}
	for _, one := range []struct{ kind, path string }{
		{"terms_of_use", h.cfg.Terms}, {"privacy_policy", h.cfg.Privacy}, {sh.returnsLinkType, h.cfg.Returns},
	} {
		if one.kind != "" && one.path != "" {
			list = append(list, webLink{one.kind, h.cfg.BaseURL + one.path})
		}
	}
	return list
}
