package access

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Lifetimes. A secret is good before its end and not at it.
const (
	AccessLife  = time.Hour
	RefreshLife = 30 * 24 * time.Hour
	// CodeLife is how long an application has to redeem a code.
	CodeLife = time.Minute
	// ConsentLife is how long a customer may think about it.
	ConsentLife = 10 * time.Minute
)

const (
	// maxReuses bounds how often one refresh token is accepted again within the
	// leeway: as many processes as one person has open at a time.
	maxReuses = 10
	// maxPending bounds the questions that wait for an answer in one session.
	maxPending = 20
	// maxState bounds what an application may have us carry for it.
	maxState = 2048
)

// Scopes. Read grants nothing beyond what everybody may do.
const (
	ScopeRead  = "mcp:read"
	ScopeWrite = "mcp:write"
)

// What can go wrong with applications. Transports have a sentence for each.
const (
	UnknownClient   registrar.Code = "unknown_client"
	WrongSecret     registrar.Code = "wrong_client_secret"
	SecretOfPublic  registrar.Code = "secret_of_public_client"
	BadRedirect     registrar.Code = "bad_redirect"
	BadDocument     registrar.Code = "bad_client_document"
	BadRedirectURI  registrar.Code = "bad_redirect_uri"
	NoRedirectURI   registrar.Code = "no_redirect_uri"
	ManyRedirects   registrar.Code = "too_many_redirect_uris"
	BadClientName   registrar.Code = "bad_client_name"
	BadAuthMethod   registrar.Code = "bad_auth_method"
	BadGrantType    registrar.Code = "bad_grant_types"
	BadResponseType registrar.Code = "bad_response_type"
	BadResponseMode registrar.Code = "bad_response_mode"
	BadChallenge    registrar.Code = "bad_code_challenge"
	BadMethod       registrar.Code = "bad_code_challenge_method"
	BadState        registrar.Code = "bad_state"
	Repeated        registrar.Code = "repeated_parameter"
	RequestObject   registrar.Code = "request_object"
	RequestAddress  registrar.Code = "request_address"
	ForeignResource registrar.Code = "foreign_resource"
	NoSuchConsent   registrar.Code = "no_such_consent"
	Denied          registrar.Code = "denied"
	BadCode         registrar.Code = "bad_code"
	BadRefresh      registrar.Code = "bad_refresh_token"
	WiderScope      registrar.Code = "wider_scope"
	NoSuchApp       registrar.Code = "no_such_application"
	// TooManyRefreshes goes with KindRateLimited.
	TooManyRefreshes registrar.Code = "too_many_refreshes"
)

// What the audit tells about applications. The object is AppLabel; the store
// fills it in where a connection ends.
const (
	AppApproved     registrar.Action = "application_approved"     // by the customer, on the consent page
	AppDenied       registrar.Action = "application_denied"       // by the customer, on the consent page
	AppConnected    registrar.Action = "application_connected"    // the application redeemed its code
	AppDisconnected registrar.Action = "application_disconnected" // by the customer, in the profile
	AppEnded        registrar.Action = "application_ended"        // by the application itself
	AppReplayed     registrar.Action = "application_replayed"     // a code or token came twice, so all of the connection ended
)

// ApplicationsConfig is what Applications need.
type ApplicationsConfig struct {
	Store ApplicationStore
	// Resource is the address of the MCP endpoint: the one audience there is.
	Resource string
	// Leeway is how long the refresh token before the current one is accepted
	// again; 0 switches that off.
	Leeway time.Duration
	// Pace says whether a connection may refresh once more, and if not, how long to
	// wait; nil means always. Each refresh leaves a row behind for 30 days, so
	// that a replay is noticed: without a bound one client in a loop fills the disk.
	Pace func(grant string) (wait time.Duration, ok bool)
	// Documents fetches what applications say about themselves at their own
	// address; nil switches that way of being known off.
	Documents Documents
	// Now is the clock. Default: time.Now.
	Now func() time.Time
	// Log gets what goes wrong in the background. Default: nobody.
	Log *slog.Logger
	// MaxRemembered bounds the connections whose last use waits to be written.
	// Default: 100000.
	MaxRemembered int
}

// Applications is the OAuth part of this package. It is safe for use by many
// goroutines.
type Applications struct {
	store     ApplicationStore
	resources audience
	leeway    time.Duration
	pace      func(grant string) (time.Duration, bool)
	documents Documents
	now       func() time.Time
	log       *slog.Logger
	used      memory
}

// NewApplications returns Applications. Whoever calls it also calls Run.
func NewApplications(cfg ApplicationsConfig) (*Applications, error) {
	if cfg.Store == nil {
		return nil, errors.New("access needs a store of applications")
	}
	resources, err := newAudience(cfg.Resource)
	if err != nil {
		return nil, err
	}
	if cfg.Leeway < 0 {
		return nil, errors.New("the leeway of refresh tokens must not be negative")
	}
	if cfg.Pace == nil {
		cfg.Pace = func(string) (time.Duration, bool) { return 0, true }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.MaxRemembered == 0 {
		cfg.MaxRemembered = 100_000
	}
	return &Applications{
		store: cfg.Store, resources: resources, leeway: cfg.Leeway, pace: cfg.Pace, documents: cfg.Documents,
		now: cfg.Now, log: cfg.Log, used: memory{bound: cfg.MaxRemembered},
	}, nil
}

// Verify says what an access token opens; see Service.Verify.
func (a *Applications) Verify(ctx context.Context, bearer string) (Grant, error) {
	hash, ok := registrar.HashSecret(registrar.AccessToken, bearer)
	if !ok {
		return Grant{}, refused()
	}
	token, known, err := a.store.AccessToken(ctx, hash)
	if err != nil {
		return Grant{}, err
	}
	now := a.now()
	if !known || token.Revoked || token.Disabled || !now.Before(token.ExpiresAt) || token.Resource != a.resources.canonical {
		return Grant{}, refused()
	}
	a.used.note(token.GrantID, now)
	return Grant{
		Customer: token.Customer, TokenID: token.GrantID, Kind: registrar.ActorApplication, MayWrite: contains(token.Scope, ScopeWrite),
	}, nil
}

func invalid(code registrar.Code) error {
	return &registrar.Error{Kind: registrar.KindInvalid, Code: code}
}
