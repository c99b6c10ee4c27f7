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
	created = "order_create"
	updated = "order_update"
)

const currency = "eur"

// minor is an amount as the protocol writes it: a whole number of cents.
type minor int64

// event is a message about an order.
type event struct {
	Type string `json:"type"`
	Data any    `json:"data"`
}

// Event is the message about an order; first says that the agent has not heard of
// it. A version that is empty or not known is the newest. permalink is where the
// order is seen.
func Event(version string, first bool, o order.Order, permalink string) ([]byte, error) {
	message := event{Type: updated, Data: Of(o, permalink)}
	if version == Version2025 {
		message.Data = brief(o, permalink)
	}
	if first {
		message.Type = created
	}
	return json.Marshal(message)
}

// Order is an order in the shape of 2026-04-17.
type Order struct {
	Type        string       `json:"type"`
	ID          string       `json:"id"`
	Session     string       `json:"checkout_session_id"`
	Number      string       `json:"order_number"`
	Permalink   string       `json:"permalink_url"`
	Status      string       `json:"status"`
	Lines       []Line       `json:"line_items"`
	Deliveries  []Delivery   `json:"fulfillments"`
	Adjustments []Adjustment `json:"adjustments"`
	Totals      []Total      `json:"totals"`
}

// Line is one name of an order.
type Line struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Product  string   `json:"product_id"`
	About    string   `json:"description"`
	Quantity Quantity `json:"quantity"`
	// Price and Subtotal are net, as they are in the session.
	Price    minor   `json:"unit_price"`
	Subtotal minor   `json:"subtotal"`
	Totals   []Total `json:"totals"`
	Status   string  `json:"status"`
}

// Quantity says how much of a line was ordered, is still wanted, and is there.
type Quantity struct {
	Ordered   int `json:"ordered"`
	Current   int `json:"current"`
	Fulfilled int `json:"fulfilled"`
}

// Delivery is how a line comes to its holder.
type Delivery struct {
	ID     string      `json:"id"`
	Type   string      `json:"type"`
	Status string      `json:"status"`
	Lines  []Reference `json:"line_items"`
}

// Reference names a line.
type Reference struct {
	ID       string `json:"id"`
	Quantity int    `json:"quantity"`
}

// Adjustment is money that goes back.
type Adjustment struct {
	ID          string      `json:"id"`
	Type        string      `json:"type"`
	At          string      `json:"occurred_at"`
	Status      string      `json:"status"`
	Lines       []Reference `json:"line_items"`
	Amount      minor       `json:"amount"`
	Currency    string      `json:"currency"`
	Description string      `json:"description"`
	Reason      string      `json:"reason,omitempty"`
}

// Total is one sum.
type Total struct {
	Type   string `json:"type"`
	Text   string `json:"display_text"`
	Amount minor  `json:"amount"`
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

// lineStanding is how a line stands, as a line and as what is delivered.
type lineStanding struct {
	current, fulfilled int
	status, delivery   string
}

func standingOf(state order.ItemState) lineStanding {
	switch state {
	case order.ItemActive:
		return lineStanding{1, 1, "fulfilled", "delivered"}
	case order.ItemFailed, order.ItemRefunded:
		return lineStanding{0, 0, "removed", "failed"}
	case order.ItemWaiting:
		return lineStanding{1, 0, "processing", "pending"}
	default:
		return lineStanding{1, 0, "processing", "processing"}
	}
}

// Of is an order as 2026-04-17 has it.
func Of(o order.Order, permalink string) Order {
	doc := Order{
		Type: "order", ID: o.ID, Session: o.ID, Number: o.ID, Permalink: permalink, Status: statusOf(Version2026, o.State),
		Lines: []Line{}, Deliveries: []Delivery{}, Adjustments: []Adjustment{},
		Totals: sums(o.Totals.Net, o.Totals.VAT, o.Totals.Gross),
	}
	names := make(map[string]order.Item, len(o.Items))
	for _, item := range o.Items {
		names[item.ID] = item
		standing := standingOf(item.State)
		doc.Lines = append(doc.Lines, Line{
			ID: item.ID, Title: item.Name, Product: string(item.Kind) + ":" + item.Name, About: describe(item), Quantity: Quantity{1, standing.current, standing.fulfilled},
			Price: minor(item.Net), Subtotal: minor(item.Net), Totals: sums(item.Net, item.VAT, item.Gross), Status: standing.status,
		})
		doc.Deliveries = append(doc.Deliveries, Delivery{
			ID: "ful_" + item.ID, Type: "digital", Status: standing.delivery, Lines: []Reference{{item.ID, 1}},
		})
	}
	back := registrar.Cents(0)
	for _, refund := range o.Refunds {
		item, ours := names[refund.Item]
		if !ours {
			continue
		}
		change := Adjustment{
			ID: refund.ID, Type: "refund", At: stamp(refund.CreatedAt), Status: "pending", Lines: []Reference{{item.ID, 1}},
			Amount: minor(refund.Amount), Currency: currency, Reason: string(item.Failure),
			Description: item.Name + " could not be carried out; its price goes back to the means of payment.",
		}
		if refund.Provider != "" {
			change.At, change.Status = stamp(refund.MadeAt), "completed"
			back += refund.Amount
		}
		doc.Adjustments = append(doc.Adjustments, change)
	}
	if back > 0 {
		doc.Totals = append(doc.Totals, Total{"amount_refunded", "Refunded", minor(back)})
	}
	return doc
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }

func sums(net, vat, gross registrar.Cents) []Total {
	return []Total{{"subtotal", "Net", minor(net)}, {"tax", "VAT", minor(vat)}, {"total", "Total", minor(gross)}}
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

// briefOrder is an order in the shape of 2025-09-29.
type briefOrder struct {
	Type      string        `json:"type"`
	Session   string        `json:"checkout_session_id"`
	Permalink string        `json:"permalink_url"`
	Status    string        `json:"status"`
	Refunds   []briefRefund `json:"refunds"`
}

type briefRefund struct {
	Type   string `json:"type"`
	Amount minor  `json:"amount"`
}

// brief leaves out what is owed: this version has no word for it.
func brief(o order.Order, permalink string) briefOrder {
	doc := briefOrder{
		Type: "order", Session: o.ID, Permalink: permalink, Status: statusOf(Version2025, o.State), Refunds: []briefRefund{},
	}
	for _, refund := range o.Refunds {
		if refund.Item != "" && refund.Provider != "" {
			doc.Refunds = append(doc.Refunds, briefRefund{"original_payment", minor(refund.Amount)})
		}
	}
	return doc
}
