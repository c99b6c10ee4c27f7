package mcp

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
)

// Lookups checks and searches names.
type Lookups interface {
	Check(ctx context.Context, domain string) (lookup.Answer, error)
	Search(ctx context.Context, query string) (lookup.Result, error)
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

// Caller is the customer behind a token.
type Caller struct {
	// Account is the customer's id.
	Account string
	// TokenID is what calls are counted by and what the audit log names: an id, never
	// the secret, and the same for all tokens of one grant.
	TokenID string
	// Kind is a personal access token or an application.
	Kind registrar.ActorKind
	// Address is the client address. The endpoint fills it in.
	Address netip.Addr
	// MayWrite means that the token has the scope mcp:write, which every signed-in tool
	// requires.
	MayWrite bool
}

// ErrBadToken is returned for a token that is unknown, expired or revoked.
var ErrBadToken = errors.New("mcp: invalid access token")

// Tokens verifies access tokens.
type Tokens interface {
	// Verify returns the token's owner, or ErrBadToken. Any other error means that the
	// token could not be verified.
	Verify(ctx context.Context, bearer string) (Caller, error)
}

// Actor returns the caller as domain services know it.
func (c Caller) Actor() registrar.Actor {
	return registrar.Actor{Kind: c.Kind, Customer: c.Account, Through: c.TokenID, Address: c.Address}
}

// Domains lists the domains of customers.
type Domains interface {
	// List returns a page of the caller's domains by name, and the number of all
	// matches.
	List(ctx context.Context, who Caller, filter DomainFilter) (domains []Domain, total int, err error)
}

// DomainFilter selects domains.
type DomainFilter struct {
	// Search is a part of the name; empty matches every name.
	Search string
	// ExpiresBefore is an upper bound of the paid term's end; zero means none.
	ExpiresBefore time.Time
	Limit, Offset int
}

// Domain is one entry of a customer's list. Its status is active, pending, expired,
// redemption, transit or transferred_out; ExpiresAt is the end of the paid term in RFC
// 3339. AutoRenew is true only if the domain will be renewed; RenewEUR is nil if its
// extension is not sold.
type Domain struct {
	Domain    string  `json:"domain"`
	TLD       string  `json:"tld"`
	Status    string  `json:"status"`
	ExpiresAt *string `json:"expiresAt"`
	AutoRenew bool    `json:"autoRenew"`

	RenewEUR  *registrar.Cents `json:"renewEur"`
	ManageURL string           `json:"manageUrl"`
}

// Orders prepares orders and reports their status.
type Orders interface {
	// Start prepares an order and charges nothing. A dry run checks everything and
	// stores nothing: its order has no id and no links. If an item can't be ordered,
	// the error is a *NotPayable.
	Start(ctx context.Context, who Caller, items []Item, dryRun bool) (Order, error)
	// Status returns ErrNotFound for an order that does not exist or is another
	// customer's.
	Status(ctx context.Context, who Caller, orderID string) (OrderStatus, error)
	// Page returns some of the caller's orders with a status, newest first, and the
	// number of all matches; an empty status matches every order.
	Page(ctx context.Context, who Caller, status string, limit, offset int) (orders []OrderStatus, total int, err error)
	// Cancel cancels an order that is not paid. It returns ErrNotFound as Status does,
	// and a *NotCancelable for an order that is not open; an order that is already
	// canceled is returned unchanged.
	Cancel(ctx context.Context, who Caller, orderID string) (OrderStatus, error)
}

// Item is a requested item; Type is register or transfer.
type Item struct {
	Domain string
	Type   string
	// Years is 0 if the server chooses the term.
	Years int
}

// Order is an order awaiting payment. The order of a dry run has the status DryRun and
// neither id, links nor expiry.
type Order struct {
	OrderID         string      `json:"orderId,omitempty"`
	Status          string      `json:"status"`
	Items           []OrderItem `json:"items"`
	Totals          Totals      `json:"totals"`
	PaymentURL      string      `json:"payment_url,omitempty"`
	VerificationURL string      `json:"verification_url,omitempty"`
	ExpiresAt       string      `json:"expiresAt,omitempty"`
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
	Domain string          `json:"domain"`
	Type   string          `json:"type"`
	Years  int             `json:"years"`
	NetEUR registrar.Cents `json:"netEur"`
	Status string          `json:"status,omitempty"`
	// FailureCode is why a paid item was not provisioned. The endpoint derives Failure
	// from it.
	FailureCode registrar.Code `json:"-"`
	Failure     *itemIssue     `json:"failure,omitempty"`
	// Refund is the refund of a failed item; nil if there is none.
	Refund *Refund `json:"refund,omitempty"`
}

// Refund is the refund of a failed item.
type Refund struct {
	// Status is RefundPending or RefundCompleted.
	Status    string          `json:"status"`
	AmountEUR registrar.Cents `json:"amountEur"`
}

// The states of a refund.
const (
	RefundPending   = "pending"
	RefundCompleted = "refunded"
)

// Totals are the sums of an order. VATRate is in percent.
type Totals struct {
	NetEUR   registrar.Cents `json:"netEur"`
	VATEUR   registrar.Cents `json:"vatEur"`
	GrossEUR registrar.Cents `json:"grossEur"`
	VATRate  float64         `json:"vatRate"`
}

// OrderStatus is the status of an order. AmountEUR is gross. The links and ExpiresAt
// are set while the order can be paid.
type OrderStatus struct {
	OrderID   string          `json:"orderId"`
	Status    string          `json:"status"`
	CreatedAt string          `json:"createdAt"`
	AmountEUR registrar.Cents `json:"amountEur"`
	Items     []OrderItem     `json:"items"`

	PaymentURL      string `json:"payment_url,omitempty"`
	VerificationURL string `json:"verification_url,omitempty"`
	ExpiresAt       string `json:"expiresAt,omitempty"`
	// Needs is what must still be provided. The endpoint derives Requirements from it.
	Needs        []Need        `json:"-"`
	Requirements []requirement `json:"requirements,omitempty"`
}

// NotCancelable means that an order is not open.
type NotCancelable struct {
	// Status is the order's; URL is its page.
	Status, URL string
}

func (*NotCancelable) Error() string { return "mcp: cancel order: not open" }

// Unwrap makes it a registrar.Error for the log.
func (*NotCancelable) Unwrap() error {
	return registrar.Conflict(order.NotOpen)
}

// ErrNotFound means that the caller has no such order.
var ErrNotFound = registrar.NotFound(order.NoSuchOrder)

// NotPayable lists the items that can't be ordered, and why.
type NotPayable struct{ Items []ItemProblem }

// ItemProblem is one item that can't be ordered.
type ItemProblem struct {
	Domain string
	// Reason is a *registrar.Error with a known code.
	Reason error
}

func (*NotPayable) Error() string { return "an item can't be ordered" }
