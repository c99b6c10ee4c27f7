package account

import (
	"net/netip"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Customer is an account as its owner and operators see it.
type Customer struct {
	ID, Email                    string
	Language                     string // de or en
	HasPassword, HasSecondFactor bool
	Basket                       string // what the customer has collected, in the form of package ui
	Operator                     bool   // grants access to the operator pages, given a strong sign-in
	// ConfirmedAt is zero until the owner of the address has confirmed it, DisabledAt
	// unless the account is disabled.
	CreatedAt, ConfirmedAt, DisabledAt time.Time
}

// Session is a signed-in browser.
type Session struct {
	ID, CustomerID string
	// Address, Country and UserAgent are those of the sign-in; they help the owner tell
	// sessions apart. The country is empty if it is unknown.
	Address, Country, UserAgent string
	// AuthenticatedAt is when the person last authenticated. ExpiresAt is when the session ends
	// unless it is used before.
	CreatedAt, AuthenticatedAt, SeenAt, ExpiresAt time.Time
	AuthMethod                                    string // how the person last authenticated, see codes.go
}

// Network returns the network that the session was opened from, with its last part left out:
// it stays the same while a provider changes the address, and says no more about a place
// than is known. It is empty without an address.
func (s Session) Network() string {
	address, err := netip.ParseAddr(s.Address)
	if err != nil {
		return ""
	}
	address = address.Unmap()
	bits := 48
	if address.Is4() {
		bits = 24
	}
	network, err := address.WithZone("").Prefix(bits)
	if err != nil {
		return ""
	}
	if address.Is4() {
		return strings.TrimSuffix(network.Addr().String(), ".0") + ".x"
	}
	return strings.TrimSuffix(network.Addr().String(), "::") + ":x"
}

// Strong reports whether the session was opened with a passkey, or with a password and a code.
func (s Session) Strong() bool {
	return s.AuthMethod == methodPasswordAndCode || s.AuthMethod == methodPasskey
}

// Visitor is a signed-in customer with their session.
type Visitor struct {
	Customer Customer
	Session  Session
}

// Actor returns the visitor as an actor at the given address.
func (v Visitor) Actor(address netip.Addr) registrar.Actor {
	return registrar.Actor{
		Kind: registrar.ActorPerson, Customer: v.Customer.ID, Through: v.Session.ID, Address: address, SignedInAt: v.Session.AuthenticatedAt,
	}
}

// Operator returns the visitor as an operator; false without the role or a strong session.
func (v Visitor) Operator(address netip.Addr) (registrar.Actor, bool) {
	return registrar.Actor{
		Kind: registrar.ActorOperator, Through: v.Customer.ID, Address: address, SignedInAt: v.Session.AuthenticatedAt,
	}, v.Customer.Operator && v.Session.Strong()
}

// FactorsLocked reports whether this session may not change the second factor, recovery codes or
// passkeys. On an operator account these open the operator pages, so the session needs a passkey or
// a code, or an enrolment link while the account has no factor.
func (v Visitor) FactorsLocked(hasPasskeys bool) bool {
	if !v.Customer.Operator || v.Session.Strong() {
		return false
	}
	hasFactor := v.Customer.HasSecondFactor || hasPasskeys
	return hasFactor || v.Session.AuthMethod != methodEnrolment
}

// SignInResult is the outcome of a successful authentication.
type SignInResult struct {
	Secret    string  // the new value of the session cookie
	Visitor   Visitor // empty while NeedsCode
	NeedsCode bool    // means that a code is required: the secret is valid for EnterCode only
	Device    string  // the new value of the device cookie, valid for a year; empty leaves it unchanged
}

// Credentials are the input of a sign-in form.
type Credentials struct {
	Email, Password string
	Device          string // the device cookie; empty if there is none
	UserAgent       string
}

// ReauthCredentials confirm a signed-in person: the password, and a code if a second factor is on.
type ReauthCredentials struct {
	Password, Code string
	Device         string // the device cookie; empty if there is none
}

// Passkey is a registered WebAuthn credential.
type Passkey struct {
	ID, Name              string
	CreatedAt, LastUsedAt time.Time
}

// LinkKind is the purpose of a mailed link.
type LinkKind string

// The link kinds.
const (
	LinkConfirm     LinkKind = "confirm"
	LinkReset       LinkKind = "reset"
	LinkChangeEmail LinkKind = "change_email"
	// LinkSignIn signs in a customer who has no password.
	LinkSignIn LinkKind = "sign_in"
	// LinkEnrol lets an operator without a factor enrol the first one. It is never
	// mailed; the operator who grants the role hands it over.
	LinkEnrol LinkKind = "enrol"
)

// AuditEntry is one entry of the audit log.
type AuditEntry struct {
	ID string
	registrar.AuditEvent
}

const (
	maxLocalPart = 64  // RFC 5321, 4.5.3.1.1
	maxAddress   = 254 // what fits into a path of 256 octets with its brackets
	// atext are the characters of an atom (RFC 5322, 3.2.3).
	atext = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-/=?^_`{|}~"
)

// parseEmail parses an address that every mail server accepts: an unquoted ASCII local part and a
// host name, which is converted to A-labels. net/mail accepts much more, such as comments, quoted
// spaces and address literals. key is the form in which addresses are compared.
func parseEmail(input string) (address, key string, err error) {
	input = strings.TrimSpace(input)
	local, host, ok := strings.Cut(input, "@")
	if !ok || !validLocalPart(local) {
		return "", "", registrar.Invalid(EmailInvalid)
	}
	ascii, err := registrar.ParseHost(host)
	if err != nil || strings.TrimSpace(host) != host || !strings.Contains(ascii, ".") {
		return "", "", registrar.Invalid(EmailInvalid)
	}
	address = local + "@" + ascii
	if len(address) > maxAddress {
		return "", "", registrar.Invalid(EmailInvalid)
	}
	return address, strings.ToLower(address), nil
}

// EmailKey returns the form in which addresses are compared.
func EmailKey(input string) (string, error) {
	_, key, err := parseEmail(input)
	return key, err
}

func validLocalPart(local string) bool {
	if local == "" || len(local) > maxLocalPart {
		return false
	}
	for atom := range strings.SplitSeq(local, ".") {
		if atom == "" || strings.Trim(atom, atext) != "" {
			return false
		}
	}
	return true
}

// parseLanguage accepts de and en; empty means German.
func parseLanguage(language string) (string, error) {
	switch language {
	case "":
		return "de", nil
	case "de", "en":
		return language, nil
	default:
		return "", registrar.Invalid(LanguageUnknown)
	}
}
