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
	// MaxActiveTokens is the maximum number of active personal access tokens per
	// customer.
	MaxActiveTokens = 20
	// MaxTokenName is the maximum length of a token's name in characters.
	MaxTokenName = 60
	// maxListed limits lists that include revoked tokens.
	maxListed = 100
)

// The codes of this package's errors.
const (
	// TooManyTokens goes with KindConflict: MaxActiveTokens are active.
	TooManyTokens registrar.Code = "too_many_tokens"
	// BadTokenName goes with KindInvalid: empty, too long, or not printable.
	BadTokenName registrar.Code = "bad_token_name"
	// BadToken goes with KindUnauthenticated: unknown, revoked, or of a disabled
	// account, deliberately not distinguished.
	BadToken registrar.Code = "bad_token"
	// NoSuchToken goes with KindNotFound.
	NoSuchToken registrar.Code = "no_such_token"
)

// The audit actions of personal access tokens.
const (
	TokenCreated registrar.Action = "token_created"
	TokenRevoked registrar.Action = "token_revoked"
)

// Config configures a Service.
type Config struct {
	Store Store
	// Now is the clock. Default: time.Now.
	Now func() time.Time
	// Log receives background errors. Default: discarded.
	Log *slog.Logger
	// MaxPendingUses limits the tokens with a buffered last use. Uses of further tokens
	// are dropped until the next write. Default: 100000.
	MaxPendingUses int
	// AuthorizationServer verifies the tokens of applications. Default: none are
	// accepted.
	AuthorizationServer *AuthorizationServer
}

// Service is safe for concurrent use.
type Service struct {
	store    Store
	now      func() time.Time
	log      *slog.Logger
	lastUses lastUseBuffer

	server *AuthorizationServer
}

// New returns a Service. The caller must also call Run.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil {
		return nil, errors.New("oauth: Config.Store is required")
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

// Create creates a token for the actor's account and returns it with its secret, which
// is not stored. The actor is a person with a recent sign-in, or an operator who acts
// for the account in Actor.Customer.
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

// mailData returns the data of a mail: the name of the object and the actor's address.
func mailData(actor registrar.Actor, name string) map[string]string {
	data := map[string]string{"name": name}
	if actor.Address.IsValid() {
		data["address"] = actor.Address.String()
	}
	return data
}

// validTokenName rejects names that can't be shown in a list or would garble a mail.
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

// List returns the active tokens of the actor's account, newest first.
func (s *Service) List(ctx context.Context, actor registrar.Actor) ([]PersonalAccessToken, error) {
	if err := actor.RequirePerson(); err != nil {
		return nil, err
	}
	return s.store.ListActivePersonalAccessTokens(ctx, actor.Customer)
}

// ListWithRevoked returns the newest tokens of the actor's account including revoked
// ones, which the account's history mentions.
func (s *Service) ListWithRevoked(ctx context.Context, actor registrar.Actor) ([]PersonalAccessToken, error) {
	if err := actor.RequirePerson(); err != nil {
		return nil, err
	}
	return s.store.ListPersonalAccessTokens(ctx, actor.Customer, maxListed)
}

// Revoke revokes a token of the actor's account. Repeating it is no error.
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

// ListFor returns an account's newest tokens including revoked ones, for operators.
func (s *Service) ListFor(ctx context.Context, operator registrar.Actor, customer string) ([]PersonalAccessToken, error) {
	if err := operator.RequireOperator(); err != nil {
		return nil, err
	}
	return s.store.ListPersonalAccessTokens(ctx, customer, maxListed)
}

// RevokeFor revokes a token of any account, for operators.
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

// Verify returns what a bearer token grants. The error is KindUnauthenticated for an
// invalid token; any other error means that the check failed, and access must be denied
// as well.
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

// NameOf returns the display name of a token's bearer: the token's name, or the
// application's label. It is empty if unknown, for example if the grant has just ended.
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
