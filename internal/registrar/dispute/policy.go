package dispute

import (
	"slices"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Changes that a mail reports, in its Data["change"].
const (
	mailOpened   = "opened"
	mailReturned = "returned"
	mailWon      = "won"
	mailLost     = "lost"
	mailKept     = "kept" // domains that a denial took out of the DNS are put back
	mailLifted   = "lifted"
	mailDenied   = "denied"
)

// effect is what the customer learns of a new version of a dispute; empty if nothing.
type effect struct {
	action registrar.Action
	mail   string
}

// apply returns the version of a dispute after a report, by the policy in doc.go. was is zero if
// the dispute is new.
func apply(was Dispute, report Report, subject Subject) (now Dispute, what effect) {
	now = was
	now.Report = report
	now.Payment, now.Order, now.Customer = subject.Payment, subject.Order, subject.Customer
	isNew := was.ID == ""
	if isNew {
		now.Lock, now.BankReturn = LockNone, report.Status == Lost && report.Debit
	}
	if isNew || was.Status != report.Status {
		now.OpenWork = report.Status.Open() || report.Status == Lost
	}
	if !subject.Captured {
		return now, effect{}
	}
	locked := was.Lock != LockNone && !isNew // now or before; without one the payment may only be captured by now
	switch status := report.Status; {
	case was.Status == status && (locked || status.Inquiry()):
	case (status.Open() && !status.Inquiry() || status == Lost) && !locked:
		now.Lock, now.OpenWork, what = LockActive, true, effect{ActionOpened, mailOpened}
		if now.BankReturn {
			what = effect{ActionReturned, mailReturned}
		}
	case status == Lost:
		if what = (effect{ActionLost, mailLost}); !was.Status.Open() { // the bank has reversed its decision
			now.relock()
		}
	case status.Open() && !status.Inquiry() && !was.Lock.InForce():
		now.relock()
		what = effect{ActionOpened, mailOpened}
	case !status.Open() && was.Lock.InForce(): // won, or closed without a decision
		now.Lock, what = LockLifted, effect{ActionWon, mailWon}
	}
	return now, what
}

// relock makes a lock that had ended active again.
func (d *Dispute) relock() {
	d.Lock, d.Decision, d.Note, d.DecidedBy, d.DecidedAt = LockActive, "", "", "", time.Time{}
}

// decide returns the version of a dispute after an operator's decision.
func decide(was Dispute, decision Decision) (now Dispute, what effect) {
	now = was
	now.OpenWork = false
	if !was.Lock.InForce() { // a charge that paid for nothing here: the loss is noted
		return now, effect{}
	}
	now.Decision = decision
	switch decision {
	case Keep:
		if now.Lock, what = LockKept, (effect{action: ActionKept}); was.Lock == LockDenied {
			what.mail = mailKept
		}
	case Lift:
		now.Lock, what = LockLifted, effect{ActionLifted, mailLifted}
	case Deny:
		now.Lock, what = LockDenying, effect{action: ActionDenied} // the mail follows once it is true
	}
	return now, what
}

// Allows reports whether an operator can make a decision about a dispute: it must be lost, a
// lifted lock can't be set again, and a charge that paid for nothing here can only be noted.
func (d Dispute) Allows(decision Decision) bool {
	switch {
	case d.Status != Lost:
		return false
	case d.Lock == LockNone:
		return decision == Keep && d.OpenWork
	case !d.Lock.InForce():
		return false
	case decision == Keep:
		return d.Lock == LockActive || d.Lock == LockDenied
	case decision == Deny:
		return d.Lock == LockActive || d.Lock == LockKept
	default:
		return decision == Lift
	}
}

// OpenClaim returns what the customer owes after a loss; 0 if nothing.
func (d Dispute) OpenClaim() registrar.Cents {
	if d.Status != Lost || d.Order == "" {
		return 0
	}
	return d.Withdrawn
}

// TakenOut reports whether denied transfers take the domain out of the DNS. One that can't be
// transferred is left alone, and so are ccTLDs.
func (d Domain) TakenOut() bool { return d.transferable() && registrar.IsGenericTLD(d.TLD) }

func (d Domain) transferable() bool {
	return d.Status == registrar.DomainActive || d.Status == registrar.DomainExpired
}

// mailOf returns the mail about a change of a dispute whose lock was another one; nil if there is
// none. It names the domains first that the change takes out of the DNS or puts back.
func mailOf(was Lock, d Dispute, change string, domains []Domain) *registrar.Mail {
	if change == "" || d.Customer == "" {
		return nil
	}
	data := map[string]string{
		"order": d.Order, "change": change, "gross": d.Amount.String(), "items": strconv.Itoa(min(len(domains), maxMailedDomains)),
		registrar.MailOccurredAt: d.UpdatedAt.UTC().Format(time.RFC3339),
	}
	state := ""
	switch {
	case change == mailDenied:
		state = "held"
	case was == LockDenied:
		state = "released"
	}
	var held, others []Domain
	for _, domain := range domains {
		if state != "" && domain.TakenOut() {
			held = append(held, domain)
		} else {
			others = append(others, domain)
		}
	}
	if len(held) > 0 {
		data["state"] = state
	} else if change == mailKept {
		return nil // nothing changes for the customer
	}
	for i, domain := range slices.Concat(held, others)[:min(len(domains), maxMailedDomains)] {
		of := "item" + strconv.Itoa(i+1) + "_"
		data[of+"name"], data[of+"domain"], data[of+registrar.NoticeDomain] = domain.Name, domain.Name, domain.ID
		if i < len(held) {
			data[of+"held"] = "true"
		}
	}
	return &registrar.Mail{Kind: registrar.MailPaymentDispute, Customer: d.Customer, Data: data}
}

// operatorMail is about a dispute that an operator has to act on. Evidence is possible until its
// due date, unless the dispute is lost.
func operatorMail(d Dispute, to string, domains []Domain) *registrar.Mail {
	data := map[string]string{"number": d.ID, "order": d.Order, "gross": d.Amount.String(), "change": mailOpened}
	if len(domains) > 0 {
		data["domain"], data["items"] = domains[0].Name, strconv.Itoa(len(domains))
	}
	switch {
	case d.Status.Inquiry():
		data["change"] = "inquiry"
	case d.BankReturn:
		data["change"] = mailReturned
	case d.Status == Lost:
		data["change"] = mailLost
	}
	if d.Status.Open() && !d.DueBy.IsZero() {
		data["evidence_due"] = d.DueBy.UTC().Format(time.DateOnly)
	}
	return &registrar.Mail{Kind: registrar.MailDisputeReceived, To: to, Language: "de", Data: data}
}
