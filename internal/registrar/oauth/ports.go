package oauth

import (
	"context"
	"net/netip"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// PersonalAccessToken is a token as its owner sees it in a list.
type PersonalAccessToken struct {
	ID       string
	Customer string
	Name     string
	Purpose  string // what the customer says it is for; may be empty
	// LastUsedAt is zero for an unused token, RevokedAt for an active one, ExpiresAt for one
	// that does not expire.
	CreatedAt, LastUsedAt, RevokedAt, ExpiresAt time.Time
}

// Expired reports whether the token's time is over.
func (t PersonalAccessToken) Expired(now time.Time) bool {
	return !t.ExpiresAt.IsZero() && !now.Before(t.ExpiresAt)
}

// TokenInfo is what a bearer token grants.
type TokenInfo struct {
	Customer string              // the account that the bearer acts for
	TokenID  string              // identifies the token in rate limits and the audit log
	Kind     registrar.ActorKind // the role of the bearer
	MayWrite bool                // grants all tools; without it, only those open to everyone
}

// Actor returns the bearer as an actor.
func (g TokenInfo) Actor(address netip.Addr) registrar.Actor {
	return registrar.Actor{Kind: g.Kind, Customer: g.Customer, Through: g.TokenID, Address: address}
}

// TokenState is the stored state of a token and its account.
type TokenState struct {
	TokenID, Customer string
	Revoked           bool
	ExpiresAt         time.Time // zero if it does not expire
	// Disabled and Confirmed are those of the account.
	Disabled, Confirmed bool
}

// TokenUse is the last use of a token.
type TokenUse struct {
	TokenID string
	At      time.Time
}

// Store stores tokens. Each method is one transaction that includes its audit event and mail.
type Store interface {
	// CreatePersonalAccessToken stores a token unless the account has limit active ones
	// (TooManyTokens; expired tokens make room) or is missing or disabled (KindNotFound).
	CreatePersonalAccessToken(ctx context.Context, token PersonalAccessToken, hash registrar.SecretHash, limit int, event registrar.AuditEvent, mail registrar.Mail) error
	// ListActivePersonalAccessTokens returns the account's active tokens, newest first.
	ListActivePersonalAccessTokens(ctx context.Context, customer string) ([]PersonalAccessToken, error)
	// ListPersonalAccessTokens returns the account's newest tokens, revoked or not.
	ListPersonalAccessTokens(ctx context.Context, customer string, limit int) ([]PersonalAccessToken, error)
	// GetPersonalAccessToken returns KindNotFound if there is none.
	GetPersonalAccessToken(ctx context.Context, id string) (PersonalAccessToken, error)
	// RevokePersonalAccessToken revokes the account's token at the time of the event.
	// It does nothing if the token is already revoked and returns KindNotFound if the
	// account has no such token.
	RevokePersonalAccessToken(ctx context.Context, customer, id string, event registrar.AuditEvent) error
	GetTokenState(ctx context.Context, hash registrar.SecretHash) (TokenState, bool, error)
	// RecordTokenUses stores last uses. A later stored time is left unchanged.
	RecordTokenUses(ctx context.Context, uses []TokenUse) error
}

// AuthorizationStore stores clients, consents and grants. Each change is one
// transaction that includes its audit event, and is decided by compare-and-swap. The boolean of a
// query is false if there is no such row; every boolean is false on an error.
type AuthorizationStore interface {
	AddOAuthClient(ctx context.Context, client Client) error
	GetOAuthClient(ctx context.Context, id string) (Client, bool, error)

	// AddConsent stores a consent and deletes the session's oldest beyond keep.
	AddConsent(ctx context.Context, consent Consent, keep int) error
	// GetOpenConsent returns the stored request; false if the session has no such
	// consent, or it was decided or has expired.
	GetOpenConsent(ctx context.Context, key ConsentKey, now time.Time) (request string, found bool, err error)
	// DecideConsent decides a consent once; false if it is no longer open. An approval
	// also stores the code and the client.
	DecideConsent(ctx context.Context, key ConsentKey, approval *Approval, event registrar.AuditEvent) (bool, error)

	GetAuthorizationCode(ctx context.Context, hash registrar.SecretHash) (AuthorizationCode, bool, error)
	// RedeemAuthorizationCode uses the code for a new grant and returns true. If the code was
	// already used, it ends the resulting grant, with the event replay, and returns false.
	RedeemAuthorizationCode(ctx context.Context, code registrar.SecretHash, grant Grant, pair TokenPair, connected, replay registrar.AuditEvent) (bool, error)
	// InvalidateAuthorizationCode marks the code used without a grant. An already used
	// code is treated as in RedeemAuthorizationCode.
	InvalidateAuthorizationCode(ctx context.Context, code registrar.SecretHash, replay registrar.AuditEvent) error
	GetRefreshToken(ctx context.Context, hash registrar.SecretHash) (RefreshToken, bool, error)
	// RotateRefreshToken marks a refresh token used, stores the new pair and returns
	// true. The first sibling used after the leeway revokes the others. A reuse outside
	// the exception in Rotation, and the use of a revoked sibling, end the grant, with
	// the event replay and a mail to the customer.
	RotateRefreshToken(ctx context.Context, rotation Rotation, pair TokenPair, replay registrar.AuditEvent) (bool, error)
	GetAccessToken(ctx context.Context, hash registrar.SecretHash) (AccessToken, bool, error)
	// EndGrant ends a grant at the time of the event; false if it has already ended.
	EndGrant(ctx context.Context, grant string, event registrar.AuditEvent) (bool, error)
	// ListLiveGrants returns the customer's live grants, sorted by client.
	ListLiveGrants(ctx context.Context, customer string, now time.Time) ([]LiveGrant, error)
	// DisconnectClient ends all grants and open codes of the client of this grant of
	// the customer; false if the customer has no such grant.
	DisconnectClient(ctx context.Context, customer, grant string, event registrar.AuditEvent) (bool, error)
	RecordGrantUses(ctx context.Context, uses []TokenUse) error

	// DeleteExpiredOAuth examines at most limit possibly expired rows of each kind, deletes the
	// expired ones, and returns how many were processed; 0 means that nothing is left.
	DeleteExpiredOAuth(ctx context.Context, due ExpiryCutoffs, limit int) (int, error)
}

// ClientKind is how a client became known.
type ClientKind string

// The kinds.
const (
	ClientDynamic          ClientKind = "dynamic"  // registered itself (RFC 7591)
	ClientMetadataDocument ClientKind = "document" // described by a document at the URL that is its id
)

// AuthMethod is how a client authenticates at the token endpoint.
type AuthMethod string

// The methods.
const (
	AuthNone AuthMethod = "none"
	AuthPost AuthMethod = "client_secret_post"
)

// Client is an application. Its name is self-declared.
type Client struct {
	ID           string
	Kind         ClientKind
	Name         string
	RedirectURIs []string
	AuthMethod   AuthMethod
	SecretHash   registrar.SecretHash
	// LastUsedAt is when it last registered, was approved or redeemed a code.
	CreatedAt, LastUsedAt time.Time
}

// ConsentKey identifies a consent; all three fields must match.
type ConsentKey struct {
	Hash              registrar.SecretHash
	Session, Customer string
}

// Consent is a request that awaits a customer's decision.
type Consent struct {
	ConsentKey
	Request   string
	ExpiresAt time.Time
}

// Approval is what an approved consent creates.
type Approval struct {
	Client Client
	Hash   registrar.SecretHash
	Code   AuthorizationCode
	Mail   registrar.Mail // notifies the customer, who may not be the one who approved
}

// AuthorizationCode is an approved request.
type AuthorizationCode struct {
	ClientID, ClientName, Customer string
	RedirectURI, Challenge         string
	Scope, Resource                string
	ExpiresAt                      time.Time
	// Used is the state of the code and Disabled that of the account; both are read only.
	Used, Disabled bool
}

// Grant is a new grant.
type Grant struct {
	GrantID                        string
	Customer, ClientID, ClientName string
	RedirectURI, Scope, Resource   string
	At                             time.Time
}

// TokenPair is an access token and a refresh token that belong together.
type TokenPair struct {
	Access, Refresh                   registrar.SecretHash
	Scope                             string // of the access token
	AccessExpiresAt, RefreshExpiresAt time.Time
}

// Rotation describes the use of a refresh token and the exception for its reuse.
type Rotation struct {
	Hash       registrar.SecretHash
	GrantID    string
	Generation int64
	Epoch      int64 // the token's epoch as read
	Now        time.Time
	// Leeway is how long after its first use the directly preceding token is accepted again, at
	// most MaxReuses times; beyond that number it is refused and the grant continues.
	Leeway    time.Duration
	MaxReuses int
}

// RefreshToken is the stored state of a refresh token.
type RefreshToken struct {
	GrantID, Customer, ClientID string
	Scope, Resource             string
	Generation, Epoch           int64
	ExpiresAt                   time.Time
	Used, Revoked, Disabled     bool
	// Superseded: a sibling was used first after the leeway, which revoked this token.
	Superseded bool
}

// AccessToken is the stored state of an access token.
type AccessToken struct {
	GrantID, Customer, ClientID string
	Scope, Resource             string
	ExpiresAt                   time.Time
	Revoked, Disabled           bool
}

// LiveGrant is a live grant with its client.
type LiveGrant struct {
	GrantID, ClientID, ClientName    string
	RedirectURI, Scope               string
	CreatedAt, LastUsedAt, ExpiresAt time.Time
}

// ExpiryCutoffs are the times before which ended rows are deleted.
type ExpiryCutoffs struct {
	Tokens, Codes, Consents, Grants, Clients time.Time
}
