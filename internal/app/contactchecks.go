package app

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/contactcheck"
)

// Limits of requests for pages of mailed links per network: enough for an office whose mail
// scanner opens every link.
const (
	contactLinksPerHour    = 120
	contactLinksPer10Hours = 600
)

// contactGathering is how long the first mail to a registrant waits for further domains: the next
// rounds of the job that opens checks add them.
const contactGathering = 12 * time.Second

// startContactChecks starts the confirmation of registrants' addresses.
func (p *App) startContactChecks(context.Context) (err error) {
	states := newCounter(p.metrics, "dotkontor_contact_checks_total",
		"States that checks of registrants' addresses reached: pending, suspended, confirmed, obsolete.",
		newLabel("state", contactcheck.Pending, contactcheck.Suspended, contactcheck.Confirmed, contactcheck.Obsolete))
	p.contacts, err = contactcheck.New(contactcheck.Config{
		Store: p.services.DB, Brake: p.brake, Changes: p.changes, Now: p.now, Logger: p.logger, MailQueued: p.services.mail.Wake, GatherFor: contactGathering,
		OnState: func(state contactcheck.State) { states.WithLabelValues(string(state)).Inc() },
	})
	p.inBackground(p.contacts.Run)
	return err
}
