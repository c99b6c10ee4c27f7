package order

import (
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// State is the state of an order; doc.go has the transition table.
type State string

// The order states, as customers and agents see them.
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

// States returns all order states.
func States() []State {
	return []State{
		AwaitingVerification, AwaitingPayment, Paying, Provisioning, Completed, PartiallyCompleted, Failed, Canceled, Expired,
	}
}

// Open reports whether the order can still be paid.
func (s State) Open() bool {
	return s.waiting() || s == Paying
}

// waiting reports whether the order can be paid and no payment is in flight.
func (s State) waiting() bool { return s == AwaitingVerification || s == AwaitingPayment }

// Final reports whether only refunds can still happen.
func (s State) Final() bool { return !s.Open() && s != Provisioning }

// Kind is the operation that an item orders.
type Kind = provision.Kind

// The kinds of items.
const (
	Register = provision.Register
	Transfer = provision.Transfer
	Renew    = provision.Renew   // only by the domain's customer or their application
	Restore  = provision.Restore // only by the domain's customer, in the portal
)

// ItemState is the state of an item.
type ItemState string

// The item states.
const (
	ItemWaiting      ItemState = "waiting"      // not paid
	ItemProvisioning ItemState = "provisioning" // paid, being provisioned
	ItemActive       ItemState = "active"       // provisioned
	ItemFailed       ItemState = "failed"       // refused, refund due
	ItemRefunded     ItemState = "refunded"     // refund made
)

// Channel is the interface through which an order was created.
type Channel string

// The channels.
const (
	ChannelMCP    Channel = "mcp"
	ChannelPortal Channel = "portal"
	ChannelACP    Channel = "acp" // a checkout session of an agent
	// ChannelRenewal is an automatic renewal: the service ordered it, with the customer's
	// consent.
	ChannelRenewal Channel = "renewal"
)

// IDPrefix begins the id of every order.
const IDPrefix = "ord_"

// Order is an order with its items, payments and refunds.
type Order struct {
	ID       string
	Customer string
	Email    string // the account's address when ordering; spending limits count by it, too
	State    State
	Channel  Channel
	// By created the order; ByName was the name of its token or application.
	By     registrar.Actor
	ByName string
	Agent  string // the checkout agent that created the order; empty for all others
	// Completer is the linked agent that pays, or has paid, an order of its customer. It
	// gets webhooks but does not own the order.
	Completer     string
	Contact       Contact   // the buyer as the agent described them; zero if it sent no contact
	Claimed       bool      // false while the order belongs to a guest account
	ClaimMailedAt time.Time // when the last claim link was mailed; zero if never

	Items    []Item
	Totals   Totals
	Payments []Payment
	Refunds  []Refund
	// RefundCount is the number of stored refunds: they are read only if there are some.
	RefundCount int

	// Registrant is the one for whom the TLDs' rules were checked and items are
	// provisioned. It is set from the start of a payment until the order is final.
	Registrant registrar.Registrant

	ItemsKey string // equal for equal items; an open order is found again by it
	// PayLink and VerifyLink are hashes of the secrets in payment_url and verification_url,
	// which are also stored sealed: repeating a request returns the same links.
	PayLink, VerifyLink             registrar.SecretHash
	SealedPayLink, SealedVerifyLink string

	AutoRenew bool           // the payment method is saved for automatic renewals
	Renewal   RenewalConsent // the consent to them of the person who pays or has paid; zero if there is none
	Consent   Consent        // that of the consumer who pays or has paid; zero for others

	CreatedAt, UpdatedAt time.Time
	// ExpiresAt is when the prices expire. PaidAt is zero before payment.
	ExpiresAt, PaidAt time.Time

	// DueAt is when a worker must process the order; zero means never. Node holds the
	// lease, Attempts counts its failures.
	Version  int64
	DueAt    time.Time
	Node     string
	Attempts int
}

// Item is one domain name of an order.
type Item struct {
	ID string
	// Name is a lower-case A-label.
	Name, TLD string
	Kind      Kind
	Years     int
	// Net, VAT and Gross cover the whole term.
	Net, VAT, Gross registrar.Cents
	// Account is the registry account that provisions the item, ProvisionItem the id of
	// its provision.Item once paid, Domain the id of the domain to renew.
	Account, ProvisionItem, Domain string
	TermEnd                        time.Time // of the term that a renewal or restore extends; zero if unknown
	PaidUntil                      time.Time // the end of the paid term, once the item is active; zero if unknown
	SealedCode                     string    // the auth code of a transfer; empty until the customer enters it
	// PremiumFee is the registry's fee for the whole term that Net is based on; zero for a name at
	// the list price.
	PremiumFee registrar.Money
	// PremiumRenewal is the net price of the next term of a premium name; zero if it is unknown.
	PremiumRenewal registrar.Cents
	// Holder is the id of the holder for whom the name is registered or transferred, empty if that
	// is the customer. Registrant has its data: current ones while the order is open, and those
	// that were checked from the start of a payment until the order is final.
	Holder     string
	Registrant registrar.Registrant
	State      ItemState
	Failure    registrar.Code
	// FailureMailedAt is when the first mail about the failure was queued; zero if none was.
	FailureMailedAt time.Time
	// RenewalYears and RenewalGross are the term and the price of each automatic renewal
	// that the customer agreed to; zero if they did not.
	RenewalYears int
	RenewalGross registrar.Cents
}

// RegistrantOr returns the registrant for whom the item is provisioned: its holder's, or the
// customer's.
func (i Item) RegistrantOr(customer registrar.Registrant) registrar.Registrant {
	if i.Holder != "" {
		return i.Registrant
	}
	return customer
}

// Totals are the sums of an order's items, in whole cents.
type Totals struct {
	Net, VAT, Gross registrar.Cents
	RateBasisPoints int // the VAT rate in hundredths of a percent, such as 1900
	// Rule is the billing rule that applies; Country is the country of the rate.
	Rule, Country string
	VATID         string // the VAT ID that the rule relies on; empty if it relies on none
	Unchecked     bool   // the VAT ID could not be validated, so VAT is charged
}

// ForConsumer reports whether the VAT of consumers in another EU country applies, which
// includes buyers whose VAT ID is invalid or could not be validated.
func (t Totals) ForConsumer() bool { return strings.HasPrefix(t.Rule, "eu_consumer") }

// PaymentState is the state of a payment; doc.go has the transition table.
type PaymentState string

// The payment states.
const (
	PaymentOpening   PaymentState = "opening"
	PaymentOpen      PaymentState = "open"
	PaymentClosing   PaymentState = "closing"
	PaymentCaptured  PaymentState = "captured"
	PaymentUnmatched PaymentState = "unmatched"
	PaymentRefunded  PaymentState = "refunded"
	PaymentClosed    PaymentState = "closed"
)

// PaymentStates returns all payment states.
func PaymentStates() []PaymentState {
	return []PaymentState{PaymentOpening, PaymentOpen, PaymentClosing, PaymentCaptured, PaymentUnmatched, PaymentRefunded, PaymentClosed}
}

// PaymentKind is how a payment is made.
type PaymentKind string

// The kinds of payments.
const (
	ByPage  PaymentKind = "page"  // a customer at the provider's payment page
	ByToken PaymentKind = "token" // a shared payment token that an agent sent
	// ByMethod is a charge of the customer's saved payment method without the customer.
	ByMethod PaymentKind = "method"
)

// byIntent reports whether the payment is an intent that this process confirms, instead of a
// page where the customer pays.
func (k PaymentKind) byIntent() bool { return k == ByToken || k == ByMethod }

// Payment is one attempt to pay an order.
type Payment struct {
	ID     string // also the provider's idempotency key
	Kind   PaymentKind
	State  PaymentState
	Amount registrar.Cents
	// Session is the provider's payment page, URL its address, Intent the payment intent;
	// empty until known. A payment by token or saved method has no page, and Session is the
	// intent.
	Session, URL, Intent string
	// Failure is why a token did not pay: PaymentDeclined, TokenExpired, TokenTooSmall,
	// ProviderRefused or ProblemHuman. A saved method has CardDeclined, CardExpired,
	// InsufficientFunds, AuthenticationRequired, NoPaymentMethod, ProviderRefused or
	// ProviderUnavailable. Empty otherwise.
	Failure   registrar.Code
	Card      string // the provider's fingerprint of the card, the same for all its users
	CreatedAt time.Time
	EndsAt    time.Time // when the page expires
	UpdatedAt time.Time
}

// Identity is the identity verification of a customer.
type Identity struct {
	Customer string
	// Session is the provider's verification, URL its page while it is open.
	Session, URL string
	Name         string // the verified name; empty before verification
	VerifiedAt   time.Time
	Failure      registrar.Code // why the last attempt failed
	UpdatedAt    time.Time
}

// Error codes; each transport has a message for each of them. Codes about a single item
// come from Market.
const (
	NoSuchOrder  registrar.Code = "no_such_order"        // KindNotFound: or it is another customer's
	TooManyOpen  registrar.Code = "too_many_open_orders" // KindConflict: pay or decline one first
	NotServed    registrar.Code = "orders_not_served"    // KindUnsupported: no payment provider is configured
	NoPrice      registrar.Code = "no_price"             // KindUnsupported: the price list has none
	NotYours     registrar.Code = "not_your_order"       // KindForbidden
	NotOpen      registrar.Code = "order_not_open"       // KindConflict: can't be paid or changed now
	PriceChanged registrar.Code = "price_changed"        // KindConflict: the customer must see the new totals
	ItemsChanged registrar.Code = "items_changed"        // KindConflict: the customer must see the new items
	DataMissing  registrar.Code = "data_missing"         // KindConflict: registrant data, auth code or identity
	OverBudget   registrar.Code = "over_names_budget"    // KindRateLimited: too many names were queried
	BadItems     registrar.Code = "bad_items"            // KindInvalid: none, too many, or a duplicate name
	NotTransfer  registrar.Code = "not_a_transfer"       // KindInvalid: the item takes no auth code
	BadCode      registrar.Code = "bad_auth_code"        // KindInvalid: malformed
	NoSuchClaim  registrar.Code = "no_such_claim"        // KindNotFound: the link is unknown, used or expired
	NameMismatch registrar.Code = "name_mismatch"        // the verified name is not the registrant's

	// KindConflict: the agent's payment token does not pay. Nothing is charged.
	PaymentDeclined registrar.Code = "payment_declined"
	TokenExpired    registrar.Code = "token_expired"
	TokenTooSmall   registrar.Code = "token_too_small"

	// A saved payment method does not pay; Payment.Failure has these.
	CardDeclined           registrar.Code = "card_declined"
	CardExpired            registrar.Code = "expired_card"
	InsufficientFunds      registrar.Code = "insufficient_funds"
	AuthenticationRequired registrar.Code = "authentication_required" // the bank wants the customer's approval
	NoPaymentMethod        registrar.Code = "no_method"               // none is saved, or the provider has deleted it
	ProviderUnavailable    registrar.Code = "provider_unavailable"    // nothing was decided

	// TermPaid (KindConflict): the domain was renewed since the item was ordered.
	TermPaid registrar.Code = "term_paid"
	// PaymentOpenElsewhere (KindConflict): the renewal is part of another order whose payment
	// has begun.
	PaymentOpenElsewhere registrar.Code = "payment_open_elsewhere"
	BasketFull           registrar.Code = "basket_full"        // KindConflict: see MaxPortalItems
	TransferListFull     registrar.Code = "transfer_list_full" // KindConflict: see MaxListedTransfers

	// RenewalInProgress (KindConflict): the domain is being renewed automatically.
	RenewalInProgress registrar.Code = "renewal_in_progress"

	// ProviderRefused (KindInternal): the provider rejects the payment, which the operator
	// must fix.
	ProviderRefused registrar.Code = "payment_refused"
	// PaymentInProgress (KindConflict): the payment in progress had no outcome in time.
	PaymentInProgress registrar.Code = "payment_in_progress"
	// ConsentMissing (KindInvalid): a consumer has not ticked the current text.
	ConsentMissing registrar.Code = "consent_missing"
	// RenewalChanged (KindConflict): wording or prices of automatic renewal are no longer
	// those that were shown.
	RenewalChanged registrar.Code = "renewal_changed"
)

// ItemsRefused lists the items that can't be ordered and why. It has the kind and code of the first
// item's reason.
type ItemsRefused struct {
	Items    []RefusedItem
	Unquoted []RefusedItem // further items whose registry could not be queried
}

// RefusedItem is an item that can't be ordered.
type RefusedItem struct {
	Name   string
	Kind   Kind
	Reason error // a *registrar.Error
}

func (*ItemsRefused) Error() string { return "order: quote items: refused" }

// Unwrap returns the first item's reason, so that the log classifies it as the client's.
func (e *ItemsRefused) Unwrap() error {
	if len(e.Items) == 0 {
		return nil
	}
	return e.Items[0].Reason
}

// ItemsUnquoted means that no item was refused, but some registries could not be
// queried. It has the kind and code of the first item's reason.
type ItemsUnquoted struct{ Items []RefusedItem }

func (*ItemsUnquoted) Error() string { return "order: quote items: registries could not be asked" }

// Unwrap returns the first item's reason.
func (e *ItemsUnquoted) Unwrap() error { return e.Items[0].Reason }

// Price is the gross of an item as if it were ordered alone, as order pages and mails show it, so
// that equal items have equal prices. Its Gross has a share of the order's VAT, which is rounded once.
func (o Order) Price(item Item) registrar.Cents {
	return billing.Gross(item.Net, o.Totals.RateBasisPoints)
}

// Rounded reports whether the price of an item differs from its Gross, which the payment page and
// the invoice have.
func (o Order) Rounded() bool {
	return slices.ContainsFunc(o.Items, func(item Item) bool { return o.Price(item) != item.Gross })
}

// NameOf returns the domain name of an item; empty if there is no such item.
func (o Order) NameOf(item string) string {
	if found := o.item(item); found != nil {
		return found.Name
	}
	return ""
}
