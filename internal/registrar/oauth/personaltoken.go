package oauth

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
	// MaxActiveTokens is how many active personal access tokens a customer may have.
	MaxActiveTokens = 20
	// MaxTokenName is how many characters the name of a token may have.
	MaxTokenName = 60
	// maxListed bounds the lists that have revoked tokens as well.
	maxListed = 100
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
	// MaxPendingUses bounds the tokens whose last use waits to be written. Uses
	// of others are forgotten until the next write. Default: 100000.
	MaxPendingUses int
	// AuthorizationServer decides about the tokens of connected applications. Default:
	// nobody can connect one.
	AuthorizationServer *AuthorizationServer
}

// Service is safe for use by many goroutines.
type Service struct {
	store    Store
	now      func() time.Time
	log      *slog.Logger
	lastUses lastUseBuffer

	server *AuthorizationServer
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
	if cfg.MaxPendingUses == 0 {
		cfg.MaxPendingUses = 100_000
	}
	return &Service{
		store: cfg.Store, now: cfg.Now, log: cfg.Log, lastUses: lastUseBuffer{max: cfg.MaxPendingUses}, server: cfg.AuthorizationServer,
	}, nil
}

// Create makes a token for the actor's account and returns it with its secret,
// which is kept nowhere. The actor is a person who has just signed in, or an
// operator who acts for the account that is named in Actor.Customer.
func (s *Service) Create(ctx context.Context, actor registrar.Actor, name string) (PersonalAccessToken, string, error) {
	now := s.now()
	if !actor.IsOperatorForCustomer() {
		if err := actor.RequireRecentSignIn(now); err != nil {
			return PersonalAccessToken{}, "", err
		}
	}
	name = strings.TrimSpace(name)
	if !validTokenName(name) {
		return PersonalAccessToken{}, "", &registrar.Error{Kind: registrar.KindInvalid, Code: BadTokenName}
	}
	secret, hash := registrar.NewSecret(registrar.PersonalToken)
	token := PersonalAccessToken{ID: registrar.NewID("tok_", now), Customer: actor.Customer, Name: name, CreatedAt: now}
	event := registrar.AuditEvent{Actor: actor, Action: TokenCreated, Customer: actor.Customer, Object: token.ID, At: now}
	mail := registrar.Mail{
		Kind: registrar.MailTokenCreated, Customer: actor.Customer, Data: mailData(actor, name),
	}
	if err := s.store.CreatePersonalAccessToken(ctx, token, hash, MaxActiveTokens, event, mail); err != nil {
		return PersonalAccessToken{}, "", err
	}
	return token, secret, nil
}

// mailData is what a letter tells: of what, and from where it was done.
func mailData(actor registrar.Actor, name string) map[string]string {
	data := map[string]string{"name": name}
	if actor.Address.IsValid() {
		data["address"] = actor.Address.String()
	}
	return data
}

// validTokenName keeps out what can't be shown in a list or would garble a mail.
func validTokenName(name string) bool {
	if !utf8.ValidString(name) {
		return false
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	length := utf8.RuneCountInString(name)
	return length > 0 && length <= MaxTokenName
}

// List returns the active tokens of the actor's account, the newest first.
func (s *Service) List(ctx context.Context, actor registrar.Actor) ([]PersonalAccessToken, error) {
	if err := actor.RequirePerson(); err != nil {
		return nil, err
	}
	return s.store.ListActivePersonalAccessTokens(ctx, actor.Customer)
}

// ListWithRevoked returns the newest tokens of the actor's account, also the revoked ones:
// the account's history names them.
func (s *Service) ListWithRevoked(ctx context.Context, actor registrar.Actor) ([]PersonalAccessToken, error) {
	if err := actor.RequirePerson(); err != nil {
		return nil, err
	}
	return s.store.ListPersonalAccessTokens(ctx, actor.Customer, maxListed)
}

// Revoke ends a token of the actor's account. Doing it again is no error.
func (s *Service) Revoke(ctx context.Context, actor registrar.Actor, id string) error {
	if err := actor.RequirePerson(); err != nil {
		return err
	}
	return s.revoke(ctx, actor, actor.Customer, id)
}

func (s *Service) revoke(ctx context.Context, actor registrar.Actor, customer, id string) error {
	event := registrar.AuditEvent{Actor: actor, Action: TokenRevoked, Customer: customer, Object: id, At: s.now()}
	return s.store.RevokePersonalAccessToken(ctx, customer, id, event)
}

// ListFor is for operators: an account's newest tokens, also the revoked ones.
func (s *Service) ListFor(ctx context.Context, operator registrar.Actor, customer string) ([]PersonalAccessToken, error) {
	if err := operator.RequireOperator(); err != nil {
		return nil, err
	}
	return s.store.ListPersonalAccessTokens(ctx, customer, maxListed)
}

// RevokeFor is for operators: it ends a token of whatever account.
func (s *Service) RevokeFor(ctx context.Context, operator registrar.Actor, id string) error {
	if err := operator.RequireOperator(); err != nil {
		return err
	}
	token, err := s.store.GetPersonalAccessToken(ctx, id)
	if err != nil {
		return err
	}
	return s.revoke(ctx, operator, token.Customer, id)
}

// Verify says what a bearer token opens. The error is KindUnauthenticated for a
// token that opens nothing; any other error says that it could not be found
// out, and nothing is opened either.
func (s *Service) Verify(ctx context.Context, bearer string) (TokenInfo, error) {
	if s.server != nil && strings.HasPrefix(bearer, string(registrar.AccessToken)) {
		return s.server.Verify(ctx, bearer)
	}
	hash, ok := registrar.HashSecret(registrar.PersonalToken, bearer)
	if !ok {
		return TokenInfo{}, invalidToken()
	}
	state, known, err := s.store.GetTokenState(ctx, hash)
	if err != nil {
		return TokenInfo{}, err
	}
	if !known || state.Revoked || state.Disabled || !state.Confirmed {
		return TokenInfo{}, invalidToken()
	}
	s.lastUses.record(state.TokenID, s.now())
	return TokenInfo{Customer: state.Customer, TokenID: state.TokenID, Kind: registrar.ActorToken, MayWrite: true}, nil
}

func invalidToken() error {
	return &registrar.Error{Kind: registrar.KindUnauthenticated, Code: BadToken}
}

// NameOf is what the bearer of a token is called: the token's name as its customer
// gave it, or the application's as the audit calls it. Empty means that nobody
// knows, as of a connection that has just ended.
func (s *Service) NameOf(ctx context.Context, actor registrar.Actor) (string, error) {
	switch {
	case actor.Kind == registrar.ActorToken:
		token, err := s.store.GetPersonalAccessToken(ctx, actor.Through)
		if registrar.KindOf(err) == registrar.KindNotFound {
			return "", nil
		}
		return token.Name, err
	case actor.Kind == registrar.ActorApplication && s.server != nil:
		return s.server.appName(ctx, actor)
	default:
		return "", nil
	}
}
