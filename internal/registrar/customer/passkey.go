package customer

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	ceremonyLife   = 5 * time.Minute
	mostPasskeys   = 20
	maxPasskeyName = 60
	maxResponse    = 64 << 10
)

// asked is what a browser was asked, while it is being answered.
type asked struct {
	Origin string               `json:"origin"`
	Data   webauthn.SessionData `json:"data"`
	// Through is the session that wants another passkey.
	Through string `json:"through,omitempty"`
}

// holder is an account as the WebAuthn library sees it.
type holder struct {
	account     Account
	passkeys    []StoredPasskey
	credentials []webauthn.Credential
}

func (h holder) WebAuthnID() []byte {
	handle, _ := base64.RawURLEncoding.DecodeString(h.account.UserHandle) // we have written it
	return handle
}
func (h holder) WebAuthnName() string                       { return h.account.Email }
func (h holder) WebAuthnDisplayName() string                { return h.account.Email }
func (h holder) WebAuthnCredentials() []webauthn.Credential { return h.credentials }

func holderOf(ctx context.Context, r Reader, account Account) (holder, error) {
	passkeys, err := r.PasskeysOf(ctx, account.ID)
	if err != nil {
		return holder{}, err
	}
	h := holder{account: account, passkeys: passkeys, credentials: make([]webauthn.Credential, len(passkeys))}
	for i, passkey := range passkeys {
		if err := json.Unmarshal([]byte(passkey.Credential), &h.credentials[i]); err != nil {
			return holder{}, err
		}
	}
	return h, nil
}

// begin stores what was asked and returns the secret by which it is answered.
// Who has signed in has a budget apart from that of the address, so that
// strangers who share the address don't keep a customer from it.
func (s *Service) begin(ctx context.Context, actor registrar.Actor, kind CeremonyKind, customer string, question asked) (string, error) {
	key := actor.Customer
	if key == "" {
		key = registrar.Network(actor.Address)
	}
	if wait := s.cfg.Limits.Passkeys.Count(key); wait > 0 {
		return "", tooMany(wait)
	}
	data, err := json.Marshal(question)
	if err != nil {
		return "", err
	}
	secret, hash := registrar.NewSecret(registrar.Ceremony)
	return secret, s.change(ctx, func(t *tx) error {
		return t.PutCeremony(ctx, string(hash), PendingCeremony{
			Kind: kind, Customer: customer, Data: string(data), ExpiresAt: t.now.Add(ceremonyLife),
		})
	})
}

// take returns what was asked, once.
func (s *Service) take(ctx context.Context, kind CeremonyKind, origin, secret string) (question asked, customer string, err error) {
	refused := fail(registrar.KindUnauthenticated, PasskeyRefused)
	hash, ok := registrar.HashSecret(registrar.Ceremony, secret)
	if !ok {
		return asked{}, "", refused
	}
	err = s.change(ctx, func(t *tx) error {
		pending, ok, err := t.TakeCeremony(ctx, string(hash), kind, t.now)
		if err != nil {
			return err
		}
		if !ok {
			return refused
		}
		customer = pending.Customer
		return json.Unmarshal([]byte(pending.Data), &question)
	})
	if err == nil && question.Origin != strings.ToLower(origin) {
		err = refused
	}
	return question, customer, err
}

// encodeCredential leaves out the statement about the authenticator's maker: it
// is large, and nobody asks for it.
func encodeCredential(credential webauthn.Credential) (string, error) {
	credential.Attestation = webauthn.CredentialAttestation{}
	text, err := json.Marshal(credential)
	return string(text), err
}

// BeginAddPasskey returns the options for navigator.credentials.create, as JSON,
// and the ceremony that the answer belongs to.
func (s *Service) BeginAddPasskey(ctx context.Context, actor registrar.Actor, origin string) (ceremony string, options []byte, err error) {
	account, err := s.recent(ctx, s.read(), actor)
	if err != nil {
		return "", nil, err
	}
	if err := s.requireFactorChange(ctx, s.read(), actor, account); err != nil {
		return "", nil, err
	}
	party, err := s.origins.at(origin)
	if err != nil {
		return "", nil, err
	}
	owner, err := holderOf(ctx, s.read(), account)
	if err != nil {
		return "", nil, err
	}
	if len(owner.passkeys) >= mostPasskeys {
		return "", nil, fail(registrar.KindConflict, PasskeysTooMany)
	}
	creation, data, err := party.BeginRegistration(owner,
		webauthn.WithExclusions(webauthn.Credentials(owner.credentials).CredentialDescriptors()))
	if err != nil {
		return "", nil, err
	}
	if options, err = json.Marshal(creation); err != nil {
		return "", nil, err
	}
	question := asked{Origin: strings.ToLower(origin), Data: *data, Through: actor.Through}
	ceremony, err = s.begin(ctx, actor, CeremonyAddPasskey, account.ID, question)
	return ceremony, options, err
}

// FinishAddPasskey checks the browser's answer and keeps the passkey under a
// name that its owner chooses.
func (s *Service) FinishAddPasskey(ctx context.Context, actor registrar.Actor, origin, ceremony, name string, response []byte) error {
	if _, err := s.recent(ctx, s.read(), actor); err != nil {
		return err
	}
	name = strings.TrimSpace(name)
	if !utf8.ValidString(name) || name == "" || utf8.RuneCountInString(name) > maxPasskeyName ||
		strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return invalid(PasskeyName)
	}
	credential, err := s.checkNewPasskey(ctx, actor, origin, ceremony, response)
	if err != nil {
		return err
	}
	text, err := encodeCredential(credential)
	if err != nil {
		return err
	}
	return s.change(ctx, func(t *tx) error {
		// The account's row is held, so that two can't both be the twentieth.
		account, err := s.changingFactors(ctx, t, actor)
		if err != nil {
			return err
		}
		passkeys, err := t.PasskeysOf(ctx, account.ID)
		if err != nil {
			return err
		}
		if len(passkeys) >= mostPasskeys {
			return fail(registrar.KindConflict, PasskeysTooMany)
		}
		inserted, err := t.InsertPasskey(ctx, StoredPasskey{
			Passkey:  Passkey{ID: registrar.NewID("pk_", t.now), Name: name, CreatedAt: t.now},
			Customer: account.ID, CredentialID: base64.RawURLEncoding.EncodeToString(credential.ID), Credential: text,
		})
		if err != nil {
			return err
		}
		if !inserted {
			return fail(registrar.KindConflict, PasskeyTaken)
		}
		return t.tell(ctx, actor, ActionPasskeyAdded, name, passkeyLetter("added", name))
	})
}

func passkeyLetter(change, name string) registrar.Letter {
	return registrar.Letter{Kind: registrar.LetterPasskey, Facts: map[string]string{factChange: change, factName: name}}
}

// checkNewPasskey checks the answer to BeginAddPasskey. It must come from the
// session that has asked.
func (s *Service) checkNewPasskey(ctx context.Context, actor registrar.Actor, origin, ceremony string, response []byte) (webauthn.Credential, error) {
	refused := fail(registrar.KindInvalid, PasskeyRefused)
	party, err := s.origins.at(origin)
	if err != nil {
		return webauthn.Credential{}, err
	}
	question, customer, err := s.take(ctx, CeremonyAddPasskey, origin, ceremony)
	if err != nil {
		return webauthn.Credential{}, err
	}
	if customer != actor.Customer || question.Through != actor.Through || len(response) > maxResponse {
		return webauthn.Credential{}, refused
	}
	answer, err := protocol.ParseCredentialCreationResponseBytes(response)
	if err != nil {
		return webauthn.Credential{}, refused
	}
	account, err := s.signedIn(ctx, s.read(), actor)
	if err != nil {
		return webauthn.Credential{}, err
	}
	credential, err := party.CreateCredential(holder{account: account}, question.Data, answer)
	if err != nil {
		return webauthn.Credential{}, refused
	}
	return *credential, nil
}

// Passkeys are those of the account, the oldest first.
func (s *Service) Passkeys(ctx context.Context, actor registrar.Actor) ([]Passkey, error) {
	account, err := s.signedIn(ctx, s.read(), actor)
	if err != nil {
		return nil, err
	}
	stored, err := s.read().PasskeysOf(ctx, account.ID)
	list := make([]Passkey, 0, len(stored))
	for _, passkey := range stored {
		list = append(list, passkey.Passkey)
	}
	return list, err
}

// RemovePasskey removes one, unless it is the last way into the account.
func (s *Service) RemovePasskey(ctx context.Context, actor registrar.Actor, id string) error {
	return s.change(ctx, func(t *tx) error {
		// The account's row is held, so that two can't both be the last but one.
		account, err := s.changingFactors(ctx, t, actor)
		if err != nil {
			return err
		}
		passkeys, err := t.PasskeysOf(ctx, account.ID)
		if err != nil {
			return err
		}
		name, found := "", false
		for _, passkey := range passkeys {
			if passkey.ID == id {
				name, found = passkey.Name, true
			}
		}
		if !found {
			return fail(registrar.KindNotFound, NoSuchObject)
		}
		if len(passkeys) == 1 && !account.HasPassword {
			return fail(registrar.KindConflict, LastWayIn)
		}
		if _, err := t.DeletePasskey(ctx, account.ID, id); err != nil {
			return err
		}
		// Whoever took the device may have signed in with it.
		if err := t.DeleteSessionsExcept(ctx, account.ID, actor.Through); err != nil {
			return err
		}
		return t.tell(ctx, actor, ActionPasskeyRemoved, name, passkeyLetter("removed", name))
	})
}
