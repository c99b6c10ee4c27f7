package app

import (
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/premium"
	"github.com/dotkontor/dotkontor/internal/upstream/dns"
	"github.com/dotkontor/dotkontor/internal/upstream/hostlimit"
	"github.com/dotkontor/dotkontor/internal/upstream/rdap"
	"github.com/dotkontor/dotkontor/internal/upstream/redis"
	"github.com/dotkontor/dotkontor/internal/upstream/whois"
)

// Lookups is the lookup engine with its sources, shared by the service and commands.
type Lookups struct {
	Engine      *lookup.Engine
	RDAP        *rdap.Client
	DNS         *dns.Client
	Registries  *Registries
	hostLimiter *hostlimit.Limiter
	shared      *redis.Cache // nil: no other node's answers
	observeHost func(host string, event hostlimit.Event)
}

// newLookups builds the engine and registers its metrics. Hosts come from the price list
// and the bootstrap, never from clients, so the number of series is bounded.
func newLookups(
	cfg config.Config, list lookup.Catalog, pricing *premium.Pricing, maxDNSQueries int, now func() time.Time, logger *slog.Logger, metrics *prometheus.Registry,
) (*Lookups, error) {
	upstreamCfg, lookupCfg := cfg.Upstream, cfg.Lookup
	duration := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "dotkontor_lookup_source_duration_seconds",
		Help:    "Response time of external sources, by source and outcome.",
		Buckets: []float64{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 6},
	}, []string{"source", "outcome"})
	metrics.MustRegister(duration)
	events := newCounter(metrics, "dotkontor_upstream_host_events_total",
		"Waits, refusals, pauses and circuit breaker changes at registry hosts, by host and event.", label{name: "host"}, label{name: "event"})
	disagreements := newCounter(metrics, "dotkontor_lookup_disagreements_total",
		"Lookups in which two sources contradicted each other, by extension.", label{name: "extension"})
	observeHost := func(host string, event hostlimit.Event) { events.WithLabelValues(host, string(event)).Inc() }
	// One limiter for all protocols, so that a host's limit covers RDAP and WHOIS together.
	guard := hostlimit.New(hostlimit.Options{
		PerSecond: float64(upstreamCfg.PerHostPerSecond), Burst: upstreamCfg.PerHostBurst,
		MaxConcurrent: upstreamCfg.MaxConcurrent(), MaxWaiting: upstreamCfg.PerHostWaiting,
		Logger: logger, Observe: observeHost,
	})
	registryData, err := rdap.New(rdap.Options{
		Hosts: upstreamCfg.Hosts, BootstrapURL: upstreamCfg.Bootstrap, Refresh: time.Duration(upstreamCfg.BootstrapRefresh),
		Timeout: time.Duration(upstreamCfg.RDAPTimeout), UserAgent: "dotkontor/" + Version, Logger: logger,
		Limiter: guard, MaxConnsPerHost: upstreamCfg.MaxConcurrent(),
	})
	if err != nil {
		return nil, err
	}
	records, err := whois.New(whois.Options{
		Hosts: upstreamCfg.Hosts, Timeout: time.Duration(upstreamCfg.WHOISTimeout), Logger: logger, Limiter: guard,
	})
	if err != nil {
		return nil, err
	}
	delegations, err := dns.New(dns.Options{
		Servers: upstreamCfg.DNS, Timeout: time.Duration(upstreamCfg.DNSTimeout), MaxConcurrent: maxDNSQueries, Logger: logger,
	})
	if err != nil {
		return nil, err
	}
	registries, err := OpenRegistries(cfg, logger)
	if err != nil {
		return nil, err
	}
	var accounts lookup.RecordSource // avoid a non-nil interface holding nil
	if registries.Source != nil {
		accounts = registries.Source
	}
	var shared *redis.Cache
	var answers lookup.SharedCache                  // as above
	if cfg.Shared.URL != "" && maxDNSQueries == 0 { // commands ask on their own
		found := newCounter(metrics, "dotkontor_lookup_shared_total", "Lookups at the cache of all nodes: hit, miss, waiting (another node queries), down.",
			newLabel("outcome", redis.CacheHit, redis.CacheMiss, redis.CacheWaiting, redis.CacheDown))
		shared = redis.NewCache(logger, func(outcome string) { found.WithLabelValues(outcome).Inc() })
		answers = shared
	}
	engine, err := lookup.New(lookup.Config{
		Shared: answers, Catalog: list, EPP: accounts, RDAP: registryData, WHOIS: records, DNS: delegations, PremiumPrice: pricing.Net,
		Deadline: time.Duration(lookupCfg.Deadline), FreeTTL: time.Duration(lookupCfg.CacheFree),
		TakenTTL: time.Duration(lookupCfg.CacheTaken), UnknownTTL: time.Duration(lookupCfg.CacheUnknown),
		MaxCached: lookupCfg.MaxCached, MaxInFlight: lookupCfg.MaxConcurrent, Now: now, Logger: logger,
		Observe: func(source lookup.Source, outcome string, took time.Duration) {
			duration.WithLabelValues(string(source), outcome).Observe(took.Seconds())
		},
		OnDisagreement: func(tld string) { disagreements.WithLabelValues(tld).Inc() },
	})
	if err != nil {
		return nil, err
	}
	return &Lookups{
		Engine: engine, RDAP: registryData, DNS: delegations, Registries: registries, hostLimiter: guard, shared: shared, observeHost: observeHost,
	}, nil
}

// commandDNSQueries bounds the DNS queries of a command in flight. Its resolver may be a
// small forwarder: dnsmasq refuses more than 150.
const commandDNSQueries = 64

// OpenLookups connects the commands to the same sources as the service. The caller
// closes the result.
func OpenLookups(cfg config.Config, list *catalog.Catalog) (*Lookups, error) {
	live := catalog.NewLive(list)
	lookups, err := newLookups(cfg, live, newPremiumPricing(cfg.Premium, nil, time.Now), commandDNSQueries, time.Now, nil, prometheus.NewRegistry())
	if err != nil {
		return nil, err
	}
	if sales := NewSales(cfg, lookups.Registries); sales.Enabled() { // otherwise nothing is sold here
		live.SetSaleDecider(sales.SaleOf)
	}
	return lookups, nil
}

func (l *Lookups) Close() {
	l.Engine.Close()
	l.RDAP.Close()
	l.Registries.Close()
}

// NewSales returns what the configuration sells.
func NewSales(cfg config.Config, registries *Registries) order.Sales {
	return order.Sales{Payments: cfg.Stripe.SecretKey != "", Accounts: registries.provisionAccounts()}
}
