package app

import (
	"net/url"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	webhooksvc "github.com/dotkontor/dotkontor/internal/registrar/webhook"
	upstreamwebhook "github.com/dotkontor/dotkontor/internal/upstream/webhook"
	"github.com/dotkontor/dotkontor/internal/web/acp/orderdoc"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// startWebhooks starts the delivery of order events to agents. A service on loopback,
// such as a sandbox, calls only loopback addresses; any other service never does.
func (p *App) startWebhooks() error {
	base, err := url.Parse(p.cfg.BaseURL)
	if err != nil {
		return err
	}
	sender := upstreamwebhook.New(upstreamwebhook.Options{UserAgent: "dotkontor/" + Version, Loopback: registrar.IsLoopbackHost(base.Hostname())})
	p.closers = append(p.closers, sender.Close)
	deliveries := newCounter(p.metrics, "dotkontor_webhook_deliveries_total",
		"Attempts to deliver a webhook to an agent, by outcome: sent, failed (will be retried, unless also abandoned), abandoned.",
		newLabel("outcome", webhooksvc.Sent, webhooksvc.Failed, webhooksvc.Abandoned))
	p.webhooks, err = webhooksvc.New(webhooksvc.Config{
		Store: p.services.DB, OpenWebhook: p.services.Agents.OpenWebhook, Event: p.renderOrderEvent, Sender: sender,
		Logger: p.logger, RecordError: p.recordJobError(admin.JobWebhook),
		OnAttempt: func(outcome webhooksvc.Outcome) { deliveries.WithLabelValues(string(outcome)).Inc() },
	})
	p.inBackground(p.webhooks.Run)
	return err
}

// renderOrderEvent returns the webhook message about an order.
func (p *App) renderOrderEvent(o order.Order, version string, first bool) ([]byte, error) {
	return orderdoc.Event(version, first, o, p.cfg.BaseURL+ui.OrdersPath+"/"+o.ID)
}
