package oauth

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// AuthorizationStore keeps what is known about applications. Each method that
// changes something is one transaction on one connection, in which its deed is
// stored as well, and decides by compare-and-swap: what was read before may be
// old by then.
type AuthorizationStore interface {
	ClientStore
	ConsentStore
	GrantStore
	// DeleteExpiredOAuth looks at no more than limit rows of each kind that may no longer
	// matter, removes those that do not, and says for how many that was settled:
	// with 0 there is nothing left to do.
	DeleteExpiredOAuth(ctx context.Context, due ExpiryCutoffs, limit int) (int, error)
}

// ClientStore keeps applications.
type ClientStore interface {
	AddOAuthClient(ctx context.Context, client Client) error
	// GetOAuthClient returns one by its id; false if there is none.
	GetOAuthClient(ctx context.Context, id string) (Client, bool, error)
}

// ConsentStore keeps questions to customers.
type ConsentStore interface {
	// AddConsent stores a question; of the session's questions the newest keep
	// remain.
	AddConsent(ctx context.Context, consent Consent, keep int) error
	// GetOpenConsent returns what was asked; false if there is no such question in
	// this session, or it was answered or has expired.
	GetOpenConsent(ctx context.Context, key ConsentKey, now time.Time) (request string, found bool, err error)
	// DecideConsent answers a question once: false if it is no longer open. With an
	// approval it stores the code and remembers the client.
	DecideConsent(ctx context.Context, key ConsentKey, approval *Approval, deed registrar.AuditEvent) (bool, error)
}

// GrantStore keeps codes, connections and their tokens.
type GrantStore interface {
	// GetAuthorizationCode returns one by its hash; false if there is none.
	GetAuthorizationCode(ctx context.Context, hash registrar.SecretHash) (AuthorizationCode, bool, error)
	// RedeemAuthorizationCode uses the code for a new family of tokens and returns true. If the
	// code was used already, it ends what came out of it, with the deed replay,
	// and returns false.
	RedeemAuthorizationCode(ctx context.Context, code registrar.SecretHash, grant Grant, pair TokenPair, connected, replay registrar.AuditEvent) (bool, error)
	// InvalidateAuthorizationCode uses the code for nothing. If it was used already, it does what
	// Redeem does then.
	InvalidateAuthorizationCode(ctx context.Context, code registrar.SecretHash, replay registrar.AuditEvent) error
	// GetRefreshToken returns what is known about one; false if there is none.
	GetRefreshToken(ctx context.Context, hash registrar.SecretHash) (RefreshToken, bool, error)
	// RotateRefreshToken uses a refresh token for a pair and returns true. The first sibling
	// used after the leeway revokes the others. A reuse that Rotation does not
	// excuse, and the use of a revoked sibling, end the family, with the deed replay
	// and a mail to the customer.
	RotateRefreshToken(ctx context.Context, rotation Rotation, pair TokenPair, replay registrar.AuditEvent) (bool, error)
	// GetAccessToken returns what is known about one; false if there is none.
	GetAccessToken(ctx context.Context, hash registrar.SecretHash) (AccessToken, bool, error)
	// EndGrant ends a family at the time of the deed; false if it has ended.
	EndGrant(ctx context.Context, grant string, deed registrar.AuditEvent) (bool, error)
	// ListLiveGrants are the customer's live ones, sorted by client.
	ListLiveGrants(ctx context.Context, customer string, now time.Time) ([]LiveGrant, error)
	// DisconnectClient ends all connections and open codes of the application that
	// this connection of the customer belongs to; false if it has no such one.
	DisconnectClient(ctx context.Context, customer, grant string, deed registrar.AuditEvent) (bool, error)
	// RecordGrantUses notes when connections were last used.
	RecordGrantUses(ctx context.Context, uses []TokenUse) error
}

// ClientKind says how an application came to be known.
type ClientKind string

// The kinds.
const (
	// ClientDynamic registered itself (RFC 7591).
	ClientDynamic ClientKind = "dynamic"
	// ClientMetadataDocument is described by a document at the address that is its id.
	ClientMetadataDocument ClientKind = "document"
)

// AuthMethod is how an application proves at the token endpoint who it is.
type AuthMethod string

// The methods.
const (
	AuthNone AuthMethod = "none"
	AuthPost AuthMethod = "client_secret_post"
)

// Client is an application. Its name is what it calls itself: a claim.
type Client struct {
	ID           string
	Kind         ClientKind
	Name         string
	RedirectURIs []string
	AuthMethod   AuthMethod
	SecretHash   registrar.SecretHash
	// LastUsedAt is when it registered, was approved or redeemed a code.
	CreatedAt, LastUsedAt time.Time
}

// ConsentKey finds a question: all three must fit.
type ConsentKey struct {
	Hash              registrar.SecretHash
	Session, Customer string
}

// Consent is a question to a customer.
type Consent struct {
	ConsentKey
	Request   string
	ExpiresAt time.Time
}

// Approval is what follows from a yes.
type Approval struct {
	Client Client
	Hash   registrar.SecretHash
	Code   AuthorizationCode
	// Mail tells the customer, who may not be the one who approved.
	Mail registrar.Mail
}

// AuthorizationCode is what a customer approved.
type AuthorizationCode struct {
	ClientID, ClientName, Customer string
	RedirectURI, Challenge         string
	Scope, Resource                string
	ExpiresAt                      time.Time
	// Used and Disabled are only read: of the code, and of the account.
	Used, Disabled bool
}

// Grant is a connection that begins.
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

// Rotation says which refresh token is used, when, and what excuses its reuse.
type Rotation struct {
	Hash       registrar.SecretHash
	GrantID    string
	Generation int64
	// Epoch is the token's, as it was read.
	Epoch int64
	Now   time.Time
	// Leeway is how long after its first use the directly preceding token is
	// accepted again, at most MaxReuses times; beyond that number it is refused
	// and the family lives on.
	Leeway    time.Duration
	MaxReuses int
}

// RefreshToken is what the store knows about a refresh token.
type RefreshToken struct {
	GrantID, Customer, ClientID string
	Scope, Resource             string
	Generation, Epoch           int64
	ExpiresAt                   time.Time
	Used, Revoked, Disabled     bool
	// Superseded: a sibling was used first after the leeway, which revoked this one.
	Superseded bool
}

// AccessToken is what the store knows about an access token.
type AccessToken struct {
	GrantID, Customer, ClientID string
	Scope, Resource             string
	ExpiresAt                   time.Time
	Revoked, Disabled           bool
}

// LiveGrant is one live family.
type LiveGrant struct {
	GrantID, ClientID, ClientName    string
	RedirectURI, Scope               string
	CreatedAt, LastUsedAt, ExpiresAt time.Time
}

// ExpiryCutoffs says what Clean removes: rows that ended before these times.
type ExpiryCutoffs struct {
	Tokens, Codes, Consents, Grants, Clients time.Time
}
