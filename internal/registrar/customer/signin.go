package customer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	pendingLife  = 10 * time.Minute // for entering a code
	mostCodes    = 5                // wrong ones end the pending session
	deviceLife   = 365 * day
	keptSessions = 100 // per account; the oldest ends
	keptDevices  = 100
	maxAgent     = 200
)

// SignIn checks a password. Unknown addresses, wrong passwords and accounts
// without a password have the same answer, at the same cost.
func (s *Service) SignIn(ctx context.Context, actor registrar.Actor, c Credentials) (SignedIn, error) {
	_, key, err := parseEmail(c.Email)
	if err != nil {
		return SignedIn{}, err
	}
	opened, err := s.signIn(ctx, actor, key, c)
	if errors.Is(err, errMoved) {
		// Most likely the password was hashed anew by a sign-in at the same time.
		opened, err = s.signIn(ctx, actor, key, c)
	}
	if errors.Is(err, errMoved) {
		err = fail(registrar.KindUnauthenticated, BadCredentials)
	}
	return opened, err
}

func (s *Service) signIn(ctx context.Context, actor registrar.Actor, key string, c Credentials) (SignedIn, error) {
	account, known, err := s.read().AccountByEmail(ctx, key)
	if err != nil {
		return SignedIn{}, err
	}
	device, err := s.knownDevice(ctx, c.Device, account.ID)
	if err != nil {
		return SignedIn{}, err
	}
	who := requesterOf(actor, "")
	if device != "" {
		who.account = account.ID
	}
	result, err := s.hasher.verify(ctx, who, s.passwordGuard(actor, key, device), account.PasswordHash, c.Password)
	if err != nil {
		return SignedIn{}, err
	}
	if !result.ok {
		if known && !account.ConfirmedAt.IsZero() {
			s.noteFailure(actor, account.ID, byPassword)
		}
		return SignedIn{}, fail(registrar.KindUnauthenticated, BadCredentials)
	}
	if !account.DisabledAt.IsZero() {
		return SignedIn{}, fail(registrar.KindForbidden, AccountDisabled)
	}
	return s.openAlone(ctx, opening{
		actor: actor, account: account, agent: c.Agent, how: byPassword, device: device, newDevice: device == "",
		rehashed: result.rehashed, needsCode: account.HasSecondFactor,
	})
}

// openAlone is open in a transaction of its own.
func (s *Service) openAlone(ctx context.Context, o opening) (opened SignedIn, err error) {
	err = s.change(ctx, func(t *tx) error {
		opened, err = s.open(ctx, t, o)
		return err
	})
	if err != nil {
		return SignedIn{}, err
	}
	return opened, nil
}

// knownDevice is the hash of the device cookie if it belongs to the account.
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

// passwordGuard is the budgets for wrong passwords; the package comment says
// why a known device has only one.
func (s *Service) passwordGuard(actor registrar.Actor, key string, device registrar.SecretHash) guard {
	if device != "" {
		return guard{{s.cfg.Limits.Device, string(device)}}
	}
	network := registrar.Network(actor.Address)
	return guard{
		{s.cfg.Limits.Address, network},
		{s.cfg.Limits.AccountAddress, network + " " + key},
		{s.cfg.Limits.Account, key},
	}
}

// noteFailure has a failed sign-in written into the audit, some time soon and
// not too often.
func (s *Service) noteFailure(actor registrar.Actor, customer, how string) {
	if s.cfg.Limits.FailureDeed.Count(customer) > 0 {
		return
	}
	deed := registrar.Deed{Actor: actor, Action: ActionSignInFailed, Customer: customer, Object: how, At: s.cfg.Now()}
	select {
	case s.failures <- deed:
	default: // an attack on very many accounts; the metrics tell of it
	}
}

// opening is a session about to begin.
type opening struct {
	actor   registrar.Actor
	account Account
	agent   string
	how     string
	action  registrar.Action // empty means ActionSignedIn
	// replaces is the session that ends with this; empty if there is none.
	replaces registrar.SecretHash
	// device is the known device; newDevice wants one to be made.
	device    registrar.SecretHash
	newDevice bool
	rehashed  string
	needsCode bool
}

// errMoved: between the proof and the session, the password or the second factor
// was changed, or the account was disabled.
var errMoved = fmt.Errorf("the account changed meanwhile: %w", fail(registrar.KindUnauthenticated, SignInFirst))

// open begins a session with a new id and a new secret.
//
// The account's row is updated in any case, if only by what it holds already:
// whoever changes a factor or disables the account at the same time updates it
// too, and so one of the two waits for the other and sees what it did.
func (s *Service) open(ctx context.Context, t *tx, o opening) (SignedIn, error) {
	hash := o.account.PasswordHash
	if o.rehashed != "" {
		hash = o.rehashed
	}
	ok, err := t.ReplacePasswordHash(ctx, o.account, hash)
	if err != nil {
		return SignedIn{}, err
	}
	if !ok {
		return SignedIn{}, errMoved
	}
	if o.replaces != "" {
		ok, err := t.DeleteSession(ctx, o.replaces)
		if err != nil {
			return SignedIn{}, err
		}
		if !ok {
			return SignedIn{}, fail(registrar.KindUnauthenticated, SignInFirst)
		}
	}
	secret, secretHash := registrar.NewSecret(registrar.SessionSecret)
	session := StoredSession{
		Session: Session{
			ID: registrar.NewID("ses_", t.now), CustomerID: o.account.ID,
			Address: addressText(o.actor), Agent: shorten(o.agent),
			CreatedAt: t.now, AuthenticatedAt: t.now, SeenAt: t.now, ExpiresAt: s.expiry(t.now, t.now), Proof: o.how,
		},
		Hash: secretHash, State: StateOpen, Device: o.device,
	}
	if o.needsCode {
		session.State, session.ExpiresAt = StateSecondFactor, t.now.Add(pendingLife)
	}
	if err := t.InsertSession(ctx, session, keptSessions); err != nil {
		return SignedIn{}, err
	}
	if o.needsCode {
		return SignedIn{Secret: secret, NeedsCode: true}, nil
	}
	signedIn := SignedIn{Secret: secret, Visitor: Visitor{Customer: o.account.Customer, Session: session.Session}}
	if o.newDevice {
		device, deviceHash := registrar.NewSecret(registrar.DeviceSecret)
		if err := t.InsertDevice(ctx, o.account.ID, deviceHash, t.now, t.now.Add(deviceLife), keptDevices); err != nil {
			return SignedIn{}, err
		}
		signedIn.Device = device
	}
	action := ActionSignedIn
	if o.action != "" {
		action = o.action
	}
	o.actor.Customer, o.actor.Through = o.account.ID, session.ID
	return signedIn, t.record(ctx, o.actor, action, o.account.ID, o.how)
}

// expiry is when a session ends: some time after it was last seen, but not later
// than its whole life.
func (s *Service) expiry(created, seen time.Time) time.Time {
	idle, absolute := seen.Add(s.cfg.SessionIdle), created.Add(s.cfg.SessionLife)
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

// shorten keeps of a browser's name what fits on a page.
func shorten(agent string) string {
	agent = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			return r
		}
		return -1
	}, strings.ToValidUTF8(agent, ""))
	for i := range agent {
		if i > maxAgent {
			return agent[:i]
		}
	}
	return agent
}

// EnterCode is the second half of a sign-in: a code of the authenticator app, or
// a recovery code.
func (s *Service) EnterCode(ctx context.Context, actor registrar.Actor, secret, code string) (SignedIn, error) {
	session, account, err := s.session(ctx, secret, StateSecondFactor)
	if err != nil {
		return SignedIn{}, err
	}
	if err := s.codeBudget(session.Device, account.ID); err != nil {
		return SignedIn{}, err
	}
	// The attempt is taken before the code is looked at, and stays taken.
	var taken bool
	err = s.change(ctx, func(t *tx) error {
		taken, err = t.TakeAttempt(ctx, session.Hash, mostCodes, t.now)
		return err
	})
	if err != nil {
		return SignedIn{}, err
	}
	if !taken {
		return SignedIn{}, fail(registrar.KindUnauthenticated, SignInFirst)
	}
	proof, err := s.readCode(account, code)
	if err == nil {
		opening := opening{
			actor: actor, account: account, agent: session.Agent, how: byCode, replaces: session.Hash,
			device: session.Device, newDevice: session.Device == "",
		}
		var opened SignedIn
		err = s.change(ctx, func(t *tx) error {
			if err := s.useCode(ctx, t, actor, account, proof); err != nil {
				return err
			}
			opened, err = s.open(ctx, t, opening)
			return err
		})
		if err == nil {
			return opened, nil
		}
	}
	return SignedIn{}, s.noteWrongCode(actor, account.ID, err)
}

// codeBudget takes a place for trying a code. Who began at a known device has a
// budget apart, for the same reason as with passwords.
func (s *Service) codeBudget(device registrar.SecretHash, customer string) error {
	key := customer
	if device != "" {
		key = string(device)
	}
	if wait := (guard{{s.cfg.Limits.Codes, key}, {s.cfg.Limits.CodesLong, key}}).take(); wait > 0 {
		return tooMany(wait)
	}
	return nil
}

// SignInAgain proves that the person is still there, and renews the session.
func (s *Service) SignInAgain(ctx context.Context, actor registrar.Actor, secret string, proof Proof) (SignedIn, error) {
	session, account, err := s.session(ctx, secret, StateOpen)
	if err != nil {
		return SignedIn{}, err
	}
	device, err := s.knownDevice(ctx, proof.Device, account.ID)
	if err != nil {
		return SignedIn{}, err
	}
	result, err := s.hasher.verify(ctx, requesterOf(actor, account.ID), s.passwordGuard(actor, account.EmailKey, device), account.PasswordHash, proof.Password)
	if err != nil {
		return SignedIn{}, err
	}
	if !result.ok {
		s.noteFailure(actor, account.ID, byPassword)
		return SignedIn{}, fail(registrar.KindUnauthenticated, BadCredentials)
	}
	opening := opening{
		actor: actor, account: account, agent: session.Agent, how: byPassword, action: ActionSignedInAgain,
		replaces: session.Hash, device: session.Device, rehashed: result.rehashed,
	}
	var code codeProof
	if account.HasSecondFactor {
		opening.how = byCode
		if err := s.codeBudget(device, account.ID); err != nil {
			return SignedIn{}, err
		}
		if code, err = s.readCode(account, proof.Code); err != nil {
			return SignedIn{}, s.noteWrongCode(actor, account.ID, err)
		}
	}
	var opened SignedIn
	err = s.change(ctx, func(t *tx) error {
		if account.HasSecondFactor {
			if err := s.useCode(ctx, t, actor, account, code); err != nil {
				return err
			}
		}
		opened, err = s.open(ctx, t, opening)
		return err
	})
	return opened, s.noteWrongCode(actor, account.ID, err)
}

// noteWrongCode is noteFailure if the error says that a code was wrong. It
// returns the error.
func (s *Service) noteWrongCode(actor registrar.Actor, customer string, err error) error {
	if registrar.CodeOf(err) == CodeWrong {
		s.noteFailure(actor, customer, byCode)
	}
	return err
}
