package registrar

import (
	"net/netip"
	"time"
)

// ActorKind says in which role somebody acts.
type ActorKind string

// The roles.
const (
	// ActorPerson is somebody in a browser, signed in or about to.
	ActorPerson ActorKind = "person"
	// ActorToken is a script or an agent with a personal access token.
	ActorToken ActorKind = "token"
	// ActorApplication is an application that a customer has connected.
	ActorApplication ActorKind = "application"
	// ActorAgent is a checkout agent, which acts for whoever buys through it: the
	// domain decides by its links what it may touch.
	ActorAgent ActorKind = "agent"
	// ActorOperator is somebody at the command line of the service.
	ActorOperator ActorKind = "operator"
	// ActorSystem is the service itself.
	ActorSystem ActorKind = "system"
)

// Actor is who asks for something. Domain services take it as a parameter and
// decide by it; it never travels in a context.
type Actor struct {
	Kind ActorKind
	// Customer is the account that the actor belongs to or acts for; empty for
	// operators, the system and people who have not signed in.
	Customer string
	// Through says by which session, token or application, or which operator:
	// an id, never a secret.
	Through string
	// Address is where the request came from; zero at the command line.
	Address netip.Addr
	// SignedInAt is when a person last proved to be there, with a password or a
	// passkey. What matters asks for a sign-in that is under RecentSignIn old.
	SignedInAt time.Time
}

// Network is what an address counts as where something is bounded by where it comes
// from: an IPv6 customer is given a /64 at least, so single addresses in it are no
// bound. It is empty for the zero address, which an operator's is.
func Network(address netip.Addr) string {
	if !address.IsValid() {
		return ""
	}
	address = address.Unmap().WithZone("")
	if address.Is6() {
		prefix, _ := address.Prefix(64) // 64 fits
		return prefix.String()
	}
	return address.String()
}

// Site is the wider network that an IPv6 address counts as: a /48, the most that one
// customer of a provider is given, and so up to 65,536 of Network's. It is empty for
// other addresses.
func Site(address netip.Addr) string {
	address = address.Unmap().WithZone("")
	if !address.Is6() {
		return ""
	}
	prefix, _ := address.Prefix(48) // 48 fits
	return prefix.String()
}

// RecentSignIn is how old the sign-in may be for what matters: a token, another
// password, another address.
const RecentSignIn = 10 * time.Minute

// SignInAgain is the code of the error for a sign-in that is too old.
const SignInAgain Code = "sign_in_again"

// RequireRecentSignIn refuses everybody but a person who has just signed in.
func (a Actor) RequireRecentSignIn(now time.Time) error {
	if a.Kind != ActorPerson || a.Customer == "" {
		return &Error{Kind: KindForbidden, Code: "persons_only"}
	}
	if age := now.Sub(a.SignedInAt); age < 0 || age > RecentSignIn {
		return &Error{Kind: KindUnauthenticated, Code: SignInAgain}
	}
	return nil
}

// Action names what was done, as an operator and a customer may read it.
type Action string

// AuditEvent is one entry of the audit: who did what to which object, when, from
// where. It is written in the same transaction as what it tells.
type AuditEvent struct {
	Actor  Actor
	Action Action
	// Customer is the account that the deed concerns and that may read it.
	Customer string
	// Object is the id or the harmless name of what was touched; never a secret.
	Object string
	At     time.Time
}

// Mail is a mail to be sent. It is stored in the same transaction as its
// cause. It carries no secret: where its text needs a link, the link is made
// when the letter is sent.
type Mail struct {
	Kind MailKind
	// Customer is the account that the letter is about; empty where there is none.
	Customer string
	// To is the address; empty means the account's own at the time of storing.
	To string
	// Language is de or en; empty means the account's own.
	Language string
	// Data are what the text mentions beside that, such as a token's name.
	Data map[string]string
}

// MailKind names what a letter says.
type MailKind string

// The letters.
const (
	MailConfirm              MailKind = "confirm"        // with a link: confirm the address of a new account
	MailAlreadyRegistered    MailKind = "already_member" // somebody registered an address that has an account
	MailPasswordReset        MailKind = "reset"          // with a link: choose another password
	MailNoAccount            MailKind = "no_account"     // somebody asked for a reset of an address without an account
	MailChangeEmail          MailKind = "change_email"   // with a link, to the new address
	MailEmailChanging        MailKind = "email_changing" // to the old address
	MailPasswordChanged      MailKind = "password_changed"
	MailTokenCreated         MailKind = "token_created"
	MailSecondFactor         MailKind = "second_factor" // switched on or off, recovery codes renewed
	MailRegistrantChanged    MailKind = "registrant"    // the data of the domains' holder were changed
	MailPasskey              MailKind = "passkey"       // added or removed
	MailApplicationConnected MailKind = "application_connected"
	// LetterApplicationReplayed: a code or token of an application was presented
	// twice, so its connection ended.
	MailApplicationReplayed MailKind = "application_replayed"
	MailAgentLinked         MailKind = "agent_linked"     // an agent may see and pay the customer's orders from now on
	MailOrderPaid           MailKind = "order_paid"       // the receipt; package order has the facts
	MailOrderDone           MailKind = "order_done"       // what became of each item, and what goes back
	MailPaymentReturned     MailKind = "payment_returned" // a payment that came too late, or twice, goes back
	MailClaim               MailKind = "claim"            // with a link: take over what an agent ordered for this address
	MailExpiringMonth       MailKind = "expiring_month"   // a domain's term ends in about a month; package lifecycle has the facts
	MailExpiringWeek        MailKind = "expiring_week"    // in about a week
	MailExpired             MailKind = "expired"          // it is over
	MailDomainChanged       MailKind = "domain_changed"   // a holder's change of a domain was carried out; package steward has the facts
	MailAuthCode            MailKind = "auth_code"        // a domain's auth code was set and shown
	MailWithdrawal          MailKind = "withdrawal"       // confirms a declaration; package declaration has the facts
	MailTermination         MailKind = "termination"      // the same, of the other kind
	MailNoticeReceived      MailKind = "declared"         // to the operator: somebody has declared one of these
	MailAccountClosed       MailKind = "account_closed"   // by its customer
	MailDomainLock          MailKind = "domain_lock"      // an operator locked a domain, or lifted that; package office has the facts
)
