package main

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
)

// watchTerms tells holders that terms end, for as long as the product runs.
func (p *product) watchTerms(now func() time.Time) error {
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_notices_total",
		Help: "Notices about the end of a domain's term, by kind: expiring_month, expiring_week, expired.",
	}, []string{"kind"})
	startAtZero(counter, values(registrar.LetterExpiringMonth, registrar.LetterExpiringWeek, registrar.LetterExpired))
	if err := p.metrics.Register(counter); err != nil {
		return err
	}
	terms, err := lifecycle.New(lifecycle.Config{
		Store: p.people.db, Now: now, Logger: p.logger, LettersWaiting: p.people.post.wake,
		Told: func(kind registrar.LetterKind) { counter.WithLabelValues(string(kind)).Inc() },
	})
	if err != nil {
		return err
	}
	p.background = append(p.background, terms.Run)
	return nil
}
