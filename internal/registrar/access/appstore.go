package access

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// ApplicationStore keeps what is known about applications. Each method that
// changes something is one transaction on one connection, in which its deed is
// stored as well, and decides by compare-and-swap: what was read before may be
// old by then.
type ApplicationStore interface {
	ClientStore
	ConsentStore
	FamilyStore
	// Clean looks at no more than limit rows of each kind that may no longer
	// matter, removes those that do not, and says for how many that was settled:
	// with 0 there is nothing left to do.
	Clean(ctx context.Context, due Due, limit int) (int, error)
}

// ClientStore keeps applications.
type ClientStore interface {
	AddClient(ctx context.Context, client Client) error
	// Client returns one by its id; false if there is none.
	Client(ctx context.Context, id string) (Client, bool, error)
}

// ConsentStore keeps questions to customers.
type ConsentStore interface {
	// AddConsent stores a question; of the session's questions the newest keep
	// remain.
	AddConsent(ctx context.Context, consent Consent, keep int) error
	// OpenConsent returns what was asked; false if there is no such question in
	// this session, or it was answered or has expired.
	OpenConsent(ctx context.Context, key ConsentKey, now time.Time) (request string, found bool, err error)
	// Decide answers a question once: false if it is no longer open. With an
	// approval it stores the code and remembers the client.
	Decide(ctx context.Context, key ConsentKey, approval *Approval, deed registrar.Deed) (bool, error)
}

// FamilyStore keeps codes, connections and their tokens.
type FamilyStore interface {
	// Code returns one by its hash; false if there is none.
	Code(ctx context.Context, hash registrar.SecretHash) (Code, bool, error)
	// Redeem uses the code for a new family of tokens and returns true. If the
	// code was used already, it ends what came out of it, with the deed replay,
	// and returns false.
	Redeem(ctx context.Context, code registrar.SecretHash, family Family, pair Pair, connected, replay registrar.Deed) (bool, error)
	// Burn uses the code for nothing. If it was used already, it does what
	// Redeem does then.
	Burn(ctx context.Context, code registrar.SecretHash, replay registrar.Deed) error
	// RefreshToken returns what is known about one; false if there is none.
	RefreshToken(ctx context.Context, hash registrar.SecretHash) (Refreshable, bool, error)
	// Rotate uses a refresh token for a pair and returns true. The first sibling
	// used after the leeway revokes the others. A reuse that Rotation does not
	// excuse, and the use of a revoked sibling, end the family, with the deed replay
	// and a mail to the customer.
	Rotate(ctx context.Context, rotation Rotation, pair Pair, replay registrar.Deed) (bool, error)
	// AccessToken returns what is known about one; false if there is none.
	AccessToken(ctx context.Context, hash registrar.SecretHash) (Usable, bool, error)
	// End ends a family at the time of the deed; false if it has ended.
	End(ctx context.Context, grant string, deed registrar.Deed) (bool, error)
	// Connections are the customer's live ones, sorted by client.
	Connections(ctx context.Context, customer string, now time.Time) ([]Connection, error)
	// Disconnect ends all connections and open codes of the application that
	// this connection of the customer belongs to; false if it has no such one.
	Disconnect(ctx context.Context, customer, grant string, deed registrar.Deed) (bool, error)
	// GrantsUsed notes when connections were last used.
	GrantsUsed(ctx context.Context, uses []Use) error
}

// ClientKind says how an application came to be known.
type ClientKind string

// The kinds.
const (
	// ClientDynamic registered itself (RFC 7591).
	ClientDynamic ClientKind = "dynamic"
	// ClientDocument is described by a document at the address that is its id.
	ClientDocument ClientKind = "document"
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
	Code   Code
	// Letter tells the customer, who may not be the one who approved.
	Letter registrar.Letter
}

// Code is what a customer approved.
type Code struct {
	ClientID, ClientName, Customer string
	RedirectURI, Challenge         string
	Scope, Resource                string
	ExpiresAt                      time.Time
	// Used and Disabled are only read: of the code, and of the account.
	Used, Disabled bool
}

// Family is a connection that begins.
type Family struct {
	GrantID                        string
	Customer, ClientID, ClientName string
	RedirectURI, Scope, Resource   string
	At                             time.Time
}

// Pair is an access token and a refresh token that belong together.
type Pair struct {
	Access, Refresh                  registrar.SecretHash
	Scope                            string // of the access token
	AccessExpiresAt, RefreshExpireAt time.Time
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

// Refreshable is what the store knows about a refresh token.
type Refreshable struct {
	GrantID, Customer, ClientID string
	Scope, Resource             string
	Generation, Epoch           int64
	ExpiresAt                   time.Time
	Used, Revoked, Disabled     bool
	// Superseded: a sibling was used first after the leeway, which revoked this one.
	Superseded bool
}

// Usable is what the store knows about an access token.
type Usable struct {
	GrantID, Customer, ClientID string
	Scope, Resource             string
	ExpiresAt                   time.Time
	Revoked, Disabled           bool
}

// Connection is one live family.
type Connection struct {
	GrantID, ClientID, ClientName    string
	RedirectURI, Scope               string
	CreatedAt, LastUsedAt, ExpiresAt time.Time
}

// Due says what Clean removes: rows that ended before these times.
type Due struct {
	Tokens, Codes, Consents, Grants, Clients time.Time
}
