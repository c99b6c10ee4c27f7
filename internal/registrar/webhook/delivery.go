package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// SignatureHeader carries the result of Sign.
const SignatureHeader = "Merchant-Signature"

// Sign returns t=<unix seconds>,v1=<hex HMAC-SHA256 of the seconds, a full stop and the
// raw body>.
func Sign(secret string, at time.Time, body []byte) string {
	seconds := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(seconds)) // hash writes never fail
	mac.Write([]byte{'.'})
	mac.Write(body)
	return "t=" + seconds + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}

// Delivery is the delivery state of an order.
type Delivery struct {
	Order, Agent string
	// EventCount counts the events, DeliveredCount those that the agent has received: 0
	// means that it does not know the order yet.
	EventCount, DeliveredCount int64
	// PendingSince is when the first undelivered event occurred.
	PendingSince, DueAt time.Time
	Attempts            int
	// Target is the agent's webhook when the delivery was claimed; without a URL there is
	// none.
	Target agent.SealedWebhook
	// Snapshot is the order when the delivery was claimed.
	Snapshot *order.Order
}

// Store persists deliveries.
type Store interface {
	// ClaimDueDeliveries leases up to limit due deliveries, the longest overdue first, and
	// reads their orders.
	ClaimDueDeliveries(ctx context.Context, now, lease time.Time, limit int) ([]Delivery, error)
	// CompleteDelivery ends a claim with delivered events. If more than seen have occurred,
	// the row is due again at once.
	CompleteDelivery(ctx context.Context, order string, lease time.Time, seen, delivered int64, now time.Time) error
	// PostponeDelivery ends a claim: the next attempt is at due, after so many failures.
	PostponeDelivery(ctx context.Context, order string, lease, due time.Time, attempts int) error
}

// Message is a signed message.
type Message struct {
	URL       string
	ID        string // the same for the same events, however often they are sent
	At        time.Time
	Signature string
	Body      []byte
}

// Sender posts messages to agents.
type Sender interface {
	// Send returns a *registrar.Error. RetryAfter is what the agent requested.
	Send(ctx context.Context, message Message) error
}
