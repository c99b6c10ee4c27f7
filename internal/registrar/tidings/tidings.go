package tidings

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

// Tiding is that an agent has something to hear of an order.
type Tiding struct {
	Order, Agent string
	// Changes counts what has happened, Told how much of it the agent knows: 0
	// means that it has not heard of the order.
	Changes, Told int64
	// Since is when the first change happened that the agent does not know.
	Since, DueAt time.Time
	Attempts     int
}

// Store keeps what is to be told.
type Store interface {
	// DueTidings returns up to limit whose time has come, the longest overdue
	// first. Other nodes see the same ones.
	DueTidings(ctx context.Context, now time.Time, limit int) ([]Tiding, error)
	// ClaimTiding takes one until the lease ends, and returns it as it is then. It
	// is false if another node was faster.
	ClaimTiding(ctx context.Context, order string, wasDue, lease time.Time) (Tiding, bool, error)
	// SettleTiding ends a claim: the agent knows that many changes now. If there
	// were more than seen by then, the row is due again at once.
	SettleTiding(ctx context.Context, order string, lease time.Time, seen, told int64, now time.Time) error
	// PostponeTiding ends a claim: it is tried again at due, after so many
	// attempts in vain.
	PostponeTiding(ctx context.Context, order string, lease, due time.Time, attempts int) error
}

// Hook is where and how an agent wants to hear.
type Hook struct {
	URL, Secret string
	// Version is that of the protocol, whose shape the message has.
	Version string
}

// Agents knows agents.
type Agents interface {
	// Hook is false if the agent is gone or wants to hear nothing.
	Hook(ctx context.Context, agent string) (Hook, bool, error)
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
