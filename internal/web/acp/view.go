package acp

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/web/acp/orderdoc"
)

// view is an order as an agent may see it, before it is written in a shape.
type view struct {
	// links are the legal pages.
	links             []webLink
	id, status, state string
	lineItems         []lineItem
	net, vat, gross   registrar.Cents
	rate              int // hundredths of a percent
	order             orderdoc.Order
	refunds           []ownRefund
	contact           order.Contact
	notices           []notice
	// payURL and verifyURL are empty if no human action is required.
	payURL, verifyURL               string
	createdAt, updatedAt, expiresAt time.Time
	// open means that it can still be paid, paid that it was.
	open, paid bool
}

type lineItem struct {
	id, item, name, tld, kind, description, status string
	years                                          int
	net, vat, gross                                registrar.Cents
	state                                          order.ItemState
	// reason is why it failed; empty otherwise.
	reason registrar.Code
}

// notice is one message of a session.
type notice struct {
	kind, code, param, text string
	// resolution says who can resolve it; required by 2026-04-17.
	resolution string
}

// Kinds of notices, and who resolves them.
const (
	noticeInfo      = "info"
	noticeError     = "error"
	resolvedByAgent = "recoverable"
	resolvedByBuyer = "requires_buyer_input"
)

const optionTitle = "Registered in the holder's name"

// newView converts a session. permalinks is the URL prefix of order pages.
func newView(s order.Session, sh *shape, permalinks string) view {
	o := s.Order
	v := view{
		id: o.ID, state: string(o.State), status: string(s.Status), net: o.Totals.Net, vat: o.Totals.VAT, gross: o.Totals.Gross,
		rate: o.Totals.RateBasisPoints, contact: o.Contact, order: orderdoc.New(o, permalinks+o.ID), refunds: newRefunds(o),
		createdAt: o.CreatedAt.UTC(), updatedAt: o.UpdatedAt.UTC(), expiresAt: o.ExpiresAt.UTC(),
	}
	switch s.Status {
	case order.NotReady, order.Ready:
		v.open = true
		v.payURL, v.verifyURL = s.PayURL, s.VerifyURL
	case order.InProgress:
		v.open = true
	case order.SessionCompleted:
		v.paid = true
	case order.SessionCanceled:
	case order.SessionExpired:
		v.status = string(order.SessionCanceled) // the same for an agent
	}
	for _, item := range o.Items {
		v.lineItems = append(v.lineItems, newLineItem(item))
	}
	v.notices = sessionNotices(s, v, sh)
	return v
}

func newLineItem(item order.Item) lineItem {
	what := "Registration"
	if item.Kind == order.Transfer {
		what = "Transfer"
	}
	years := "1 year"
	if item.Years != 1 {
		years = fmt.Sprintf("%d years", item.Years)
	}
	return lineItem{
		id: item.ID, item: itemID(item.Kind, item.Name), name: item.Name, tld: item.TLD, kind: string(item.Kind),
		description: what + " of " + item.Name + ", " + years, years: item.Years,
		net: item.Net, vat: item.VAT, gross: item.Gross, state: item.State, status: string(item.State), reason: item.Failure,
	}
}

// itemID is an agent's name for an item: register:example.de.
func itemID(kind order.Kind, name string) string { return string(kind) + ":" + name }

// sessionNotices are the messages for an agent or its buyer.
func sessionNotices(s order.Session, v view, sh *shape) []notice {
	var notes []notice
	add := func(kind, code, param, resolution, text string) {
		notes = append(notes, notice{kind: kind, code: code, param: param, resolution: resolution, text: text})
	}
	switch {
	case v.paid:
		return paidNotices(s, v)
	case s.Status == order.InProgress:
		add(noticeInfo, "", "", "", "A payment is under way. Read the session again in a few seconds.")
		return notes
	case s.Status == order.SessionExpired:
		add(noticeInfo, "", "", "", messageSessionExpired)
		return notes
	case !v.open:
		add(noticeInfo, "", "", "", messageCanceled)
		return notes
	}
	for i, item := range s.Order.Items {
		at := fmt.Sprintf("$.line_items[%d]", i)
		if reason, refused := s.Refused[item.ID]; refused {
			code := codeOutOfStock
			if registrar.CodeOf(reason) == provision.Undecided {
				code = "invalid" // the protocol has no code for an undecided name
			}
			add(noticeError, code, at, resolvedByAgent, item.Name+": "+itemMessage(reason))
		}
		for _, missing := range s.MissingByItem[item.ID] {
			switch missing {
			case order.MissingRegistrant, order.MissingIdentity: // reported once, below
			case order.MissingCode:
				add(noticeError, codeMissing, at, resolvedByBuyer, "The auth code of "+item.Name+" is missing. The buyer enters it at "+v.payURL)
			default:
				add(noticeError, codeMissing, at, resolvedByBuyer, "The registry of "+item.TLD+" asks more of the holder ("+missing+"). The buyer tells it at "+v.payURL)
			}
		}
	}
	if slices.Contains(s.Missing, order.MissingRegistrant) {
		param, what := missingData(s, sh)
		add(noticeError, codeMissing, param, resolvedByAgent, what)
	}
	if slices.Contains(s.Missing, order.MissingIdentity) || s.Problem == order.ProblemIdentity {
		add(noticeError, "requires_sign_in", "$.buyer", resolvedByBuyer, "The buyer must show who they are, signed in, at "+firstNonEmpty(v.verifyURL, v.payURL))
	}
	switch s.Problem {
	case order.ProblemHuman:
		add(noticeError, "requires_3ds", "$.payment_data", resolvedByBuyer, "The bank wants to see the buyer, who pays at "+v.payURL)
	case order.ProblemPaying:
		add(noticeInfo, "", "", resolvedByBuyer, "The buyer is paying at "+v.payURL+" right now. Read the session again to see the result.")
	case order.ProblemNoPayment:
		add(noticeInfo, "", "", resolvedByBuyer, "There was no usable payment data. The buyer pays at "+v.payURL)
	case "":
		if sh.linksInMessages && v.payURL != "" {
			add(noticeInfo, "", "", resolvedByBuyer, "A human can continue and pay at "+v.payURL)
		}
	}
	if s.Unquoted {
		since := "the last time"
		if !s.AskedAt.IsZero() {
			since = s.AskedAt.UTC().Format(time.RFC3339)
		}
		add(noticeInfo, "", "", "", "A registry was not asked again just now. Availability and prices are those of "+since+", and are asked again at completion.")
	}
	return notes
}

func paidNotices(s order.Session, v view) []notice {
	outcomes := map[order.ItemState]string{
		order.ItemProvisioning: "is being carried out", order.ItemActive: "is done", order.ItemWaiting: "is being carried out",
		order.ItemFailed: "could not be carried out; its price is given back", order.ItemRefunded: "could not be carried out; its price was given back",
	}
	var notes []notice
	for _, line := range v.lineItems {
		notes = append(notes, notice{kind: noticeInfo, text: line.description + ": " + outcomes[line.state] + "."})
	}
	some := slices.ContainsFunc(v.lineItems, func(l lineItem) bool { return l.state != order.ItemFailed && l.state != order.ItemRefunded })
	if some && !s.Order.Claimed {
		notes = append(notes, notice{kind: noticeInfo, text: "The buyer gets an e-mail with a link. Whoever opens it and signs in manages the domains."})
	}
	return notes
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
		return "$.buyer", "The registrant's data is not complete. The customer completes it, signed in."
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
	return param, "Data of the holder is missing or can't be used: " + strings.Join(append(person, place...), ", ") +
		". Tell it in buyer and " + strings.TrimPrefix(sh.addressPath, "$.") + "."
}

func firstNonEmpty(text, otherwise string) string {
	if text != "" {
		return text
	}
	return otherwise
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
