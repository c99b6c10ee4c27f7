package acp

import (
	"encoding/json"
	"time"

	"github.com/dotkontor/dotkontor/internal/web/acp/orderdoc"
)

// v2026 is the protocol's version with payment handlers and orders.
var v2026 = &shape{
	version: "2026-04-17", keyRequired: true,
	readers: map[string]func(object) request{opCreate: create2026, opUpdate: update2026, opComplete: complete2026, opCancel: cancel2026},
	items:   "line_items", contentType: "plain", addressPath: "$.fulfillment_details.address", payLinkText: "the session's continue_url", returnsLinkType: "return_policy",
	write: func(v view, completing bool) any { return write2026(v, completing) },
}

// create2026 does not require capabilities: the protocol's own examples omit them, and
// nothing here depends on them.
func create2026(o object) request {
	o.allowOnly("buyer", "line_items", "currency", "fulfillment_details", "capabilities", "fulfillment_groups",
		"affiliate_attribution", "coupons", "discounts", "locale", "timezone", "quote_id", "metadata", "order_notes").
		require("line_items", "currency")
	r := read2026(o)
	if locale := o.text("locale"); r.contact != nil {
		r.contact.Language = parseLanguage(locale)
	}
	return r
}

func update2026(o object) request {
	o.allowOnly("buyer", "line_items", "fulfillment_details", "fulfillment_groups", "selected_fulfillment_options", "coupons",
		"discounts", "order_notes")
	for _, chosen := range o.objects("selected_fulfillment_options") {
		chosen.allowOnly("type", "option_id", "item_ids").require("type", "option_id", "item_ids")
		requireFulfillmentOption(chosen, "option_id")
	}
	return read2026(o)
}

func read2026(o object) request {
	var r request
	var who buyerReader
	r.readItems(o, "line_items")
	for _, entry := range o.objects("line_items") {
		entry.allowOnly("id", "name", "unit_amount").require("id")
	}
	who.buyer2026(o)
	who.details(o)
	r.contact = who.contactOrNil()
	return r
}

func (p *buyerReader) buyer2026(o object) {
	buyer, present := o.object("buyer")
	if !present {
		return
	}
	buyer.allowOnly("first_name", "last_name", "full_name", "email", "phone_number", "customer_id", "account_type",
		"authentication_status", "company", "loyalty", "tax_exemption").require("email")
	p.buyer(buyer)
	p.name(buyer.text("full_name"))
	p.company(buyer)
}

func (p *buyerReader) company(buyer object) {
	if company, present := buyer.object("company"); present {
		company.allowOnly("name", "tax_id", "department", "cost_center").require("name")
		p.setIfEmpty(&p.contact.Organisation, company.text("name"))
		p.setIfEmpty(&p.contact.VATID, company.text("tax_id"))
	}
}

// details reads the fulfillment details, which repeat name and address.
func (p *buyerReader) details(o object) {
	details, present := o.object("fulfillment_details")
	if !present {
		return
	}
	details.allowOnly("name", "phone_number", "email", "address")
	p.name(details.text("name"))
	p.email(details, "email")
	p.setIfEmpty(&p.contact.Phone, details.text("phone_number"))
	if place, present := details.object("address"); present {
		if o.form.strict {
			strictAddress(place, "company")
		}
		p.address(place)
	}
}

// declinedOutcomes are authentication results after which nothing is charged.
var declinedOutcomes = map[string]bool{
	"abandoned": true, "canceled": true, "denied": true, "rejected": true, "internal_error": true, "processing_error": true,
}

func complete2026(o object) request {
	var r request
	var who buyerReader
	o.allowOnly("buyer", "payment_data", "authentication_result", "affiliate_attribution", "risk_signals", "marketing_consents", "order_notes")
	who.buyer2026(o)
	r.contact = who.contactOrNil()
	authentication, _ := o.object("authentication_result")
	authentication.allowOnly("outcome", "outcome_details").require("outcome")
	outcome := authentication.text("outcome")
	payment, present := o.object("payment_data")
	if !present {
		return r // a human pays
	}
	payment.allowOnly("handler_id", "instrument", "billing_address", "purchase_order_number", "payment_terms", "due_date", "approval_required")
	if place, present := payment.object("billing_address"); present {
		strictAddress(place, "company")
	}
	r.readBilling(payment)
	if payment.text("purchase_order_number") != "" {
		if _, present := payment.value("instrument"); !present {
			return r // payment by invoice is not supported: a human pays
		}
	}
	payment.require("handler_id", "instrument")
	payment.requireValue("handler_id", handler, codeHandler, "The payment handler must be "+handler+".")
	instrument, _ := payment.object("instrument")
	credential, _ := instrument.require("type", "credential").object("credential")
	credential.require("type", "token")
	credential.requireValue("type", "spt", codeHandler, "The credential must be a shared payment token of type spt.")
	if token := credential.text("token"); !declinedOutcomes[outcome] {
		r.token = token
	}
	return r
}

func cancel2026(o object) request {
	if trace, present := o.object("intent_trace"); present {
		trace.require("reason_code").text("reason_code")
	}
	return request{}
}

func (r *request) readBilling(payment object) {
	if place, present := payment.object("billing_address"); present {
		var who buyerReader
		who.address(place)
		r.billing = who.contactOrNil()
	}
}

type session2026 struct {
	ID           string           `json:"id"`
	Protocol     json.RawMessage  `json:"protocol"`
	Capabilities json.RawMessage  `json:"capabilities"`
	Buyer        *buyer2026       `json:"buyer,omitempty"`
	Status       string           `json:"status"`
	Currency     string           `json:"currency"`
	LineItems    []lineItem2026   `json:"line_items"`
	Details      *details2026     `json:"fulfillment_details,omitempty"`
	Options      json.RawMessage  `json:"fulfillment_options"`
	Totals       []orderdoc.Total `json:"totals"`
	Messages     []message        `json:"messages"`
	Links        []webLink        `json:"links"`
	CreatedAt    time.Time        `json:"created_at"`
	UpdatedAt    time.Time        `json:"updated_at"`
	ExpiresAt    *time.Time       `json:"expires_at,omitempty"`
	ContinueURL  string           `json:"continue_url,omitempty"`
	Order        *orderdoc.Order  `json:"order,omitempty"`
}

type buyer2026 struct {
	FirstName string   `json:"first_name,omitempty"`
	LastName  string   `json:"last_name,omitempty"`
	Email     string   `json:"email"`
	Phone     string   `json:"phone_number,omitempty"`
	Company   *company `json:"company,omitempty"`
}

type company struct {
	Name  string `json:"name"`
	TaxID string `json:"tax_id,omitempty"`
}

type details2026 struct {
	Name    string   `json:"name,omitempty"`
	Phone   string   `json:"phone_number,omitempty"`
	Email   string   `json:"email,omitempty"`
	Address *address `json:"address,omitempty"`
}

type lineItem2026 struct {
	ID          string           `json:"id"`
	Item        item2026         `json:"item"`
	Quantity    int              `json:"quantity"`
	Name        string           `json:"name"`
	Description string           `json:"description"`
	UnitAmount  int64            `json:"unit_amount"`
	Totals      []orderdoc.Total `json:"totals"`
}

type item2026 struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	UnitAmount int64  `json:"unit_amount"`
}

// Parts of a session that are the same in all of them.
const (
	protocol2026 = `{"version":"2026-04-17"}`
	options2026  = `[{"type":"digital","id":"` + fulfillment + `","title":"` + optionTitle + `","totals":[{"type":"total","display_text":"Total","amount":0}]}]`
	// capabilities2026 are those of an open session: its only payment handler.
	capabilities2026 = `{"payment":{"handlers":[{
		"id":"` + handler + `","name":"dev.acp.tokenized.card","display_name":"Card","version":"2026-01-22",
		"spec":"https://acp.dev/handlers/tokenized.card","requires_delegate_payment":true,"requires_pci_compliance":false,
		"psp":"` + provider + `","config_schema":"https://acp.dev/schemas/handlers/tokenized.card/config.json",
		"instrument_schemas":["https://acp.dev/schemas/handlers/tokenized.card/instrument.json"],
		"config":{"psp":"` + provider + `"}
	}]}}`
)

// write2026 includes the order in every response to a completion, as its schema
// requires; the status says whether it is paid.
func write2026(v view, completing bool) session2026 {
	o := v.Order
	body := session2026{
		ID: o.ID, Protocol: json.RawMessage(protocol2026), Capabilities: json.RawMessage("{}"), Status: string(v.Status), Currency: currency,
		Buyer: newBuyer2026(o.Contact), LineItems: []lineItem2026{}, Options: json.RawMessage(options2026),
		Totals: newTotals(o.Totals.Net, o.Totals.VAT, o.Totals.Gross), Messages: v.messages, Links: v.links,
		CreatedAt: o.CreatedAt.UTC(), UpdatedAt: o.UpdatedAt.UTC(), ContinueURL: v.PayURL,
	}
	if v.open {
		body.Capabilities, body.ExpiresAt = json.RawMessage(capabilities2026), new(o.ExpiresAt.UTC())
	}
	if place := newAddress(o.Contact); place != nil {
		body.Details = &details2026{Name: place.Name, Phone: o.Contact.Phone, Email: o.Contact.Email, Address: place}
	}
	for _, item := range o.Items {
		net := int64(item.Net)
		body.LineItems = append(body.LineItems, lineItem2026{
			ID: item.ID, Item: item2026{ID: itemID(item.Kind, item.Name), Name: item.Name, UnitAmount: net}, Quantity: 1,
			Name: item.Name, Description: orderdoc.Describe(item), UnitAmount: net, Totals: newTotals(item.Net, item.VAT, item.Gross),
		})
	}
	if v.paid || completing {
		body.Order = &v.doc
	}
	return body
}
