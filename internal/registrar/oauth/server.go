package oauth

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Lifetimes. A secret is good before its end and not at it.
const (
	AccessTokenTTL  = time.Hour
	RefreshTokenTTL = 30 * 24 * time.Hour
	// CodeTTL is how long an application has to redeem a code.
	CodeTTL = time.Minute
	// ConsentTTL is how long a customer may think about it.
	ConsentTTL = 10 * time.Minute
)

const (
	// maxReuses bounds how often one refresh token is accepted again within the
	// leeway: as many processes as one person has open at a time.
	maxReuses = 10
	// maxOpenConsents bounds the questions that wait for an answer in one session.
	maxOpenConsents = 20
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
	UnknownClient       registrar.Code = "unknown_client"
	WrongSecret         registrar.Code = "wrong_client_secret"
	SecretOfPublic      registrar.Code = "secret_of_public_client"
	BadRedirect         registrar.Code = "bad_redirect"
	BadClientMetadata   registrar.Code = "bad_client_document"
	BadRedirectURI      registrar.Code = "bad_redirect_uri"
	NoRedirectURI       registrar.Code = "no_redirect_uri"
	TooManyRedirectURIs registrar.Code = "too_many_redirect_uris"
	BadClientName       registrar.Code = "bad_client_name"
	BadAuthMethod       registrar.Code = "bad_auth_method"
	BadGrantType        registrar.Code = "bad_grant_types"
	BadResponseType     registrar.Code = "bad_response_type"
	BadResponseMode     registrar.Code = "bad_response_mode"
	BadChallenge        registrar.Code = "bad_code_challenge"
	BadChallengeMethod  registrar.Code = "bad_code_challenge_method"
	BadState            registrar.Code = "bad_state"
	RepeatedParameter   registrar.Code = "repeated_parameter"
	RequestObject       registrar.Code = "request_object"
	RequestURI          registrar.Code = "request_address"
	ForeignResource     registrar.Code = "foreign_resource"
	NoSuchConsent       registrar.Code = "no_such_consent"
	Denied              registrar.Code = "denied"
	BadCode             registrar.Code = "bad_code"
	BadRefresh          registrar.Code = "bad_refresh_token"
	WiderScope          registrar.Code = "wider_scope"
	NoSuchApp           registrar.Code = "no_such_application"
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

// AuthorizationServerConfig is what Applications need.
type AuthorizationServerConfig struct {
	Store AuthorizationStore
	// Resource is the address of the MCP endpoint: the one audience there is.
	Resource string
	// Leeway is how long the refresh token before the current one is accepted
	// again; 0 switches that off.
	Leeway time.Duration
	// AllowRefresh says whether a connection may refresh once more, and if not, how long to
	// wait; nil means always. Each refresh leaves a row behind for 30 days, so
	// that a replay is noticed: without a bound one client in a loop fills the disk.
	AllowRefresh func(grant string) (wait time.Duration, ok bool)
	// Metadata fetches what applications say about themselves at their own
	// address; nil switches that way of being known off.
	Metadata MetadataFetcher
	// Now is the clock. Default: time.Now.
	Now func() time.Time
	// Log gets what goes wrong in the background. Default: nobody.
	Log *slog.Logger
	// MaxPendingUses bounds the connections whose last use waits to be written.
	// Default: 100000.
	MaxPendingUses int
}

// AuthorizationServer is the OAuth part of this package. It is safe for use by many
// goroutines.
type AuthorizationServer struct {
	store        AuthorizationStore
	audience     audience
	leeway       time.Duration
	allowRefresh func(grant string) (time.Duration, bool)
	metadata     MetadataFetcher
	now          func() time.Time
	log          *slog.Logger
	lastUses     lastUseBuffer
}

// NewAuthorizationServer returns Applications. Whoever calls it also calls Run.
func NewAuthorizationServer(cfg AuthorizationServerConfig) (*AuthorizationServer, error) {
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
	if cfg.AllowRefresh == nil {
		cfg.AllowRefresh = func(string) (time.Duration, bool) { return 0, true }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.MaxPendingUses == 0 {
		cfg.MaxPendingUses = 100_000
	}
	return &AuthorizationServer{
		store: cfg.Store, audience: resources, leeway: cfg.Leeway, allowRefresh: cfg.AllowRefresh, metadata: cfg.Metadata,
		now: cfg.Now, log: cfg.Log, lastUses: lastUseBuffer{max: cfg.MaxPendingUses},
	}, nil
}

// Verify says what an access token opens; see Service.Verify.
func (a *AuthorizationServer) Verify(ctx context.Context, bearer string) (TokenInfo, error) {
	hash, ok := registrar.HashSecret(registrar.AccessToken, bearer)
	if !ok {
		return TokenInfo{}, invalidToken()
	}
	token, known, err := a.store.GetAccessToken(ctx, hash)
	if err != nil {
		return TokenInfo{}, err
	}
	now := a.now()
	if !known || token.Revoked || token.Disabled || !now.Before(token.ExpiresAt) || token.Resource != a.audience.canonical {
		return TokenInfo{}, invalidToken()
	}
	a.lastUses.record(token.GrantID, now)
	return TokenInfo{
		Customer: token.Customer, TokenID: token.GrantID, Kind: registrar.ActorApplication, MayWrite: hasScope(token.Scope, ScopeWrite),
	}, nil
}

func invalid(code registrar.Code) error {
	return &registrar.Error{Kind: registrar.KindInvalid, Code: code}
}
