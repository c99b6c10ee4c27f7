package account

import (
	"cmp"
	"context"
	"crypto/subtle"
	_ "embed"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	minPassword      = 10
	maxPassword      = 128  // characters
	maxPasswordBytes = 1024 // checked before any computation
)

//go:embed commonpasswords.txt
var commonText string

// checkPassword returns why a password can't be chosen. key is the account's normalised address.
func checkPassword(password, key string) error {
	if len(password) > maxPasswordBytes {
		return registrar.Invalid(PasswordLong)
	}
	if !utf8.ValidString(password) || strings.ContainsFunc(password, unicode.IsControl) {
		return registrar.Invalid(PasswordUnusable)
	}
	password = norm.NFC.String(password)
	switch length := utf8.RuneCountInString(password); {
	case length < minPassword:
		return registrar.Invalid(PasswordShort)
	case length > maxPassword:
		return registrar.Invalid(PasswordLong)
	}
	folded := strings.ToLower(password)
	local, _, _ := strings.Cut(key, "@")
	if folded == key || strings.Trim(folded, "0123456789!.?#") == local {
		return registrar.Invalid(PasswordIsEmail)
	}
	if isCommon(folded) {
		return registrar.Invalid(PasswordCommon)
	}
	return nil
}

// isCommon detects passwords that are tried first: few distinct characters, runs along the alphabet
// or the keyboard, and listed words with the usual digits and punctuation around them.
func isCommon(folded string) bool {
	different := make(map[rune]struct{})
	for _, r := range folded {
		different[r] = struct{}{}
	}
	if len(different) < 5 {
		return true
	}
	// 1234567890 has ten distinct characters but is still a run.
	for _, run := range []string{
		"01234567890123456789", "98765432109876543210", "abcdefghijklmnopqrstuvwxyz",
		"qwertzuiopasdfghjklyxcvbnm", "qwertyuiopasdfghjklzxcvbnm", "1q2w3e4r5t6z7u8i9o0p", "1q2w3e4r5t6y7u8i9o0p",
	} {
		if strings.Contains(run, folded) {
			return true
		}
	}
	unmasked := strings.NewReplacer("0", "o", "1", "i", "3", "e", "4", "a", "5", "s", "7", "t", "@", "a", "$", "s").Replace
	const decoration = "0123456789!?.-_#*+$% "
	bare := strings.Trim(folded, decoration)
	for word := range strings.FieldsSeq(commonText) {
		if bare == word || unmasked(bare) == word || bare == word+word {
			return true
		}
	}
	return false
}

// Cost is the cost of one hash. Zero values mean 64 MiB and three passes.
type Cost struct {
	Memory uint32 // in KiB
	Passes uint32
}

const (
	defaultMemory = 64 * 1024
	defaultPasses = 3
	lanes         = 1 // a hash uses a single core, so a burst of sign-ins leaves the others to lookups
	saltSize      = 16
	keySize       = 32

	// A stored hash is trusted, but not with all of the memory.
	maxMemory = 256 * 1024
	maxPasses = 16
	maxLanes  = 8
)

// phc is the stored form: $argon2id$v=19$m=65536,t=3,p=1$salt$key.
type phc struct {
	cost      Cost
	lanes     uint8
	salt, key []byte
}

func (p phc) String() string {
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s",
		argon2.Version, p.cost.Memory, p.cost.Passes, p.lanes, encode(p.salt), encode(p.key))
}

var errUnknownHashFormat = errors.New("account: unknown password hash format")

func parsePHC(text string) (phc, error) {
	parts := strings.Split(text, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return phc{}, errUnknownHashFormat
	}
	var p phc
	var m, t, l uint32
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &m, &t, &l); err != nil || n != 3 {
		return phc{}, errUnknownHashFormat
	}
	if m < 8 || m > maxMemory || t < 1 || t > maxPasses || l < 1 || l > maxLanes {
		return phc{}, errUnknownHashFormat
	}
	p.cost, p.lanes = Cost{Memory: m, Passes: t}, uint8(l)
	var err, err2 error
	p.salt, err = base64.RawStdEncoding.DecodeString(parts[4])
	p.key, err2 = base64.RawStdEncoding.DecodeString(parts[5])
	if err != nil || err2 != nil || len(p.salt) < 8 || len(p.salt) > 64 || len(p.key) < 16 || len(p.key) > 64 {
		return phc{}, errUnknownHashFormat
	}
	return p, nil
}

// hashPassword must be called in a slot of the hasher.
func (h *hasher) hashPassword(ctx context.Context, password string) string {
	p := phc{cost: h.cost, lanes: lanes, salt: randomBytes(saltSize), key: make([]byte, keySize)}
	p.key = h.derive(ctx, p.derivation(password))
	return p.String()
}

// matches takes the same time whether there is a stored hash or not. outdated reports
// that the hash has another cost than configured.
func (h *hasher) matches(ctx context.Context, stored, password string) (ok, outdated bool, err error) {
	p := phc{cost: h.cost, lanes: lanes, salt: make([]byte, saltSize), key: make([]byte, keySize)}
	if stored != "" {
		if p, err = parsePHC(stored); err != nil {
			return false, false, err
		}
	}
	key := h.derive(ctx, p.derivation(password))
	equal := subtle.ConstantTimeCompare(key, p.key) == 1
	return equal && stored != "", p.cost != h.cost || p.lanes != lanes, nil
}

// derivation returns the computation of the key from a password.
func (p phc) derivation(password string) Derivation {
	return Derivation{
		Password: []byte(norm.NFC.String(password)), Salt: p.salt, Cost: p.cost, Lanes: p.lanes, Size: uint32(len(p.key)),
	}
}

// RequestPasswordReset queues a mail: with a link to a new password, or that there is no account.
func (s *Service) RequestPasswordReset(ctx context.Context, actor registrar.Actor, email, language string) error {
	email, key, err := parseEmail(email)
	if err != nil {
		return err
	}
	if language, err = parseLanguage(language); err != nil {
		return err
	}
	// The budget is separate from that of registration mails: an attacker who causes those must
	// not exhaust the owner's way back in.
	if s.consumeMailBudget(actor, "reset "+key) > 0 {
		return nil // same response, no mail
	}
	return s.inTx(ctx, func(t *tx) error {
		account, ok, err := t.AccountByEmail(ctx, key)
		if err != nil {
			return err
		}
		var mail registrar.Mail
		switch {
		case !ok:
			mail = registrar.Mail{Kind: registrar.MailNoAccount, To: email, Language: language}
		case account.ConfirmedAt.IsZero():
			// There is no password to reset; confirming lets the owner choose one.
			mail = confirmMail(account.ID, account.Basket)
		default:
			mail = registrar.Mail{Kind: registrar.MailPasswordReset, Customer: account.ID}
		}
		if err := t.recordEvent(ctx, actor, ActionResetRequested, account.ID, ""); err != nil {
			return err
		}
		return t.queueMail(ctx, actor, mail)
	})
}

// ResetPassword sets a new password by a link and ends every session. A second factor
// stays on, so access to the mailbox alone does not open the account.
func (s *Service) ResetPassword(ctx context.Context, actor registrar.Actor, link, password string) error {
	_, account, err := s.findLink(ctx, s.read(), LinkReset, link)
	if err != nil {
		return err
	}
	hash, err := s.hashNewPassword(ctx, requesterOf(actor, account.ID), password, account.EmailKey)
	if err != nil {
		return err
	}
	return s.inTx(ctx, func(t *tx) error {
		_, account, err := s.useLink(ctx, t, LinkReset, link)
		if err != nil {
			return err
		}
		actor.Customer = account.ID
		return t.replacePassword(ctx, actor, account, hash, ActionPasswordReset, "")
	})
}

// replacePassword sets a password and ends everything that the old one may have opened:
// sessions except one, and unused links. If no session remains, known devices are
// deleted too; they grant nothing but a separate budget. before is the account before the change.
func (t *tx) replacePassword(ctx context.Context, actor registrar.Actor, before Account, hash string, action registrar.Action, except string) error {
	if err := t.SetPasswordHash(ctx, actor.Customer, hash); err != nil {
		return err
	}
	if err := t.DeleteSessionsExcept(ctx, actor.Customer, except); err != nil {
		return err
	}
	if except == "" {
		if err := t.DeleteDevices(ctx, actor.Customer); err != nil {
			return err
		}
	}
	for _, kind := range []LinkKind{LinkReset, LinkSignIn, LinkChangeEmail} {
		if err := t.DeleteUnusedLinks(ctx, actor.Customer, kind); err != nil {
			return err
		}
	}
	mail := registrar.Mail{Kind: registrar.MailPasswordChanged, Data: map[string]string{"change": "changed"}}
	if !before.HasPassword {
		mail.Data["change"], action = "set", ActionPasswordChosen
	}
	return t.recordAndMail(ctx, actor, action, "", mail)
}

// ChangePassword ends all other sessions. For an account without a password, old is ignored.
func (s *Service) ChangePassword(ctx context.Context, actor registrar.Actor, old, chosen string) error {
	account, err := s.recentlySignedInAccount(ctx, s.read(), actor)
	if err != nil {
		return err
	}
	if err := checkPassword(chosen, account.EmailKey); err != nil {
		return err
	}
	req := requesterOf(actor, account.ID) // the session makes the actor known
	if account.HasPassword {
		// Per session, so that the owner of an account under attack can still change it.
		budget := budgetSet{{s.cfg.Limits.device, "session " + actor.Through}}
		if ok, _, err := s.hasher.verify(ctx, req, budget, account.PasswordHash, old); !ok || err != nil {
			return cmp.Or(err, registrar.Invalid(BadCredentials))
		}
	}
	hash, err := s.hasher.hash(ctx, req, chosen)
	if err != nil {
		return err
	}
	return s.inTx(ctx, func(t *tx) error {
		// Of two concurrent changes the second fails: its old password no longer holds.
		if ok, err := t.ReplacePasswordHash(ctx, account, hash); !ok {
			return cmp.Or(err, registrar.Invalid(BadCredentials))
		}
		return t.replacePassword(ctx, actor, account, hash, ActionPasswordChanged, actor.Through)
	})
}
