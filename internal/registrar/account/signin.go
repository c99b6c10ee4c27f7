package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	secondFactorTTL = 10 * time.Minute // for entering a code
	maxCodeAttempts = 5                // wrong codes that end the pending session
	deviceTTL       = 365 * day
	maxSessions     = 100 // per account; beyond it the oldest ends
	maxDevices      = 100
	maxUserAgent    = 200
)

// SignIn verifies a password; the package comment has the rules.
func (s *Service) SignIn(ctx context.Context, actor registrar.Actor, c Credentials) (SignInResult, error) {
	_, key, err := parseEmail(c.Email)
	if err != nil {
		return SignInResult{}, err
	}
	opened, err := s.signIn(ctx, actor, key, c)
	if errors.Is(err, errAccountChanged) {
		// Most likely a concurrent sign-in rehashed the password.
		opened, err = s.signIn(ctx, actor, key, c)
	}
	if errors.Is(err, errAccountChanged) {
		err = registrar.Unauthenticated(BadCredentials)
	}
	return opened, err
}

func (s *Service) signIn(ctx context.Context, actor registrar.Actor, key string, c Credentials) (SignInResult, error) {
	account, known, err := s.read().AccountByEmail(ctx, key)
	if err != nil {
		return SignInResult{}, err
	}
	device, err := s.knownDevice(ctx, c.Device, account.ID)
	if err != nil {
		return SignInResult{}, err
	}
	req := requesterOf(actor, "")
	if device != "" {
		req.account = account.ID
	}
	ok, rehashed, err := s.hasher.verify(ctx, req, s.passwordBudgets(actor, key, device), account.PasswordHash, c.Password)
	if err != nil {
		return SignInResult{}, err
	}
	if !ok {
		if known && !account.ConfirmedAt.IsZero() {
			s.queueFailedSignIn(actor, account.ID, methodPassword)
		}
		return SignInResult{}, registrar.Unauthenticated(BadCredentials)
	}
	if !account.DisabledAt.IsZero() {
		return SignInResult{}, registrar.Forbidden(AccountDisabled)
	}
	return s.openSession(ctx, parsedCode{}, sessionParams{
		actor: actor, account: account, userAgent: c.UserAgent, authMethod: methodPassword, device: device, newDevice: device == "",
		rehashed: rehashed, needsCode: account.HasSecondFactor,
	})
}

// openSession starts a session and uses a code for it; the zero code means none.
func (s *Service) openSession(ctx context.Context, code parsedCode, o sessionParams) (opened SignInResult, err error) {
	err = s.inTx(ctx, func(t *tx) error {
		if code != (parsedCode{}) {
			if err := s.useCode(ctx, t, o.actor, o.account, code); err != nil {
				return err
			}
		}
		opened, err = s.startSession(ctx, t, o)
		return err
	})
	return opened, err
}

// knownDevice returns the hash of the device cookie if it belongs to the account.
func (s *Service) knownDevice(ctx context.Context, cookie, customer string) (registrar.SecretHash, error) {
	hash, ok := registrar.HashSecret(registrar.DeviceSecret, cookie)
	if !ok {
		return "", nil
	}
	owner, known, err := s.read().DeviceOwner(ctx, hash, s.cfg.Now())
	if err != nil || !known || owner != customer || customer == "" {
		return "", err
	}
	return hash, nil
}

// passwordBudgets returns the budgets for wrong passwords; a known device has only one.
func (s *Service) passwordBudgets(actor registrar.Actor, key string, device registrar.SecretHash) budgetSet {
	if device != "" {
		return budgetSet{{s.cfg.Limits.device, string(device)}}
	}
	network := registrar.Network(actor.Address)
	return budgetSet{
		{s.cfg.Limits.address, network},
		{s.cfg.Limits.accountAddress, network + " " + key},
		{s.cfg.Limits.account, key},
	}
}

// queueFailedSignIn queues an audit event, within the limit of FailedSignInEvents.
func (s *Service) queueFailedSignIn(actor registrar.Actor, customer, authMethod string) {
	if s.cfg.Limits.failedSignInEvents.AllowText(customer) > 0 {
		return
	}
	event := registrar.AuditEvent{Actor: actor, Action: ActionSignInFailed, Customer: customer, Object: authMethod, At: s.cfg.Now()}
	select {
	case s.failedSignIns <- event:
	default: // queue full: an attack on very many accounts, visible in the metrics
	}
}

// sessionParams describes a session to be started.
type sessionParams struct {
	actor      registrar.Actor
	account    Account
	userAgent  string
	authMethod string
	action     registrar.Action     // empty means ActionSignedIn
	replaces   registrar.SecretHash // the session that this one supersedes; empty if there is none
	device     registrar.SecretHash // the known device; newDevice requests a new one
	newDevice  bool
	rehashed   string
	needsCode  bool
}

// errAccountChanged means that the password or the second factor changed, or the
// account was disabled, between authentication and the start of the session.
var errAccountChanged = fmt.Errorf("account: start session: account changed: %w", registrar.Unauthenticated(registrar.SignInFirst))

// startSession starts a session with a new id and a new secret.
//
// The account's row is always updated, if only with its current values. A concurrent change of a
// factor, or a disable, updates it too, so one of the two waits and sees the other's result.
func (s *Service) startSession(ctx context.Context, t *tx, o sessionParams) (SignInResult, error) {
	if ok, err := t.ReplacePasswordHash(ctx, o.account, cmp.Or(o.rehashed, o.account.PasswordHash)); !ok {
		return SignInResult{}, cmp.Or(err, errAccountChanged)
	}
	if o.replaces != "" {
		if ok, err := t.DeleteSession(ctx, o.replaces); !ok {
			return SignInResult{}, cmp.Or(err, registrar.Unauthenticated(registrar.SignInFirst))
		}
	}
	secret, secretHash := registrar.NewSecret(registrar.SessionSecret)
	session := StoredSession{
		Session: Session{
			ID: registrar.NewID("ses_", t.now), CustomerID: o.account.ID,
			Address: addressText(o.actor), Country: o.actor.Country, UserAgent: cleanUserAgent(o.userAgent),
			CreatedAt: t.now, AuthenticatedAt: t.now, SeenAt: t.now, ExpiresAt: s.expiry(t.now, t.now), AuthMethod: o.authMethod,
		},
		Hash: secretHash, State: StateOpen, Device: o.device,
	}
	if o.needsCode {
		session.State, session.ExpiresAt = StateSecondFactor, t.now.Add(secondFactorTTL)
	}
	if err := t.InsertSession(ctx, session, maxSessions); err != nil {
		return SignInResult{}, err
	}
	if o.needsCode {
		return SignInResult{Secret: secret, NeedsCode: true}, nil
	}
	signedIn := SignInResult{Secret: secret, Visitor: Visitor{Customer: o.account.Customer, Session: session.Session}}
	if o.newDevice {
		device, deviceHash := registrar.NewSecret(registrar.DeviceSecret)
		if err := t.InsertDevice(ctx, o.account.ID, deviceHash, t.now, t.now.Add(deviceTTL), maxDevices); err != nil {
			return SignInResult{}, err
		}
		signedIn.Device = device
	}
	o.actor.Customer, o.actor.Through = o.account.ID, session.ID
	return signedIn, t.recordEvent(ctx, o.actor, cmp.Or(o.action, ActionSignedIn), o.account.ID, o.authMethod)
}

// expiry returns when a session ends: after the idle timeout, but not later than the absolute one.
func (s *Service) expiry(created, seen time.Time) time.Time {
	idle, absolute := seen.Add(sessionIdle), created.Add(sessionLife)
	if idle.Before(absolute) {
		return idle
	}
	return absolute
}

func addressText(actor registrar.Actor) string {
	if !actor.Address.IsValid() {
		return ""
	}
	return actor.Address.String()
}

// cleanUserAgent shortens a user agent to what fits on a page.
func cleanUserAgent(userAgent string) string {
	userAgent = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			return r
		}
		return -1
	}, strings.ToValidUTF8(userAgent, ""))
	for i := range userAgent {
		if i > maxUserAgent {
			return userAgent[:i]
		}
	}
	return userAgent
}

// EnterCode completes a sign-in with a code of the authenticator app or a recovery code.
func (s *Service) EnterCode(ctx context.Context, actor registrar.Actor, secret, code string) (SignInResult, error) {
	session, account, err := s.findSession(ctx, secret, StateSecondFactor)
	if err != nil {
		return SignInResult{}, err
	}
	if err := s.consumeCodeBudget(session.Device, account.ID); err != nil {
		return SignInResult{}, err
	}
	// The attempt is counted before the code is checked, whatever the outcome.
	err = s.inTx(ctx, func(t *tx) error {
		if taken, err := t.UseCodeAttempt(ctx, session.Hash, maxCodeAttempts, t.now); !taken {
			return cmp.Or(err, registrar.Unauthenticated(registrar.SignInFirst))
		}
		return nil
	})
	if err != nil {
		return SignInResult{}, err
	}
	parsed, err := s.parseCode(account, code)
	if err != nil {
		return SignInResult{}, s.queueWrongCode(actor, account.ID, err)
	}
	opened, err := s.openSession(ctx, parsed, sessionParams{
		actor: actor, account: account, userAgent: session.UserAgent, authMethod: methodPasswordAndCode, replaces: session.Hash,
		device: session.Device, newDevice: session.Device == "",
	})
	return opened, s.queueWrongCode(actor, account.ID, err)
}

// consumeCodeBudget counts an attempt to enter a code. A known device has its own budget.
func (s *Service) consumeCodeBudget(device registrar.SecretHash, customer string) error {
	key := cmp.Or(string(device), customer)
	if wait := (budgetSet{{s.cfg.Limits.codes, key}, {s.cfg.Limits.codesLong, key}}).consume(); wait > 0 {
		return tooMany(wait)
	}
	return nil
}

// SignInAgain reauthenticates a signed-in person and renews the session.
func (s *Service) SignInAgain(ctx context.Context, actor registrar.Actor, secret string, credentials ReauthCredentials) (SignInResult, error) {
	session, account, err := s.findSession(ctx, secret, StateOpen)
	if err != nil {
		return SignInResult{}, err
	}
	device, err := s.knownDevice(ctx, credentials.Device, account.ID)
	if err != nil {
		return SignInResult{}, err
	}
	budgets := s.passwordBudgets(actor, account.EmailKey, device)
	ok, rehashed, err := s.hasher.verify(ctx, requesterOf(actor, account.ID), budgets, account.PasswordHash, credentials.Password)
	if err != nil {
		return SignInResult{}, err
	}
	if !ok {
		s.queueFailedSignIn(actor, account.ID, methodPassword)
		return SignInResult{}, registrar.Unauthenticated(BadCredentials)
	}
	params := sessionParams{
		actor: actor, account: account, userAgent: session.UserAgent, authMethod: methodPassword, action: ActionSignedInAgain,
		replaces: session.Hash, device: session.Device, rehashed: rehashed,
	}
	var parsed parsedCode
	if account.HasSecondFactor {
		params.authMethod = methodPasswordAndCode
		if err := s.consumeCodeBudget(device, account.ID); err != nil {
			return SignInResult{}, err
		}
		if parsed, err = s.parseCode(account, credentials.Code); err != nil {
			return SignInResult{}, s.queueWrongCode(actor, account.ID, err)
		}
	}
	opened, err := s.openSession(ctx, parsed, params)
	return opened, s.queueWrongCode(actor, account.ID, err)
}

// RequestSignInLink queues a mail with a link that signs in an account without a password,
// which may have no passkey either. next is the path of the page after it.
func (s *Service) RequestSignInLink(ctx context.Context, actor registrar.Actor, next string) error {
	if len(next) > maxNextBytes {
		next = ""
	}
	account, err := s.signedInAccount(ctx, s.read(), actor)
	if err != nil {
		return err
	}
	if account.HasPassword {
		return registrar.Unauthenticated(registrar.SignInAgain)
	}
	if wait := s.consumeMailBudget(actor, "sign_in "+account.EmailKey); wait > 0 {
		return tooMany(wait)
	}
	mail := registrar.Mail{Kind: registrar.MailSignIn, Data: make(map[string]string)}
	if next != "" {
		mail.Data[registrar.MailNext] = next
	}
	return s.inTx(ctx, func(t *tx) error {
		return t.recordAndMail(ctx, actor, ActionSignInLinkRequested, "", mail)
	})
}

// SignInWithLink signs in by a link. The mailbox is no second factor: with one, the session
// waits for a code. The session that requested the link stays as it is, because it may be
// another person's who hopes that the owner opens the link.
func (s *Service) SignInWithLink(ctx context.Context, actor registrar.Actor, link, userAgent string) (opened SignInResult, err error) {
	err = s.inTx(ctx, func(t *tx) error {
		_, account, err := s.useLink(ctx, t, LinkSignIn, link)
		if err != nil {
			return err
		}
		opened, err = s.startSession(ctx, t, sessionParams{
			actor: actor, account: account, userAgent: userAgent, authMethod: methodLink, newDevice: true, needsCode: account.HasSecondFactor,
		})
		return err
	})
	return opened, err
}

// queueWrongCode calls queueFailedSignIn if err is CodeWrong. It returns err.
func (s *Service) queueWrongCode(actor registrar.Actor, customer string, err error) error {
	if registrar.CodeOf(err) == CodeWrong {
		s.queueFailedSignIn(actor, customer, methodPasswordAndCode)
	}
	return err
}
