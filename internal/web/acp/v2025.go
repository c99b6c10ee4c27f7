package acp

import (
	"encoding/json"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/web/acp/orderdoc"
)

// v2025 is the protocol's first version. Its session has no field for a link, so links
// are in messages; and none for the order, although its schema of a completed session
// requires one: that can't be satisfied, and its own example has none either. The order
// has the session's id.
var v2025 = &shape{
	version: "2025-09-29",
	readers: map[string]func(object) request{opCreate: create2025, opUpdate: update2025, opComplete: complete2025, opCancel: readNothing},
	items:   "items", contentType: "plain", addressPath: "$.fulfillment_address", linksInMessages: true, payLinkText: "the link in the session's messages", returnsLinkType: "seller_shop_policies",
	write: func(v view, _ bool) any { return write2025(v) },
}

func create2025(o object) request {
	o.allowOnly("buyer", "items", "fulfillment_address").require("items")
	return read2025(o)
}

func update2025(o object) request {
	o.allowOnly("buyer", "items", "fulfillment_address", "fulfillment_option_id")
	requireFulfillmentOption(o, "fulfillment_option_id")
	return read2025(o)
}

func read2025(o object) request {
	var r request
	var who buyerReader
	r.readItems(o, "items")
	for _, entry := range o.objects("items") {
		entry.allowOnly("id", "quantity").require("id", "quantity")
	}
	buyer2025(o, &who)
	if place, present := o.object("fulfillment_address"); present {
		strictAddress(place)
		who.address(place)
	}
	r.contact = who.contactOrNil()
	return r
}

func buyer2025(o object, who *buyerReader) {
	if buyer, present := o.object("buyer"); present {
		buyer.allowOnly("first_name", "last_name", "email", "phone_number").require("first_name", "last_name", "email")
		who.buyer(buyer)
	}
}

func strictAddress(o object, more ...string) {
	required := []string{"name", "line_one", "city", "state", "country", "postal_code"}
	o.allowOnly(append(append([]string{"line_two"}, required...), more...)...).require(required...)
}

func complete2025(o object) request {
	var r request
	var who buyerReader
	o.allowOnly("buyer", "payment_data")
	buyer2025(o, &who)
	r.contact = who.contactOrNil()
	payment, present := o.object("payment_data")
	if !present {
		return r // a human pays
	}
	payment.allowOnly("token", "provider", "billing_address").require("token", "provider")
	if place, present := payment.object("billing_address"); present {
		strictAddress(place)
	}
	r.token = payment.text("token")
	requireProvider(payment, "provider")
	r.readBilling(payment)
	return r
}

type session2025 struct {
	ID        string           `json:"id"`
	Buyer     *buyer2025Out    `json:"buyer,omitempty"`
	Provider  json.RawMessage  `json:"payment_provider,omitempty"`
	Status    string           `json:"status"`
	Currency  string           `json:"currency"`
	LineItems []lineItem2025   `json:"line_items"`
	Address   *address         `json:"fulfillment_address,omitempty"`
	Options   json.RawMessage  `json:"fulfillment_options"`
	Option    string           `json:"fulfillment_option_id"`
	Totals    []orderdoc.Total `json:"totals"`
	Messages  []message        `json:"messages"`
	Links     []webLink        `json:"links"`
}

type buyer2025Out struct {
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	Email     string `json:"email"`
	Phone     string `json:"phone_number,omitempty"`
}

type lineItem2025 struct {
	ID       string   `json:"id"`
	Item     item2025 `json:"item"`
	Base     int64    `json:"base_amount"`
	Discount int64    `json:"discount"`
	Subtotal int64    `json:"subtotal"`
	Tax      int64    `json:"tax"`
	Total    int64    `json:"total"`
}

type item2025 struct {
	ID       string `json:"id"`
	Quantity int    `json:"quantity"`
}

// provider2025 and options2025 are the same in every session.
const (
	provider2025 = `{"provider":"` + provider + `","supported_payment_methods":["card"]}`
	options2025  = `[{"type":"digital","id":"` + fulfillment + `","title":"` + optionTitle + `","subtotal":0,"tax":0,"total":0}]`
)

func write2025(v view) session2025 {
	o := v.Order
	body := session2025{
		ID: o.ID, Status: string(v.Status), Currency: currency, LineItems: []lineItem2025{}, Address: newAddress(o.Contact),
		Options: json.RawMessage(options2025), Option: fulfillment,
		Totals: newTotals(o.Totals.Net, o.Totals.VAT, o.Totals.Gross), Messages: v.messages, Links: v.links,
	}
	if c := o.Contact; c.Email != "" {
		body.Buyer = &buyer2025Out{FirstName: c.FirstName, LastName: c.LastName, Email: c.Email, Phone: c.Phone}
	}
	if v.open {
		body.Provider = json.RawMessage(provider2025)
	}
	for _, item := range o.Items {
		body.LineItems = append(body.LineItems, lineItem2025{
			ID: item.ID, Item: item2025{ID: itemID(item.Kind, item.Name), Quantity: 1},
			Base: int64(item.Net), Subtotal: int64(item.Net), Tax: int64(item.VAT), Total: int64(item.Gross),
		})
	}
	return body
}

// newTotals are the totals of both versions, in cents.
func newTotals(net, vat, gross registrar.Cents) []orderdoc.Total {
	return []orderdoc.Total{
		{Type: "items_base_amount", Text: "Items", Amount: int64(net)},
		{Type: "subtotal", Text: "Subtotal", Amount: int64(net)},
		{Type: "tax", Text: "VAT", Amount: int64(vat)},
		{Type: "total", Text: "Total", Amount: int64(gross)},
	}
}
