package acp

import (
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// own is the shape of the contract: payment_data.token and provider, payment_url and
// verification_url. Its clients have no schema, so it accepts what either version of
// the protocol says and ignores unknown fields.
var own = &shape{
	readers: map[string]func(object) request{opCreate: readOwn, opUpdate: readOwn, opComplete: readOwn, opCancel: readNothing},
	items:   "items", addressPath: "$.fulfillment_address", payLinkText: "the session's payment_url",
	write: func(v view, _ bool) any { return writeOwn(v) },
}

func readOwn(o object) request {
	var r request
	var who buyerReader
	r.readItems(o, "items")
	if !r.hasItems {
		r.readItems(o, "line_items")
	}
	if buyer, present := o.object("buyer"); present {
		who.buyer(buyer)
		who.name(buyer.text("full_name"))
		who.name(buyer.text("name"))
		who.company(buyer)
		if address, present := buyer.object("address"); present {
			who.address(address)
		}
	}
	who.details(o)
	if address, present := o.object("fulfillment_address"); present {
		who.address(address)
	}
	requireFulfillmentOption(o, "fulfillment_option_id")
	r.contact = who.contactOrNil()
	payment, present := o.object("payment_data")
	if !present {
		return r
	}
	r.token = payment.text("token")
	requireProvider(payment, "provider")
	r.readBilling(payment)
	return r
}

// readNothing ignores the body: the reasons of a client change nothing.
func readNothing(object) request { return request{} }

type ownSession struct {
	ID           string          `json:"id"`
	Status       string          `json:"status"`
	Currency     string          `json:"currency"`
	Items        []ownLineItem   `json:"line_items"`
	Totals       httpjson.Totals `json:"totals"`
	Buyer        *buyer2026      `json:"buyer,omitempty"`
	Address      *address        `json:"fulfillment_address,omitempty"`
	Messages     []message       `json:"messages"`
	PaymentURL   string          `json:"payment_url,omitempty"`
	VerifyURL    string          `json:"verification_url,omitempty"`
	Order        *ownOrder       `json:"order,omitempty"`
	CreatedAt    time.Time       `json:"created_at"`
	UpdatedAt    time.Time       `json:"updated_at"`
	ExpiresAt    *time.Time      `json:"expires_at,omitempty"`
	ProviderName string          `json:"payment_provider,omitempty"`
}

type ownLineItem struct {
	ID       string          `json:"id"`
	Domain   string          `json:"domain"`
	TLD      string          `json:"tld"`
	Type     string          `json:"type"`
	Years    int             `json:"years"`
	NetEUR   registrar.Cents `json:"netEur"`
	VATEUR   registrar.Cents `json:"vatEur"`
	GrossEUR registrar.Cents `json:"grossEur"`
	Status   string          `json:"status"`
	Reason   registrar.Code  `json:"reason,omitempty"` // why the item failed
}

type ownOrder struct {
	ID        string      `json:"id"`
	Status    string      `json:"status"`
	Permalink string      `json:"permalink_url"`
	Refunds   []ownRefund `json:"refunds"`
}

type ownRefund struct {
	ID        string          `json:"id"`
	Item      string          `json:"item"`
	AmountEUR registrar.Cents `json:"amountEur"`
	Status    string          `json:"status"` // pending or completed
	Reason    registrar.Code  `json:"reason,omitempty"`
	At        time.Time       `json:"occurred_at"`
}

func newRefunds(o order.Order) []ownRefund {
	list := []ownRefund{}
	for _, refund := range o.Refunds {
		// A duplicate payment is refunded as a whole and is no part of the order.
		if !o.IsCorrected(refund) || refund.State() == "refused" {
			continue
		}
		for _, part := range o.PartsOf(refund) {
			made := ownRefund{ID: refund.ID, AmountEUR: part.Gross, Status: "pending", At: refund.CreatedAt.UTC(), Reason: registrar.Code(refund.ReasonOf())}
			if at := slices.IndexFunc(o.Items, func(item order.Item) bool { return item.ID == part.Item }); at >= 0 {
				if made.Item = itemID(o.Items[at].Kind, o.Items[at].Name); refund.Source == order.BySystem {
					made.Reason = o.Items[at].Failure
				}
			}
			if refund.Provider != "" {
				made.Status, made.At = "completed", refund.MadeAt.UTC()
			}
			list = append(list, made)
		}
	}
	return list
}

func writeOwn(v view) ownSession {
	o := v.Order
	body := ownSession{
		ID: o.ID, Status: string(v.Status), Currency: currency, Items: []ownLineItem{}, Messages: v.messages,
		Totals: httpjson.NewTotals(o.Totals),
		Buyer:  newBuyer2026(o.Contact), Address: newAddress(o.Contact), PaymentURL: v.PayURL, VerifyURL: v.VerifyURL,
		CreatedAt: o.CreatedAt.UTC(), UpdatedAt: o.UpdatedAt.UTC(),
	}
	if v.open {
		body.ProviderName, body.ExpiresAt = provider, new(o.ExpiresAt.UTC())
	}
	for _, item := range o.Items {
		body.Items = append(body.Items, ownLineItem{
			ID: itemID(item.Kind, item.Name), Domain: item.Name, TLD: item.TLD, Type: string(item.Kind), Years: item.Years,
			NetEUR: item.Net, VATEUR: item.VAT, GrossEUR: item.Gross, Status: string(item.State), Reason: item.Failure,
		})
	}
	if v.paid {
		body.Order = &ownOrder{ID: o.ID, Status: string(o.State), Permalink: v.doc.Permalink, Refunds: newRefunds(o)}
	}
	return body
}
