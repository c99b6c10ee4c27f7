package acp

import "github.com/dotkontor/dotkontor/internal/registrar"

// v2025 is the protocol's first version. Its session has no field for a link, so links
// are in messages; and none for the order, although its schema of a completed session
// requires one: that can't be satisfied, and its own example has none either. The order
// has the session's id.
var v2025 = &shape{
	version: "2025-09-29",
	create:  create2025, update: update2025, complete: complete2025, cancel: readNothing,
	items: "items", addressPath: "$.fulfillment_address", linksInMessages: true, payLinkText: "the link in the session's messages", returnsLinkType: "seller_shop_policies",
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
	ID        string         `json:"id"`
	Buyer     *buyer2025Out  `json:"buyer,omitempty"`
	Provider  *provider2025  `json:"payment_provider,omitempty"`
	Status    string         `json:"status"`
	Currency  string         `json:"currency"`
	LineItems []lineItem2025 `json:"line_items"`
	Address   *address       `json:"fulfillment_address,omitempty"`
	Options   []option2025   `json:"fulfillment_options"`
	Option    string         `json:"fulfillment_option_id"`
	Totals    []total        `json:"totals"`
	Messages  []message      `json:"messages"`
	Links     []webLink      `json:"links"`
}

type buyer2025Out struct {
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	Email     string `json:"email"`
	Phone     string `json:"phone_number,omitempty"`
}

type provider2025 struct {
	Provider string   `json:"provider"`
	Methods  []string `json:"supported_payment_methods"`
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

type option2025 struct {
	Type     string `json:"type"`
	ID       string `json:"id"`
	Title    string `json:"title"`
	Subtotal int64  `json:"subtotal"`
	Tax      int64  `json:"tax"`
	Total    int64  `json:"total"`
}

func write2025(v view) session2025 {
	body := session2025{
		ID: v.id, Status: v.status, Currency: currency, LineItems: []lineItem2025{}, Address: newAddress(v),
		Options: []option2025{{Type: "digital", ID: fulfillment, Title: optionTitle}}, Option: fulfillment,
		Totals: newTotals(v.net, v.vat, v.gross), Messages: newMessages(v, false), Links: v.links,
	}
	if c := v.contact; c.Email != "" {
		body.Buyer = &buyer2025Out{FirstName: c.FirstName, LastName: c.LastName, Email: c.Email, Phone: c.Phone}
	}
	if v.open {
		body.Provider = &provider2025{Provider: provider, Methods: []string{"card"}}
	}
	for _, line := range v.lineItems {
		body.LineItems = append(body.LineItems, lineItem2025{
			ID: line.id, Item: item2025{ID: line.item, Quantity: 1},
			Base: int64(line.net), Subtotal: int64(line.net), Tax: int64(line.vat), Total: int64(line.gross),
		})
	}
	return body
}

// newTotals are the totals of both versions, in cents.
func newTotals(net, vat, gross registrar.Cents) []total {
	return []total{
		{Type: "items_base_amount", Text: "Items", Amount: int64(net)},
		{Type: "subtotal", Text: "Subtotal", Amount: int64(net)},
		{Type: "tax", Text: "VAT", Amount: int64(vat)},
		{Type: "total", Text: "Total", Amount: int64(gross)},
	}
}
