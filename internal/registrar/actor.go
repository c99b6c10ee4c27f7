package registrar

import (
	"net/netip"
	"time"
)

// ActorKind is the role in which a caller acts.
type ActorKind string

// The roles.
const (
	ActorPerson      ActorKind = "person"      // a person in a browser, signed in or not
	ActorToken       ActorKind = "token"       // a script or an agent with a personal access token
	ActorApplication ActorKind = "application" // an application that a customer has connected
	// ActorAgent is a checkout agent. Its links decide which customers it may act for.
	ActorAgent    ActorKind = "agent"
	ActorOperator ActorKind = "operator" // an operator at the command line or on the operator pages
	ActorSystem   ActorKind = "system"   // the service itself
)

// Actor is the caller of an operation. Domain services take it as a parameter and
// authorize by it; it never travels in a context.
type Actor struct {
	Kind ActorKind
	// Customer is the account that the actor belongs to or acts for. It is empty for
	// the system, for visitors who have not signed in, and for operators who act for
	// no account.
	Customer string
	// Through identifies the session, token, application or operator. It is an id,
	// never a secret.
	Through    string
	Address    netip.Addr // the remote address; zero at the command line
	Country    string     // of the address, as a trusted proxy reports it (ISO 3166-1); empty if unknown
	SignedInAt time.Time  // when a person last authenticated with a password or a passkey
}

// RecentSignIn is the maximum age of the sign-in for sensitive operations, such as
// creating a token or changing the password.
const RecentSignIn = 10 * time.Minute

// The codes of authorization errors.
const (
	SignInFirst   Code = "sign_in_first"  // KindUnauthenticated: there is no session, or it has ended
	SignInAgain   Code = "sign_in_again"  // KindUnauthenticated: the sign-in is older than RecentSignIn
	PersonsOnly   Code = "persons_only"   // KindForbidden: the operation is reserved for a signed-in person
	OperatorsOnly Code = "operators_only" // KindForbidden
)

// Unauthenticated returns an Error of KindUnauthenticated.
func Unauthenticated(code Code) error { return &Error{Kind: KindUnauthenticated, Code: code} }

// Forbidden returns an Error of KindForbidden.
func Forbidden(code Code) error { return &Error{Kind: KindForbidden, Code: code} }

func (a Actor) isSignedInPerson() bool { return a.Kind == ActorPerson && a.Customer != "" }

// RequireSignedIn returns SignInFirst unless the actor is a signed-in person. Use it
// where signing in is the remedy.
func (a Actor) RequireSignedIn() error {
	if !a.isSignedInPerson() {
		return Unauthenticated(SignInFirst)
	}
	return nil
}

// RequirePerson returns PersonsOnly unless the actor is a signed-in person. Use it
// where tokens and applications are refused on principle.
func (a Actor) RequirePerson() error {
	if !a.isSignedInPerson() {
		return Forbidden(PersonsOnly)
	}
	return nil
}

// RequireRecentSignIn returns an error unless the actor is a person who signed in
// within RecentSignIn.
func (a Actor) RequireRecentSignIn(now time.Time) error {
	if err := a.RequirePerson(); err != nil {
		return err
	}
	if age := now.Sub(a.SignedInAt); age < 0 || age > RecentSignIn {
		return Unauthenticated(SignInAgain)
	}
	return nil
}

// RequireOperator returns OperatorsOnly unless the actor is an operator. An operator
// without an identity is refused: the audit log could not name them.
func (a Actor) RequireOperator() error {
	if a.Kind != ActorOperator || a.Through == "" {
		return Forbidden(OperatorsOnly)
	}
	return nil
}

// IsOperatorForCustomer reports whether the actor is an operator who acts for the
// account in Customer.
func (a Actor) IsOperatorForCustomer() bool { return a.Kind == ActorOperator && a.Customer != "" }
