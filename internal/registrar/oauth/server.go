package oauth

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Lifetimes. A secret expires at the exact end of its lifetime.
const (
	AccessTokenTTL  = time.Hour
	RefreshTokenTTL = 30 * 24 * time.Hour
	CodeTTL         = time.Minute      // the lifetime of an authorization code
	ConsentTTL      = 10 * time.Minute // how long a consent page may wait for the decision
)

const (
	// maxReuses limits how often a refresh token is accepted again within the leeway;
	// it covers the processes that one person runs concurrently.
	maxReuses       = 10
	maxOpenConsents = 20   // limits the pending consents per session
	maxState        = 2048 // limits the length of state
)

// The scopes. ScopeRead grants nothing beyond anonymous access.
const (
	ScopeRead  = "mcp:read"
	ScopeWrite = "mcp:write"
)

// The codes of errors about applications.
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
	TooManyRefreshes    registrar.Code = "too_many_refreshes" // goes with KindRateLimited
)

// The audit actions of applications. The object is AppLabel; the store fills it in when
// a grant ends.
const (
	AppApproved     registrar.Action = "application_approved"     // by the customer, on the consent page
	AppDenied       registrar.Action = "application_denied"       // by the customer, on the consent page
	AppConnected    registrar.Action = "application_connected"    // the application redeemed its code
	AppDisconnected registrar.Action = "application_disconnected" // by the customer, in the profile
	AppEnded        registrar.Action = "application_ended"        // by the application itself
	AppReplayed     registrar.Action = "application_replayed"     // a code or token was used twice, so the grant ended
)

// AuthorizationServerConfig configures an AuthorizationServer.
type AuthorizationServerConfig struct {
	Store    AuthorizationStore
	Resource string        // the URL of the MCP endpoint, the only audience
	Leeway   time.Duration // how long the preceding refresh token is accepted again; 0 disables this
	// AllowRefresh rate limits the refreshes of a grant: it returns how long to wait, 0 if the
	// refresh was counted. nil means no limit. Each refresh stores a row for 30 days, so that a
	// replay is detected; without a limit one client in a loop fills the disk.
	AllowRefresh func(grant string) (wait time.Duration)
	Metadata     MetadataFetcher  // fetches client metadata documents; nil disables such clients
	Now          func() time.Time // the clock; default: time.Now
	Log          *slog.Logger     // receives background errors; default: discarded
}

// AuthorizationServer implements OAuth for applications. It is safe for concurrent use.
type AuthorizationServer struct {
	cfg      AuthorizationServerConfig
	audience audience
	lastUses lastUseBuffer
}

// NewAuthorizationServer returns an AuthorizationServer. The caller must also call Run.
func NewAuthorizationServer(cfg AuthorizationServerConfig) (*AuthorizationServer, error) {
	if cfg.Store == nil {
		return nil, errors.New("oauth: AuthorizationServerConfig.Store is required")
	}
	resources, err := newAudience(cfg.Resource)
	if err != nil {
		return nil, err
	}
	if cfg.Leeway < 0 {
		return nil, errors.New("oauth: AuthorizationServerConfig.Leeway must not be negative")
	}
	if cfg.AllowRefresh == nil {
		cfg.AllowRefresh = func(string) time.Duration { return 0 }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	return &AuthorizationServer{
		cfg: cfg, audience: resources,
		lastUses: lastUseBuffer{store: cfg.Store.RecordGrantUses, log: cfg.Log, job: "last use of applications", max: maxPendingUses},
	}, nil
}

// Verify returns what an access token grants; see Service.Verify.
func (a *AuthorizationServer) Verify(ctx context.Context, bearer string) (TokenInfo, error) {
	hash, ok := registrar.HashSecret(registrar.AccessToken, bearer)
	if !ok {
		return TokenInfo{}, invalidToken()
	}
	token, known, err := a.cfg.Store.GetAccessToken(ctx, hash)
	now := a.cfg.Now()
	if !known || token.Revoked || token.Disabled || !now.Before(token.ExpiresAt) || token.Resource != a.audience.canonical {
		return TokenInfo{}, cmp.Or(err, invalidToken())
	}
	a.lastUses.record(token.GrantID, now)
	return TokenInfo{
		Customer: token.Customer, TokenID: token.GrantID, Kind: registrar.ActorApplication, MayWrite: hasScope(token.Scope, ScopeWrite),
	}, nil
}

const (
	cleanInterval     = 10 * time.Minute
	cleanBatch        = 200            // rows per transaction, to keep lock times short
	usedCodeRetention = 24 * time.Hour // how long the reuse of a code is detected
	// clientRetention is how long a client without a grant is retained, counted from registration
	// or the end of its last grant. Some clients can't register again by themselves.
	clientRetention = 30 * 24 * time.Hour
)

// DeleteExpired deletes expired tokens, codes and consents, grants that ended long ago, and clients
// unused for as long. A foreign key keeps a client with a grant. Used refresh tokens stay until
// they expire, because their reuse reveals a theft. It returns the number of rows processed.
func (a *AuthorizationServer) DeleteExpired(ctx context.Context) (settled int, err error) {
	now := a.cfg.Now()
	due := ExpiryCutoffs{
		Tokens: now, Consents: now, Codes: now.Add(-usedCodeRetention), Grants: now.Add(-clientRetention), Clients: now.Add(-clientRetention),
	}
	return jobs.DeleteInBatches(ctx, func(ctx context.Context) (int, error) { return a.cfg.Store.DeleteExpiredOAuth(ctx, due, cleanBatch) })
}

// Run deletes expired rows and writes last uses until ctx ends, then writes once more.
func (a *AuthorizationServer) Run(ctx context.Context) {
	var cleaning sync.WaitGroup
	cleaning.Go(func() {
		jobs.RunEvery(ctx, cleanInterval, func(ctx context.Context) error {
			_, err := a.DeleteExpired(ctx)
			return err
		}, jobs.ErrorLogger(a.cfg.Log, "application cleanup"))
	})
	a.lastUses.run(ctx)
	cleaning.Wait()
}
