package app

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
)

// startDisputes opens the service that follows payment disputes. Without a payment provider,
// stored disputes still lock their domains and operators see them.
func (p *App) startDisputes(context.Context) (err error) {
	statuses := newCounter(p.metrics, "dotkontor_disputes_total",
		"Payment disputes and inquiries that reached a status, by status.", newLabel("status", dispute.Statuses()...))
	newBacklogGauge(p.metrics, "dotkontor_disputes_open", //nolint:contextcheck // a scrape has no context
		"Payment disputes and inquiries that wait for an operator, on all nodes; -1 if the database does not respond. It stops counting at 1000.", p.services.DB.CountOpenDisputes)
	settings := dispute.Config{
		Store: p.services.DB, Changes: p.changes, Transfers: p.transfersAway, Now: p.now, Logger: p.logger, MailQueued: p.services.mail.Wake,
		OperatorEmail: p.cfg.Company.Email, RecordListView: p.admin.RecordListView,
		OnStatus: func(status dispute.Status) { statuses.WithLabelValues(string(status)).Inc() },
	}
	if p.stripe != nil { // an interface that holds a nil pointer is not nil
		settings.Provider = p.stripe
	}
	if p.disputes, err = dispute.New(settings); err != nil || p.stripe == nil {
		return err
	}
	p.inBackground(p.disputes.Run, p.disputes.RunListing)
	return nil
}
