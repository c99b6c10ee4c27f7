package main

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/office"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// provisionParts is what provisioning is made of.
type provisionParts struct {
	cfg        config.Config
	people     *accounts
	registries *registries
	node       string
	now        func() time.Time
	logger     *slog.Logger
	metrics    *prometheus.Registry // nil means that nobody counts
	// office is told why lines do not get on; nil means that nobody is.
	office *office.Service
	// ended is told that a line has come to its end; nil means that nobody waits.
	ended func()
}

func newProvisioning(parts provisionParts) (*provision.Service, error) {
	settings := provision.Config{
		Store: parts.people.db, Domains: parts.people.db, Accounts: parts.registries.desks(), Seal: parts.people.keys.Seal(), Node: parts.node,
		Nameservers: parts.cfg.Registration.Nameservers, AtOnce: parts.cfg.Registration.AtOnce,
		ReuseFor: time.Duration(parts.cfg.Orders.ReuseQuotes), MaxReused: parts.cfg.Orders.MaxQuotes,
		Now: parts.now, Logger: parts.logger,
	}
	if parts.metrics != nil {
		if err := countProvisioning(&settings, parts.metrics); err != nil {
			return nil, err
		}
	}
	if parts.office != nil {
		settings.SetBack = setBack(parts.office, office.JobLine, parts.logger)
	}
	if counted := settings.Ended; parts.ended != nil {
		settings.Ended = func(kind provision.Kind, state provision.State) {
			if counted != nil {
				counted(kind, state)
			}
			parts.ended()
		}
	}
	return provision.New(settings)
}

// countProvisioning registers the figures. Codes come from our own tables and
// accounts from the configuration, so the number of series is bounded.
func countProvisioning(settings *provision.Config, metrics *prometheus.Registry) error {
	counter := func(name, help string, labels ...string) (*prometheus.CounterVec, error) {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		return c, metrics.Register(c)
	}
	ended, err := counter("dotkontor_lines_ended_total", "Paid lines that came to an end, by kind (register, transfer, renew) and state (active, failed: to be refunded).", "kind", "state")
	if err != nil {
		return err
	}
	waiting, err := counter("dotkontor_lines_waiting_total", "How often a paid line had to wait, by reason. registry_billing means that an account at a registry has no money.", "code")
	if err != nil {
		return err
	}
	drifted, err := counter("dotkontor_registry_drift_total", "Differences that were found between domains here and at their registry, by what differs.", "what")
	if err != nil {
		return err
	}
	heard, err := counter("dotkontor_registry_messages_total", "Messages of registries that were stored and acknowledged, by account.", "account")
	if err != nil {
		return err
	}
	startAtZero(ended, values(provision.Register, provision.Transfer, provision.Renew), values(provision.StateActive, provision.StateFailed))
	startAtZero(waiting, append(faults(), string(provision.Billing)))
	startAtZero(drifted, values(provision.DriftMissing, provision.DriftElsewhere, provision.DriftRedemption, provision.DriftShort, provision.DriftHandle))
	for _, account := range settings.Accounts {
		startAtZero(heard, []string{account.Name})
	}
	settings.Ended = func(kind provision.Kind, state provision.State) {
		ended.WithLabelValues(string(kind), string(state)).Inc()
	}
	settings.Waiting = func(code registrar.Code) { waiting.WithLabelValues(string(code)).Inc() }
	settings.Drifted = func(what provision.Drift) { drifted.WithLabelValues(string(what)).Inc() }
	settings.Heard = func(account string) { heard.WithLabelValues(account).Inc() }
	return nil
}
