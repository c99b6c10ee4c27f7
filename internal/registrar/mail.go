package registrar

import (
	"cmp"
	"maps"
	"strconv"
	"time"
)

// Mail is a mail to be sent. It is stored in the same transaction as its cause and
// carries no secret: a link that its text needs is created when the mail is sent.
type Mail struct {
	Kind     MailKind
	Customer string            // the account that the mail is about; empty if there is none
	To       string            // the recipient; empty means the account's address at the time of storing
	Language string            // de or en; empty means the account's language
	Data     map[string]string // holds further values that the text mentions, such as a token's name
	ID       string            // set if another mail may be merged with it; empty means a new one
	Delay    time.Duration     // before it is sent
	// Merged replaces the queued mail with its ID, and this mail too. If that mail is being
	// sent or was sent, only this one is queued.
	Merged *Mail
	// Join is the id of a queued mail that this one becomes a line of, if that is possible;
	// see JoinMails. Otherwise this mail is queued. If it is also this mail's ID, several
	// transactions may queue it at the same time: the first starts the mail, the others join,
	// and a full or sent one is followed by another.
	Join string
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
	MailSignIn               MailKind = "sign_in"            // with a link that signs in an account without a password
	MailNoAccount            MailKind = "no_account"         // a reset was requested for an address without an account
	MailChangeEmail          MailKind = "change_email"       // with a link, to the new address
	MailEmailChanging        MailKind = "email_changing"     // to the old address
	MailPasswordChanged      MailKind = "password_changed"   // or set for the first time
	MailTokenCreated         MailKind = "token_created"
	MailSecondFactor         MailKind = "second_factor"     // enabled, disabled, recovery codes replaced, or one used
	MailRegistrantChanged    MailKind = "registrant"        // the account's registrant data changed
	MailHolderNotice         MailKind = "holder_notice"     // to a registrant who is not the customer: a domain has another registrant
	MailHolderExpiry         MailKind = "holder_expiry"     // to such a registrant: the end of a term and what follows (ICANN ERRP)
	MailContactCheck         MailKind = "contact_check"     // to a registrant, with a link that confirms the address
	MailContactWarning       MailKind = "contact_warning"   // to the customer: such an address is not confirmed, and the day on which its domains are suspended
	MailContactSuspended     MailKind = "contact_suspended" // domains are suspended because such an address is not confirmed
	MailContactConfirmed     MailKind = "contact_confirmed" // the address is confirmed, and the suspension ends
	MailPasskey              MailKind = "passkey"           // added or removed
	MailApplicationConnected MailKind = "application_connected"
	MailApplicationReplayed  MailKind = "application_replayed" // a code or token was used twice, so the grant was revoked
	MailAgentLinked          MailKind = "agent_linked"         // an agent may now see and pay the customer's orders
	MailOrderPaid            MailKind = "order_paid"           // the receipt
	MailOrderEnded           MailKind = "order_ended"          // the outcome of each item, and refunds
	MailOrderCompleted       MailKind = "order_completed"      // the receipt of an order that is completed already
	MailOrderDelayed         MailKind = "order_delayed"        // a paid order takes hours longer than usual
	MailItemFailed           MailKind = "item_failed"          // an item has failed while others are still in progress
	MailPaymentRefunded      MailKind = "payment_refunded"     // a late or duplicate payment is refunded
	MailOrderRefunded        MailKind = "order_refunded"       // a paid order is refunded, in part or in full
	MailRefundReturned       MailKind = "refund_returned"      // the customer's bank returned a refund
	MailRefundSettled        MailKind = "refund_settled"       // an operator paid it another way
	MailClaim                MailKind = "claim"                // with a link to claim what an agent ordered for this address
	MailExpiringMonth        MailKind = "expiring_month"       // a domain's term ends in about a month
	MailExpiringWeek         MailKind = "expiring_week"        // in about a week
	MailExpired              MailKind = "expired"              // a domain's term has ended
	MailDomainHeld           MailKind = "domain_held"          // an unpaid domain was taken out of the DNS
	MailDomainDeleted        MailKind = "domain_deleted"       // an unpaid domain was deleted and can be restored
	MailDomainClosed         MailKind = "domain_closed"        // an unpaid domain is gone, or was handed over to the registry
	MailDomainRestored       MailKind = "domain_restored"      // a held or deleted domain was paid and is back
	MailDataReminder         MailKind = "data_reminder"        // the yearly request to check the registrant data (ICANN WDRP)
	MailNameserversRefused   MailKind = "nameservers_refused"  // a planned change failed after the DS records were removed
	MailNameserversCanceled  MailKind = "nameservers_canceled" // the customer canceled a planned change of nameservers
	MailDomainChanged        MailKind = "domain_changed"       // a customer's change of a domain was applied
	MailAuthCode             MailKind = "auth_code"            // a domain's auth code was set and shown
	MailWithdrawal           MailKind = "withdrawal"           // confirms a notice of withdrawal
	MailTermination          MailKind = "termination"          // confirms a notice of termination
	MailContractEnds         MailKind = "contract_ends"        // the days on which terminated contracts end
	MailNoticeHandled        MailKind = "notice_handled"       // to the sender of such a notice: our answer, and when the contract ends
	MailNoticeReceived       MailKind = "notice_received"      // to the operator: a customer sent such a notice
	MailInquiryConfirmed     MailKind = "inquiry_confirmed"    // acknowledges a message from the contact form
	MailInquiryReceived      MailKind = "inquiry_received"     // to the operator: such a message
	MailAccountClosed        MailKind = "account_closed"       // by its customer
	MailDomainLock           MailKind = "domain_lock"          // an operator locked or unlocked a domain
	MailPaymentDispute       MailKind = "payment_dispute"      // the payment of domains is disputed or was returned, and how that ended
	MailDisputeReceived      MailKind = "dispute_received"     // to the operator: a dispute or inquiry, or the loss of one
	MailRenewalUpcoming      MailKind = "renewal_upcoming"     // announces the charge of automatic renewals
	MailRenewalPriceRise     MailKind = "renewal_price_rise"   // the same, at a higher price than before
	MailRenewalDeclined      MailKind = "renewal_declined"     // a charge failed; another attempt follows
	MailRenewalFailed        MailKind = "renewal_failed"       // domains will not be renewed automatically
	MailRenewalOn            MailKind = "renewal_on"           // confirms the consent to automatic renewal
	MailRenewalOff           MailKind = "renewal_off"          // automatic renewal was turned off
	MailRenewalHeld          MailKind = "renewal_held"         // automatic renewal is on hold, or was not turned on, because of a withdrawal or termination
	MailLetExpire            MailKind = "let_expire"           // the customer lets a domain expire
	MailPaymentMethod        MailKind = "payment_method"       // saved or removed
	MailTransferAway         MailKind = "transfer_away"        // another registrar requested a transfer (ICANN FOA)
	MailTransferAwayEnded    MailKind = "transfer_away_ended"  // how it ended, or that the registry refused our answer
)

// notices are the mails that the law, ICANN or a consent relies on, and those that confirm what
// was done with a domain. They are kept as sent, and the domain's page lists them.
var notices = map[MailKind]bool{
	MailExpiringMonth: true, MailExpiringWeek: true, MailExpired: true, MailDomainHeld: true, MailDomainDeleted: true,
	MailDomainClosed: true, MailDomainRestored: true, MailDataReminder: true, MailHolderExpiry: true,
	MailRenewalOn: true, MailRenewalUpcoming: true, MailRenewalPriceRise: true, MailRenewalDeclined: true, MailRenewalFailed: true,
	MailTransferAway: true, MailTransferAwayEnded: true,
	MailOrderPaid: true, MailOrderEnded: true, MailOrderCompleted: true, MailOrderDelayed: true, MailItemFailed: true, // commercial letters, and evidence in a dispute
	MailOrderRefunded: true, MailPaymentRefunded: true, MailRefundReturned: true, MailRefundSettled: true,
	MailPaymentDispute: true, MailContractEnds: true, MailNoticeHandled: true, MailWithdrawal: true, MailTermination: true,
	MailDomainChanged: true, MailNameserversRefused: true, MailNameserversCanceled: true, MailAuthCode: true, MailRenewalOff: true, MailRenewalHeld: true, MailLetExpire: true, MailDomainLock: true, // confirm what a customer has done with a domain
	MailContactCheck: true, MailContactWarning: true, MailContactSuspended: true, MailContactConfirmed: true,
}

// IsNotice reports whether the mail is kept as evidence, with its text and the mail
// server's response.
func (k MailKind) IsNotice() bool { return notices[k] }

// What the Data of a notice about one domain has for the evidence: the domain's id, and the
// end of the term as NoticeTermText formats it.
const (
	NoticeDomain = "domain_id"
	NoticeTerm   = "term_end"
)

// NoticeTermText formats the end of a term for the Data of a notice.
func NoticeTermText(end time.Time) string { return end.UTC().Format(time.RFC3339Nano) }

// MailOccurredAt in the Data of a mail is the business time of what it reports (RFC 3339). Without
// it, the mail names the time at which it was queued, by the wall clock.
const MailOccurredAt = "occurred_at"

// MailNext in the Data of a mail with a link is the path of the page after it.
const MailNext = "next"

// maxNamedDomains bounds the domains that a mail about any number of them names.
const maxNamedDomains = 10

// NameDomains adds domains to the Data of a mail: the first ones as items, and how many there are as
// domains. It can be called again for further ones.
func NameDomains(data map[string]string, names ...string) {
	all, _ := strconv.Atoi(data["domains"]) // none: there is no domain yet
	for _, name := range names {
		if all++; all <= maxNamedDomains {
			data["items"], data[linePrefix(all)+"name"] = strconv.Itoa(all), name
		}
	}
	if all > 0 {
		data["domains"] = strconv.Itoa(all)
	}
}

// MaxJoinedMails limits the lines of a joined mail.
const MaxJoinedMails = 100

// lineKeys are the Data of a mail about one domain that a joined mail has for each domain. It
// occurred when that of its first line did.
var lineKeys = []string{"domain", NoticeDomain, NoticeTerm, "gross", "years", "charge_at", "paid_until", "lasts", "next_term", "announced", "locked_until", "what", "why", "position", MailOccurredAt}

// linePrefix starts the keys of the nth line, counted from 1.
func linePrefix(n int) string { return "item" + strconv.Itoa(n) + "_" }

// JoinMails adds a mail about a domain as a line to the Data of a queued mail of its kind:
// items counts the lines, item1_domain and so on are theirs, and all other keys are common to
// them, except that MailOccurredAt stays that of the queued mail. It returns false if those differ,
// or if the queued mail is full.
func JoinMails(queued, added map[string]string) (map[string]string, bool) {
	if !maps.Equal(commonData(queued), commonData(added)) {
		return nil, false
	}
	joined := maps.Clone(queued)
	lines, _ := strconv.Atoi(queued["items"]) // none: the queued mail is about one domain
	if lines == 0 {
		lines = 1
		copyLine(joined, lines, queued)
	}
	if lines >= MaxJoinedMails {
		return nil, false
	}
	copyLine(joined, lines+1, added)
	joined["items"] = strconv.Itoa(lines + 1)
	return joined, true
}

func copyLine(to map[string]string, n int, from map[string]string) {
	for _, key := range lineKeys {
		if value := from[key]; value != "" {
			to[linePrefix(n)+key] = value
		}
	}
	to[linePrefix(n)+"name"] = from["domain"]
}

// commonData returns what is not about a single domain. The time of the first line stands for all.
func commonData(data map[string]string) map[string]string {
	common := maps.Clone(data)
	delete(common, "items")
	delete(common, MailOccurredAt)
	for _, key := range lineKeys {
		delete(common, key)
	}
	lines, _ := strconv.Atoi(data["items"])
	for n := range lines {
		delete(common, linePrefix(n+1)+"name")
		for _, key := range lineKeys {
			delete(common, linePrefix(n+1)+key)
		}
	}
	return common
}

// NoticeSubject is a domain that a notice is evidence for, or an order if it names no domain;
// empty if it is about neither, or about several domains without their own evidence. The receipt of
// a withdrawal or termination is evidence for that: nothing is known about its domain.
type NoticeSubject struct {
	ID      string // the domain's, the order's or, for a receipt, the declaration's
	Name    string // the domain's
	TermEnd time.Time
}

// NoticeSubjects returns what the Data of a notice names for the evidence, at least one.
func NoticeSubjects(data map[string]string) (subjects []NoticeSubject) {
	lines, _ := strconv.Atoi(data["items"])
	for n := range lines {
		if of := linePrefix(n + 1); data[of+NoticeDomain] != "" {
			subjects = append(subjects, noticeSubject(data, of))
		}
	}
	if len(subjects) == 0 {
		subjects = append(subjects, noticeSubject(data, ""))
	}
	return subjects
}

func noticeSubject(data map[string]string, of string) NoticeSubject {
	end, _ := time.Parse(time.RFC3339Nano, data[of+NoticeTerm]) // zero if it is about no term
	return NoticeSubject{ID: cmp.Or(data[of+NoticeDomain], data["order"]), Name: data[of+"domain"], TermEnd: end}
}
