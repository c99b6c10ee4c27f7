package order

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Contact is a buyer as an agent told: who wants to hold the domains, and where
// letters go. Empty fields were not told.
type Contact struct {
	FirstName, LastName, Organisation, Email, Phone, VATID string
	Street, Street2, PostalCode, City, State, Country      string
	// Language is de or en.
	Language string
}

// SessionRequest is what an agent wants to order. Contact is nil if it told none.
type SessionRequest struct {
	Items   []Wanted
	Contact *Contact
}

// SessionChange is what an agent wants to be different. Items are kept if nil; what
// Contact tells replaces what was told before, field by field.
type SessionChange struct {
	Items   []Wanted
	Contact *Contact
}

// Completion is an agent's word that its buyer wants to pay now.
type Completion struct {
	// Token is the buyer's shared payment token; empty if there is no payment data.
	Token   string
	Contact *Contact
}

// SessionStatus is how far an order has come, in the words of checkout sessions.
type SessionStatus string

// The statuses.
const (
	NotReady         SessionStatus = "not_ready_for_payment"
	Ready            SessionStatus = "ready_for_payment"
	InProgress       SessionStatus = "in_progress"
	SessionCompleted SessionStatus = "completed"
	SessionCanceled  SessionStatus = "canceled"
	SessionExpired   SessionStatus = "expired"
)

// Why a completion gave a link instead of an end.
const (
	ProblemIdentity  registrar.Code = "identity"
	ProblemCode      registrar.Code = "auth_code"
	ProblemNoPayment registrar.Code = "no_payment_data"
	ProblemHuman     registrar.Code = "needs_human"
)

// Session is an order as its agent sees it.
type Session struct {
	Order  Order
	Status SessionStatus
	// Missing, Needs, Refused and Unasked are those of View.
	Missing []string
	Needs   map[string][]string
	Refused map[string]error
	Unasked bool
	// PayURL is where a human goes on; VerifyURL is empty unless an identity is open.
	PayURL, VerifyURL string
	// Problem is why a completion gave a link; empty otherwise.
	Problem registrar.Code
}

// CreateSession makes an order for an agent's buyer and charges nothing.
func (s *Service) CreateSession(ctx context.Context, actor registrar.Actor, req SessionRequest) (Session, error) {
	return Session{}, fail(registrar.KindInternal, "")
}

// Session is an order that the agent may see.
func (s *Service) Session(ctx context.Context, actor registrar.Actor, id string) (Session, error) {
	return Session{}, fail(registrar.KindInternal, "")
}

// UpdateSession changes an order that nobody has begun to pay.
func (s *Service) UpdateSession(ctx context.Context, actor registrar.Actor, id string, change SessionChange) (Session, error) {
	return Session{}, fail(registrar.KindInternal, "")
}

// CompleteSession pays an order with the buyer's token. The Session comes beside
// the error whenever it is known.
func (s *Service) CompleteSession(ctx context.Context, actor registrar.Actor, id string, done Completion) (Session, error) {
	return Session{}, fail(registrar.KindInternal, "")
}

// CancelSession ends an order that nobody has paid.
func (s *Service) CancelSession(ctx context.Context, actor registrar.Actor, id string) (Session, error) {
	return Session{}, fail(registrar.KindInternal, "")
}
