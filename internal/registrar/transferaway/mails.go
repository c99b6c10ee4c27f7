package transferaway

import (
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// The Data of both mails: domain, domain_id, gaining, and the times requested, acts_at and ended_at
// in RFC 3339; empty if unknown. MailTransferAway also has stoppable; MailTransferAwayEnded has
// change, a final State, or stop_refused or approve_refused, and at, the day.
func newMail(kind registrar.MailKind, t Transfer) *registrar.Mail {
	mail := &registrar.Mail{Kind: kind, Customer: t.Customer, Data: map[string]string{
		"domain": t.Name, registrar.NoticeDomain: t.Domain, "gaining": t.Gaining,
	}}
	for key, at := range map[string]time.Time{"requested": t.RequestedAt, "acts_at": t.ActsAt, "ended_at": t.EndedAt} {
		if !at.IsZero() {
			mail.Data[key] = at.UTC().Format(time.RFC3339)
		}
	}
	return mail
}

func requestMail(t Transfer, rules Rules) *registrar.Mail {
	mail := newMail(registrar.MailTransferAway, t)
	mail.Data["stoppable"] = strconv.FormatBool(rules.Answer)
	return mail
}

func endMail(t Transfer) *registrar.Mail {
	mail := newMail(registrar.MailTransferAwayEnded, t)
	mail.Data["change"], mail.Data["at"] = string(t.State), t.EndedAt.UTC().Format(time.DateOnly)
	if t.Reason != ReasonObjection {
		mail.Data["reason"] = string(t.Reason)
	}
	return mail
}

// refusalMail is about an answer that the registry refused.
func refusalMail(t Transfer) *registrar.Mail {
	mail := newMail(registrar.MailTransferAwayEnded, t)
	mail.Data["change"] = "stop_refused"
	if t.State == StateApproving {
		mail.Data["change"] = "approve_refused"
	}
	return mail
}
