package account

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/pquerna/otp/hotp"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	totpPeriod      = 30 // seconds; the default of authenticator apps
	totpSecretBytes = 20 // the length of a SHA-1 digest (RFC 4226, 4)
	enrolmentTTL    = 30 * time.Minute
	recoveryCodes   = 10
	recoveryBytes   = 10 // 80 bits, 16 characters
)

// recoveryAlphabet omits letters that look like digits.
var recoveryAlphabet = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// sealTOTP encrypts the secret of an authenticator app. The account's id is
// authenticated too, so that a row can't be copied to another account.
func (s *Service) sealTOTP(customer, secret string) string {
	return s.cfg.Seal.Seal(registrar.TOTPPurpose(customer), secret)
}

func (s *Service) openTOTP(customer, sealed string) (string, error) {
	return s.cfg.Seal.Open(registrar.TOTPPurpose(customer), sealed)
}

// matchTOTPStep finds the time step of a code and allows for one step of clock drift.
func matchTOTPStep(secret, code string, now time.Time) (step int64, ok bool) {
	current := now.Unix() / totpPeriod
	for _, candidate := range []int64{current, current - 1, current + 1} {
		want, err := hotp.GenerateCode(secret, uint64(candidate))
		if err == nil && subtle.ConstantTimeCompare([]byte(want), []byte(code)) == 1 {
			return candidate, true
		}
	}
	return 0, false
}

// parsedCode is a time step, or the hash of a recovery code. It may have been used before.
type parsedCode struct {
	step     int64
	recovery string
}

// parseCode parses a code as typed by a person.
func (s *Service) parseCode(account Account, code string) (parsedCode, error) {
	wrong := registrar.Unauthenticated(CodeWrong)
	if len(code) > 64 || !account.HasSecondFactor {
		return parsedCode{}, wrong
	}
	code = strings.ToLower(ungroup.Replace(code))
	if len(code) != 6 {
		return parsedCode{recovery: recoveryHash(account.ID, code)}, nil
	}
	secret, err := s.openTOTP(account.ID, account.SealedTOTP)
	if err != nil {
		return parsedCode{}, err
	}
	step, ok := matchTOTPStep(secret, code, s.cfg.Now())
	if !ok {
		return parsedCode{}, wrong
	}
	return parsedCode{step: step}, nil
}

// useCode marks a code as used. Recovery codes are few, so their use is mailed to the owner.
func (s *Service) useCode(ctx context.Context, t *tx, actor registrar.Actor, account Account, parsed parsedCode) error {
	var ok bool
	var err error
	if parsed.recovery == "" {
		ok, err = t.UseTOTPStep(ctx, account.ID, account.TOTPVersion, parsed.step)
	} else {
		ok, err = t.UseRecoveryCode(ctx, account.ID, parsed.recovery, t.now)
	}
	if !ok {
		return cmp.Or(err, registrar.Unauthenticated(CodeWrong))
	}
	if parsed.recovery == "" {
		return nil
	}
	actor.Customer = account.ID
	left, err := t.RecoveryCodesLeft(ctx, account.ID)
	if err != nil {
		return err
	}
	mail := secondFactorMail("used")
	mail.Data["left"] = strconv.Itoa(left)
	return t.recordAndMail(ctx, actor, ActionRecoveryCodeUsed, "", mail)
}

// secondFactorMail is about a change: on, off, renewed (recovery codes) or used (one of them).
func secondFactorMail(change string) registrar.Mail {
	return registrar.Mail{Kind: registrar.MailSecondFactor, Data: map[string]string{"change": change}}
}

// recoveryHash is a plain hash, because 80 random bits can't be brute-forced.
func recoveryHash(customer, code string) string {
	code = strings.NewReplacer("o", "0", "i", "1", "l", "1").Replace(code)
	sum := sha256.Sum256([]byte(customer + ":" + code))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func newRecoveryCodes(customer string) (codes, hashes []string) {
	for range recoveryCodes {
		plain := recoveryAlphabet.EncodeToString(randomBytes(recoveryBytes))
		hashes = append(hashes, recoveryHash(customer, plain))
		codes = append(codes, plain[:4]+"-"+plain[4:8]+"-"+plain[8:12]+"-"+plain[12:])
	}
	return codes, hashes
}

// enrolmentKey identifies the pending secret of the actor's session.
func enrolmentKey(actor registrar.Actor) string {
	return "totp:" + actor.Customer + ":" + actor.Through
}

// BeginSecondFactor returns a secret for an authenticator app, and the URI for its QR code.
// Repeated calls return the same secret until it is confirmed or half an hour old.
func (s *Service) BeginSecondFactor(ctx context.Context, actor registrar.Actor) (secret, uri string, err error) {
	err = s.changeRecentlySignedIn(ctx, actor, func(t *tx, account Account) error {
		if account.HasSecondFactor {
			return registrar.Conflict(SecondFactorOn)
		}
		if err := s.requireFactorChange(ctx, t, actor, account); err != nil {
			return err
		}
		pending, ok, err := t.GetChallenge(ctx, enrolmentKey(actor), ChallengeSecondFactor, t.now)
		if err != nil {
			return err
		}
		if ok {
			secret, err = s.openTOTP(account.ID, pending.Data)
		}
		if !ok || err != nil { // a secret sealed with an unknown key is replaced
			secret = base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(randomBytes(totpSecretBytes))
			err = t.PutChallenge(ctx, enrolmentKey(actor), Challenge{
				Kind: ChallengeSecondFactor, Customer: account.ID, Data: s.sealTOTP(account.ID, secret), ExpiresAt: t.now.Add(enrolmentTTL),
			})
		}
		uri = otpauthURI(account.Email, secret)
		return err
	})
	return secret, uri, err
}

// otpauthURI returns the URI that authenticator apps read from a QR code.
func otpauthURI(account, secret string) string {
	values := url.Values{"secret": {secret}, "issuer": {issuer}, "algorithm": {"SHA1"}, "digits": {"6"}, "period": {"30"}}
	// Some apps show a plus sign where form encoding means a space.
	query := strings.ReplaceAll(values.Encode(), "+", "%20")
	return (&url.URL{Scheme: "otpauth", Host: "totp", Path: "/" + issuer + ":" + account, RawQuery: query}).String()
}

// FinishSecondFactor enables the second factor with its first code, ends all other
// sessions, and returns the recovery codes, which are shown once.
func (s *Service) FinishSecondFactor(ctx context.Context, actor registrar.Actor, code string) (recovery []string, err error) {
	code = ungroup.Replace(code)
	err = s.changeFactors(ctx, actor, func(t *tx, account Account) error {
		if account.HasSecondFactor {
			return registrar.Conflict(SecondFactorOn)
		}
		pending, ok, err := t.GetChallenge(ctx, enrolmentKey(actor), ChallengeSecondFactor, t.now)
		if !ok {
			return cmp.Or(err, registrar.Conflict(SecondFactorOff))
		}
		secret, err := s.openTOTP(account.ID, pending.Data)
		if err != nil {
			return err
		}
		step, ok := matchTOTPStep(secret, code, t.now)
		if !ok {
			return registrar.Invalid(CodeWrong)
		}
		if _, ok, err = t.ConsumeChallenge(ctx, enrolmentKey(actor), ChallengeSecondFactor, t.now); !ok {
			return cmp.Or(err, registrar.Conflict(SecondFactorOn))
		}
		if ok, err = t.SetSecondFactor(ctx, account.ID, account.TOTPVersion, s.sealTOTP(account.ID, secret), step); !ok {
			return cmp.Or(err, registrar.Conflict(SecondFactorOn))
		}
		var hashes []string
		recovery, hashes = newRecoveryCodes(account.ID)
		return s.finishFactorChange(ctx, t, actor, hashes, ActionSecondFactorOn, "on")
	})
	return recovery, err
}

// changeFactors runs fn in a transaction on the account whose factors the actor may change. Its row
// is locked: the operator role and the other factors can't change until the transaction ends.
func (s *Service) changeFactors(ctx context.Context, actor registrar.Actor, fn func(*tx, Account) error) error {
	return s.changeRecentlySignedIn(ctx, actor, func(t *tx, account Account) error {
		if err := t.lockCredentials(ctx, account); err != nil {
			return err
		}
		if err := s.requireFactorChange(ctx, t, actor, account); err != nil {
			return err
		}
		return fn(t, account)
	})
}

// finishFactorChange does what every change of the second factor requires.
func (s *Service) finishFactorChange(ctx context.Context, t *tx, actor registrar.Actor, hashes []string, action registrar.Action, change string) error {
	if err := t.ReplaceRecoveryCodes(ctx, actor.Customer, hashes); err != nil {
		return err
	}
	if err := t.DeleteSessionsExcept(ctx, actor.Customer, actor.Through); err != nil {
		return err
	}
	return t.recordAndMail(ctx, actor, action, "", secondFactorMail(change))
}

// DisableSecondFactor disables the second factor and ends all other sessions.
func (s *Service) DisableSecondFactor(ctx context.Context, actor registrar.Actor) error {
	return s.changeFactors(ctx, actor, func(t *tx, account Account) error {
		if !account.HasSecondFactor {
			return registrar.Conflict(SecondFactorOff)
		}
		if ok, err := t.SetSecondFactor(ctx, account.ID, account.TOTPVersion, "", 0); !ok {
			return cmp.Or(err, registrar.Conflict(SecondFactorOff))
		}
		return s.finishFactorChange(ctx, t, actor, nil, ActionSecondFactorOff, "off")
	})
}

// ReplaceRecoveryCodes replaces the recovery codes and ends all other sessions.
func (s *Service) ReplaceRecoveryCodes(ctx context.Context, actor registrar.Actor) (recovery []string, err error) {
	err = s.changeFactors(ctx, actor, func(t *tx, account Account) error {
		if !account.HasSecondFactor {
			return registrar.Conflict(SecondFactorOff)
		}
		var hashes []string
		recovery, hashes = newRecoveryCodes(account.ID)
		return s.finishFactorChange(ctx, t, actor, hashes, ActionRecoveryCodes, "renewed")
	})
	return recovery, err
}

// RecoveryCodesLeft returns the number of unused recovery codes.
func (s *Service) RecoveryCodesLeft(ctx context.Context, actor registrar.Actor) (int, error) {
	account, err := s.signedInAccount(ctx, s.read(), actor)
	if err != nil {
		return 0, err
	}
	return s.read().RecoveryCodesLeft(ctx, account.ID)
}
