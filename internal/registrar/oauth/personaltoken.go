package oauth

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	MaxActiveTokens = 20  // the maximum number of active personal access tokens per customer
	MaxTokenName    = 60  // the maximum length of a token's name in characters
	MaxTokenPurpose = 200 // the same for its purpose
	maxListed       = 100 // limits lists that include revoked tokens
)

// The codes of this package's errors.
const (
	// TooManyTokens goes with KindConflict: MaxActiveTokens are active.
	TooManyTokens registrar.Code = "too_many_tokens"
	// BadTokenName goes with KindInvalid: empty, too long, or not printable.
	BadTokenName registrar.Code = "bad_token_name"
	// BadTokenPurpose goes with KindInvalid: too long, or not printable.
	BadTokenPurpose registrar.Code = "bad_token_purpose" //nolint:gosec // a code
	// BadTokenExpiry goes with KindInvalid: in the past, or further ahead than MaxTokenLife.
	BadTokenExpiry registrar.Code = "bad_token_expiry" //nolint:gosec // a code
	// BadToken goes with KindUnauthenticated: unknown, revoked, expired, or of a
	// disabled account, deliberately not distinguished.
	BadToken    registrar.Code = "bad_token"
	NoSuchToken registrar.Code = "no_such_token" // goes with KindNotFound
)

// MaxTokenLife is how far ahead the expiry of a token may be.
const MaxTokenLife = 10 * 366 * 24 * time.Hour

// The audit actions of personal access tokens.
const (
	TokenCreated registrar.Action = "token_created"
	TokenRevoked registrar.Action = "token_revoked"
)

// Config configures a Service.
type Config struct {
	Store Store
	Now   func() time.Time // the clock; default: time.Now
	Log   *slog.Logger     // receives background errors; default: discarded
	// AuthorizationServer verifies the tokens of applications. Default: none are accepted.
	AuthorizationServer *AuthorizationServer
}

// Service is safe for concurrent use.
type Service struct {
	cfg      Config
	lastUses lastUseBuffer
}

// New returns a Service. The caller must also call Run.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil {
		return nil, errors.New("oauth: Config.Store is required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	cfg.Log = cmp.Or(cfg.Log, slog.New(slog.DiscardHandler))
	return &Service{
		cfg:      cfg,
		lastUses: lastUseBuffer{store: cfg.Store.RecordTokenUses, log: cfg.Log, job: "last use of tokens", max: maxPendingUses},
	}, nil
}

// Run writes last uses until ctx ends, and then once more.
func (s *Service) Run(ctx context.Context) { s.lastUses.run(ctx) }

// TokenParams describes a token to be created.
type TokenParams struct {
	Name      string
	Purpose   string    // what it is for; may be empty
	ExpiresAt time.Time // zero if it does not expire
}

// normalise returns the parameters as they are stored.
func (p TokenParams) normalise(now time.Time) (TokenParams, error) {
	p.Name, p.Purpose = strings.TrimSpace(p.Name), strings.TrimSpace(p.Purpose)
	switch {
	case p.Name == "" || !registrar.IsPrintable(p.Name, MaxTokenName):
		return p, registrar.Invalid(BadTokenName)
	case !registrar.IsPrintable(p.Purpose, MaxTokenPurpose):
		return p, registrar.Invalid(BadTokenPurpose)
	case !p.ExpiresAt.IsZero() && (!p.ExpiresAt.After(now) || p.ExpiresAt.After(now.Add(MaxTokenLife))):
		return p, registrar.Invalid(BadTokenExpiry)
	}
	return p, nil
}

// Create creates a token for the actor's account and returns it with its secret, which
// is not stored. The actor is a person with a recent sign-in, or an operator who acts
// for the account in Actor.Customer.
func (s *Service) Create(ctx context.Context, actor registrar.Actor, params TokenParams) (PersonalAccessToken, string, error) {
	now := s.cfg.Now()
	if !actor.IsOperatorForCustomer() {
		if err := actor.RequireRecentSignIn(now); err != nil {
			return PersonalAccessToken{}, "", err
		}
	}
	params, err := params.normalise(now)
	if err != nil {
		return PersonalAccessToken{}, "", err
	}
	secret, hash := registrar.NewSecret(registrar.PersonalToken)
	token := PersonalAccessToken{
		ID: registrar.NewID("tok_", now), Customer: actor.Customer, Name: params.Name, Purpose: params.Purpose,
		CreatedAt: now, ExpiresAt: params.ExpiresAt,
	}
	event := registrar.AuditEvent{Actor: actor, Action: TokenCreated, Customer: actor.Customer, Object: token.ID, At: now}
	mail := registrar.Mail{Kind: registrar.MailTokenCreated, Customer: actor.Customer, Data: map[string]string{"name": token.Name, "expires_at": "never"}}
	if !token.ExpiresAt.IsZero() {
		mail.Data["expires_at"] = token.ExpiresAt.UTC().Format(time.RFC3339)
	}
	mail.SetAddress(actor)
	if err := s.cfg.Store.CreatePersonalAccessToken(ctx, token, hash, MaxActiveTokens, event, mail); err != nil {
		return PersonalAccessToken{}, "", err
	}
	return token, secret, nil
}

// List returns the tokens of the actor's account that are not revoked, newest first.
func (s *Service) List(ctx context.Context, actor registrar.Actor) ([]PersonalAccessToken, error) {
	if err := actor.RequirePerson(); err != nil {
		return nil, err
	}
	return s.cfg.Store.ListActivePersonalAccessTokens(ctx, actor.Customer)
}

// ListWithRevoked includes revoked tokens, which the account's history mentions.
func (s *Service) ListWithRevoked(ctx context.Context, actor registrar.Actor) ([]PersonalAccessToken, error) {
	if err := actor.RequirePerson(); err != nil {
		return nil, err
	}
	return s.cfg.Store.ListPersonalAccessTokens(ctx, actor.Customer, maxListed)
}

// Revoke revokes a token of the actor's account. Repeating it is no error.
func (s *Service) Revoke(ctx context.Context, actor registrar.Actor, id string) error {
	if err := actor.RequirePerson(); err != nil {
		return err
	}
	return s.revoke(ctx, actor, actor.Customer, id)
}

func (s *Service) revoke(ctx context.Context, actor registrar.Actor, customer, id string) error {
	event := registrar.AuditEvent{Actor: actor, Action: TokenRevoked, Customer: customer, Object: id, At: s.cfg.Now()}
	return s.cfg.Store.RevokePersonalAccessToken(ctx, customer, id, event)
}

// ListFor returns an account's newest tokens including revoked ones, for operators.
func (s *Service) ListFor(ctx context.Context, operator registrar.Actor, customer string) ([]PersonalAccessToken, error) {
	if err := operator.RequireOperator(); err != nil {
		return nil, err
	}
	return s.cfg.Store.ListPersonalAccessTokens(ctx, customer, maxListed)
}

// RevokeFor revokes a token of any account, for operators.
func (s *Service) RevokeFor(ctx context.Context, operator registrar.Actor, id string) error {
	if err := operator.RequireOperator(); err != nil {
		return err
	}
	token, err := s.cfg.Store.GetPersonalAccessToken(ctx, id)
	if err != nil {
		return err
	}
	return s.revoke(ctx, operator, token.Customer, id)
}

// Verify returns what a bearer token grants. The error is KindUnauthenticated for an invalid token;
// any other error means that the check failed, and access must be denied as well.
func (s *Service) Verify(ctx context.Context, bearer string) (TokenInfo, error) {
	if s.cfg.AuthorizationServer != nil && strings.HasPrefix(bearer, string(registrar.AccessToken)) {
		return s.cfg.AuthorizationServer.Verify(ctx, bearer)
	}
	hash, ok := registrar.HashSecret(registrar.PersonalToken, bearer)
	if !ok {
		return TokenInfo{}, invalidToken()
	}
	state, known, err := s.cfg.Store.GetTokenState(ctx, hash)
	expired := !state.ExpiresAt.IsZero() && !s.cfg.Now().Before(state.ExpiresAt)
	if !known || state.Revoked || expired || state.Disabled || !state.Confirmed {
		return TokenInfo{}, cmp.Or(err, invalidToken())
	}
	s.lastUses.record(state.TokenID, s.cfg.Now())
	return TokenInfo{Customer: state.Customer, TokenID: state.TokenID, Kind: registrar.ActorToken, MayWrite: true}, nil
}

func invalidToken() error {
	return registrar.Unauthenticated(BadToken)
}

// NameOf returns the display name of a token's bearer: the token's name, or the
// application's label. It is empty if unknown, for example if the grant has just ended.
func (s *Service) NameOf(ctx context.Context, actor registrar.Actor) (string, error) {
	switch {
	case actor.Kind == registrar.ActorToken:
		token, err := s.cfg.Store.GetPersonalAccessToken(ctx, actor.Through)
		if registrar.KindOf(err) == registrar.KindNotFound {
			return "", nil
		}
		return token.Name, err
	case actor.Kind == registrar.ActorApplication && s.cfg.AuthorizationServer != nil:
		return s.cfg.AuthorizationServer.appName(ctx, actor)
	default:
		return "", nil
	}
}
