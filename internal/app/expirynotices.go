package app

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
)

// startExpiryNotices starts the mails about expiring domains.
func (p *App) startExpiryNotices(context.Context) error {
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_expiry_notices_total",
		Help: "Notices about the end of a domain's term, by kind: expiring_month, expiring_week, expired.",
	}, []string{"kind"})
	initCounters(counter, labelValues(registrar.MailExpiringMonth, registrar.MailExpiringWeek, registrar.MailExpired))
	if err := p.metrics.Register(counter); err != nil {
		return err
	}
	terms, err := lifecycle.New(lifecycle.Config{
		Store: p.services.DB, Now: p.now, Logger: p.logger, MailQueued: p.services.mail.wake,
		OnNotice: func(kind registrar.MailKind) { counter.WithLabelValues(string(kind)).Inc() },
	})
	if err != nil {
		return err
	}
	p.background = append(p.background, terms.Run)
	return nil
}
