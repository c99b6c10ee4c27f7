package account

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// The audit actions of an account.
const (
	ActionRegistered           registrar.Action = "registered"
	ActionRegistrationTried    registrar.Action = "registration_tried" // for an address that already has an account
	ActionConfirmed            registrar.Action = "confirmed"
	ActionSignedIn             registrar.Action = "signed_in"
	ActionSignedInAgain        registrar.Action = "signed_in_again"
	ActionSignInFailed         registrar.Action = "sign_in_failed"
	ActionSignedOut            registrar.Action = "signed_out"
	ActionSignedOutEverywhere  registrar.Action = "signed_out_everywhere"
	ActionSessionEnded         registrar.Action = "session_ended"
	ActionResetRequested       registrar.Action = "reset_asked"
	ActionPasswordReset        registrar.Action = "password_reset"
	ActionPasswordChanged      registrar.Action = "password_changed"
	ActionEmailChangeRequested registrar.Action = "email_change_asked"
	ActionEmailChanged         registrar.Action = "email_changed"
	ActionLanguageChanged      registrar.Action = "language_changed"
	ActionSecondFactorOn       registrar.Action = "second_factor_on"
	ActionSecondFactorOff      registrar.Action = "second_factor_off"
	ActionRecoveryCodes        registrar.Action = "recovery_codes_renewed"
	ActionRecoveryCodeUsed     registrar.Action = "recovery_code_used"
	ActionPasskeyAdded         registrar.Action = "passkey_added"
	ActionPasskeyRemoved       registrar.Action = "passkey_removed"
	ActionPasskeyCloned        registrar.Action = "passkey_cloned" // refused: its signature counter went backwards
	ActionRegistrantChanged    registrar.Action = "registrant_changed"
	ActionAdded                registrar.Action = "customer_added"
	ActionDisabled             registrar.Action = "customer_disabled"
	ActionEnabled              registrar.Action = "customer_enabled"
	ActionResetLinkMade        registrar.Action = "reset_link_made"
	ActionPasswordSet          registrar.Action = "password_set"
	ActionClosed               registrar.Action = "account_closed" // by its customer
	ActionOperatorAdded        registrar.Action = "operator_made"
	ActionOperatorRemoved      registrar.Action = "operator_unmade"
	ActionEnrolmentLinkMade    registrar.Action = "enrolment_link_made"
	ActionEnrolmentOpened      registrar.Action = "enrolment_opened" // by the link and a password sign-in
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

// The keys of mail data.
const (
	dataChange = "change" // MailSecondFactor: on, off, renewed, used; MailPasskey: added, removed
	dataName   = "name"   // MailPasskey
	dataEmail  = "email"  // MailEmailChanging: the new address
)

// maxPage is the maximum page size.
const maxPage = 200

// ListAuditEvents returns the account's audit log, newest first; before is the last id
// of the previous page.
func (s *Service) ListAuditEvents(ctx context.Context, actor registrar.Actor, before string, limit int) ([]AuditEntry, error) {
	account, err := s.signedInAccount(ctx, s.read(), actor)
	if err != nil {
		return nil, err
	}
	return s.read().ListAuditEvents(ctx, account.ID, before, min(max(limit, 1), maxPage))
}
