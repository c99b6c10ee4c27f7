package access

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// MaxActive is how many active personal access tokens a customer may have.
	MaxActive = 20
	// MaxName is how many characters the name of a token may have.
	MaxName = 60
	// latest bounds the lists that have revoked tokens as well.
	latest = 100
)

// What can go wrong. Transports have a sentence for each.
const (
	// TooManyTokens goes with KindConflict: MaxActive are active.
	TooManyTokens registrar.Code = "too_many_tokens"
	// BadTokenName goes with KindInvalid: no name, too long, or not printable.
	BadTokenName registrar.Code = "bad_token_name"
	// BadToken goes with KindUnauthenticated: unknown, revoked, or of an account
	// that is closed to everybody. The bearer does not learn which.
	BadToken registrar.Code = "bad_token"
	// NoSuchToken goes with KindNotFound.
	NoSuchToken registrar.Code = "no_such_token"
	// PersonsOnly goes with KindForbidden.
	PersonsOnly registrar.Code = "persons_only"
	// OperatorsOnly goes with KindForbidden.
	OperatorsOnly registrar.Code = "operators_only"
)

// What the audit tells.
const (
	TokenCreated registrar.Action = "token_created"
	TokenRevoked registrar.Action = "token_revoked"
)

// Config is what a Service needs.
type Config struct {
	Store Store
	// Now is the clock. Default: time.Now.
	Now func() time.Time
	// Log gets what goes wrong in the background. Default: nobody.
	Log *slog.Logger
	// MaxRemembered bounds the tokens whose last use waits to be written. Uses
	// of others are forgotten until the next write. Default: 100000.
	MaxRemembered int
	// Applications decides about the tokens of connected applications. Default:
	// nobody can connect one.
	Applications *Applications
}

// Service is safe for use by many goroutines.
type Service struct {
	store Store
	now   func() time.Time
	log   *slog.Logger
	used  memory

	applications *Applications
}

// New returns a Service. Whoever calls it also calls Run.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil {
		return nil, errors.New("access needs a store")
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
	return &Service{
		store: cfg.Store, now: cfg.Now, log: cfg.Log, used: memory{bound: cfg.MaxRemembered}, applications: cfg.Applications,
	}, nil
}

// Create makes a token for the actor's account and returns it with its secret,
// which is kept nowhere. The actor is a person who has just signed in, or an
// operator who acts for the account that is named in Actor.Customer.
func (s *Service) Create(ctx context.Context, actor registrar.Actor, name string) (Token, string, error) {
	now := s.now()
	if !forCustomer(actor) {
		if err := actor.RequireRecentSignIn(now); err != nil {
			return Token{}, "", err
		}
	}
	name = strings.TrimSpace(name)
	if !goodName(name) {
		return Token{}, "", &registrar.Error{Kind: registrar.KindInvalid, Code: BadTokenName}
	}
	secret, hash := registrar.NewSecret(registrar.PersonalToken)
	token := Token{ID: registrar.NewID("tok_", now), Customer: actor.Customer, Name: name, CreatedAt: now}
	deed := registrar.Deed{Actor: actor, Action: TokenCreated, Customer: actor.Customer, Object: token.ID, At: now}
	letter := registrar.Letter{
		Kind: registrar.LetterTokenCreated, Customer: actor.Customer, Facts: factsOf(actor, name),
	}
	if actor.Address.IsValid() {
		letter.Facts["address"] = actor.Address.String()
	}
	if err := s.store.CreateToken(ctx, token, hash, MaxActive, deed, letter); err != nil {
		return Token{}, "", err
	}
	return token, secret, nil
}

// factsOf is what a letter tells: of what, and from where it was done.
func factsOf(actor registrar.Actor, name string) map[string]string {
	facts := map[string]string{"name": name}
	if actor.Address.IsValid() {
		facts["address"] = actor.Address.String()
	}
	return facts
}

// goodName keeps out what can't be shown in a list or would garble a mail.
func goodName(name string) bool {
	if !utf8.ValidString(name) {
		return false
	}
	for _, letter := range name {
		if !unicode.IsPrint(letter) {
			return false
		}
	}
	length := utf8.RuneCountInString(name)
	return length > 0 && length <= MaxName
}

// List returns the active tokens of the actor's account, the newest first.
func (s *Service) List(ctx context.Context, actor registrar.Actor) ([]Token, error) {
	if err := requirePerson(actor); err != nil {
		return nil, err
	}
	return s.store.ActiveTokens(ctx, actor.Customer)
}

// Latest returns the newest tokens of the actor's account, also the revoked ones:
// the account's history names them.
func (s *Service) Latest(ctx context.Context, actor registrar.Actor) ([]Token, error) {
	if err := requirePerson(actor); err != nil {
		return nil, err
	}
	return s.store.LatestTokens(ctx, actor.Customer, latest)
}

// Revoke ends a token of the actor's account. Doing it again is no error.
func (s *Service) Revoke(ctx context.Context, actor registrar.Actor, id string) error {
	if err := requirePerson(actor); err != nil {
		return err
	}
	return s.revoke(ctx, actor, actor.Customer, id)
}

func (s *Service) revoke(ctx context.Context, actor registrar.Actor, customer, id string) error {
	deed := registrar.Deed{Actor: actor, Action: TokenRevoked, Customer: customer, Object: id, At: s.now()}
	return s.store.RevokeToken(ctx, customer, id, deed)
}

// ListOf is for operators: an account's newest tokens, also the revoked ones.
func (s *Service) ListOf(ctx context.Context, operator registrar.Actor, customer string) ([]Token, error) {
	if err := requireOperator(operator); err != nil {
		return nil, err
	}
	return s.store.LatestTokens(ctx, customer, latest)
}

// RevokeAny is for operators: it ends a token of whatever account.
func (s *Service) RevokeAny(ctx context.Context, operator registrar.Actor, id string) error {
	if err := requireOperator(operator); err != nil {
		return err
	}
	token, err := s.store.Token(ctx, id)
	if err != nil {
		return err
	}
	return s.revoke(ctx, operator, token.Customer, id)
}

// Verify says what a bearer token opens. The error is KindUnauthenticated for a
// token that opens nothing; any other error says that it could not be found
// out, and nothing is opened either.
func (s *Service) Verify(ctx context.Context, bearer string) (Grant, error) {
	if s.applications != nil && strings.HasPrefix(bearer, string(registrar.AccessToken)) {
		return s.applications.Verify(ctx, bearer)
	}
	hash, ok := registrar.HashSecret(registrar.PersonalToken, bearer)
	if !ok {
		return Grant{}, refused()
	}
	bearing, known, err := s.store.Bearing(ctx, hash)
	if err != nil {
		return Grant{}, err
	}
	if !known || bearing.Revoked || bearing.Disabled || !bearing.Confirmed {
		return Grant{}, refused()
	}
	s.used.note(bearing.TokenID, s.now())
	return Grant{Customer: bearing.Customer, TokenID: bearing.TokenID, Kind: registrar.ActorToken, MayWrite: true}, nil
}

func refused() error {
	return &registrar.Error{Kind: registrar.KindUnauthenticated, Code: BadToken}
}

// NameOf is what the bearer of a token is called: the token's name as its customer
// gave it, or the application's as the audit calls it. Empty means that nobody
// knows, as of a connection that has just ended.
func (s *Service) NameOf(ctx context.Context, actor registrar.Actor) (string, error) {
	switch {
	case actor.Kind == registrar.ActorToken:
		token, err := s.store.Token(ctx, actor.Through)
		if registrar.KindOf(err) == registrar.KindNotFound {
			return "", nil
		}
		return token.Name, err
	case actor.Kind == registrar.ActorApplication && s.applications != nil:
		return s.applications.nameOf(ctx, actor)
	default:
		return "", nil
	}
}

// forCustomer tells an operator who acts for an account, as a seed does.
func forCustomer(actor registrar.Actor) bool {
	return actor.Kind == registrar.ActorOperator && actor.Customer != ""
}

func requirePerson(actor registrar.Actor) error {
	if actor.Kind != registrar.ActorPerson || actor.Customer == "" {
		return &registrar.Error{Kind: registrar.KindForbidden, Code: PersonsOnly}
	}
	return nil
}

func requireOperator(actor registrar.Actor) error {
	if actor.Kind != registrar.ActorOperator {
		return &registrar.Error{Kind: registrar.KindForbidden, Code: OperatorsOnly}
	}
	return nil
}
