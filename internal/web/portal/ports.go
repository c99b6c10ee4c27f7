package portal

import (
	"context"
	"io"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/access"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/registrar/dossier"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/steward"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

// Customers is what the portal asks about accounts. It is wide because the
// portal shows all of it; each page's file uses the part that it is about.
type Customers interface {
	page.Sessions
	joining
	signingIn
	keepingSessions
	changing
	factors
	passkeys
	Registrant(ctx context.Context, actor registrar.Actor) (customer.Registrant, bool, error)
	SetRegistrant(ctx context.Context, actor registrar.Actor, registrant customer.Registrant) error
	Ties(ctx context.Context, actor registrar.Actor) (customer.Ties, error)
	Close(ctx context.Context, actor registrar.Actor) error
	Deeds(ctx context.Context, actor registrar.Actor, before string, limit int) ([]customer.Entry, error)
}

type joining interface {
	Register(ctx context.Context, actor registrar.Actor, registration customer.Registration) error
	PeekLink(ctx context.Context, kind customer.LinkKind, link string) (email string, err error)
	Confirm(ctx context.Context, actor registrar.Actor, link string, chosen customer.Confirmation) (customer.SignedIn, error)
	AskReset(ctx context.Context, actor registrar.Actor, email, language string) error
	Reset(ctx context.Context, actor registrar.Actor, link, password string) error
}

type signingIn interface {
	SignIn(ctx context.Context, actor registrar.Actor, credentials customer.Credentials) (customer.SignedIn, error)
	EnterCode(ctx context.Context, actor registrar.Actor, secret, code string) (customer.SignedIn, error)
	SignInAgain(ctx context.Context, actor registrar.Actor, secret string, proof customer.Proof) (customer.SignedIn, error)
}

type keepingSessions interface {
	SignOut(ctx context.Context, actor registrar.Actor, secret string) error
	SignOutEverywhere(ctx context.Context, actor registrar.Actor) error
	Sessions(ctx context.Context, actor registrar.Actor) ([]customer.Session, error)
	EndSession(ctx context.Context, actor registrar.Actor, id string) error
}

type changing interface {
	ChangePassword(ctx context.Context, actor registrar.Actor, old, chosen string) error
	ChangeEmail(ctx context.Context, actor registrar.Actor, email string) error
	CheckEmailChange(ctx context.Context, actor registrar.Actor, link string) (email string, err error)
	ConfirmEmail(ctx context.Context, actor registrar.Actor, link string) error
	SetLanguage(ctx context.Context, actor registrar.Actor, language string) error
}

type factors interface {
	CheckEnrolment(ctx context.Context, actor registrar.Actor, link string) error
	OpenEnrolment(ctx context.Context, actor registrar.Actor, secret, link string) (customer.SignedIn, error)
	BeginSecondFactor(ctx context.Context, actor registrar.Actor) (secret, uri string, err error)
	FinishSecondFactor(ctx context.Context, actor registrar.Actor, code string) (recovery []string, err error)
	DropSecondFactor(ctx context.Context, actor registrar.Actor) error
	NewRecoveryCodes(ctx context.Context, actor registrar.Actor) ([]string, error)
	RecoveryCodesLeft(ctx context.Context, actor registrar.Actor) (int, error)
}

type passkeys interface {
	BeginPasskeySignIn(ctx context.Context, actor registrar.Actor, origin string) (ceremony string, options []byte, err error)
	FinishPasskeySignIn(ctx context.Context, actor registrar.Actor, origin, ceremony string, response []byte, agent string) (customer.SignedIn, error)
	FinishPasskeySignInAgain(ctx context.Context, actor registrar.Actor, origin, secret, ceremony string, response []byte) (customer.SignedIn, error)
	BeginAddPasskey(ctx context.Context, actor registrar.Actor, origin string) (ceremony string, options []byte, err error)
	FinishAddPasskey(ctx context.Context, actor registrar.Actor, origin, ceremony, name string, response []byte) error
	Passkeys(ctx context.Context, actor registrar.Actor) ([]customer.Passkey, error)
	RemovePasskey(ctx context.Context, actor registrar.Actor, id string) error
}

// Access is what the portal asks about tokens.
type Access interface {
	Create(ctx context.Context, actor registrar.Actor, name string) (access.Token, string, error)
	List(ctx context.Context, actor registrar.Actor) ([]access.Token, error)
	// Latest has the revoked ones, too.
	Latest(ctx context.Context, actor registrar.Actor) ([]access.Token, error)
	Revoke(ctx context.Context, actor registrar.Actor, id string) error
}

// Applications is what the portal asks about connected applications.
type Applications interface {
	Apps(ctx context.Context, actor registrar.Actor) ([]access.App, error)
	Disconnect(ctx context.Context, actor registrar.Actor, id string) error
}

// Agents is what the portal asks about checkout agents.
type Agents interface {
	Offers(ctx context.Context, actor registrar.Actor) ([]agent.Offer, error)
	Link(ctx context.Context, actor registrar.Actor, id string) error
	Unlink(ctx context.Context, actor registrar.Actor, id string) error
}

// Holdings is what the portal asks about domains.
type Holdings interface {
	List(ctx context.Context, actor registrar.Actor) ([]holding.Domain, error)
	Page(ctx context.Context, actor registrar.Actor, filter holding.Filter) (holding.Page, error)
	SetAutoRenew(ctx context.Context, actor registrar.Actor, domain string, on bool) error
}

// Steward is what the portal asks about domains at their registries.
type Steward interface {
	View(ctx context.Context, actor registrar.Actor, id string) (steward.View, error)
	Ask(ctx context.Context, actor registrar.Actor, id string, wish steward.Wish) (steward.Change, string, error)
}

// Dossier writes all that is stored about a customer.
type Dossier interface {
	Write(ctx context.Context, actor registrar.Actor, w io.Writer) error
}

// Orders is what the portal orders, which are renewals.
type Orders interface {
	Start(ctx context.Context, actor registrar.Actor, request order.Request) (order.Order, error)
	PayURL(o order.Order) (string, error)
}

var (
	_ Customers = (*customer.Service)(nil)
	_ Access    = (*access.Service)(nil)
	_ Agents    = (*agent.Service)(nil)
	_ Dossier   = (*dossier.Service)(nil)
	_ Holdings  = (*holding.Service)(nil)
	_ Orders    = (*order.Service)(nil)
	_ Steward   = (*steward.Service)(nil)
)
