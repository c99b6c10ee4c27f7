package account

import "github.com/dotkontor/dotkontor/internal/registrar"

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
	RegistrantKnown   registrar.Code = "registrant_known"    // the account has a registrant already
	HasDomains        registrar.Code = "account_has_domains" // the account holds domains, so it can't be closed
	HasOrders         registrar.Code = "account_has_orders"  // the same for open orders and pending refunds
	BasketInvalid     registrar.Code = "basket_invalid"      // too long
	BasketChanged     registrar.Code = "basket_changed"      // in another window
	PaymentUnderWay   registrar.Code = "payment_under_way"   // an order is being paid for the current registrant
)

// The audit actions of an account.
const (
	ActionRegistered            registrar.Action = "registered"
	ActionRegistrationAttempted registrar.Action = "registration_attempted" // for an address that already has an account
	ActionConfirmed             registrar.Action = "confirmed"
	ActionSignedIn              registrar.Action = "signed_in"
	ActionSignedInAgain         registrar.Action = "signed_in_again"
	ActionSignInFailed          registrar.Action = "sign_in_failed"
	ActionSignedOut             registrar.Action = "signed_out"
	ActionSignedOutEverywhere   registrar.Action = "signed_out_everywhere"
	ActionSessionEnded          registrar.Action = "session_ended"
	ActionResetRequested        registrar.Action = "reset_requested"
	ActionSignInLinkRequested   registrar.Action = "sign_in_link_requested"
	ActionPasswordReset         registrar.Action = "password_reset"
	ActionPasswordChanged       registrar.Action = "password_changed"
	ActionPasswordChosen        registrar.Action = "password_chosen" // the account's first one, by its customer
	ActionEmailChangeRequested  registrar.Action = "email_change_requested"
	ActionEmailChanged          registrar.Action = "email_changed"
	ActionLanguageChanged       registrar.Action = "language_changed"
	ActionSecondFactorOn        registrar.Action = "second_factor_on"
	ActionSecondFactorOff       registrar.Action = "second_factor_off"
	ActionRecoveryCodes         registrar.Action = "recovery_codes_renewed"
	ActionRecoveryCodeUsed      registrar.Action = "recovery_code_used"
	ActionPasskeyAdded          registrar.Action = "passkey_added"
	ActionPasskeyRemoved        registrar.Action = "passkey_removed"
	ActionPasskeyCloned         registrar.Action = "passkey_cloned" // refused: its signature counter went backwards
	ActionRegistrantChanged     registrar.Action = "registrant_changed"
	ActionAdded                 registrar.Action = "customer_added"
	ActionDisabled              registrar.Action = "customer_disabled"
	ActionEnabled               registrar.Action = "customer_enabled"
	ActionResetLinkCreated      registrar.Action = "reset_link_created"
	ActionPasswordSet           registrar.Action = "password_set"
	ActionClosed                registrar.Action = "account_closed" // by its customer
	ActionOperatorAdded         registrar.Action = "operator_added"
	ActionOperatorRemoved       registrar.Action = "operator_removed"
	ActionEnrolmentLinkCreated  registrar.Action = "enrolment_link_created"
	ActionEnrolmentOpened       registrar.Action = "enrolment_opened" // by the link and a password sign-in
)

// The ways of signing in, as the object of ActionSignedIn.
const (
	methodPassword        = "password"
	methodPasswordAndCode = "password_and_code"
	methodPasskey         = "passkey"
	methodLink            = "link"
	// methodEnrolment is a password sign-in followed by an operator's enrolment link.
	methodEnrolment = "password_and_enrolment"
)
