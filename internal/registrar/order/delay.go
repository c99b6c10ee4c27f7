package order

import (
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// usualDuration is how long registrations, renewals and restores take at most, normally.
const usualDuration = 15 * time.Minute

// delayNoticeAfter is how long after its payment the customer of a delayed order gets a mail.
const delayNoticeAfter = 4 * time.Hour

// IsDelayed reports whether a paid order takes longer than usual. It does not matter why: the
// registry may be unreachable or decide later, or our account there may have no credit (package
// provision). Transfers take days anyway.
func (o *Order) IsDelayed(now time.Time) bool {
	if o.State != Provisioning || now.Sub(o.PaidAt) < usualDuration {
		return false
	}
	return slices.ContainsFunc(o.Items, Item.isLate)
}

// isLate reports whether an item of a delayed order is what delays it.
func (i Item) isLate() bool { return i.State == ItemProvisioning && i.Kind != Transfer }

// addDelayedMail adds the mail about a delay to the first transition after delayNoticeAfter, if the
// order is delayed then. Every transition stores its time, so there is one mail whatever the node.
func (m *Transition) addDelayedMail() {
	at := m.From.PaidAt.Add(delayNoticeAfter)
	if m.From.State != Provisioning || m.To.State != Provisioning || !m.From.UpdatedAt.Before(at) || m.To.UpdatedAt.Before(at) {
		return
	}
	if m.To.IsDelayed(m.To.UpdatedAt) && !m.To.IsRefunded() {
		m.Mails = append(m.Mails, delayedMail(m.To))
	}
}

// delayedMail says that an order takes longer, which of its items do, and what happens next.
func delayedMail(o Order) registrar.Mail {
	late := o.clone()
	late.Items = slices.DeleteFunc(late.Items, func(i Item) bool { return !i.isLate() })
	return registrar.Mail{ID: "mail_delayed_" + o.ID, Kind: registrar.MailOrderDelayed, Customer: o.Customer, Data: mailData(late)}
}

// IsDelayed reports whether an order takes longer than usual now.
func (s *Service) IsDelayed(o Order) bool { return o.IsDelayed(s.cfg.Now()) }
