// Package orderdoc writes a paid order as the Agentic Commerce Protocol has it: in
// the messages that agents get, and wherever a session shows its order.
//
// The two versions of the protocol say very different things of an order: the first
// has a status and refunds, the later one lines, fulfilments, adjustments and
// totals. Both are written from the same record, and nothing is in them that the
// agent has not seen in its session: no registrant data and no code.
//
// A domain is delivered once the registry has it. A line that could not be carried
// out is removed, and its money is an adjustment: pending while it is owed,
// completed when it went back. A second payment that we did not want and gave back
// is no part of the order.
package orderdoc

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// The versions.
const (
	Version2025 = "2025-09-29"
	Version2026 = "2026-04-17"
)

// The kinds of messages.
const (
	eventCreate = "order_create"
	eventUpdate = "order_update"
)

const currency = "eur"

// minorUnits is an amount as the protocol writes it: a whole number of cents.
type minorUnits int64

// event is a message about an order.
type event struct {
	Type string `json:"type"`
	Data any    `json:"data"`
}

// Event is the message about an order; first says that the agent has not heard of
// it. A version that is empty or not known is the newest. permalink is where the
// order is seen.
func Event(version string, first bool, o order.Order, permalink string) ([]byte, error) {
	message := event{Type: eventUpdate, Data: New(o, permalink)}
	if version == Version2025 {
		message.Data = newOrder2025(o, permalink)
	}
	if first {
		message.Type = eventCreate
	}
	return json.Marshal(message)
}

// Order is an order in the shape of 2026-04-17.
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

// LineItem is one name of an order.
type LineItem struct {
	ID          string   `json:"id"`
	Title       string   `json:"title"`
	ProductID   string   `json:"product_id"`
	Description string   `json:"description"`
	Quantity    Quantity `json:"quantity"`
	// UnitPrice and Subtotal are net, as they are in the session.
	UnitPrice minorUnits `json:"unit_price"`
	Subtotal  minorUnits `json:"subtotal"`
	Totals    []Total    `json:"totals"`
	Status    string     `json:"status"`
}

// Quantity says how much of a line was ordered, is still wanted, and is there.
type Quantity struct {
	Ordered   int `json:"ordered"`
	Current   int `json:"current"`
	Fulfilled int `json:"fulfilled"`
}

// Fulfillment is how a line comes to its holder.
type Fulfillment struct {
	ID        string        `json:"id"`
	Type      string        `json:"type"`
	Status    string        `json:"status"`
	LineItems []LineItemRef `json:"line_items"`
}

// LineItemRef names a line.
type LineItemRef struct {
	ID       string `json:"id"`
	Quantity int    `json:"quantity"`
}

// Adjustment is money that goes back.
type Adjustment struct {
	ID          string        `json:"id"`
	Type        string        `json:"type"`
	OccurredAt  string        `json:"occurred_at"`
	Status      string        `json:"status"`
	LineItems   []LineItemRef `json:"line_items"`
	Amount      minorUnits    `json:"amount"`
	Currency    string        `json:"currency"`
	Description string        `json:"description"`
	Reason      string        `json:"reason,omitempty"`
}

// Total is one sum.
type Total struct {
	Type   string     `json:"type"`
	Text   string     `json:"display_text"`
	Amount minorUnits `json:"amount"`
}

// statuses are those of an order, in the words of each version.
var statuses = map[string]map[order.State]string{
	Version2026: {
		order.Provisioning: "processing", order.Completed: "completed", order.PartiallyCompleted: "completed", order.Failed: "canceled",
	},
	Version2025: {
		order.Provisioning: "confirmed", order.Completed: "fulfilled", order.PartiallyCompleted: "fulfilled", order.Failed: "canceled",
	},
}

// statusOf is "created" for an order that is not paid: nobody is told of one, but a
// reader never meets an empty word.
func statusOf(version string, state order.State) string {
	if status, known := statuses[version][state]; known {
		return status
	}
	if state == order.Canceled || state == order.Expired {
		return "canceled"
	}
	return "created"
}

// lineItemStatus is how a line stands, as a line and as what is delivered.
type lineItemStatus struct {
	current, fulfilled int
	status, delivery   string
}

func lineItemStatusOf(state order.ItemState) lineItemStatus {
	switch state {
	case order.ItemActive:
		return lineItemStatus{1, 1, "fulfilled", "delivered"}
	case order.ItemFailed, order.ItemRefunded:
		return lineItemStatus{0, 0, "removed", "failed"}
	case order.ItemWaiting:
		return lineItemStatus{1, 0, "processing", "pending"}
	default:
		return lineItemStatus{1, 0, "processing", "processing"}
	}
}

// New is an order as 2026-04-17 has it.
func New(o order.Order, permalink string) Order {
	doc := Order{
		Type: "order", ID: o.ID, Session: o.ID, Number: o.ID, Permalink: permalink, Status: statusOf(Version2026, o.State),
		LineItems: []LineItem{}, Fulfillments: []Fulfillment{}, Adjustments: []Adjustment{},
		Totals: newTotals(o.Totals.Net, o.Totals.VAT, o.Totals.Gross),
	}
	names := make(map[string]order.Item, len(o.Items))
	for _, item := range o.Items {
		names[item.ID] = item
		status := lineItemStatusOf(item.State)
		doc.LineItems = append(doc.LineItems, LineItem{
			ID: item.ID, Title: item.Name, ProductID: string(item.Kind) + ":" + item.Name, Description: describe(item), Quantity: Quantity{1, status.current, status.fulfilled},
			UnitPrice: minorUnits(item.Net), Subtotal: minorUnits(item.Net), Totals: newTotals(item.Net, item.VAT, item.Gross), Status: status.status,
		})
		doc.Fulfillments = append(doc.Fulfillments, Fulfillment{
			ID: "ful_" + item.ID, Type: "digital", Status: status.delivery, LineItems: []LineItemRef{{item.ID, 1}},
		})
	}
	refunded := registrar.Cents(0)
	for _, refund := range o.Refunds {
		item, known := names[refund.Item]
		if !known {
			continue
		}
		adjustment := Adjustment{
			ID: refund.ID, Type: "refund", OccurredAt: rfc3339(refund.CreatedAt), Status: "pending", LineItems: []LineItemRef{{item.ID, 1}},
			Amount: minorUnits(refund.Amount), Currency: currency, Reason: string(item.Failure),
			Description: item.Name + " could not be carried out; its price goes back to the means of payment.",
		}
		if refund.Provider != "" {
			adjustment.OccurredAt, adjustment.Status = rfc3339(refund.MadeAt), "completed"
			refunded += refund.Amount
		}
		doc.Adjustments = append(doc.Adjustments, adjustment)
	}
	if refunded > 0 {
		doc.Totals = append(doc.Totals, Total{"amount_refunded", "Refunded", minorUnits(refunded)})
	}
	return doc
}

func rfc3339(at time.Time) string { return at.UTC().Format(time.RFC3339) }

func newTotals(net, vat, gross registrar.Cents) []Total {
	return []Total{{"subtotal", "Net", minorUnits(net)}, {"tax", "VAT", minorUnits(vat)}, {"total", "Total", minorUnits(gross)}}
}

// describe is what a person reads.
func describe(item order.Item) string {
	what := map[order.Kind]string{order.Register: "Registration", order.Transfer: "Transfer", order.Renew: "Renewal"}[item.Kind]
	years := "1 year"
	if item.Years != 1 {
		years = fmt.Sprintf("%d years", item.Years)
	}
	return what + " of " + item.Name + ", " + years
}

// order2025 is an order in the shape of 2025-09-29.
type order2025 struct {
	Type      string       `json:"type"`
	Session   string       `json:"checkout_session_id"`
	Permalink string       `json:"permalink_url"`
	Status    string       `json:"status"`
	Refunds   []refund2025 `json:"refunds"`
}

type refund2025 struct {
	Type   string     `json:"type"`
	Amount minorUnits `json:"amount"`
}

// newOrder2025 leaves out what is owed: this version has no word for it.
func newOrder2025(o order.Order, permalink string) order2025 {
	doc := order2025{
		Type: "order", Session: o.ID, Permalink: permalink, Status: statusOf(Version2025, o.State), Refunds: []refund2025{},
	}
	for _, refund := range o.Refunds {
		if refund.Item != "" && refund.Provider != "" {
			doc.Refunds = append(doc.Refunds, refund2025{"original_payment", minorUnits(refund.Amount)})
		}
	}
	return doc
}
