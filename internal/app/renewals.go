package app

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
)

// startRenewals starts announcing and charging automatic renewals. Without a payment provider
// it does nothing.
func (p *App) startRenewals(context.Context) error {
	if p.orders == nil {
		return nil
	}
	outcomes := newCounter(p.metrics, "dotkontor_renewals_total",
		"Automatic renewals by outcome: announced, charged, declined (another attempt follows), failed, stopped (no consent any more, or renewed by hand), postponed.",
		newLabel("outcome", renewal.Outcomes()...))
	oldest := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "dotkontor_renewals_overdue_seconds",
		Help: "Delay of the most overdue automatic renewal. More than an hour means that renewals are not charged.",
	})
	p.metrics.MustRegister(oldest)
	worker, err := renewal.NewWorker(renewal.WorkerConfig{
		Store: p.services.DB, Orders: p.orders, Now: p.now, Logger: p.logger, MailQueued: p.services.mail.Wake,
		Stopped:     func(ctx context.Context) (bool, error) { return p.brake.StoppedByClock(ctx, p.now()) },
		OnOutcome:   func(outcome renewal.Outcome) { outcomes.WithLabelValues(string(outcome)).Inc() },
		OnOldestDue: func(age time.Duration) { oldest.Set(age.Seconds()) },
	})
	if err != nil {
		return err
	}
	p.renewals = worker
	p.inBackground(worker.RunAnnouncements, worker.RunCharges)
	return nil
}
