package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/upstream/stripe"
	"github.com/dotkontor/dotkontor/internal/web/stripehook"
)

// NewStripe returns the payment provider for commands, or nil if no key is set.
func NewStripe(cfg config.Stripe) *stripe.Client {
	return newStripe(cfg, slog.New(slog.DiscardHandler), nil)
}

func newStripe(cfg config.Stripe, logger *slog.Logger, observe func(call, outcome string, took time.Duration)) *stripe.Client {
	if cfg.SecretKey == "" {
		return nil
	}
	options := stripe.Options{
		Key: string(cfg.SecretKey), URL: cfg.APIURL, Methods: cfg.PaymentMethods, Logger: logger, Observe: observe,
		Token: stripe.TokenRequestFormat{Parameter: cfg.TokenParameter, Version: cfg.TokenVersion, Method: cfg.TokenMethodType},
	}
	for _, secret := range cfg.WebhookSecrets {
		options.Secrets = append(options.Secrets, string(secret))
	}
	return stripe.New(options)
}

// newStripe measures the calls to Stripe and records whether they succeed. Calls and
// outcomes are the connector's own constants, so the series are bounded.
func (p *App) newStripe() *stripe.Client {
	calls := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "dotkontor_stripe_call_duration_seconds",
		Help:    "Duration of calls to Stripe including retries, by call and outcome (ok, or the failure code).",
		Buckets: []float64{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20},
	}, []string{"call", "outcome"})
	p.metrics.MustRegister(calls)
	return newStripe(p.cfg.Stripe, p.logger, func(call, outcome string, took time.Duration) {
		calls.WithLabelValues(call, outcome).Observe(took.Seconds())
		p.stripeHealth.record(outcome == "ok", registrar.Code(outcome), p.now())
	})
}

// stripeEvents verifies Stripe's webhook events and passes them to orders, to disputes, or to
// the service that saves payment methods.
type stripeEvents struct {
	*stripe.Client
	orders   *order.Service
	renewals *renewal.Consents
	disputes *dispute.Service
}

// HandleEvent fetches what the event names.
func (e stripeEvents) HandleEvent(ctx context.Context, event order.Event) error {
	if event.Dispute != "" {
		return e.disputes.Refresh(ctx, event.Dispute)
	}
	if event.Setup == "" {
		return e.orders.HandleEvent(ctx, event)
	}
	_, err := e.renewals.FinishMethodSetup(ctx, registrar.Actor{}, event.Setup)
	return err
}

var _ stripehook.Events = stripeEvents{}
