package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/upstream/stripe"
	"github.com/dotkontor/dotkontor/internal/web/stripehook"
)

// NewStripe is the payment provider, or nil where no key is set. metrics may be nil:
// then nobody counts, and seen is not told how the provider does.
func NewStripe(cfg config.Stripe, logger *slog.Logger, metrics *prometheus.Registry, seen *upstreamHealth) (*stripe.Client, error) {
	if cfg.SecretKey == "" {
		return nil, nil //nolint:nilnil // no provider is no error
	}
	options := stripe.Options{
		Key: string(cfg.SecretKey), URL: cfg.APIURL, Methods: cfg.PaymentMethods, Logger: logger,
		Token: stripe.TokenRequestFormat{Parameter: cfg.TokenParameter, Version: cfg.TokenVersion, Method: cfg.TokenMethodType},
	}
	for _, secret := range cfg.WebhookSecrets {
		options.Secrets = append(options.Secrets, string(secret))
	}
	if metrics != nil {
		// Calls and outcomes are the connector's own words, so the series are bounded.
		calls := prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "dotkontor_stripe_call_duration_seconds",
			Help:    "Calls to Stripe with their repetitions, by call and outcome (ok, or what went wrong).",
			Buckets: []float64{0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20},
		}, []string{"call", "outcome"})
		if err := metrics.Register(calls); err != nil {
			return nil, err
		}
		options.Observe = func(call, outcome string, took time.Duration) {
			calls.WithLabelValues(call, outcome).Observe(took.Seconds())
			seen.record(outcome == "ok", registrar.Code(outcome))
		}
	}
	return stripe.New(options), nil
}

// stripeEvents lets orders hear what Stripe sends.
type stripeEvents struct {
	stripe *stripe.Client
	orders *order.Service
}

var _ stripehook.Events = stripeEvents{}

// ParseEvent checks the signature.
func (m stripeEvents) ParseEvent(payload []byte, signature string) (order.Event, error) {
	return m.stripe.ParseEvent(payload, signature)
}

// HandleEvent has the order looked at.
func (m stripeEvents) HandleEvent(ctx context.Context, event order.Event) error {
	return m.orders.HandleEvent(ctx, event)
}
