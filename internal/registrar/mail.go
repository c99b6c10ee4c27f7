package registrar

// Mail is a mail to be sent. It is stored in the same transaction as its cause and
// carries no secret: a link that its text needs is created when the mail is sent.
type Mail struct {
	Kind     MailKind
	Customer string            // the account that the mail is about; empty if there is none
	To       string            // the recipient; empty means the account's address at the time of storing
	Language string            // de or en; empty means the account's language
	Data     map[string]string // holds further values that the text mentions, such as a token's name
}

// SetAddress puts the actor's address, if there is one, into Data["address"].
func (m *Mail) SetAddress(actor Actor) {
	if !actor.Address.IsValid() {
		return
	}
	if m.Data == nil {
		m.Data = make(map[string]string, 1)
	}
	m.Data["address"] = actor.Address.String()
}

// MailKind selects the text of a mail.
type MailKind string

// The kinds of mail. The package that queues a mail documents its Data.
const (
	MailConfirm              MailKind = "confirm"            // with a link that confirms the address of a new account
	MailAlreadyRegistered    MailKind = "already_registered" // a registration named an address that has an account
	MailPasswordReset        MailKind = "reset"              // with a link to choose a new password
	MailNoAccount            MailKind = "no_account"         // a reset was requested for an address without an account
	MailChangeEmail          MailKind = "change_email"       // with a link, to the new address
	MailEmailChanging        MailKind = "email_changing"     // to the old address
	MailPasswordChanged      MailKind = "password_changed"
	MailTokenCreated         MailKind = "token_created"
	MailSecondFactor         MailKind = "second_factor" // enabled, disabled, or recovery codes replaced
	MailRegistrantChanged    MailKind = "registrant"    // the account's registrant data changed
	MailPasskey              MailKind = "passkey"       // added or removed
	MailApplicationConnected MailKind = "application_connected"
	MailApplicationReplayed  MailKind = "application_replayed" // a code or token was used twice, so the grant was revoked
	MailAgentLinked          MailKind = "agent_linked"         // an agent may now see and pay the customer's orders
	MailOrderPaid            MailKind = "order_paid"           // the receipt
	MailOrderEnded           MailKind = "order_ended"          // the outcome of each item, and refunds
	MailPaymentRefunded      MailKind = "payment_refunded"     // a late or duplicate payment is refunded
	MailClaim                MailKind = "claim"                // with a link to claim what an agent ordered for this address
	MailExpiringMonth        MailKind = "expiring_month"       // a domain's term ends in about a month
	MailExpiringWeek         MailKind = "expiring_week"        // in about a week
	MailExpired              MailKind = "expired"              // a domain's term has ended
	MailDomainChanged        MailKind = "domain_changed"       // a customer's change of a domain was applied
	MailAuthCode             MailKind = "auth_code"            // a domain's auth code was set and shown
	MailWithdrawal           MailKind = "withdrawal"           // confirms a notice of withdrawal
	MailTermination          MailKind = "termination"          // confirms a notice of termination
	MailNoticeReceived       MailKind = "notice_received"      // to the operator: a customer sent such a notice
	MailAccountClosed        MailKind = "account_closed"       // by its customer
	MailDomainLock           MailKind = "domain_lock"          // an operator locked or unlocked a domain
	MailRenewalOn            MailKind = "renewal_on"           // confirms the consent to automatic renewal
	MailRenewalOff           MailKind = "renewal_off"          // automatic renewal was turned off
	MailLetExpire            MailKind = "let_expire"           // the customer lets a domain expire
	MailPaymentMethod        MailKind = "payment_method"       // saved or removed
)
