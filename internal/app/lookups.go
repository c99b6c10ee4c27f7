package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/upstream/dns"
	"github.com/dotkontor/dotkontor/internal/upstream/hostlimit"
	"github.com/dotkontor/dotkontor/internal/upstream/rdap"
	"github.com/dotkontor/dotkontor/internal/upstream/whois"
)

type LookupParts struct {
	Config  config.Config
	Catalog lookup.Catalog
	Now     func() time.Time
	Logger  *slog.Logger // optional
	// ObserveSource is called after each query to a source; optional.
	ObserveSource func(lookup.Source, string, time.Duration)
	// ObserveHost is called for events at registry hosts, and OnDisagreement if two
	// sources contradict each other; both are optional.
	ObserveHost    func(host string, event hostlimit.Event)
	OnDisagreement func(tld string)
}

// Lookups is the lookup engine with its sources, shared by the service and commands.
type Lookups struct {
	Engine      *lookup.Engine
	RDAP        *rdap.Client
	DNS         *dns.Client
	Registries  *Registries
	hostLimiter *hostlimit.Limiter
}

func NewLookups(parts LookupParts) (*Lookups, error) {
	upstreamCfg, lookupCfg := parts.Config.Upstream, parts.Config.Lookup
	// One limiter for all protocols, so that a host's limit covers RDAP and WHOIS
	// together.
	guard := hostlimit.New(hostlimit.Options{
		PerSecond:     float64(upstreamCfg.PerHostPerSecond),
		Burst:         upstreamCfg.PerHostBurst,
		MaxConcurrent: upstreamCfg.MaxConcurrent(),
		MaxWaiting:    upstreamCfg.PerHostWaiting,
		Logger:        parts.Logger,
		Observe:       parts.ObserveHost,
	})
	registryData, err := rdap.New(rdap.Options{
		Hosts:        upstreamCfg.Hosts,
		BootstrapURL: upstreamCfg.Bootstrap,
		Refresh:      time.Duration(upstreamCfg.BootstrapRefresh),
		Timeout:      time.Duration(upstreamCfg.RDAPTimeout),
		UserAgent:    "dotkontor/" + Version,
		Logger:       parts.Logger,
		Limiter:      guard,

		MaxConnsPerHost: upstreamCfg.MaxConcurrent(),
	})
	if err != nil {
		return nil, err
	}
	records, err := whois.New(whois.Options{
		Hosts: upstreamCfg.Hosts, Timeout: time.Duration(upstreamCfg.WHOISTimeout), Logger: parts.Logger, Limiter: guard,
	})
	if err != nil {
		return nil, err
	}
	delegations, err := dns.New(dns.Options{Servers: upstreamCfg.DNS, Timeout: time.Duration(upstreamCfg.DNSTimeout), Logger: parts.Logger})
	if err != nil {
		return nil, err
	}
	registries, err := OpenRegistries(parts.Config, parts.Logger)
	if err != nil {
		return nil, err
	}
	var accounts lookup.RecordSource // avoid a non-nil interface holding nil
	if registries.Source != nil {
		accounts = registries.Source
	}
	engine, err := lookup.New(lookup.Config{
		Catalog:        parts.Catalog,
		EPP:            accounts,
		RDAP:           registryData,
		WHOIS:          records,
		DNS:            delegations,
		Deadline:       time.Duration(lookupCfg.Deadline),
		FreeTTL:        time.Duration(lookupCfg.CacheFree),
		TakenTTL:       time.Duration(lookupCfg.CacheTaken),
		UnknownTTL:     time.Duration(lookupCfg.CacheUnknown),
		MaxCached:      lookupCfg.MaxCached,
		MaxInFlight:    lookupCfg.MaxConcurrent,
		Now:            parts.Now,
		Logger:         parts.Logger,
		Observe:        parts.ObserveSource,
		OnDisagreement: parts.OnDisagreement,
	})
	if err != nil {
		return nil, err
	}
	return &Lookups{Engine: engine, RDAP: registryData, DNS: delegations, Registries: registries, hostLimiter: guard}, nil
}

// OpenLookups connects the commands to the same sources as the service. The caller
// closes the result.
func OpenLookups(cfg config.Config, list *catalog.Catalog) (*Lookups, error) {
	live := catalog.NewLive(list)
	lookups, err := NewLookups(LookupParts{Config: cfg, Catalog: live, Now: time.Now})
	if err != nil {
		return nil, err
	}
	if sales := NewSales(cfg, lookups.Registries); sales.Enabled() { // otherwise nothing is sold here
		live.SetSaleDecider(sales.SaleOf)
	}
	return lookups, nil
}

// refreshBootstrap refreshes IANA's bootstrap until ctx ends.
func (l *Lookups) refreshBootstrap(ctx context.Context) { _ = l.RDAP.Run(ctx) }

func (l *Lookups) Close() {
	l.Engine.Close()
	l.RDAP.Close()
	l.Registries.Close()
}

// newSourceMetrics measures queries to sources.
func newSourceMetrics(metrics *prometheus.Registry) (func(lookup.Source, string, time.Duration), error) {
	duration := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "dotkontor_lookup_source_duration_seconds",
		Help:    "Response time of external sources, by source and outcome.",
		Buckets: []float64{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 6},
	}, []string{"source", "outcome"})
	if err := metrics.Register(duration); err != nil {
		return nil, err
	}
	return func(source lookup.Source, outcome string, took time.Duration) {
		duration.WithLabelValues(string(source), outcome).Observe(took.Seconds())
	}, nil
}

// newHostMetrics counts events at registry hosts. Hosts come from the price list and
// the bootstrap, never from clients, so the number of series is bounded.
func newHostMetrics(metrics *prometheus.Registry) (func(string, hostlimit.Event), error) {
	events := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_upstream_host_events_total",
		Help: "Waits, refusals, pauses and circuit breaker changes at registry hosts, by host and event.",
	}, []string{"host", "event"})
	return func(host string, event hostlimit.Event) {
		events.WithLabelValues(host, string(event)).Inc()
	}, metrics.Register(events)
}

// newDisagreementMetrics counts contradictions by extension, all of which are listed.
func newDisagreementMetrics(metrics *prometheus.Registry) (func(string), error) {
	total := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_lookup_disagreements_total",
		Help: "Lookups in which two sources contradicted each other, by extension.",
	}, []string{"extension"})
	return func(tld string) { total.WithLabelValues(tld).Inc() }, metrics.Register(total)
}
