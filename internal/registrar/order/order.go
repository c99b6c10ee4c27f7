package order

import (
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// State is how far an order has come; doc.go has the table.
type State string

// The states, as customers and agents read them.
const (
	AwaitingVerification State = "awaiting_verification"
	AwaitingPayment      State = "awaiting_payment"
	Paying               State = "paying"
	Provisioning         State = "provisioning"
	Completed            State = "completed"
	PartiallyCompleted   State = "partially_completed"
	Failed               State = "failed"
	Canceled             State = "canceled"
	Expired              State = "expired"
)

// States are all of them.
func States() []State {
	return []State{
		AwaitingVerification, AwaitingPayment, Paying, Provisioning, Completed, PartiallyCompleted, Failed, Canceled, Expired,
	}
}

// Open says that the order can still be paid.
func (s State) Open() bool {
	return s == AwaitingVerification || s == AwaitingPayment || s == Paying
}

// Final says that only refunds can still happen.
func (s State) Final() bool { return !s.Open() && s != Provisioning }

// Kind is what is ordered.
type Kind string

// The kinds.
const (
	Register Kind = "register"
	Transfer Kind = "transfer"
	// Renew is ordered by its holder in the portal only.
	Renew Kind = "renew"
)

// ItemState is how far an item has come.
type ItemState string

// The states of an item.
const (
	ItemWaiting      ItemState = "waiting"      // nothing is paid
	ItemProvisioning ItemState = "provisioning" // its line is under way
	ItemActive       ItemState = "active"       // carried out
	ItemFailed       ItemState = "failed"       // refused; its money goes back
	ItemRefunded     ItemState = "refunded"     // its money was given back
)

// Channel is the way by which an order was made.
type Channel string

// The channels.
const (
	ChannelMCP    Channel = "mcp"
	ChannelPortal Channel = "portal"
	// ChannelACP is an order that an agent made as a checkout session.
	ChannelACP Channel = "acp"
)

// Order is one order with all that hangs on it.
type Order struct {
	ID       string
	Customer string
	// Email is the account's at the time of ordering: limits count by it, too.
	Email   string
	State   State
	Channel Channel
	// By is who asked for it, and ByName the name of the token or application at
	// that time, as the customer gave it.
	By     registrar.Actor
	ByName string
	// Agent is the checkout agent that made it; empty for all others.
	Agent string
	// Completer is the linked agent that pays, or has paid, an order which its customer
	// made. It hears what becomes of the order; it does not own it.
	Completer string
	// Contact is the buyer as the agent told; zero if it told nothing.
	Contact Contact
	// Claimed is false only for an order that no account owns yet: its customer is
	// a shadow account, and whoever has the mailed link and signs in gets it.
	Claimed bool
	// ClaimMailedAt is when a letter with that link was last stored; zero if never.
	ClaimMailedAt time.Time

	Items    []Item
	Totals   Totals
	Payments []Payment
	Refunds  []Refund

	// Registrant is the one for whom the rules of the extensions were checked, from the
	// beginning of the payment until the order has ended; zero otherwise. Lines are
	// carried out for this registrant, whatever the account's data say by then.
	Registrant registrar.Registrant

	// ItemsKey is equal for equal items: an open order is found again by it.
	ItemsKey string
	// PayLink and VerifyLink are hashes of the secrets in payment_url and
	// verification_url. The secrets themselves are sealed, because an order that
	// is asked for again shows the same links.
	PayLink, VerifyLink             registrar.SecretHash
	SealedPayLink, SealedVerifyLink string

	// AutoRenew says that the customer wants the domains renewed and the means of
	// payment kept for it.
	AutoRenew bool
	// Consent is that of the consumer who pays, or has paid; zero for everybody else.
	Consent Consent

	CreatedAt, UpdatedAt time.Time
	// ExpiresAt is the end of the prices; PaidAt is zero before the payment.
	ExpiresAt, PaidAt time.Time

	// Version counts changes. DueAt is when somebody has to look at the order;
	// zero means that nobody has to. Node is who does, Attempts how often in vain.
	Version  int64
	DueAt    time.Time
	Node     string
	Attempts int
}

// Item is one name of an order.
type Item struct {
	ID string
	// Name is in lower case A-label form.
	Name, TLD string
	Kind      Kind
	Years     int
	// Net, VAT and Gross are for the whole term.
	Net, VAT, Gross registrar.Cents
	// Account is the registry account that will carry it out, Line the id of its
	// line once it is paid for, Domain that of the domain which a renewal is about.
	Account, ProvisionItem, Domain string
	// SealedCode is the auth code of a transfer; empty until the human has told.
	SealedCode string
	State      ItemState
	Failure    registrar.Code
}

// Totals are an order's sums. They are whole cents, and the items' add up to them.
type Totals struct {
	Net, VAT, Gross registrar.Cents
	// RateBasisPoints is the VAT rate in hundredths of a percent: 1900.
	RateBasisPoints int
	// Rule says why that rate, in billing's words; Country whose rate it is.
	Rule, Country string
	// VATID is the one that the rule rests on; empty where none does.
	VATID string
	// Unchecked says that the VAT id could not be checked, so VAT is charged.
	Unchecked bool
}

// ForConsumer says that VAT is charged as it is to the consumers of another country of
// the EU: also to those whose VAT id is not valid, or could not be checked.
func (t Totals) ForConsumer() bool { return strings.HasPrefix(t.Rule, "eu_consumer") }

// PaymentState is how far a payment has come; doc.go has the table.
type PaymentState string

// The states of a payment.
const (
	PaymentOpening   PaymentState = "opening"
	PaymentOpen      PaymentState = "open"
	PaymentClosing   PaymentState = "closing"
	PaymentCaptured  PaymentState = "kept"
	PaymentUnmatched PaymentState = "surplus"
	PaymentRefunded  PaymentState = "returned"
	PaymentClosed    PaymentState = "closed"
)

// PaymentKind is the way in which a payment is made.
type PaymentKind string

// The kinds of payments.
const (
	// ByPage is a human at the provider's page.
	ByPage PaymentKind = "page"
	// ByToken is a token of the buyer's, which an agent has brought.
	ByToken PaymentKind = "token"
)

// Payment is one attempt to pay an order.
type Payment struct {
	// ID is ours, and the idempotency key.
	ID     string
	Kind   PaymentKind
	State  PaymentState
	Amount registrar.Cents
	// Session is the provider's page to pay at and URL its address; Intent is the
	// provider's payment. They are empty before they are known. By token there is no
	// page: then Session is the intent, too.
	Session, URL, Intent string
	// Failure is why a token did not pay: PaymentDeclined and its kin, or
	// ProblemHuman; empty otherwise.
	Failure registrar.Code
	// Card is the provider's fingerprint of the card, the same for every customer
	// who uses it; empty where there is none.
	Card      string
	CreatedAt time.Time
	// EndsAt is when the page closes by itself.
	EndsAt    time.Time
	UpdatedAt time.Time
}

// Refund is money that goes back.
type Refund struct {
	// ID is ours, and the idempotency key.
	ID      string
	Payment string
	// Item is the failed one; empty for a surplus payment, which goes back whole.
	Item   string
	Amount registrar.Cents
	// Provider is the provider's id; empty while the refund is due.
	Provider  string
	CreatedAt time.Time
	MadeAt    time.Time
}

// Identity is what is known of who a customer is.
type Identity struct {
	Customer string
	// Session is the provider's verification, URL its page while it is open.
	Session, URL string
	// Name is the verified one; empty while nothing is verified.
	Name       string
	VerifiedAt time.Time
	// Failure is why the last attempt did not succeed.
	Failure   registrar.Code
	UpdatedAt time.Time
}

// What can go wrong. Transports have a sentence for each. Reasons why a single item
// can't be ordered come from the market.
const (
	// NoSuchOrder goes with KindNotFound: there is none, or it is somebody else's.
	NoSuchOrder registrar.Code = "no_such_order"
	// NoSuchCustomer goes with KindNotFound.
	NoSuchCustomer registrar.Code = "no_such_customer"
	// TooManyOpen goes with KindConflict: pay or decline one first.
	TooManyOpen registrar.Code = "too_many_open_orders"
	// NotServed goes with KindUnsupported: no payment provider is configured, so nothing
	// can be ordered.
	NotServed registrar.Code = "orders_not_served"
	// NoPrice goes with KindUnsupported: the price list has no price for it.
	NoPrice registrar.Code = "no_price"
	// SignInFirst goes with KindUnauthenticated: only a person who is signed in may
	// do this.
	SignInFirst registrar.Code = "sign_in_first"
	// NotYours goes with KindForbidden: signed in as another account than the
	// order's.
	NotYours registrar.Code = "not_your_order"
	// NotOpen goes with KindConflict: the order can't be paid, declined or changed
	// any more, or a payment is under way.
	NotOpen registrar.Code = "order_not_open"
	// PriceChanged goes with KindConflict: the order has new totals, and its
	// customer must see them before anything is charged.
	PriceChanged registrar.Code = "price_changed"
	// DataMissing goes with KindConflict: registrant data, an auth code or the
	// identity is missing.
	DataMissing registrar.Code = "data_missing"
	// NameHeld goes with KindConflict: somebody holds the name, or another paid
	// order is getting it.
	NameHeld registrar.Code = "name_held"
	// OverBudget goes with KindRateLimited: the customer or agent has had registries
	// asked about too many names lately.
	OverBudget registrar.Code = "over_names_budget"
	// BadItems goes with KindInvalid: none, too many, or the same name twice.
	BadItems registrar.Code = "bad_items"
	// RenewInPortal goes with KindForbidden: only the holder renews, in the portal.
	RenewInPortal registrar.Code = "renew_in_portal"
	// NotTransfer and BadCode go with KindInvalid: the item needs no auth code, or
	// what was told can't be one.
	NotTransfer registrar.Code = "not_a_transfer"
	BadCode     registrar.Code = "bad_auth_code"
	// PaymentDeclined, TokenExpired and TokenTooSmall go with KindConflict: the
	// payment token that an agent gave does not pay. Nothing is charged.
	PaymentDeclined registrar.Code = "payment_declined"
	TokenExpired    registrar.Code = "token_expired"
	TokenTooSmall   registrar.Code = "token_too_small"
	// NoSuchClaim goes with KindNotFound: the link is unknown, used or too old.
	NoSuchClaim registrar.Code = "no_such_claim"
	// NameMismatch: the verified name is not the registrant's.
	NameMismatch registrar.Code = "name_mismatch"
)

// ItemsRefused says which items can't be ordered, and why.
type ItemsRefused struct {
	Items []RefusedItem
	// Unquoted are further items, about which the registry could not be asked.
	Unquoted []RefusedItem
}

// RefusedItem is one of them.
type RefusedItem struct {
	Name   string
	Kind   Kind
	Reason error // a *registrar.Error
}

func (*ItemsRefused) Error() string { return "items can't be ordered" }

// ItemsUnquoted says that no item was refused, but that the registries of some could not
// be asked. It has the kind and code of the first one's reason.
type ItemsUnquoted struct{ Items []RefusedItem }

func (*ItemsUnquoted) Error() string { return "order: quote items: registries could not be asked" }

// Unwrap is the first item's reason.
func (e *ItemsUnquoted) Unwrap() error { return e.Items[0].Reason }
