package account

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// BeginPasskeySignIn returns the options for navigator.credentials.get, as JSON, and
// the secret of the challenge.
func (s *Service) BeginPasskeySignIn(ctx context.Context, actor registrar.Actor, origin string) (challenge string, options []byte, err error) {
	party, err := s.origins.forOrigin(origin)
	if err != nil {
		return "", nil, err
	}
	assertion, data, err := party.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return "", nil, err
	}
	if options, err = json.Marshal(assertion); err != nil {
		return "", nil, err
	}
	challenge, err = s.storeChallenge(ctx, actor, ChallengeSignIn, "", webauthnState{Origin: strings.ToLower(origin), Data: *data})
	return challenge, options, err
}

// FinishPasskeySignIn verifies the browser's response and signs in. Wrong passwords never limit it.
func (s *Service) FinishPasskeySignIn(
	ctx context.Context, actor registrar.Actor, origin, challenge string, response []byte, userAgent string,
) (SignInResult, error) {
	used, err := s.checkPasskey(ctx, actor, origin, challenge, response)
	if err != nil {
		return SignInResult{}, err
	}
	return s.startPasskeySession(ctx, used, sessionParams{actor: actor, account: used.account, userAgent: userAgent, authMethod: methodPasskey, newDevice: true})
}

// FinishPasskeySignInAgain reauthenticates a signed-in person by a passkey and renews
// the session. BeginPasskeySignIn starts it.
func (s *Service) FinishPasskeySignInAgain(
	ctx context.Context, actor registrar.Actor, origin, secret, challenge string, response []byte,
) (SignInResult, error) {
	session, account, err := s.findSession(ctx, secret, StateOpen)
	if err != nil {
		return SignInResult{}, err
	}
	used, err := s.checkPasskey(ctx, actor, origin, challenge, response)
	if err != nil {
		return SignInResult{}, err
	}
	if used.account.ID != account.ID {
		return SignInResult{}, registrar.Unauthenticated(PasskeyRefused)
	}
	return s.startPasskeySession(ctx, used, sessionParams{
		actor: actor, account: used.account, userAgent: session.UserAgent, authMethod: methodPasskey,
		action: ActionSignedInAgain, replaces: session.Hash, device: session.Device,
	})
}

// usedPasskey is a passkey whose response was valid.
type usedPasskey struct {
	account Account
	stored  StoredPasskey
	updated string
}

func (s *Service) startPasskeySession(ctx context.Context, used usedPasskey, o sessionParams) (opened SignInResult, err error) {
	err = s.inTx(ctx, func(t *tx) error {
		if opened, err = s.startSession(ctx, t, o); err != nil {
			return err
		}
		// False if it was removed meanwhile, or used concurrently at the same counter.
		if ok, err := t.UsePasskey(ctx, used.stored.ID, used.stored.Credential, used.updated, t.now); !ok {
			return cmp.Or(err, registrar.Unauthenticated(PasskeyRefused))
		}
		return nil
	})
	return opened, err
}

// checkPasskey identifies the passkey of a response and verifies it.
func (s *Service) checkPasskey(ctx context.Context, actor registrar.Actor, origin, challenge string, response []byte) (usedPasskey, error) {
	refused := registrar.Unauthenticated(PasskeyRefused)
	party, err := s.origins.forOrigin(origin)
	if err != nil {
		return usedPasskey{}, err
	}
	state, _, err := s.consumeChallenge(ctx, ChallengeSignIn, origin, challenge)
	if err != nil {
		return usedPasskey{}, err
	}
	if len(response) > maxResponse {
		return usedPasskey{}, refused
	}
	answer, err := protocol.ParseCredentialRequestResponseBytes(response)
	if err != nil {
		return usedPasskey{}, refused
	}
	handle := base64.RawURLEncoding.EncodeToString(answer.Response.UserHandle)
	account, ok, err := s.read().AccountByHandle(ctx, handle)
	if !ok {
		return usedPasskey{}, cmp.Or(err, refused)
	}
	owner, err := loadWebauthnUser(ctx, s.read(), account)
	if err != nil {
		return usedPasskey{}, err
	}
	_, credential, err := party.ValidatePasskeyLogin(func(_, _ []byte) (webauthn.User, error) { return owner, nil }, state.Data, answer)
	if err != nil {
		return usedPasskey{}, refused
	}
	if !account.DisabledAt.IsZero() {
		return usedPasskey{}, registrar.Forbidden(AccountDisabled)
	}
	used := usedPasskey{account: account}
	for i := range owner.credentials {
		if bytes.Equal(owner.credentials[i].ID, credential.ID) {
			used.stored = owner.passkeys[i]
		}
	}
	if credential.Authenticator.CloneWarning {
		actor.Customer = account.ID
		err := s.inTx(ctx, func(t *tx) error {
			return t.recordEvent(ctx, actor, ActionPasskeyCloned, account.ID, used.stored.Name)
		})
		if err != nil {
			return usedPasskey{}, err
		}
		return usedPasskey{}, refused
	}
	used.updated, err = encodeCredential(*credential)
	return used, err
}
