package customer

import (
	"context"
	"errors"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

var errSoon = errors.New("not written yet")

type Service struct{ cfg Config }

func New(cfg Config) (*Service, error) {
	cfg, err := cfg.withDefaults()
	return &Service{cfg}, err
}

// PasskeyOrigins are the origins for a base address.
func PasskeyOrigins(base string) []string { return []string{base} }

func (s *Service) Register(ctx context.Context, actor registrar.Actor, r Registration) error {
	return errSoon
}

// PeekLink says whether a link would work, and for which address, without using it.
func (s *Service) PeekLink(ctx context.Context, kind LinkKind, link string) (email string, err error) {
	return "", errSoon
}

// Confirm uses the link, sets the password if one is chosen, and signs in.
func (s *Service) Confirm(ctx context.Context, actor registrar.Actor, link string, c Confirmation) (SignedIn, error) {
	return SignedIn{}, errSoon
}
func (s *Service) SignIn(ctx context.Context, actor registrar.Actor, c Credentials) (SignedIn, error) {
	return SignedIn{}, errSoon
}
func (s *Service) EnterCode(ctx context.Context, actor registrar.Actor, secret, code string) (SignedIn, error) {
	return SignedIn{}, errSoon
}
func (s *Service) BeginPasskeySignIn(ctx context.Context, origin string) (ceremony string, options []byte, err error) {
	return "", nil, errSoon
}
func (s *Service) FinishPasskeySignIn(ctx context.Context, actor registrar.Actor, origin, ceremony string, response []byte, agent string) (SignedIn, error) {
	return SignedIn{}, errSoon
}
func (s *Service) Visitor(ctx context.Context, secret string) (Visitor, error) {
	return Visitor{}, errSoon
}
func (s *Service) SignInAgain(ctx context.Context, actor registrar.Actor, secret string, proof Proof) (SignedIn, error) {
	return SignedIn{}, errSoon
}
func (s *Service) FinishPasskeySignInAgain(ctx context.Context, actor registrar.Actor, origin, secret, ceremony string, response []byte) (SignedIn, error) {
	return SignedIn{}, errSoon
}
func (s *Service) SignOut(ctx context.Context, actor registrar.Actor, secret string) error {
	return errSoon
}
func (s *Service) SignOutEverywhere(ctx context.Context, actor registrar.Actor) error { return errSoon }
func (s *Service) Sessions(ctx context.Context, actor registrar.Actor) ([]Session, error) {
	return nil, errSoon
}
func (s *Service) EndSession(ctx context.Context, actor registrar.Actor, id string) error {
	return errSoon
}
func (s *Service) AskReset(ctx context.Context, actor registrar.Actor, email, language string) error {
	return errSoon
}
func (s *Service) Reset(ctx context.Context, actor registrar.Actor, link, password string) error {
	return errSoon
}
func (s *Service) ChangePassword(ctx context.Context, actor registrar.Actor, old, chosen string) error {
	return errSoon
}
func (s *Service) ChangeEmail(ctx context.Context, actor registrar.Actor, email string) error {
	return errSoon
}
func (s *Service) ConfirmEmail(ctx context.Context, actor registrar.Actor, link string) error {
	return errSoon
}
func (s *Service) SetLanguage(ctx context.Context, actor registrar.Actor, language string) error {
	return errSoon
}

// BeginSecondFactor may be called again: it answers the same secret until it is confirmed or half an hour old.
func (s *Service) BeginSecondFactor(ctx context.Context, actor registrar.Actor) (secret, uri string, err error) {
	return "", "", errSoon
}
func (s *Service) FinishSecondFactor(ctx context.Context, actor registrar.Actor, code string) (recovery []string, err error) {
	return nil, errSoon
}
func (s *Service) DropSecondFactor(ctx context.Context, actor registrar.Actor) error { return errSoon }
func (s *Service) NewRecoveryCodes(ctx context.Context, actor registrar.Actor) ([]string, error) {
	return nil, errSoon
}
func (s *Service) RecoveryCodesLeft(ctx context.Context, actor registrar.Actor) (int, error) {
	return 0, errSoon
}
func (s *Service) BeginAddPasskey(ctx context.Context, actor registrar.Actor, origin string) (ceremony string, options []byte, err error) {
	return "", nil, errSoon
}
func (s *Service) FinishAddPasskey(ctx context.Context, actor registrar.Actor, origin, ceremony, name string, response []byte) error {
	return errSoon
}
func (s *Service) Passkeys(ctx context.Context, actor registrar.Actor) ([]Passkey, error) {
	return nil, errSoon
}
func (s *Service) RemovePasskey(ctx context.Context, actor registrar.Actor, id string) error {
	return errSoon
}

// Registrant is false if nothing was told yet.
func (s *Service) Registrant(ctx context.Context, actor registrar.Actor) (Registrant, bool, error) {
	return Registrant{}, false, errSoon
}

// SetRegistrant fails with *FieldError.
func (s *Service) SetRegistrant(ctx context.Context, actor registrar.Actor, r Registrant) error {
	return errSoon
}
func (s *Service) Deeds(ctx context.Context, actor registrar.Actor, before string, limit int) ([]Entry, error) {
	return nil, errSoon
}

func (s *Service) Add(ctx context.Context, operator registrar.Actor, email, language string) (Customer, string, error) {
	return Customer{}, "", errSoon
}
func (s *Service) Find(ctx context.Context, operator registrar.Actor, email string) (Customer, error) {
	return Customer{}, errSoon
}
func (s *Service) List(ctx context.Context, operator registrar.Actor, after string, limit int) ([]Customer, error) {
	return nil, errSoon
}
func (s *Service) Disable(ctx context.Context, operator registrar.Actor, id string) error {
	return errSoon
}
func (s *Service) Enable(ctx context.Context, operator registrar.Actor, id string) error {
	return errSoon
}
func (s *Service) ResetLink(ctx context.Context, operator registrar.Actor, id string) (string, error) {
	return "", errSoon
}
func (s *Service) SetPassword(ctx context.Context, operator registrar.Actor, id, password string) error {
	return errSoon
}

// SetRegistrantOf is SetRegistrant by an operator.
func (s *Service) SetRegistrantOf(ctx context.Context, operator registrar.Actor, id string, r Registrant) error {
	return errSoon
}

// Sweep deletes what is over; Run does it every few minutes until ctx ends.
func (s *Service) Sweep(ctx context.Context) error { return errSoon }
func (s *Service) Run(ctx context.Context)         { <-ctx.Done() }
