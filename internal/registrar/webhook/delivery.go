package webhook

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"
)

// SignatureHeader carries what Sign returns.
const SignatureHeader = "Merchant-Signature"

// Sign is the value of the header: t=<unix seconds>,v1=<hex of the HMAC-SHA256 of
// the seconds, a full stop and the raw body>.
func Sign(secret string, at time.Time, body []byte) string {
	seconds := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(seconds)) // a hash never fails to take bytes
	mac.Write([]byte{'.'})
	mac.Write(body)
	return "t=" + seconds + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}

// Delivery is that an agent has something to hear of an order.
type Delivery struct {
	Order, Agent string
	// EventCount counts what has happened, Told how much of it the agent knows: 0
	// means that it has not heard of the order.
	EventCount, DeliveredCount int64
	// PendingSince is when the first change happened that the agent does not know.
	PendingSince, DueAt time.Time
	Attempts            int
}

// Store keeps what is to be told.
type Store interface {
	// ListDueDeliveries returns up to limit whose time has come, the longest overdue
	// first. Other nodes see the same ones.
	ListDueDeliveries(ctx context.Context, now time.Time, limit int) ([]Delivery, error)
	// ClaimDelivery takes one until the lease ends, and returns it as it is then. It
	// is false if another node was faster.
	ClaimDelivery(ctx context.Context, order string, wasDue, lease time.Time) (Delivery, bool, error)
	// CompleteDelivery ends a claim: the agent knows that many changes now. If there
	// were more than seen by then, the row is due again at once.
	CompleteDelivery(ctx context.Context, order string, lease time.Time, seen, delivered int64, now time.Time) error
	// PostponeDelivery ends a claim: it is tried again at due, after so many
	// attempts in vain.
	PostponeDelivery(ctx context.Context, order string, lease, due time.Time, attempts int) error
}

// Endpoint is where and how an agent wants to hear.
type Endpoint struct {
	URL, Secret string
	// Version is that of the protocol, whose shape the message has.
	Version string
}

// Agents knows agents.
type Agents interface {
	// Endpoint is false if the agent is gone or wants to hear nothing.
	Endpoint(ctx context.Context, agent string) (Endpoint, bool, error)
}

// Orders knows orders.
type Orders interface {
	// Event is the message about an order as it is now, in the shape of a version.
	// first says that the agent has not heard of the order.
	Event(ctx context.Context, order, version string, first bool) ([]byte, error)
}

// Message is ready to be sent.
type Message struct {
	URL string
	// ID is the same for the same changes, however often they are told.
	ID        string
	At        time.Time
	Signature string
	Body      []byte
}

// Sender takes messages to agents.
type Sender interface {
	// Send returns a *registrar.Error. RetryAfter is what the agent asked for.
	Send(ctx context.Context, message Message) error
}
