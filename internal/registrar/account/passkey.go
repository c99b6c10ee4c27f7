package account

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	challengeTTL   = 5 * time.Minute
	maxPasskeys    = 20
	maxPasskeyName = 60
	maxResponse    = 64 << 10
)

// webauthnState is the state of a WebAuthn challenge.
type webauthnState struct {
	Origin    string               `json:"origin"`
	Data      webauthn.SessionData `json:"data"`
	SessionID string               `json:"through,omitempty"` // the session that adds a passkey
}

// webauthnUser adapts an account to the WebAuthn library.
type webauthnUser struct {
	account     Account
	passkeys    []StoredPasskey
	credentials []webauthn.Credential
}

func (h webauthnUser) WebAuthnID() []byte {
	handle, _ := base64.RawURLEncoding.DecodeString(h.account.UserHandle) // written by newAccount
	return handle
}
func (h webauthnUser) WebAuthnName() string                       { return h.account.Email }
func (h webauthnUser) WebAuthnDisplayName() string                { return h.account.Email }
func (h webauthnUser) WebAuthnCredentials() []webauthn.Credential { return h.credentials }

func loadWebauthnUser(ctx context.Context, r Reader, account Account) (webauthnUser, error) {
	passkeys, err := r.ListPasskeys(ctx, account.ID)
	if err != nil {
		return webauthnUser{}, err
	}
	user := webauthnUser{account: account, passkeys: passkeys, credentials: make([]webauthn.Credential, len(passkeys))}
	for i, passkey := range passkeys {
		if err := json.Unmarshal([]byte(passkey.Credential), &user.credentials[i]); err != nil {
			return webauthnUser{}, err
		}
	}
	return user, nil
}

// storeChallenge stores a challenge and returns the secret that identifies it and its options.
// Signed-in customers have a budget separate from that of their address, so that others
// behind the same address can't exhaust it.
func (s *Service) storeChallenge(
	ctx context.Context, actor registrar.Actor, kind ChallengeKind, customer string, state webauthnState, options any,
) (secret string, encoded []byte, err error) {
	key := cmp.Or(actor.Customer, registrar.Network(actor.Address))
	if wait := s.cfg.Limits.passkeys.AllowText(key); wait > 0 {
		return "", nil, tooMany(wait)
	}
	if encoded, err = json.Marshal(options); err != nil {
		return "", nil, err
	}
	data, err := json.Marshal(state)
	if err != nil {
		return "", nil, err
	}
	secret, hash := registrar.NewSecret(registrar.ChallengeSecret)
	return secret, encoded, s.inTx(ctx, func(t *tx) error {
		return t.PutChallenge(ctx, string(hash), Challenge{
			Kind: kind, Customer: customer, Data: string(data), ExpiresAt: t.now.Add(challengeTTL),
		})
	})
}

// consumeChallenge returns a challenge once.
func (s *Service) consumeChallenge(ctx context.Context, kind ChallengeKind, origin, secret string) (state webauthnState, customer string, err error) {
	refused := registrar.Unauthenticated(PasskeyRefused)
	hash, ok := registrar.HashSecret(registrar.ChallengeSecret, secret)
	if !ok {
		return webauthnState{}, "", refused
	}
	err = s.inTx(ctx, func(t *tx) error {
		pending, ok, err := t.ConsumeChallenge(ctx, string(hash), kind, t.now)
		if !ok {
			return cmp.Or(err, refused)
		}
		customer = pending.Customer
		return json.Unmarshal([]byte(pending.Data), &state)
	})
	if err == nil && state.Origin != strings.ToLower(origin) {
		err = refused
	}
	return state, customer, err
}

// encodeCredential omits the attestation, which is large and not evaluated.
func encodeCredential(credential webauthn.Credential) (string, error) {
	credential.Attestation = webauthn.CredentialAttestation{}
	text, err := json.Marshal(credential)
	return string(text), err
}

// BeginAddPasskey returns a challenge's secret and its options for navigator.credentials.create.
func (s *Service) BeginAddPasskey(ctx context.Context, actor registrar.Actor, origin string) (challenge string, options []byte, err error) {
	account, err := s.recentlySignedInAccount(ctx, s.read(), actor)
	if err != nil {
		return "", nil, err
	}
	if err := s.requireFactorChange(ctx, s.read(), actor, account); err != nil {
		return "", nil, err
	}
	party, err := s.origins.forOrigin(origin)
	if err != nil {
		return "", nil, err
	}
	owner, err := loadWebauthnUser(ctx, s.read(), account)
	if err != nil {
		return "", nil, err
	}
	if len(owner.passkeys) >= maxPasskeys {
		return "", nil, registrar.Conflict(PasskeysTooMany)
	}
	creation, data, err := party.BeginRegistration(owner,
		webauthn.WithExclusions(webauthn.Credentials(owner.credentials).CredentialDescriptors()))
	if err != nil {
		return "", nil, err
	}
	state := webauthnState{Origin: strings.ToLower(origin), Data: *data, SessionID: actor.Through}
	return s.storeChallenge(ctx, actor, ChallengeAddPasskey, account.ID, state, creation)
}

// FinishAddPasskey verifies the browser's response and stores the passkey.
func (s *Service) FinishAddPasskey(ctx context.Context, actor registrar.Actor, origin, challenge, name string, response []byte) error {
	if _, err := s.recentlySignedInAccount(ctx, s.read(), actor); err != nil {
		return err
	}
	name = strings.TrimSpace(name)
	if name == "" || !registrar.IsPrintable(name, maxPasskeyName) {
		return registrar.Invalid(PasskeyName)
	}
	credential, err := s.checkNewPasskey(ctx, actor, origin, challenge, response)
	if err != nil {
		return err
	}
	text, err := encodeCredential(credential)
	if err != nil {
		return err
	}
	// The row lock keeps concurrent requests from exceeding the limit.
	return s.changeFactors(ctx, actor, func(t *tx, account Account) error {
		passkeys, err := t.ListPasskeys(ctx, account.ID)
		if err != nil {
			return err
		}
		if len(passkeys) >= maxPasskeys {
			return registrar.Conflict(PasskeysTooMany)
		}
		inserted, err := t.InsertPasskey(ctx, StoredPasskey{
			Passkey:  Passkey{ID: registrar.NewID("pk_", t.now), Name: name, CreatedAt: t.now},
			Customer: account.ID, CredentialID: base64.RawURLEncoding.EncodeToString(credential.ID), Credential: text,
		})
		if !inserted {
			return cmp.Or(err, registrar.Conflict(PasskeyTaken))
		}
		return t.recordAndMail(ctx, actor, ActionPasskeyAdded, name, passkeyMail("added", name))
	})
}

// passkeyMail is about a change: added or removed.
func passkeyMail(change, name string) registrar.Mail {
	return registrar.Mail{Kind: registrar.MailPasskey, Data: map[string]string{"change": change, "name": name}}
}

// checkNewPasskey verifies a response; it must come from the session that asked for it.
func (s *Service) checkNewPasskey(ctx context.Context, actor registrar.Actor, origin, challenge string, response []byte) (webauthn.Credential, error) {
	refused := registrar.Invalid(PasskeyRefused)
	party, err := s.origins.forOrigin(origin)
	if err != nil {
		return webauthn.Credential{}, err
	}
	state, customer, err := s.consumeChallenge(ctx, ChallengeAddPasskey, origin, challenge)
	if err != nil {
		return webauthn.Credential{}, err
	}
	if customer != actor.Customer || state.SessionID != actor.Through || len(response) > maxResponse {
		return webauthn.Credential{}, refused
	}
	answer, err := protocol.ParseCredentialCreationResponseBytes(response)
	if err != nil {
		return webauthn.Credential{}, refused
	}
	account, err := s.signedInAccount(ctx, s.read(), actor)
	if err != nil {
		return webauthn.Credential{}, err
	}
	credential, err := party.CreateCredential(webauthnUser{account: account}, state.Data, answer)
	if err != nil {
		return webauthn.Credential{}, refused
	}
	return *credential, nil
}

// Passkeys returns the account's passkeys, oldest first.
func (s *Service) Passkeys(ctx context.Context, actor registrar.Actor) ([]Passkey, error) {
	account, err := s.signedInAccount(ctx, s.read(), actor)
	if err != nil {
		return nil, err
	}
	return passkeysOf(s.read().ListPasskeys(ctx, account.ID))
}

func passkeysOf(stored []StoredPasskey, err error) ([]Passkey, error) {
	list := make([]Passkey, 0, len(stored))
	for _, passkey := range stored {
		list = append(list, passkey.Passkey)
	}
	return list, err
}

// RemovePasskey removes a passkey unless it is the last way into the account.
func (s *Service) RemovePasskey(ctx context.Context, actor registrar.Actor, id string) error {
	// The row lock keeps concurrent requests from removing the last two.
	return s.changeFactors(ctx, actor, func(t *tx, account Account) error {
		passkeys, err := t.ListPasskeys(ctx, account.ID)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(passkeys, func(passkey StoredPasskey) bool { return passkey.ID == id })
		if i < 0 {
			return registrar.NotFound(NoSuchObject)
		}
		if len(passkeys) == 1 && !account.HasPassword {
			return registrar.Conflict(LastWayIn)
		}
		if _, err := t.DeletePasskey(ctx, account.ID, id); err != nil {
			return err
		}
		// A thief of the device may have signed in with it.
		if err := t.DeleteSessionsExcept(ctx, account.ID, actor.Through); err != nil {
			return err
		}
		return t.recordAndMail(ctx, actor, ActionPasskeyRemoved, passkeys[i].Name, passkeyMail("removed", passkeys[i].Name))
	})
}

// BeginPasskeySignIn returns a challenge's secret and its options for navigator.credentials.get.
func (s *Service) BeginPasskeySignIn(ctx context.Context, actor registrar.Actor, origin string) (challenge string, options []byte, err error) {
	party, err := s.origins.forOrigin(origin)
	if err != nil {
		return "", nil, err
	}
	assertion, data, err := party.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return "", nil, err
	}
	return s.storeChallenge(ctx, actor, ChallengeSignIn, "", webauthnState{Origin: strings.ToLower(origin), Data: *data}, assertion)
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

// FinishPasskeySignInAgain renews the session of a person. BeginPasskeySignIn starts it.
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

// relyingParties are the WebAuthn configurations by origin. A passkey belongs to a host
// name, and its response must come from exactly the origin of the page.
type relyingParties map[string]*webauthn.WebAuthn

// PasskeyOrigins returns the origins of a base URL. A passkey can't belong to an IP address, so
// loopback becomes localhost. Over other plain HTTP browsers have no passkeys: the list is empty.
func PasskeyOrigins(base string) []string {
	address, err := url.Parse(base)
	if err != nil || address.Host == "" {
		return nil
	}
	host := strings.ToLower(address.Hostname())
	ip, err := netip.ParseAddr(host)
	isIP := err == nil
	switch {
	case isIP && ip.IsLoopback():
		host = "localhost"
	case isIP, address.Scheme != "https" && host != "localhost":
		return nil
	}
	if port := address.Port(); port != "" && (address.Scheme != "https" || port != "443") && (address.Scheme != "http" || port != "80") {
		host = net.JoinHostPort(host, port)
	}
	return []string{address.Scheme + "://" + host}
}

func newRelyingParties(origins []string) (relyingParties, error) {
	parties := make(relyingParties, len(origins))
	for _, origin := range origins {
		address, err := url.Parse(origin)
		if err != nil || address.Hostname() == "" {
			return nil, errors.New("account: Config.Origins: an origin must look like https://example.com")
		}
		party, err := webauthn.New(&webauthn.Config{
			RPID: address.Hostname(), RPDisplayName: issuer, RPOrigins: []string{origin},
			// The authenticator's model does not matter.
			AttestationPreference: protocol.PreferNoAttestation,
			AuthenticatorSelection: protocol.AuthenticatorSelection{
				ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(),
				UserVerification: protocol.VerificationRequired,
			},
			// Some password managers return extension outputs that were not requested.
			ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
		})
		if err != nil {
			return nil, fmt.Errorf("account: passkeys for %s: %w", origin, err)
		}
		parties[origin] = party
	}
	return parties, nil
}

func (parties relyingParties) forOrigin(origin string) (*webauthn.WebAuthn, error) {
	party, ok := parties[strings.ToLower(origin)]
	if !ok {
		return nil, registrar.Invalid(OriginUnknown)
	}
	return party, nil
}
