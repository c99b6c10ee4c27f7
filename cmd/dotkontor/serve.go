package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/registrar/quota"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/upstream/dns"
	"github.com/dotkontor/dotkontor/internal/upstream/manners"
	"github.com/dotkontor/dotkontor/internal/upstream/rdap"
	"github.com/dotkontor/dotkontor/internal/upstream/whois"
	"github.com/dotkontor/dotkontor/internal/web"
)

const (
	watchCatalogEvery = 2 * time.Second
	sweepLimitsEvery  = time.Minute
)

type serveCommand struct {
	Config string `env:"DOTKONTOR_CONFIG" help:"Configuration file (TOML). Without one, defaults and environment count."`
}

// Run serves until the process is told to stop.
func (c serveCommand) Run(t *terminal) error {
	cfg, err := config.Load(c.Config, t.environment)
	if err != nil {
		return err
	}
	tuneMemory()
	logger, flush := newLogger(cfg.Log, t.err)
	defer flush()
	p, err := newProduct(t.ctx, cfg, logger, time.Now)
	if err != nil {
		return err
	}
	return p.run(t.ctx, func(baseURL string) { fmt.Fprintln(t.out, "ready", baseURL) })
}

// product is the whole service. This file is the only place where its parts
// meet; the sandbox runs the same one with another configuration.
type product struct {
	cfg     config.Config
	logger  *slog.Logger
	metrics *prometheus.Registry
	// background is what runs beside the requests; each ends with its context.
	background []func(context.Context)
	closers    []func()
	server     *server
}

// newProduct wires everything and opens the listeners; nothing is served yet.
func newProduct(ctx context.Context, cfg config.Config, logger *slog.Logger, now func() time.Time) (*product, error) {
	p := &product{cfg: cfg, logger: logger, metrics: prometheus.NewRegistry()}
	p.metrics.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))

	catalogFile := store.NewCatalogFile(cfg.Data)
	list, err := catalogFile.Load()
	if err != nil {
		return nil, err
	}
	live := catalog.NewLive(list)
	p.background = append(p.background, func(ctx context.Context) {
		catalogFile.Watch(ctx, watchCatalogEvery, live, logger)
	})

	engine, err := p.newLookups(live, now)
	if err != nil {
		return nil, err
	}
	budget, err := p.newBudget()
	if err != nil {
		return nil, err
	}
	proxies, err := config.Prefixes(cfg.Server.TrustedProxies)
	if err != nil {
		return nil, err
	}
	p.server, err = listen(ctx, cfg.Server, logger)
	if err != nil {
		return nil, err
	}
	p.cfg.BaseURL = p.server.resolvePort(cfg.BaseURL)
	handler, err := web.New(web.Config{
		BaseURL:        p.cfg.BaseURL,
		Lookups:        engine,
		Budget:         budget,
		TrustedProxies: proxies,
		Ready:          p.server.ready,
		Logger:         logger,
		Registry:       p.metrics,
	})
	if err != nil {
		return nil, errors.Join(err, p.server.close())
	}
	p.server.handle(handler, p.metrics)
	return p, nil
}

// newLookups connects the engine with the sources outside.
func (p *product) newLookups(live *catalog.Live, now func() time.Time) (*lookup.Engine, error) {
	up := p.cfg.Upstream
	guard, err := p.newGuard()
	if err != nil {
		return nil, err
	}
	registryData, err := rdap.New(rdap.Options{
		Hosts:        up.Hosts,
		BootstrapURL: up.Bootstrap,
		Refresh:      time.Duration(up.BootstrapRefresh),
		Timeout:      time.Duration(up.RDAPTimeout),
		UserAgent:    "dotkontor/" + version,
		Logger:       p.logger,
		Guard:        guard,

		MaxConnsPerHost: up.Concurrent(),
	})
	if err != nil {
		return nil, err
	}
	p.closers = append(p.closers, registryData.Close)
	p.background = append(p.background, func(ctx context.Context) { _ = registryData.Run(ctx) })

	records, err := whois.New(whois.Options{
		Hosts: up.Hosts, Timeout: time.Duration(up.WHOISTimeout), Logger: p.logger, Guard: guard,
	})
	if err != nil {
		return nil, err
	}
	delegations, err := dns.New(dns.Options{Servers: up.DNS, Timeout: time.Duration(up.DNSTimeout), Logger: p.logger})
	if err != nil {
		return nil, err
	}
	observe, err := p.newSourceMetrics()
	if err != nil {
		return nil, err
	}
	disagreed, err := p.newCounter("dotkontor_lookup_disagreements_total",
		"Names about which two sources contradicted each other, by extension.", "extension")
	if err != nil {
		return nil, err
	}
	look := p.cfg.Lookup
	engine, err := lookup.New(lookup.Config{
		Catalogue:   live,
		RDAP:        registryData,
		WHOIS:       records,
		DNS:         delegations,
		Deadline:    time.Duration(look.Deadline),
		KeepFree:    time.Duration(look.KeepFree),
		KeepTaken:   time.Duration(look.KeepTaken),
		KeepUnknown: time.Duration(look.KeepUnknown),
		MaxKept:     look.MaxKept,
		MaxUnderWay: look.MaxUnderWay,
		HedgeAfter:  time.Duration(look.HedgeAfter),
		Now:         now,
		Logger:      p.logger,
		Observe:     observe,
		Disagreed:   func(tld string) { disagreed.WithLabelValues(tld).Inc() },
	})
	if err != nil {
		return nil, err
	}
	p.closers = append(p.closers, engine.Close)
	return engine, nil
}

// newGuard makes the one guard that all connectors to registries share, so that
// a host is asked no more for being asked in two ways.
func (p *product) newGuard() (*manners.Guard, error) {
	// Hosts come from the price list and the bootstrap, never from a client, so
	// the number of series is bounded.
	events, err := p.newCounter("dotkontor_upstream_host_events_total",
		"What happened at the hosts of registries beside questions and answers, by host and event.", "host", "event")
	if err != nil {
		return nil, err
	}
	up := p.cfg.Upstream
	return manners.New(manners.Options{
		PerSecond:     float64(up.PerHostPerSecond),
		Burst:         up.PerHostBurst,
		MaxConcurrent: up.Concurrent(),
		MaxWaiting:    up.PerHostWaiting,
		Logger:        p.logger,
		Observe:       func(host string, event manners.Event) { events.WithLabelValues(host, string(event)).Inc() },
	}), nil
}

func (p *product) newCounter(name, help string, labels ...string) (*prometheus.CounterVec, error) {
	counter := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	return counter, p.metrics.Register(counter)
}

// newSourceMetrics measures the questions to sources outside.
func (p *product) newSourceMetrics() (func(lookup.Source, string, time.Duration), error) {
	duration := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "dotkontor_lookup_source_duration_seconds",
		Help:    "Time that a source outside took to answer, by source and outcome.",
		Buckets: []float64{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 6},
	}, []string{"source", "outcome"})
	if err := p.metrics.Register(duration); err != nil {
		return nil, err
	}
	return func(source lookup.Source, outcome string, took time.Duration) {
		duration.WithLabelValues(string(source), outcome).Observe(took.Seconds())
	}, nil
}

// newBudget sets the limits of the lookups.
func (p *product) newBudget() (*quota.Budget, error) {
	limits := p.cfg.Limits
	var shared []quota.Shared
	for _, egress := range limits.SharedEgress {
		networks, err := config.Prefixes([]string{egress.Network})
		if err != nil {
			return nil, err
		}
		shared = append(shared, quota.Shared{
			Network: networks[0],
			Windows: lookupWindows(egress.LookupPerMinute, egress.LookupPer6Hours),
		})
	}
	budget, err := quota.NewBudget(quota.Config{
		Windows: lookupWindows(limits.LookupPerMinute, limits.LookupPer6Hours),
		MaxKeys: limits.MaxAddresses,
	}, shared)
	if err != nil {
		return nil, err
	}
	p.background = append(p.background, func(ctx context.Context) { budget.Run(ctx, sweepLimitsEvery) })
	return budget, p.metrics.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "dotkontor_limits_addresses",
		Help: "Addresses whose requests are remembered at this moment.",
	}, func() float64 { return float64(budget.Len()) }))
}

func lookupWindows(perMinute, perSixHours int) []quota.Window {
	return []quota.Window{{Limit: perMinute, Per: time.Minute}, {Limit: perSixHours, Per: 6 * time.Hour}}
}

// run serves until ctx ends, then drains. onReady is told the base address once
// requests are answered.
func (p *product) run(ctx context.Context, onReady func(baseURL string)) error {
	beside, stop := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	for _, work := range p.background {
		all.Go(func() { work(beside) })
	}
	err := p.server.run(ctx, func() { onReady(p.cfg.BaseURL) })
	stop()
	all.Wait()
	for _, closeIt := range p.closers {
		closeIt()
	}
	return err
}
