package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/quota"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/web"
	"github.com/dotkontor/dotkontor/internal/web/discovery"
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
	// Files are taken up without being told, so there is nothing to reload; but
	// people and log rotation send it out of habit.
	signal.Ignore(syscall.SIGHUP)
	tuneMemory(cfg)
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

	observe, err := newSourceMetrics(p.metrics)
	if err != nil {
		return nil, err
	}
	observeHost, err := newHostMetrics(p.metrics)
	if err != nil {
		return nil, err
	}
	disagreed, err := newDisagreementMetrics(p.metrics)
	if err != nil {
		return nil, err
	}
	look, err := newLookups(lookupParts{
		cfg: cfg, catalogue: live, now: now, logger: logger,
		observe: observe, observeHost: observeHost, disagreed: disagreed,
	})
	if err != nil {
		return nil, err
	}
	p.background = append(p.background, look.keepBootstrapFresh)
	p.closers = append(p.closers, look.close)
	budget, err := p.newBudget()
	if err != nil {
		return nil, err
	}
	proxies, err := config.Prefixes(cfg.Server.TrustedProxies)
	if err != nil {
		return nil, err
	}
	p.server, err = listen(ctx, cfg.Server, proxies, logger)
	if err != nil {
		return nil, err
	}
	p.cfg.BaseURL = p.server.resolvePort(cfg.BaseURL)
	handler, err := web.New(web.Config{
		Facts: discovery.Facts{
			BaseURL:         p.cfg.BaseURL,
			Version:         version,
			LookupPerMinute: cfg.Limits.LookupPerMinute,
			LookupPer6Hours: cfg.Limits.LookupPer6Hours,
		},
		Lookups:        look.engine,
		Budget:         budget,
		TrustedProxies: proxies,
		Ready:          p.server.ready,
		Logger:         logger,
		Registry:       p.metrics,
	})
	if err != nil {
		return nil, errors.Join(err, p.server.close())
	}
	if err := p.server.handle(handler, p.metrics); err != nil {
		return nil, errors.Join(err, p.server.close())
	}
	return p, nil
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
