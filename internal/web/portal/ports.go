package portal

import (
	"context"
	"io"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/export"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// Accounts is wide because the portal shows everything about accounts; each file uses a
// part of it.
type Accounts interface {
	ui.Sessions
	registrations
	signIns
	sessionActions
	accountChanges
	secondFactors
	passkeys
	Registrant(ctx context.Context, actor registrar.Actor) (account.Registrant, bool, error)
	SetRegistrant(ctx context.Context, actor registrar.Actor, registrant account.Registrant) error
	CloseBlockers(ctx context.Context, actor registrar.Actor) (account.CloseBlockers, error)
	Close(ctx context.Context, actor registrar.Actor) error
	ListAuditEvents(ctx context.Context, actor registrar.Actor, before string, limit int) ([]account.AuditEntry, error)
}

type registrations interface {
	Register(ctx context.Context, actor registrar.Actor, email, language string) error
	CheckLink(ctx context.Context, kind account.LinkKind, link string) (email string, err error)
	Confirm(ctx context.Context, actor registrar.Actor, link, password, userAgent string) (account.SignInResult, error)
	RequestPasswordReset(ctx context.Context, actor registrar.Actor, email, language string) error
	ResetPassword(ctx context.Context, actor registrar.Actor, link, password string) error
}

type signIns interface {
	SignIn(ctx context.Context, actor registrar.Actor, credentials account.Credentials) (account.SignInResult, error)
	EnterCode(ctx context.Context, actor registrar.Actor, secret, code string) (account.SignInResult, error)
	SignInAgain(ctx context.Context, actor registrar.Actor, secret string, proof account.ReauthCredentials) (account.SignInResult, error)
}

type sessionActions interface {
	SignOut(ctx context.Context, actor registrar.Actor, secret string) error
	SignOutEverywhere(ctx context.Context, actor registrar.Actor) error
	Sessions(ctx context.Context, actor registrar.Actor) ([]account.Session, error)
	EndSession(ctx context.Context, actor registrar.Actor, id string) error
}

type accountChanges interface {
	ChangePassword(ctx context.Context, actor registrar.Actor, old, chosen string) error
	RequestEmailChange(ctx context.Context, actor registrar.Actor, email string) error
	CheckEmailChange(ctx context.Context, actor registrar.Actor, link string) (email string, err error)
	ConfirmEmailChange(ctx context.Context, actor registrar.Actor, link string) error
	SetLanguage(ctx context.Context, actor registrar.Actor, language string) error
}

type secondFactors interface {
	CheckEnrolment(ctx context.Context, actor registrar.Actor, link string) error
	OpenEnrolment(ctx context.Context, actor registrar.Actor, secret, link string) (account.SignInResult, error)
	BeginSecondFactor(ctx context.Context, actor registrar.Actor) (secret, uri string, err error)
	FinishSecondFactor(ctx context.Context, actor registrar.Actor, code string) (recovery []string, err error)
	DisableSecondFactor(ctx context.Context, actor registrar.Actor) error
	ReplaceRecoveryCodes(ctx context.Context, actor registrar.Actor) ([]string, error)
	RecoveryCodesLeft(ctx context.Context, actor registrar.Actor) (int, error)
}

type passkeys interface {
	BeginPasskeySignIn(ctx context.Context, actor registrar.Actor, origin string) (challengeID string, options []byte, err error)
	FinishPasskeySignIn(ctx context.Context, actor registrar.Actor, origin, challengeID string, response []byte, agent string) (account.SignInResult, error)
	FinishPasskeySignInAgain(ctx context.Context, actor registrar.Actor, origin, secret, challengeID string, response []byte) (account.SignInResult, error)
	BeginAddPasskey(ctx context.Context, actor registrar.Actor, origin string) (challengeID string, options []byte, err error)
	FinishAddPasskey(ctx context.Context, actor registrar.Actor, origin, challengeID, name string, response []byte) error
	Passkeys(ctx context.Context, actor registrar.Actor) ([]account.Passkey, error)
	RemovePasskey(ctx context.Context, actor registrar.Actor, id string) error
}

// AccessTokens manages personal access tokens.
type AccessTokens interface {
	Create(ctx context.Context, actor registrar.Actor, name string) (oauth.PersonalAccessToken, string, error)
	List(ctx context.Context, actor registrar.Actor) ([]oauth.PersonalAccessToken, error)
	// ListWithRevoked includes revoked tokens.
	ListWithRevoked(ctx context.Context, actor registrar.Actor) ([]oauth.PersonalAccessToken, error)
	Revoke(ctx context.Context, actor registrar.Actor, id string) error
}

// Applications manages connected applications.
type Applications interface {
	ListConnectedApps(ctx context.Context, actor registrar.Actor) ([]oauth.ConnectedApp, error)
	Disconnect(ctx context.Context, actor registrar.Actor, id string) error
}

// Agents manages linked checkout agents.
type Agents interface {
	ListLinkable(ctx context.Context, actor registrar.Actor) ([]agent.LinkableAgent, error)
	Link(ctx context.Context, actor registrar.Actor, id string) error
	Unlink(ctx context.Context, actor registrar.Actor, id string) error
}

// Portfolio lists the customer's domains.
type Portfolio interface {
	List(ctx context.Context, actor registrar.Actor) ([]portfolio.Domain, error)
	Page(ctx context.Context, actor registrar.Actor, filter portfolio.Filter) (portfolio.Page, error)
	SetAutoRenew(ctx context.Context, actor registrar.Actor, domain string, on bool) error
}

// DomainChanges changes domains at their registries.
type DomainChanges interface {
	View(ctx context.Context, actor registrar.Actor, id string) (domainchange.View, error)
	RequestChange(ctx context.Context, actor registrar.Actor, id string, request domainchange.ChangeRequest) (domainchange.Change, string, error)
}

// Exporter writes everything stored about a customer.
type Exporter interface {
	Write(ctx context.Context, actor registrar.Actor, w io.Writer) error
}

// Orders orders renewals.
type Orders interface {
	Create(ctx context.Context, actor registrar.Actor, request order.Request) (order.Order, error)
	PayURL(o order.Order) (string, error)
}

var (
	_ Accounts      = (*account.Service)(nil)
	_ AccessTokens  = (*oauth.Service)(nil)
	_ Agents        = (*agent.Service)(nil)
	_ Exporter      = (*export.Service)(nil)
	_ Portfolio     = (*portfolio.Service)(nil)
	_ Orders        = (*order.Service)(nil)
	_ DomainChanges = (*domainchange.Service)(nil)
)
