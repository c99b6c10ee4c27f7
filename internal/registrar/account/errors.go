package account

import (
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// The codes of this package's errors.
const (
	BadCredentials    registrar.Code = "bad_credentials"     // unknown address or wrong password, deliberately not distinguished
	TooManyAttempts   registrar.Code = "too_many_attempts"   // wait RetryAfter
	Busy              registrar.Code = "busy"                // too many passwords are being hashed
	AccountDisabled   registrar.Code = "account_disabled"    // returned only to the authenticated owner
	CodeWrong         registrar.Code = "code_wrong"          // wrong or already used
	LinkInvalid       registrar.Code = "link_invalid"        // unknown, used, expired or void, deliberately not distinguished
	EmailInvalid      registrar.Code = "email_invalid"       // not a deliverable address
	EmailTaken        registrar.Code = "email_taken"         // returned to operators, and to the owner of both addresses
	LanguageUnknown   registrar.Code = "language_unknown"    // neither de nor en
	PasswordShort     registrar.Code = "password_short"      // under 10 characters
	PasswordLong      registrar.Code = "password_long"       // over 128 characters
	PasswordCommon    registrar.Code = "password_common"     // among the most common passwords
	PasswordIsEmail   registrar.Code = "password_is_email"   // derived from the address
	PasswordUnusable  registrar.Code = "password_unusable"   // not UTF-8, or with control characters
	SecondFactorOn    registrar.Code = "second_factor_on"    // already on
	SecondFactorOff   registrar.Code = "second_factor_off"   // not on
	PasskeyRefused    registrar.Code = "passkey_refused"     // unknown credential or invalid response
	PasskeyTaken      registrar.Code = "passkey_taken"       // already registered
	PasskeyName       registrar.Code = "passkey_name"        // 1 to 60 printable characters
	PasskeysTooMany   registrar.Code = "passkeys_too_many"   // at most 20
	LastWayIn         registrar.Code = "last_way_in"         // the last passkey of an account without a password
	OriginUnknown     registrar.Code = "origin_unknown"      // not one of Config.Origins
	StrongSignIn      registrar.Code = "strong_sign_in"      // an operator account: requires a sign-in with a passkey or a code
	NoSuchObject      registrar.Code = "no_such_object"      // does not exist or belongs to another customer
	RegistrantInvalid registrar.Code = "registrant_invalid"  // with *FieldError
	HasDomains        registrar.Code = "account_has_domains" // the account holds domains, so it can't be closed
	HasOrders         registrar.Code = "account_has_orders"  // the same for open orders and pending refunds
	PaymentUnderWay   registrar.Code = "payment_under_way"   // an order is being paid for the current registrant
)

// FieldError reports every invalid field of a form at once, with one code per field.
type FieldError struct{ Fields map[string]registrar.Code }

// Error names the fields, never their values.
func (e *FieldError) Error() string {
	names := make([]string, 0, len(e.Fields))
	for field, code := range e.Fields {
		names = append(names, field+"="+string(code))
	}
	slices.Sort(names)
	return "invalid: " + strings.Join(names, ", ")
}

// Unwrap gives the error its kind.
func (e *FieldError) Unwrap() error {
	return &registrar.Error{Kind: registrar.KindInvalid, Code: RegistrantInvalid}
}

func fail(kind registrar.Kind, code registrar.Code) error {
	return &registrar.Error{Kind: kind, Code: code}
}

func invalid(code registrar.Code) error { return fail(registrar.KindInvalid, code) }

func tooMany(wait time.Duration) error {
	return &registrar.Error{Kind: registrar.KindRateLimited, Code: TooManyAttempts, RetryAfter: wait}
}
