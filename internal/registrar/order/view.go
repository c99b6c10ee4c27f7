package order

import (
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Request is what somebody wants to order.
type Request struct {
	Items   []RequestedItem
	Channel Channel
	// ByName is the name of the token or application that asks, as its customer
	// gave it; empty for people.
	ByName string
	// DryRun asks for everything and stores nothing: the order that comes back
	// has no id and no links.
	DryRun bool
}

// RequestedItem is one wanted name.
type RequestedItem struct {
	Name registrar.Name
	Kind Kind
	// Years is the term that was asked for; 0 means the term that is sold.
	Years int
}

// View is an order as the page at payment_url shows it.
type View struct {
	Order Order
	// IsOwner says that the viewer is signed in as the order's customer. Otherwise
	// Owner has nothing but a masked address, and what follows is empty.
	IsOwner bool
	Owner   Buyer
	// Missing is what must still be told before the order can be paid, each word
	// once: registrant, auth_code, identity, or a rule of an extension. Needs has
	// the same by item id; what concerns the whole order stands in Missing alone.
	Missing       []string
	MissingByItem map[string][]string
	// Refused says which items can't be had any more, by item id.
	Refused map[string]error
	// Unquoted says that a registry was not asked again just now: prices and
	// availability are those of the last time, which is AskedAt if that is known.
	Unquoted bool
	AskedAt  time.Time
	Warnings []Warning
	// Payable says that Pay has a chance.
	Payable bool
}

// addQuotes puts into the view what came of asking.
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

// What can be missing, beside the rules of extensions.
const (
	MissingRegistrant = "registrant"
	MissingCode       = "auth_code"
	MissingIdentity   = "identity"
)

// Warning is something about a name that a human should look at twice.
type Warning struct {
	Item string // its id
	Kind WarningKind
	// Similar is the name that it may be confused with; empty for WarnScript.
	Similar string
}

// WarningKind is why a name deserves a second look.
type WarningKind string

// The kinds.
const (
	// WarnKnown: one slip of the finger away from a well-known name.
	WarnKnown WarningKind = "known_name"
	// WarnOwn: one slip away from a domain that the customer holds.
	WarnOwn WarningKind = "own_name"
	// WarnScript: letters of another script that look like Latin ones.
	WarnScript WarningKind = "script"
	// WarnExtension: .cm, .co or .om where .com may be meant.
	WarnExtension WarningKind = "extension"
)

// VerifyView is what the page at verification_url shows.
type VerifyView struct {
	Order   Order
	IsOwner bool
	// Needed says that the order still waits for an identity.
	Needed bool
	// Status is how the last attempt stands.
	Status IdentityStatus
	// Failure is why it did not succeed; NameMismatch if the verified name is not
	// the registrant's.
	Failure registrar.Code
	// VerifiedAt is zero while nothing is verified.
	VerifiedAt time.Time
}

// IdentityStatus is how a verification stands.
type IdentityStatus string

// The standings.
const (
	IdentityNone     IdentityStatus = "none"     // nobody has begun
	IdentityOpen     IdentityStatus = "open"     // begun, or being worked on
	IdentityFailed   IdentityStatus = "failed"   // over without success; another may be begun
	IdentityVerified IdentityStatus = "verified" // done
)

// Event says which payment or verification to look at, in the provider's ids, and
// nothing more. Empty fields mean that it is not about such a thing.
type Event struct{ Session, Intent, Verification string }
