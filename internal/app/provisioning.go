package app

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// ProvisionParts are the dependencies of NewProvisioning. Commands leave out the
// unexported ones.
type ProvisionParts struct {
	Config     config.Config
	Services   *Services
	Registries *Registries
	Node       string
	Now        func() time.Time
	Logger     *slog.Logger
	metrics    *prometheus.Registry
	admin      *admin.Service
	onEnd      func() // called when an item reaches a final state
}

func NewProvisioning(parts ProvisionParts) (*provision.Service, error) {
	settings := provision.Config{
		Store: parts.Services.DB, Domains: parts.Services.DB, Accounts: parts.Registries.provisionAccounts(), Seal: parts.Services.keys.Seal(), Node: parts.Node,
		Nameservers: parts.Config.Registration.Nameservers, Concurrency: parts.Config.Registration.MaxConcurrent,
		CacheTTL: time.Duration(parts.Config.Orders.ReuseQuotes), MaxCached: parts.Config.Orders.MaxQuotes,
		Now: parts.Now, Logger: parts.Logger,
	}
	if parts.metrics != nil {
		if err := registerProvisioningMetrics(&settings, parts.metrics); err != nil {
			return nil, err
		}
	}
	if parts.admin != nil {
		settings.RecordError = jobErrorRecorder(parts.admin, admin.JobItem, parts.Logger)
	}
	if counted := settings.OnItemEnded; parts.onEnd != nil {
		settings.OnItemEnded = func(kind provision.Kind, state provision.State) {
			if counted != nil {
				counted(kind, state)
			}
			parts.onEnd()
		}
	}
	return provision.New(settings)
}

// registerProvisioningMetrics registers the metrics of provisioning. Codes are constants
// and accounts are configured, so the number of series is bounded.
func registerProvisioningMetrics(settings *provision.Config, metrics *prometheus.Registry) error {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	ended := counter("dotkontor_order_items_finished_total", "Paid order items that reached a final state, by kind (register, transfer, renew) and state (active, or failed and to be refunded).", "kind", "state")
	waiting := counter("dotkontor_order_items_waiting_total", "How often a paid order item had to wait, by reason. registry_billing means that a registry account has insufficient funds.", "code")
	drifted := counter("dotkontor_registry_drift_total", "Differences found between domains in the database and at their registry, by what differs.", "what")
	messages := counter("dotkontor_registry_messages_total", "Registry messages stored and acknowledged, by account.", "account")
	for _, collector := range []prometheus.Collector{ended, waiting, drifted, messages} {
		if err := metrics.Register(collector); err != nil {
			return err
		}
	}
	initCounters(ended, labelValues(provision.Register, provision.Transfer, provision.Renew), labelValues(provision.StateActive, provision.StateFailed))
	initCounters(waiting, append(faultCodes(), string(provision.Billing)))
	initCounters(drifted, labelValues(provision.DriftMissing, provision.DriftElsewhere, provision.DriftRedemption, provision.DriftShort, provision.DriftHandle))
	for _, account := range settings.Accounts {
		initCounters(messages, []string{account.Name})
	}
	settings.OnItemEnded = func(kind provision.Kind, state provision.State) {
		ended.WithLabelValues(string(kind), string(state)).Inc()
	}
	settings.OnRetry = func(code registrar.Code) { waiting.WithLabelValues(string(code)).Inc() }
	settings.OnDrift = func(what provision.Drift) { drifted.WithLabelValues(string(what)).Inc() }
	settings.OnMessage = func(account string) { messages.WithLabelValues(account).Inc() }
	return nil
}
