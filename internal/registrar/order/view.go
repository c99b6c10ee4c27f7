package order

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

// Request is a customer's request for an order.
type Request struct {
	Items   []RequestedItem
	Channel Channel
	ByName  string // of the requesting token or application; empty for people
	// DryRun stores nothing: the returned order has no id and no links.
	DryRun bool
}

// RequestedItem is one requested name.
type RequestedItem struct {
	Name  registrar.Name
	Kind  Kind
	Years int // 0 means the term on sale
	// Code is the auth code of a transfer, which the registry verifies with the quote. It may
	// be empty; the customer then enters it before paying.
	Code string
	// Holder is the id of the holder for whom a name is registered or transferred; empty means
	// the customer.
	Holder string
}

// View is an order as shown at payment_url.
type View struct {
	Order Order
	// IsOwner means that the viewer is signed in as the order's customer. Otherwise
	// Owner has only a masked address, and the fields below are empty.
	IsOwner bool
	Owner   Buyer
	// Missing is what is needed before payment, without duplicates: registrant,
	// auth_code, identity, or a rule of a TLD. MissingByItem has the same by item id,
	// except for what concerns the whole order.
	Missing       []string
	MissingByItem map[string][]string
	Refused       map[string]error // items that are no longer available, by item id
	// Unquoted means that a registry was not queried just now: prices and availability
	// are from AskedAt, which is zero if unknown.
	Unquoted bool
	AskedAt  time.Time
	Warnings []Warning
	Payable  bool // Pay may succeed
	// Renewals are the current prices of renewal, by item id, without items that are not
	// renewed. For an open order they are empty if automatic renewal is not offered.
	Renewals map[string]TermPrice
	// OpenNotices has the kinds of the open notices about the contracts of the domains to renew or
	// restore, by item id. These domains are not offered automatic renewal. It is not read while the order
	// is being paid, when nothing is offered.
	OpenNotices map[string][]withdrawal.Kind
}

// RenewalOffers are the prices of the items for which the customer may agree to automatic renewal.
func (v *View) RenewalOffers() map[string]TermPrice { return withoutNotices(v.Renewals, v.OpenNotices) }

// newView returns an order with what is missing for payment.
func newView(o Order, buyer Buyer, results []quoteResult) View {
	view := View{Order: o, Owner: buyer}
	view.Missing, view.MissingByItem = missingData(o, buyer, results)
	return view
}

// addQuotes adds the results of quoting to the view.
func (v *View) addQuotes(results []quoteResult) {
	v.Missing, v.MissingByItem = missingData(v.Order, v.Owner, results)
	v.Refused = make(map[string]error)
	unknown := false
	for i, a := range results {
		if isRefusal(a.err) {
			v.Refused[v.Order.Items[i].ID] = a.err
		}
		switch {
		case a.err != nil && !isRefusal(a.err):
			v.Unquoted, unknown = true, true
		case a.quote.Stale:
			v.Unquoted = true
			if v.AskedAt.IsZero() || a.quote.AskedAt.Before(v.AskedAt) {
				v.AskedAt = a.quote.AskedAt
			}
		}
	}
	if unknown {
		v.AskedAt = time.Time{}
	}
}

// What can be missing, besides the rules of TLDs.
const (
	MissingRegistrant = "registrant"
	MissingCode       = "auth_code"
	MissingIdentity   = "identity"
)

// Warning is a reason to double-check a name.
type Warning struct {
	Item    string // item id
	Kind    WarningKind
	Similar string // the name that it may be confused with; empty for WarnScript
}

// WarningKind is the kind of a Warning.
type WarningKind string

// The kinds of warnings.
const (
	WarnKnown     WarningKind = "known_name" // one edit away from a well-known name
	WarnOwn       WarningKind = "own_name"   // one edit away from a domain of the customer
	WarnScript    WarningKind = "script"     // letters of another script that look like Latin ones
	WarnExtension WarningKind = "extension"  // .cm, .co or .om where .com may be meant
)

// VerifyView is what the page at verification_url shows.
type VerifyView struct {
	Order   Order
	IsOwner bool
	Needed  bool // the order still awaits verification
	// NoRegistrant means that the name to verify and the VAT, which decides whether the
	// verification is needed, are not known yet.
	NoRegistrant bool
	Name         string         // to verify: the customer's, whoever holds the domains
	Status       IdentityStatus // of the last attempt
	// Failure is why it failed; NameMismatch if the verified name is not the registrant's.
	Failure    registrar.Code
	VerifiedAt time.Time // zero before verification
	Language   string    // the account's, for the page before the sign-in
}

// IdentityStatus is the status of a verification.
type IdentityStatus string

// The verification statuses.
const (
	IdentityNone     IdentityStatus = "none"   // not started
	IdentityOpen     IdentityStatus = "open"   // started or being processed
	IdentityFailed   IdentityStatus = "failed" // failed; another can be started
	IdentityVerified IdentityStatus = "verified"
)

// Event names what a webhook is about, by the provider's ids: a payment, a verification, a
// page that saves a payment method (package renewal), or a dispute (package dispute). Unused
// fields are empty.
type Event struct {
	Session, Intent, Verification, Setup, Dispute string
	Refunds                                       bool // refunds of the payment may have changed
}
