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

// Lookups answers questions about names.
type Lookups interface {
	Check(ctx context.Context, domain string) (lookup.Answer, error)
	Search(ctx context.Context, query string) (lookup.Result, error)
	Whois(ctx context.Context, domain string) (lookup.WhoisAnswer, error)
}

// Catalog is the price list in force.
type Catalog interface {
	Extension(tld string) (registrar.Extension, bool)
	// All is every row in alphabetical order. The caller owns the slice.
	All() []registrar.Extension
}

// Budget counts calls by address.
type Budget interface {
	// Spend counts one call if it is allowed, and says which windows apply.
	Spend(addr netip.Addr) (ratelimit.Decision, []ratelimit.Window)
	// SpendToken is Spend for a call with a valid token, which counts instead of
	// the address where many callers share one.
	SpendToken(addr netip.Addr, token string) (ratelimit.Decision, []ratelimit.Window)
}

// TokenBudget counts calls of signed-in tools, by token.
type TokenBudget interface {
	Allow(token ratelimit.Key) ratelimit.Decision
}

// Caller is the customer behind a token.
type Caller struct {
	// Account is the customer's id.
	Account string
	// TokenID is what calls count by, and what the audit names: an id, never the
	// secret, and the same for all tokens that one consent gave an application.
	TokenID string
	// Kind says what calls: a personal token or an application.
	Kind registrar.ActorKind
	// Address is where the call came from. The endpoint fills it in.
	Address netip.Addr
	// MayWrite says that the token carries the scope mcp:write, which every
	// signed-in tool needs.
	MayWrite bool
}

// ErrBadToken says that a token is unknown, expired or revoked.
var ErrBadToken = errors.New("this token opens nothing")

// Tokens knows who a token belongs to.
type Tokens interface {
	// Verify returns the token's owner, or ErrBadToken. Any other error means
	// that the question could not be answered.
	Verify(ctx context.Context, bearer string) (Caller, error)
}

// Actor is the caller as domain services know one.
func (c Caller) Actor() registrar.Actor {
	return registrar.Actor{Kind: c.Kind, Customer: c.Account, Through: c.TokenID, Address: c.Address}
}

// Domains knows what customers hold.
type Domains interface {
	// List is a page of the caller's domains, by name, and how many match in all.
	List(ctx context.Context, who Caller, filter DomainFilter) (domains []Domain, total int, err error)
}

// DomainFilter is which domains are wanted.
type DomainFilter struct {
	// Search is a part of the name; empty means every name.
	Search string
	// ExpiresBefore is when the paid term must have ended; zero means any time.
	ExpiresBefore time.Time
	Limit, Offset int
}

// Domain is one entry of a customer's list. The states are active, pending,
// expired, redemption, transit and transferred_out; ExpiresAt is the date until
// which the customer has paid, in RFC 3339. AutoRenew is true only for a domain that
// will really be renewed; RenewEUR is nil where its extension is not sold.
type Domain struct {
	Domain    string  `json:"domain"`
	TLD       string  `json:"tld"`
	Status    string  `json:"status"`
	ExpiresAt *string `json:"expiresAt"`
	AutoRenew bool    `json:"autoRenew"`

	RenewEUR  *registrar.Cents `json:"renewEur"`
	ManageURL string           `json:"manageUrl"`
}

// Orders prepares orders and says how they stand.
type Orders interface {
	// Start prepares an order and charges nothing. A dry run asks for everything
	// and stores nothing: its order has no id and no links. If an item can't be
	// ordered, the error is a *NotPayable.
	Start(ctx context.Context, who Caller, items []Item, dryRun bool) (Order, error)
	// Status returns ErrNotFound for an order that does not exist or is another
	// customer's.
	Status(ctx context.Context, who Caller, orderID string) (OrderStatus, error)
	// Page is some of the caller's orders with a status, newest first, and how many
	// match in all; an empty status means every one.
	Page(ctx context.Context, who Caller, status string, limit, offset int) (orders []OrderStatus, total int, err error)
	// Cancel ends an order that is not paid. It returns ErrNotFound as Status does, and
	// a *NotCancelable for an order that is not open; one that is canceled already is
	// returned as it is.
	Cancel(ctx context.Context, who Caller, orderID string) (OrderStatus, error)
}

// Item is what a caller wants to order; Type is register or transfer.
type Item struct {
	Domain string
	Type   string
	// Years is 0 where the caller leaves the term to the server.
	Years int
}

// Order is an order that waits for its payment, or would be one: then its status
// is DryRun, and it has neither id nor links nor end.
type Order struct {
	OrderID         string      `json:"orderId,omitempty"`
	Status          string      `json:"status"`
	Items           []OrderItem `json:"items"`
	Totals          Totals      `json:"totals"`
	PaymentURL      string      `json:"payment_url,omitempty"`
	VerificationURL string      `json:"verification_url,omitempty"`
	ExpiresAt       string      `json:"expiresAt,omitempty"`
	// Needs is what must still be provided. The endpoint makes Requirements of it.
	Needs        []Need        `json:"-"`
	Requirements []requirement `json:"requirements,omitempty"`
}

// Need is something that the customer must provide before an order can be paid, in the
// words of package order. Domain is empty if it is about the whole order.
type Need struct{ What, Domain string }

// DryRun is the status of an order that was only tried.
const DryRun = "dry_run"

// OrderItem is one line of an order. What follows NetEUR is for the order's status
// alone.
type OrderItem struct {
	Domain string          `json:"domain"`
	Type   string          `json:"type"`
	Years  int             `json:"years"`
	NetEUR registrar.Cents `json:"netEur"`
	Status string          `json:"status,omitempty"`
	// FailureCode is why a paid item was not carried out. The endpoint makes Failure of it.
	FailureCode registrar.Code `json:"-"`
	Failure     *itemIssue     `json:"failure,omitempty"`
	// Refund is what goes back for it; nil if nothing does.
	Refund *Refund `json:"refund,omitempty"`
}

// Refund is money that goes back for a failed item.
type Refund struct {
	// Status is RefundPending or RefundMade.
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

// OrderStatus is how an order stands. AmountEUR is gross. The links and ExpiresAt are
// there while the order can be paid.
type OrderStatus struct {
	OrderID   string          `json:"orderId"`
	Status    string          `json:"status"`
	CreatedAt string          `json:"createdAt"`
	AmountEUR registrar.Cents `json:"amountEur"`
	Items     []OrderItem     `json:"items"`

	PaymentURL      string `json:"payment_url,omitempty"`
	VerificationURL string `json:"verification_url,omitempty"`
	ExpiresAt       string `json:"expiresAt,omitempty"`
	// Needs is what must still be provided. The endpoint makes Requirements of it.
	Needs        []Need        `json:"-"`
	Requirements []requirement `json:"requirements,omitempty"`
}

// NotCancelable says that an order is not open.
type NotCancelable struct {
	// Status is the order's; URL is where its customer looks after it.
	Status, URL string
}

func (*NotCancelable) Error() string { return "mcp: cancel order: not open" }

// Unwrap makes it one of our errors for the log.
func (*NotCancelable) Unwrap() error {
	return &registrar.Error{Kind: registrar.KindConflict, Code: order.NotOpen}
}

// ErrNotFound says that the caller has no such order.
var ErrNotFound error = &registrar.Error{Kind: registrar.KindNotFound, Code: order.NoSuchOrder}

// NotPayable says which items can't be ordered, and why.
type NotPayable struct{ Items []ItemProblem }

// ItemProblem is one item that can't be ordered.
type ItemProblem struct {
	Domain string
	// Reason is a *registrar.Error, for which there is a sentence.
	Reason error
}

func (*NotPayable) Error() string { return "an item can't be ordered" }
