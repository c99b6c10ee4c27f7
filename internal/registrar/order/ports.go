package order

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Store keeps orders.
type Store interface {
	// GetBuyer is what orders need to know of an account; NoSuchCustomer if it does
	// not exist or was closed.
	GetBuyer(ctx context.Context, customer string) (Buyer, error)
	// AddOrder stores an order. If the customer has an open one with the same
	// items it returns that one instead, and false. TooManyOpen is returned, and
	// nothing stored, if the customer has most open orders already.
	AddOrder(ctx context.Context, order Order, limit int, event registrar.AuditEvent) (stored Order, added bool, err error)
	// CheckOpenOrderLimit returns TooManyOpen if AddOrder would, and stores nothing.
	CheckOpenOrderLimit(ctx context.Context, order Order, limit int) error
	// OrderByID, OrderByPayLink, OrderByVerifyLink, OrderBySession (the provider's
	// page) and OrderByIntent (the provider's payment) find whole orders.
	// OrderOfCustomer is false for another customer's.
	OrderByID(ctx context.Context, id string) (Order, bool, error)
	GetCustomerOrder(ctx context.Context, customer, id string) (Order, bool, error)
	OrderByPayLink(ctx context.Context, link registrar.SecretHash) (Order, bool, error)
	OrderByVerifyLink(ctx context.Context, link registrar.SecretHash) (Order, bool, error)
	OrderBySession(ctx context.Context, session string) (Order, bool, error)
	OrderByIntent(ctx context.Context, intent string) (Order, bool, error)
	// ListOrders is a page of a customer's orders, the newest first, older than the
	// id before; empty begins at the top.
	ListOrders(ctx context.Context, customer, before string, limit int) ([]Order, error)
	// PageOrders is a page of a customer's orders in a state, newest first, and how
	// many there are in all; an empty state means every one.
	PageOrders(ctx context.Context, customer string, state State, limit, offset int) (page []Order, total int, err error)
	// ListOverdueOrders are a customer's unpaid orders, other than Paying, whose prices
	// have ended.
	ListOverdueOrders(ctx context.Context, customer string, now time.Time, limit int) ([]Order, error)
	// ListDueOrders are those that somebody has to look at, the longest overdue first.
	ListDueOrders(ctx context.Context, now time.Time, limit int) ([]Order, error)
	// UpdateOrder makes one change. It is false, and nothing changes, if the order
	// is not any more what it was.
	UpdateOrder(ctx context.Context, move Transition) (bool, error)
	// SpentSince is what was paid since then, the most of the sums by account, by
	// address, and by each card that this account has paid with, and what the
	// account is paying now. What becomes paid meanwhile is never left out.
	SpentSince(ctx context.Context, customer, email string, since time.Time) (registrar.Cents, error)

	// GetIdentity is false if nobody has asked for one. SetIdentity stores it if the
	// stored one is still was.
	GetIdentity(ctx context.Context, customer string) (Identity, bool, error)
	UpdateIdentity(ctx context.Context, was *Identity, now Identity, event *registrar.AuditEvent) (bool, error)
	// CustomerByVerification is whose identity the provider's session is about.
	CustomerByVerification(ctx context.Context, session string) (customer string, found bool, err error)
	// ListOrdersAwaitingIdentity are the ids of a customer's orders that wait for it.
	ListOrdersAwaitingIdentity(ctx context.Context, customer string) ([]string, error)

	SessionStore
}

// SessionStore is what orders of agents need beside.
type SessionStore interface {
	// AddSession stores an agent's order. If it is not claimed, its customer is a new
	// shadow account that holds the order's contact, and fitted as its registrant
	// unless that is nil. TooManyOpen is returned, and nothing stored, if the agent
	// has most open ones already, or the customer who claims it mostOfCustomer.
	AddSession(ctx context.Context, order Order, normalized *Contact, limit, mostOfCustomer int, event registrar.AuditEvent) error
	// IsAgentLinked says that a customer lets an agent act for them; LinkedCustomer is
	// the one with an address, who does.
	IsAgentLinked(ctx context.Context, customer, agent string) (bool, error)
	LinkedCustomer(ctx context.Context, agent, email string) (customer string, found bool, err error)
	// ClaimableOrder is the shadow account that a mailed link is for, with its newest
	// order; false if the link is unknown, used or too old.
	ClaimableOrder(ctx context.Context, link registrar.SecretHash, now time.Time) (Order, bool, error)
	// ClaimGuestOrders uses the link and gives all that hangs on its shadow account to a
	// customer. It is false, and nothing changes, if the link is unknown, used or too
	// old. NoSuchCustomer is returned if there is none who could own something. admit
	// decides within the transaction: it is given the extensions of what the shadow
	// account holds, has paid or is paying, and the customer's own registrant, which
	// is zero if there is none and the shadow account's becomes theirs.
	ClaimGuestOrders(ctx context.Context, link registrar.SecretHash, customer string, now time.Time, event registrar.AuditEvent, admit Admission) (bool, error)
}

// Admission says whether the rules of extensions admit a registrant; verified is the
// name that an identity check has confirmed.
type Admission func(tlds []string, registrant registrar.Registrant, verified string) error

// Transition is one change of an order: from Was to Order. The store compares state and
// version with Was and writes the order, its items, and each payment and refund
// that differs from Was or is new. Other items than before replace all of them,
// which happens to open sessions only.
type Transition struct {
	From, To Order
	// At is the true time, by which new lines and letters are due; zero means the
	// order's UpdatedAt, which is the time of the business.
	At time.Time
	// Provision are written with a change to Provisioning: for each item that has a
	// Line, a paid line under that id, whose payment is PaymentOf(order). An item
	// whose name somebody else holds or is being provisioned is stored as failed
	// with NameHeld instead, and comes back so.
	Provision bool
	// ExpectedBuyer is the buyer that a price was made for, where the account of a customer begins
	// to pay it: if it is somebody else by now, nothing changes. nil means that nobody
	// compares.
	ExpectedBuyer *Buyer
	// GuestRegistrant is written as the registrant of the order's shadow account; nil keeps
	// what is there, or removes it if the contact has changed.
	GuestRegistrant *Contact
	// Method is kept with the customer, if it is not nil.
	Method *PaymentMethod
	// AuditEvents are what the audit tells of it. Letters are sent.
	AuditEvents []registrar.AuditEvent
	Mails       []registrar.Mail
}

// PaymentOf is what a line of an order says about what paid for it.
func PaymentOf(order string) string { return "order:" + order }

// PaymentMethod is a means of payment that a customer lets us keep.
type PaymentMethod struct {
	// ProviderCustomer is the provider's customer, ID the provider's means of payment.
	ProviderCustomer, ID string
	// Label is for people: Visa •••• 4242.
	Label string
}

// Buyer is an account as one who orders.
type Buyer struct {
	Customer, Email, Language string
	// HasRegistrant says that there is registrant data; what follows is empty otherwise.
	HasRegistrant                   bool
	Name, Organisation              string
	Company                         bool
	Street, PostalCode, City, State string
	Country, Phone                  string
	VATID                           string
	// ProviderCustomer is the provider's customer; empty if there is none yet.
	ProviderCustomer string
	// MethodLabel is the kept means of payment; empty if there is none.
	MethodLabel string
}

// registrant is the buyer as a registrant; zero if too little was told.
func (b Buyer) registrant() registrar.Registrant {
	if !b.HasRegistrant {
		return registrar.Registrant{}
	}
	return registrar.Registrant{
		Name: b.Name, Organisation: b.Organisation, Street: b.Street, PostalCode: b.PostalCode, City: b.City, State: b.State,
		Country: b.Country, Phone: b.Phone, Email: b.Email,
	}
}

// Market says what can be had, and for how much. It asks the registry that will
// carry it out; only a Wish that is ForDisplay may be answered by what the registry
// said a moment ago.
type Market interface {
	// Quote returns *registrar.Error: KindConflict, KindInvalid and KindUnsupported
	// say why it can't be ordered, KindUpstream that it could not be asked.
	Quote(ctx context.Context, request QuoteRequest) (Quote, error)
}

// Budget bounds the names about which one customer or agent has registries asked.
type Budget interface {
	// Spend counts names, all or none, and says how long to wait if there are too
	// many; 0 means that they are counted. What is asked ForPayment counts apart
	// from everything else, so that looking at orders never keeps anyone from
	// paying.
	Spend(actor registrar.Actor, purpose registrar.Purpose, names int) (wait time.Duration)
}

// QuoteRequest is a name that somebody wants.
type QuoteRequest struct {
	Customer string
	Name     registrar.Name
	Kind     Kind
	// Years is the term that was asked for; 0 means the term that is sold. Another
	// one is refused with KindInvalid.
	Years int
	// Code is the auth code of a transfer; empty while the human has not told it.
	// Then everything else is checked.
	Code string
	// Registrant is the registrant to be checked: zero if too little was told, nil for the
	// account's present one.
	Registrant *registrar.Registrant
	// Purpose is what the quote is for. Admit is called before a registry is asked
	// ForDisplay, and its error ends the question; nil admits every one.
	Purpose registrar.Purpose
	Admit   func() error
}

// Quote is what a registry and the price list make of a wish.
type Quote struct {
	Years int
	// Net is for the whole term.
	Net registrar.Cents
	// Account will carry it out. Domain is the one that a renewal is about.
	Account, Domain string
	// Verify says that the extension wants the holder's identity shown.
	Verify bool
	// Missing names what the holder must still tell before it can be paid, such as
	// registrant, auth_code or a rule of the extension.
	Missing []string
	// AskedAt is when the registry said so, also if it said no. Stale says that it
	// could not be asked now, and that this is its last answer.
	AskedAt time.Time
	Stale   bool
}

// Taxes says what VAT an order bears.
type Taxes interface {
	// Assess is for the net sums of the items, in their order. VAT comes back for
	// each, rounded so that they add up to the VAT of the sum.
	Assess(ctx context.Context, buyer Buyer, nets []registrar.Cents, at time.Time) (Assessment, error)
}

// Assessment is the VAT of an order.
type Assessment struct {
	RateBasisPoints int
	Rule, Country   string
	VATID           string
	Unchecked       bool
	VAT             []registrar.Cents
}

// Payments is the payment provider. Every call may be repeated: the same id is
// the same page or refund. Errors are KindUpstream if nothing is decided and the
// call is worth repeating; every other kind is the provider's word.
type Payments interface {
	// OpenPage makes the page where a human pays, or finds it.
	OpenPage(ctx context.Context, page PaymentPage) (OpenedPage, error)
	// FetchPage is how a page stands; ClosePage closes it and says how it stands then.
	FetchPage(ctx context.Context, session string) (PaymentStatus, error)
	ClosePage(ctx context.Context, session string) (PaymentStatus, error)
	// Refund gives money back and returns the provider's id. asked says that the
	// call may have been sent before: then the provider is asked first.
	Refund(ctx context.Context, refund RefundRequest, asked bool) (string, error)
}

// Tokens charges what agents bring. Every call may be repeated, except Charge. Errors
// are as those of Payments.
type Tokens interface {
	// CheckToken says whether a token could pay an amount at a time: TokenExpired,
	// TokenTooSmall or PaymentDeclined with KindConflict if it can't.
	CheckToken(ctx context.Context, token string, amount registrar.Cents, at time.Time) error
	// PrepareCharge makes a payment that takes no money before it is confirmed, or
	// finds it, and returns the provider's id.
	PrepareCharge(ctx context.Context, charge Charge) (intent string, err error)
	// Charge confirms the payment with the token. An error of KindUpstream means
	// that it may be charged.
	Charge(ctx context.Context, charge Charge) (ChargeOutcome, error)
	// FetchCharge is how a payment stands; CancelCharge cancels it and says how it
	// stands then.
	FetchCharge(ctx context.Context, intent string) (PaymentStatus, error)
	CancelCharge(ctx context.Context, intent string) (PaymentStatus, error)
}

// Charge is one payment by token.
type Charge struct {
	// ID is our payment's.
	ID, Order string
	Amount    registrar.Cents
	// Intent is what PrepareCharge returned, and Token what pays; both are empty
	// before it.
	Intent, Token string
}

// ChargeOutcome is what became of a charge: it is paid, or declined, or the bank
// wants to ask the human. If none of these is so it may still become paid.
type ChargeOutcome struct {
	Status     PaymentStatus
	Declined   registrar.Code
	NeedsHuman bool
}

// Registrants knows what registries want to know of a holder.
type Registrants interface {
	// Normalise returns a contact in the form in which registries want it, and the fields
	// that are missing or can't be used.
	Normalise(contact Contact) (normalized Contact, missingFields []string)
}

// PaymentPage is a page to pay at.
type PaymentPage struct {
	// ID is our payment's.
	ID, Order string
	// Items are what the human reads; they add up to Amount.
	Items  []PageItem
	Amount registrar.Cents
	// Customer, Email and Holder say who pays; Language is de or en.
	Customer, Email, ProviderCustomer, Language string
	// SaveMethod asks the human's bank for leave to charge later renewals.
	SaveMethod bool
	// PaidURL and Back are where the browser goes afterwards.
	PaidURL, BackURL string
	EndsAt           time.Time
}

// PageItem is one line of a page.
type PageItem struct {
	Name   string
	Kind   Kind
	Years  int
	Amount registrar.Cents
}

// OpenedPage is a page that exists.
type OpenedPage struct {
	Session, URL string
	EndsAt       time.Time
}

// PaymentStatus is how a page stands.
type PaymentStatus struct {
	// Paid says that the money is there; Ended that it can't be paid any more. A
	// page that is neither is open.
	Paid, Ended bool
	// Payment and Order are ours, as the provider was told them.
	Payment, Order string
	Amount         registrar.Cents
	Currency       string
	Intent, Card   string
	// Method is what the human lets us keep; nil if nothing.
	Method *PaymentMethod
}

// RefundRequest is one refund.
type RefundRequest struct {
	ID, Order, Intent string
	Amount            registrar.Cents
	// Reason is failed_item or surplus.
	Reason string
}

// Identities verifies who somebody is.
type Identities interface {
	// OpenVerification makes a verification and returns the page where a human
	// shows a document. The same id is the same verification.
	OpenVerification(ctx context.Context, id, customer, email, language, back string) (session, url string, err error)
	FetchVerification(ctx context.Context, session string) (Verification, error)
}

// Verification is how a verification stands.
type Verification struct {
	// Done says that Name is what the document shows; Failed that this attempt is
	// over without; neither that it is open or being worked on.
	Done, Failed bool
	Name         string
	// URL is the page while it is open.
	URL     string
	Failure registrar.Code
}

// Provisioner carries out what is paid.
type Provisioner interface {
	// Wake says that there are new lines.
	Wake()
}
