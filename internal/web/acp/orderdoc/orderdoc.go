// Package orderdoc writes a paid order in the format of the Agentic Commerce Protocol:
// in webhooks, and wherever a session shows its order.
//
// The two versions differ: the first has a status and refunds, the later one line
// items, fulfillments, adjustments and totals. Both are written from the same record
// and contain nothing that the agent has not seen in its session: no registrant data
// and no auth code.
//
// A domain is fulfilled once the registry has it. A failed item is removed, and its
// refund is an adjustment: pending while it is owed, completed once it is made. An
// unmatched payment that was refunded is no part of the order.
package orderdoc

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// Versions of the protocol.
const (
	Version2025 = "2025-09-29"
	Version2026 = "2026-04-17"
)

const currency = "eur"

// Event returns the webhook about an order; first means that it is the first one. An
// empty or unknown version means the newest. permalink is the order's page.
func Event(version string, first bool, o order.Order, permalink string) ([]byte, error) {
	var event struct {
		Type string `json:"type"`
		Data any    `json:"data"`
	}
	event.Type, event.Data = "order_update", New(o, permalink)
	if version == Version2025 {
		event.Data = newOrder2025(o, permalink)
	}
	if first {
		event.Type = "order_create"
	}
	return json.Marshal(event)
}

// Order is an order in version 2026-04-17.
type Order struct {
	Type         string        `json:"type"`
	ID           string        `json:"id"`
	Session      string        `json:"checkout_session_id"`
	Number       string        `json:"order_number"`
	Permalink    string        `json:"permalink_url"`
	Status       string        `json:"status"`
	LineItems    []LineItem    `json:"line_items"`
	Fulfillments []Fulfillment `json:"fulfillments"`
	Adjustments  []Adjustment  `json:"adjustments"`
	Totals       []Total       `json:"totals"`
}

// LineItem is one domain of an order.
type LineItem struct {
	ID          string   `json:"id"`
	Title       string   `json:"title"`
	ProductID   string   `json:"product_id"`
	Description string   `json:"description"`
	Quantity    Quantity `json:"quantity"`
	UnitPrice   int64    `json:"unit_price"` // net, as in the session
	Subtotal    int64    `json:"subtotal"`   // net
	Totals      []Total  `json:"totals"`
	Status      string   `json:"status"`
}

// Quantity says how many were ordered, are still current, and are fulfilled.
type Quantity struct {
	Ordered   int `json:"ordered"`
	Current   int `json:"current"`
	Fulfilled int `json:"fulfilled"`
}

// Fulfillment is the delivery of a line item.
type Fulfillment struct {
	ID        string        `json:"id"`
	Type      string        `json:"type"`
	Status    string        `json:"status"`
	LineItems []LineItemRef `json:"line_items"`
}

// LineItemRef refers to a line item.
type LineItemRef struct {
	ID       string `json:"id"`
	Quantity int    `json:"quantity"`
}

// Adjustment is a refund.
type Adjustment struct {
	ID          string        `json:"id"`
	Type        string        `json:"type"`
	OccurredAt  string        `json:"occurred_at"`
	Status      string        `json:"status"`
	LineItems   []LineItemRef `json:"line_items"`
	Amount      int64         `json:"amount"`
	Currency    string        `json:"currency"`
	Description string        `json:"description"`
	Reason      string        `json:"reason,omitempty"`
}

// Total is one sum, in cents.
type Total struct {
	Type   string `json:"type"`
	Text   string `json:"display_text"`
	Amount int64  `json:"amount"`
}

// statuses are the order statuses of each version.
var statuses = map[string]map[order.State]string{
	Version2026: {
		order.Provisioning: "processing", order.Completed: "completed", order.PartiallyCompleted: "completed", order.Failed: "canceled",
	},
	Version2025: {
		order.Provisioning: "confirmed", order.Completed: "fulfilled", order.PartiallyCompleted: "fulfilled", order.Failed: "canceled",
	},
}

// statusOf is "created" for an unpaid order, which is never sent, so that the status is
// never empty.
func statusOf(version string, state order.State) string {
	if status, known := statuses[version][state]; known {
		return status
	}
	if state == order.Canceled || state == order.Expired {
		return "canceled"
	}
	return "created"
}

// itemStatus returns the status of a line item and of its fulfillment.
func itemStatus(state order.ItemState) (quantity Quantity, status, delivery string) {
	switch state {
	case order.ItemActive:
		return Quantity{Ordered: 1, Current: 1, Fulfilled: 1}, "fulfilled", "delivered"
	case order.ItemFailed, order.ItemRefunded:
		return Quantity{Ordered: 1}, "removed", "failed"
	case order.ItemWaiting:
		return Quantity{Ordered: 1, Current: 1}, "processing", "pending"
	default:
		return Quantity{Ordered: 1, Current: 1}, "processing", "processing"
	}
}

// New returns an order in version 2026-04-17.
func New(o order.Order, permalink string) Order {
	doc := Order{
		Type: "order", ID: o.ID, Session: o.ID, Number: o.ID, Permalink: permalink, Status: statusOf(Version2026, o.State),
		LineItems: []LineItem{}, Fulfillments: []Fulfillment{}, Adjustments: []Adjustment{},
		Totals: newTotals(o.Totals.Net, o.Totals.VAT, o.Totals.Gross),
	}
	names := make(map[string]order.Item, len(o.Items))
	for _, item := range o.Items {
		names[item.ID] = item
		quantity, status, delivery := itemStatus(item.State)
		doc.LineItems = append(doc.LineItems, LineItem{
			ID: item.ID, Title: item.Name, ProductID: string(item.Kind) + ":" + item.Name, Description: Describe(item), Quantity: quantity,
			UnitPrice: int64(item.Net), Subtotal: int64(item.Net), Totals: newTotals(item.Net, item.VAT, item.Gross), Status: status,
		})
		doc.Fulfillments = append(doc.Fulfillments, Fulfillment{
			ID: "ful_" + item.ID, Type: "digital", Status: delivery, LineItems: []LineItemRef{{item.ID, 1}},
		})
	}
	refunded := registrar.Cents(0)
	for _, refund := range o.Refunds {
		if !o.IsCorrected(refund) || refund.State() == "refused" {
			continue
		}
		adjustment := Adjustment{
			ID: refund.ID, Type: "refund", OccurredAt: rfc3339(refund.CreatedAt), Status: "pending", LineItems: []LineItemRef{},
			Amount: int64(refund.Amount), Currency: currency, Reason: refund.ReasonOf(),
			Description: "The seller refunds this amount to the original payment method.",
		}
		for _, part := range o.PartsOf(refund) {
			if part.Item != "" {
				adjustment.LineItems = append(adjustment.LineItems, LineItemRef{part.Item, 1})
			}
		}
		if item, failed := names[refund.Item]; failed {
			adjustment.Reason, adjustment.Description = string(item.Failure), item.Name+" failed; its price is refunded to the original payment method."
		}
		if refund.Provider != "" {
			adjustment.OccurredAt, adjustment.Status = rfc3339(refund.MadeAt), "completed"
			refunded += refund.Amount
		}
		doc.Adjustments = append(doc.Adjustments, adjustment)
	}
	if refunded > 0 {
		doc.Totals = append(doc.Totals, Total{"amount_refunded", "Refunded", int64(refunded)})
	}
	return doc
}

func rfc3339(at time.Time) string { return at.UTC().Format(time.RFC3339) }

func newTotals(net, vat, gross registrar.Cents) []Total {
	return []Total{{"subtotal", "Net", int64(net)}, {"tax", "VAT", int64(vat)}, {"total", "Total", int64(gross)}}
}

// Describe returns the description of an item for people.
func Describe(item order.Item) string {
	what := map[order.Kind]string{order.Register: "Registration", order.Transfer: "Transfer", order.Renew: "Renewal", order.Restore: "Restore"}[item.Kind]
	years := "1 year"
	if item.Years != 1 {
		years = fmt.Sprintf("%d years", item.Years)
	}
	return what + " of " + item.Name + ", " + years
}

// order2025 is an order in version 2025-09-29.
type order2025 struct {
	Type      string       `json:"type"`
	Session   string       `json:"checkout_session_id"`
	Permalink string       `json:"permalink_url"`
	Status    string       `json:"status"`
	Refunds   []refund2025 `json:"refunds"`
}

type refund2025 struct {
	Type   string `json:"type"`
	Amount int64  `json:"amount"`
}

// newOrder2025 omits pending refunds, which this version can't express.
func newOrder2025(o order.Order, permalink string) order2025 {
	doc := order2025{
		Type: "order", Session: o.ID, Permalink: permalink, Status: statusOf(Version2025, o.State), Refunds: []refund2025{},
	}
	for _, refund := range o.Refunds {
		if o.IsCorrected(refund) && refund.Provider != "" {
			doc.Refunds = append(doc.Refunds, refund2025{"original_payment", int64(refund.Amount)})
		}
	}
	return doc
}
