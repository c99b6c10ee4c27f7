package account

import (
	"net/netip"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Customer is an account as its owner and operators see it.
type Customer struct {
	ID    string
	Email string
	// Language is de or en.
	Language        string
	HasPassword     bool
	HasSecondFactor bool
	// Operator says that the owner may open the operators' pages.
	Operator  bool
	CreatedAt time.Time
	// ConfirmedAt is zero while nobody has shown that the address is theirs.
	ConfirmedAt time.Time
	// DisabledAt is zero unless an operator has closed the account.
	DisabledAt time.Time
}

// Session is one signed-in browser.
type Session struct {
	ID         string
	CustomerID string
	// Address and Agent are those of the sign-in, so that a person can tell the
	// sessions apart.
	Address   string
	UserAgent string
	CreatedAt time.Time
	// AuthenticatedAt is when the person last proved to be there.
	AuthenticatedAt time.Time
	SeenAt          time.Time
	// ExpiresAt is when the session ends unless it is used before.
	ExpiresAt time.Time
	// AuthMethod is what the person last showed: a word of actions.go.
	AuthMethod string
}

// Strong says that more than a password was shown: a passkey, or a code beside it.
func (s Session) Strong() bool {
	return s.AuthMethod == methodPasswordAndCode || s.AuthMethod == methodPasskey
}

// Visitor is somebody who has signed in.
type Visitor struct {
	Customer Customer
	Session  Session
}

// Actor is the visitor as one who acts, from the given address.
func (v Visitor) Actor(address netip.Addr) registrar.Actor {
	return registrar.Actor{
		Kind:       registrar.ActorPerson,
		Customer:   v.Customer.ID,
		Through:    v.Session.ID,
		Address:    address,
		SignedInAt: v.Session.AuthenticatedAt,
	}
}

// Operator is the visitor as an operator; false if the visitor is none, or has
// shown nothing but a password.
func (v Visitor) Operator(address netip.Addr) (registrar.Actor, bool) {
	return registrar.Actor{
		Kind: registrar.ActorOperator, Through: v.Customer.ID, Address: address, SignedInAt: v.Session.AuthenticatedAt,
	}, v.Customer.Operator && v.Session.Strong()
}

// FactorsLocked reports whether this session may not change the second factor,
// recovery codes or passkeys. On an operator account these open the operators'
// pages, so a stolen password must not be enough: the session needs a passkey or
// a code, or an enrolment link while the account has no factor at all.
func (v Visitor) FactorsLocked(hasPasskeys bool) bool {
	if !v.Customer.Operator || v.Session.Strong() {
		return false
	}
	hasFactor := v.Customer.HasSecondFactor || hasPasskeys
	return hasFactor || v.Session.AuthMethod != methodEnrolment
}

// SignInResult is the outcome of a proof that was accepted.
type SignInResult struct {
	// Secret belongs into the session cookie, in place of the one before.
	Secret string
	// Visitor is empty while NeedsCode.
	Visitor Visitor
	// NeedsCode says that the password was right and a code is still missing:
	// the secret is only good for EnterCode.
	NeedsCode bool
	// Device belongs into the device cookie, for a year; empty means that the
	// browser keeps the one it has.
	Device string
}

// Registration is what a new person tells. A password is not asked for before
// the address is confirmed; the package comment says why.
type Registration struct {
	Email    string
	Language string
}

// Confirmation is what the holder of a confirmation link chooses.
type Confirmation struct {
	// Password may be empty: the person then adds a passkey in the session that
	// the link opens.
	Password  string
	UserAgent string
}

// Credentials are what a sign-in form holds.
type Credentials struct {
	Email    string
	Password string
	// Device is the device cookie; empty if there is none.
	Device    string
	UserAgent string
}

// ReauthCredentials is what a person who is signed in shows to prove to be still there: the
// password, and a code where a second factor is on.
type ReauthCredentials struct {
	Password string
	Code     string
	// Device is the device cookie; empty if there is none.
	Device string
}

// Passkey is one registered credential.
type Passkey struct {
	ID         string
	Name       string
	CreatedAt  time.Time
	LastUsedAt time.Time
}

// LinkKind says what a link in a mail does.
type LinkKind string

// The links.
const (
	LinkConfirm     LinkKind = "confirm"
	LinkReset       LinkKind = "reset"
	LinkChangeEmail LinkKind = "change_email"
	// LinkEnrol lets an operator without a factor enrol the first one. It is never
	// mailed: whoever grants the role hands it over.
	LinkEnrol LinkKind = "enrol"
)

// AuditEntry is one line of the audit.
type AuditEntry struct {
	ID string
	registrar.AuditEvent
}
