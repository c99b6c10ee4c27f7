package customer

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// BeginPasskeySignIn returns the options for navigator.credentials.get, as JSON,
// and the ceremony that the answer belongs to.
func (s *Service) BeginPasskeySignIn(ctx context.Context, actor registrar.Actor, origin string) (ceremony string, options []byte, err error) {
	party, err := s.origins.at(origin)
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
	ceremony, err = s.begin(ctx, actor, CeremonySignIn, "", asked{Origin: strings.ToLower(origin), Data: *data})
	return ceremony, options, err
}

// FinishPasskeySignIn checks the browser's answer and signs in. Wrong passwords
// never stand in its way.
func (s *Service) FinishPasskeySignIn(
	ctx context.Context, actor registrar.Actor, origin, ceremony string, response []byte, agent string,
) (SignedIn, error) {
	used, err := s.checkPasskey(ctx, actor, origin, ceremony, response)
	if err != nil {
		return SignedIn{}, err
	}
	return s.openByPasskey(ctx, used, opening{actor: actor, account: used.account, agent: agent, how: byPasskey, newDevice: true})
}

// FinishPasskeySignInAgain proves by a passkey that the person is still there,
// and renews the session. BeginPasskeySignIn begins it.
func (s *Service) FinishPasskeySignInAgain(
	ctx context.Context, actor registrar.Actor, origin, secret, ceremony string, response []byte,
) (SignedIn, error) {
	session, account, err := s.session(ctx, secret, StateOpen)
	if err != nil {
		return SignedIn{}, err
	}
	used, err := s.checkPasskey(ctx, actor, origin, ceremony, response)
	if err != nil {
		return SignedIn{}, err
	}
	if used.account.ID != account.ID {
		return SignedIn{}, fail(registrar.KindUnauthenticated, PasskeyRefused)
	}
	return s.openByPasskey(ctx, used, opening{
		actor: actor, account: used.account, agent: session.Agent, how: byPasskey,
		action: ActionSignedInAgain, replaces: session.Hash, device: session.Device,
	})
}

// usedPasskey is a passkey whose answer was right.
type usedPasskey struct {
	account Account
	stored  StoredPasskey
	updated string
}

func (s *Service) openByPasskey(ctx context.Context, used usedPasskey, o opening) (opened SignedIn, err error) {
	err = s.change(ctx, func(t *tx) error {
		if opened, err = s.open(ctx, t, o); err != nil {
			return err
		}
		// Removed meanwhile, or used by somebody else at the same counter.
		ok, err := t.UsePasskey(ctx, used.stored.ID, used.stored.Credential, used.updated, t.now)
		if err != nil {
			return err
		}
		if !ok {
			return fail(registrar.KindUnauthenticated, PasskeyRefused)
		}
		return nil
	})
	if err != nil {
		return SignedIn{}, err
	}
	return opened, nil
}

// checkPasskey finds out whose passkey has answered, and whether rightly.
func (s *Service) checkPasskey(ctx context.Context, actor registrar.Actor, origin, ceremony string, response []byte) (usedPasskey, error) {
	refused := fail(registrar.KindUnauthenticated, PasskeyRefused)
	party, err := s.origins.at(origin)
	if err != nil {
		return usedPasskey{}, err
	}
	question, _, err := s.take(ctx, CeremonySignIn, origin, ceremony)
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
	if err != nil {
		return usedPasskey{}, err
	}
	if !ok {
		return usedPasskey{}, refused
	}
	owner, err := holderOf(ctx, s.read(), account)
	if err != nil {
		return usedPasskey{}, err
	}
	_, credential, err := party.ValidatePasskeyLogin(func(_, _ []byte) (webauthn.User, error) { return owner, nil }, question.Data, answer)
	if err != nil {
		return usedPasskey{}, refused
	}
	if !account.DisabledAt.IsZero() {
		return usedPasskey{}, fail(registrar.KindForbidden, AccountDisabled)
	}
	used := usedPasskey{account: account}
	for i := range owner.credentials {
		if bytes.Equal(owner.credentials[i].ID, credential.ID) {
			used.stored = owner.passkeys[i]
		}
	}
	if credential.Authenticator.CloneWarning {
		actor.Customer = account.ID
		err := s.change(ctx, func(t *tx) error {
			return t.record(ctx, actor, ActionPasskeyCloned, account.ID, used.stored.Name)
		})
		if err != nil {
			return usedPasskey{}, err
		}
		return usedPasskey{}, refused
	}
	used.updated, err = encodeCredential(*credential)
	return used, err
}
