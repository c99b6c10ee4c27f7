package order

import (
	"context"
	"iter"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Store persists orders. Lookups return false if there is nothing.
type Store interface {
	// GetBuyer returns NoSuchCustomer if the account does not exist or was closed.
	GetBuyer(ctx context.Context, customer string) (Buyer, error)
	// AddOrder stores an order. If the customer has an open order with the same items,
	// it returns that one and false. It returns TooManyOpen if the customer has limit
	// open orders already, and so does CheckOpenOrderLimit.
	AddOrder(ctx context.Context, order Order, limit int, event registrar.AuditEvent) (stored Order, added bool, err error)
	CheckOpenOrderLimit(ctx context.Context, order Order, limit int) error
	// These find whole orders; OrderBySession by the provider's payment page, OrderByIntent
	// by its payment intent.
	OrderByID(ctx context.Context, id string) (Order, bool, error)
	GetCustomerOrder(ctx context.Context, customer, id string) (Order, bool, error)
	OrderByPayLink(ctx context.Context, link registrar.SecretHash) (Order, bool, error)
	OrderByVerifyLink(ctx context.Context, link registrar.SecretHash) (Order, bool, error)
	OrderBySession(ctx context.Context, session string) (Order, bool, error)
	OrderByIntent(ctx context.Context, intent string) (Order, bool, error)
	// ListOrders and PageOrders are Service.List and Service.Page.
	ListOrders(ctx context.Context, customer, before string, limit int) ([]Order, error)
	PageOrders(ctx context.Context, customer string, state State, limit, offset int) (page []Order, total int, err error)
	// ListOrdersOfNotices is Service.ListRefundedFor.
	ListOrdersOfNotices(ctx context.Context, customer string, notices []string) ([]Order, error)
	// GetTransferList returns a customer's sealed list of transfers, empty if there is none that
	// has not expired. ReplaceTransferList returns false if it is no longer the seen one.
	GetTransferList(ctx context.Context, customer string, now time.Time) (sealed string, err error)
	ReplaceTransferList(ctx context.Context, customer, seen, names, sealed string, now, expires time.Time) (bool, error)
	// ListAcquiredNames returns those of the names that a customer holds, or whose registration or
	// transfer is in progress.
	ListAcquiredNames(ctx context.Context, customer string, names []string) ([]string, error)
	// ListOpenRenewalOrders returns a customer's renewal baskets that can still be paid.
	ListOpenRenewalOrders(ctx context.Context, customer string) ([]Order, error)
	// ListOverdueOrders returns a customer's waiting orders whose prices have expired,
	// ListDueOrders those to be processed, longest overdue first.
	ListOverdueOrders(ctx context.Context, customer string, now time.Time, limit int) ([]Order, error)
	ListDueOrders(ctx context.Context, now time.Time, limit int) ([]Order, error)
	// UpdateOrder applies one transition. It returns false, and changes nothing, on a
	// version conflict. It returns RenewalInProgress if payment starts for a domain that is
	// being renewed automatically, PaymentOpenElsewhere if another order extends its term, and
	// TermPaid if one has done so since the item was ordered.
	UpdateOrder(ctx context.Context, move Transition) (bool, error)
	// SpentSince sums up payments as they are at one moment.
	SpentSince(ctx context.Context, customer, email string, since time.Time) (Spending, error)

	// UpdateIdentity stores now if the stored identity still equals was.
	GetIdentity(ctx context.Context, customer string) (Identity, bool, error)
	UpdateIdentity(ctx context.Context, was *Identity, now Identity, event *registrar.AuditEvent) (bool, error)
	// CustomerByVerification finds the customer of a provider's verification.
	CustomerByVerification(ctx context.Context, session string) (customer string, found bool, err error)
	ListOrdersAwaitingIdentity(ctx context.Context, customer string) (ids []string, err error)

	// GetPaymentMethod returns false if none is saved.
	GetPaymentMethod(ctx context.Context, customer string) (PaymentMethod, bool, error)
	// StartRenewals stores an automatic order with its payment and moves the renewals of its
	// items to charging. It locks the domains first. It stores nothing and returns false if
	// renewals no longer qualify, which it then lists, or if the buyer has changed.
	StartRenewals(ctx context.Context, start RenewalStart) (started bool, unfit []UnfitRenewal, err error)

	// AddSession stores an agent's order. If it is unclaimed, its customer is a new guest
	// account with the order's contact and, unless nil, normalised as its registrant. It
	// returns TooManyOpen if the agent has limit open orders already, or the customer
	// customerLimit.
	AddSession(ctx context.Context, order Order, normalized *Contact, limit, customerLimit int, event registrar.AuditEvent) error
	// LinkedCustomer finds the customer with an address who has linked an agent.
	IsAgentLinked(ctx context.Context, customer, agent string) (bool, error)
	LinkedCustomer(ctx context.Context, agent, email string) (customer string, found bool, err error)
	// ClaimableOrder returns the newest order of the guest account that a claim link is
	// for; false if the link is unknown, used or expired.
	ClaimableOrder(ctx context.Context, link registrar.SecretHash, now time.Time) (Order, bool, error)
	// ClaimGuestOrders consumes the link and moves everything of its guest account to a
	// customer. It returns false, and changes nothing, if the link is unknown, used or
	// expired, and NoSuchCustomer if the customer can't own anything. admit decides
	// within the transaction; it gets the TLDs that the guest account holds, has paid
	// or is paying, and the customer's registrant, which is zero if they have none and
	// the guest account's becomes theirs.
	ClaimGuestOrders(ctx context.Context, link registrar.SecretHash, customer string, now time.Time, event registrar.AuditEvent, admit Admission) (bool, error)
}

// Admission checks whether the TLDs' rules admit a registrant; verified is the name
// that an identity verification confirmed.
type Admission func(tlds []string, registrant registrar.Registrant, verified string) error

// Transition is one change of an order. The store compares state and version with From
// and writes the order, its items, and each payment and refund that is new or differs.
// Items are replaced as a whole if they differ, which happens only to open sessions and to
// renewal baskets.
type Transition struct {
	From, To Order
	// At is the wall clock time at which new provision items and mails are due; zero
	// means To.UpdatedAt, which is business time.
	At time.Time
	// Provision creates a provision.Item, paid by PaymentOf(order), for each item that has a
	// ProvisionItem id. If its name is held already, it fails with registrar.NameHeld, also
	// in To.
	Provision bool
	// ExpectedBuyer is the buyer for whom the order was priced. When payment starts and
	// the account's data no longer match, nothing is changed; nil skips the comparison.
	ExpectedBuyer *Buyer
	// GuestRegistrant is stored as the registrant of the order's guest account; nil
	// leaves it, or removes it if the contact has changed.
	GuestRegistrant *Contact
	// InvoiceBuyer is the buyer on the invoice of a paid order; nil means the account's current data.
	InvoiceBuyer *Buyer
	Method       *PaymentMethod // saved as the customer's payment method unless nil
	// AuditEvents and Mails are stored in the same transaction.
	AuditEvents []registrar.AuditEvent
	Mails       []registrar.Mail
}

// PaymentMethod is a customer's saved payment method.
type PaymentMethod struct {
	ProviderCustomer, ID string // the provider's ids
	Label                string // for display: Visa •••• 4242
	// Fingerprint is the same for the same card, Expires the last month in which it is valid,
	// as ExpiresLayout. Both are empty if unknown, and not read for a charge.
	Fingerprint, Expires string
}

// ExpiresLayout is the format of PaymentMethod.Expires.
const ExpiresLayout = "2006-01"

// Buyer is the account data that ordering needs.
type Buyer struct {
	Customer, Email, Language string
	// HasRegistrant means that there is registrant data; otherwise the fields below are
	// empty.
	HasRegistrant                   bool
	Name, Organisation              string
	Company                         bool
	Street, PostalCode, City, State string
	Country, Phone                  string
	VATID                           string
	// ProviderCustomer is the provider's id of the customer, MethodID and MethodLabel are those
	// of the default payment method; empty if there is none.
	ProviderCustomer, MethodID, MethodLabel string
}

// registrant returns the buyer as a registrant; zero if data is missing.
func (b Buyer) registrant() registrar.Registrant {
	if !b.HasRegistrant {
		return registrar.Registrant{}
	}
	return registrar.Registrant{
		Name: b.Name, Organisation: b.Organisation, Street: b.Street, PostalCode: b.PostalCode, City: b.City, State: b.State,
		Country: b.Country, Phone: b.Phone, Email: b.Email,
	}
}

// Provider is the payment provider. Every call but Charge may be repeated: the same id
// yields the same page, intent, refund or verification. KindUpstream means that the outcome
// is open and the call can be retried; any other kind is the provider's decision.
type Provider interface {
	Payments
	Tokens
	Identities
}

// Payments are made by customers at the provider's payment page.
type Payments interface {
	// OpenPage creates a payment page, or returns the existing one. ClosePage closes it and
	// returns its status after that.
	OpenPage(ctx context.Context, page PaymentPage) (OpenedPage, error)
	FetchPage(ctx context.Context, session string) (PaymentStatus, error)
	ClosePage(ctx context.Context, session string) (PaymentStatus, error)
	// Refund returns the provider's id. maybeSent means that the call may have been sent
	// before, so the provider is queried first.
	Refund(ctx context.Context, refund RefundRequest, maybeSent bool) (string, error)
	// ListRefunds returns all refunds of a payment intent, RefundsSince those of all payments
	// that were created since a time, the newest first.
	ListRefunds(ctx context.Context, intent string) ([]ProviderRefund, error)
	RefundsSince(ctx context.Context, since time.Time) iter.Seq2[ProviderRefund, error]
}

// ProviderRefund is a refund at the provider.
type ProviderRefund struct {
	ID, Intent string
	Refund     string // our id; empty if this program did not make it
	Amount     registrar.Cents
	Failed     bool // it was canceled, or the bank returned the money
}

// Tokens charges agents' payment tokens and saved payment methods.
type Tokens interface {
	// CheckToken returns TokenExpired, TokenTooSmall or PaymentDeclined with
	// KindConflict if the token can't pay the amount.
	CheckToken(ctx context.Context, token string, amount registrar.Cents, at time.Time) error
	// PrepareCharge creates or finds an unconfirmed payment intent.
	PrepareCharge(ctx context.Context, charge Charge) (intent string, err error)
	// Charge confirms the intent. KindUpstream means that it may have been charged.
	Charge(ctx context.Context, charge Charge) (ChargeOutcome, error)
	// CancelCharge cancels an intent and returns its status after that.
	FetchCharge(ctx context.Context, intent string) (PaymentStatus, error)
	CancelCharge(ctx context.Context, intent string) (PaymentStatus, error)
}

// Charge is one payment by token or by saved method.
type Charge struct {
	// ID is the payment's id.
	ID, Order string
	Amount    registrar.Cents
	// Intent is the result of PrepareCharge, whose call has neither.
	Intent, Token string
	Method        PaymentMethod // the saved method to charge; zero for a token
}

// ChargeOutcome is the result of a charge: paid, declined, or the bank requires the
// human. If none of these, it may still be paid. PrepareCharge and Charge return
// NoPaymentMethod with KindConflict if the provider no longer has the saved method.
type ChargeOutcome struct {
	Status     PaymentStatus
	Declined   registrar.Code
	NeedsHuman bool
}

// PaymentPage describes a payment page to be created.
type PaymentPage struct {
	// ID is the payment's id.
	ID, Order                                   string
	Items                                       []Item // shown to the customer; their gross adds up to Amount
	Rounded                                     bool   // the page must explain that a gross may differ by a cent from that of the order
	Amount                                      registrar.Cents
	Customer, Email, ProviderCustomer, Language string
	// SaveMethod asks the customer to allow charging later renewals.
	SaveMethod bool
	// PaidURL and BackURL are where the browser is sent after paying or canceling.
	PaidURL, BackURL string
	EndsAt           time.Time
}

// OpenedPage is a payment page at the provider.
type OpenedPage struct {
	Session, URL string
	EndsAt       time.Time
}

// PaymentStatus is the provider's status of a payment.
type PaymentStatus struct {
	// Paid means that the money was captured, Ended that it can't be paid any more. If
	// neither, the payment is open.
	Paid, Ended bool
	// Payment and Order are our ids, from the provider's metadata.
	Payment, Order string
	Amount         registrar.Cents
	Currency       string
	Intent, Card   string
	Method         *PaymentMethod // the payment method that the customer allowed to save; nil if none
}

// RefundRequest is a refund to be made.
type RefundRequest struct {
	ID, Order, Intent string
	Amount            registrar.Cents
	Reason            string // one of RefundReasons
}

// Identities verifies the identity of customers.
type Identities interface {
	// OpenVerification returns the page where the customer shows a document.
	OpenVerification(ctx context.Context, id, customer, email, language, back string) (session, url string, err error)
	FetchVerification(ctx context.Context, session string) (Verification, error)
}

// Verification is the provider's status of a verification.
type Verification struct {
	// Done means that Name is the document's name, Failed that this attempt failed. If
	// neither, it is open or being processed.
	Done, Failed bool
	Name         string
	URL          string // the verification page while it is open
	Failure      registrar.Code
}
