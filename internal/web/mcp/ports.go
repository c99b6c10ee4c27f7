package mcp

import (
	"context"
	"net/netip"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// Lookups checks and searches names.
type Lookups interface {
	Check(ctx context.Context, domain string) (lookup.Answer, error)
	SearchEach(ctx context.Context, query string, found func(entry lookup.Entry, done, total int)) (lookup.Result, error)
	Whois(ctx context.Context, domain string) (lookup.WhoisAnswer, error)
}

// Catalog is the current price list.
type Catalog interface {
	Extension(tld string) (registrar.Extension, bool)
	// All returns every row in alphabetical order. The caller owns the slice.
	All() []registrar.Extension
}

// Budget counts calls by address.
type Budget interface {
	// Spend counts one call if it is allowed, and returns the windows that apply.
	Spend(addr netip.Addr) (ratelimit.Decision, []ratelimit.Window)
	// SpendToken is Spend for a call with a valid token, which is counted instead of
	// the address in shared networks.
	SpendToken(addr netip.Addr, token string) (ratelimit.Decision, []ratelimit.Window)
}

// TokenBudget counts calls of signed-in tools by token.
type TokenBudget interface {
	Allow(token ratelimit.Key) ratelimit.Decision
}

// Tokens verifies access tokens.
type Tokens interface {
	// Verify returns what a token grants. The error is KindUnauthenticated for a token
	// that is unknown, expired or revoked; any other error means that the token could
	// not be verified.
	Verify(ctx context.Context, bearer string) (oauth.TokenInfo, error)
}

// Domains finds the domains of customers.
type Domains interface {
	// Find returns some of the actor's domains by name, and the number of all matches.
	Find(ctx context.Context, actor registrar.Actor, filter portfolio.Filter, limit, offset int) ([]portfolio.Domain, int, error)
	// FindByName returns false if the actor does not hold the name.
	FindByName(ctx context.Context, actor registrar.Actor, name string) (portfolio.Domain, bool, error)
}

// Holders lists for whom a customer registers domains.
type Holders interface {
	List(ctx context.Context, actor registrar.Actor) ([]holder.Holder, error)
}

// Orders prepares orders and reports their status.
type Orders interface {
	// Start prepares an order and charges nothing. A dry run checks everything and
	// stores nothing: its order has no id and no links. If an item can't be ordered,
	// the error is a *NotPayable.
	Start(ctx context.Context, actor registrar.Actor, items []Item, dryRun bool) (Order, error)
	// Status returns ErrNotFound for an order that does not exist or is another
	// customer's.
	Status(ctx context.Context, actor registrar.Actor, orderID string) (OrderStatus, error)
	// Page returns some of the caller's orders with a status, newest first, and the
	// number of all matches; an empty status matches every order.
	Page(ctx context.Context, actor registrar.Actor, status string, limit, offset int) (orders []OrderStatus, total int, err error)
	// Cancel cancels an order that is not paid. It returns ErrNotFound as Status does,
	// and a *NotCancelable for an order that is not open; an order that is already
	// canceled is returned unchanged.
	Cancel(ctx context.Context, actor registrar.Actor, orderID string) (OrderStatus, error)
}

// Item is a requested item; Type is register or transfer.
type Item struct {
	Domain string
	Type   string
	Years  int    // 0 if the server chooses the term
	Holder string // the id of a holder; empty means the customer
}

// Order is an order awaiting payment. The order of a dry run has the status DryRun and
// neither id, links nor expiry.
type Order struct {
	OrderID string          `json:"orderId,omitempty"`
	Status  string          `json:"status"`
	Items   []OrderItem     `json:"items"`
	Totals  httpjson.Totals `json:"totals"`
	Payable
}

// Payable is the part of an order that is set while it can be paid.
type Payable struct {
	PaymentURL      string `json:"payment_url,omitempty"`
	VerificationURL string `json:"verification_url,omitempty"`
	ExpiresAt       string `json:"expiresAt,omitempty"`
	// Needs is what must still be provided. The endpoint derives Requirements from it.
	Needs        []Need        `json:"-"`
	Requirements []requirement `json:"requirements,omitempty"`
}

// Need is something that the customer must provide before an order can be paid, in the
// words of package order. Domain is empty if it concerns the whole order.
type Need struct{ What, Domain string }

// DryRun is the status of a dry run.
const DryRun = "dry_run"

// OrderItem is one item of an order. The fields after NetEUR are set in an order's
// status only.
type OrderItem struct {
	Domain  string          `json:"domain"`
	Type    string          `json:"type"`
	Years   int             `json:"years"`
	NetEUR  registrar.Cents `json:"netEur"`
	Status  string          `json:"status,omitempty"`
	Failure *itemIssue      `json:"failure,omitempty"` // why a paid item was not provisioned
	Refund  *Refund         `json:"refund,omitempty"`  // of a failed item
}

// Refund is the refund of a failed item; its status is pending or refunded.
type Refund struct {
	Status    string          `json:"status"`
	AmountEUR registrar.Cents `json:"amountEur"`
}

// OrderStatus is the status of an order. AmountEUR is gross.
type OrderStatus struct {
	OrderID   string          `json:"orderId"`
	Status    string          `json:"status"`
	CreatedAt string          `json:"createdAt"`
	AmountEUR registrar.Cents `json:"amountEur"`
	Items     []OrderItem     `json:"items"`
	Message   string          `json:"message,omitempty"` // for an order that takes longer than usual
	Payable
}

// NotCancelable means that an order is not open.
type NotCancelable struct {
	// Status is the order's; URL is its page.
	Status, URL string
}

func (*NotCancelable) Error() string { return "mcp: cancel order: not open" }

// Unwrap makes it a registrar.Error for the log.
func (*NotCancelable) Unwrap() error { return registrar.Conflict(order.NotOpen) }

// ErrNotFound means that the caller has no such order.
var ErrNotFound = registrar.NotFound(order.NoSuchOrder)

// NotPayable lists the items that can't be ordered, and why.
type NotPayable struct{ Items []ItemProblem }

// ItemProblem is one item that can't be ordered.
type ItemProblem struct {
	Domain string
	Reason error // a *registrar.Error with a known code
}

func (*NotPayable) Error() string { return "an item can't be ordered" }
