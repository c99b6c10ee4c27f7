package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/upstream/dns"
	"github.com/dotkontor/dotkontor/internal/upstream/manners"
	"github.com/dotkontor/dotkontor/internal/upstream/rdap"
	"github.com/dotkontor/dotkontor/internal/upstream/whois"
)

// lookupParts is what lookups are made of.
type lookupParts struct {
	cfg       config.Config
	catalogue lookup.Catalogue
	now       func() time.Time
	logger    *slog.Logger // nil means silence
	// observe measures the questions to sources outside; nil means that nobody
	// does.
	observe func(lookup.Source, string, time.Duration)
	// observeHost is told what happens at the hosts of registries, and disagreed
	// the extension of every contradiction; nil means nobody.
	observeHost func(host string, event manners.Event)
	disagreed   func(tld string)
}

// lookups is the engine with the sources outside, the same for the service and
// for the commands that ask once.
type lookups struct {
	engine     *lookup.Engine
	rdap       *rdap.Client
	dns        *dns.Client
	registries *registries
	// guard is how we treat the hosts of registries.
	guard *manners.Guard
}

func newLookups(parts lookupParts) (*lookups, error) {
	up, look := parts.cfg.Upstream, parts.cfg.Lookup
	// One guard for all connectors to registries, so that a host is asked no
	// more for being asked in two ways.
	guard := manners.New(manners.Options{
		PerSecond:     float64(up.PerHostPerSecond),
		Burst:         up.PerHostBurst,
		MaxConcurrent: up.Concurrent(),
		MaxWaiting:    up.PerHostWaiting,
		Logger:        parts.logger,
		Observe:       parts.observeHost,
	})
	registryData, err := rdap.New(rdap.Options{
		Hosts:        up.Hosts,
		BootstrapURL: up.Bootstrap,
		Refresh:      time.Duration(up.BootstrapRefresh),
		Timeout:      time.Duration(up.RDAPTimeout),
		UserAgent:    "dotkontor/" + version,
		Logger:       parts.logger,
		Guard:        guard,

		MaxConnsPerHost: up.Concurrent(),
	})
	if err != nil {
		return nil, err
	}
	records, err := whois.New(whois.Options{
		Hosts: up.Hosts, Timeout: time.Duration(up.WHOISTimeout), Logger: parts.logger, Guard: guard,
	})
	if err != nil {
		return nil, err
	}
	delegations, err := dns.New(dns.Options{Servers: up.DNS, Timeout: time.Duration(up.DNSTimeout), Logger: parts.logger})
	if err != nil {
		return nil, err
	}
	registries, err := openRegistries(parts.cfg, parts.logger)
	if err != nil {
		return nil, err
	}
	var accounts lookup.Records // no account must be no source, and not a nil one
	if registries.source != nil {
		accounts = registries.source
	}
	engine, err := lookup.New(lookup.Config{
		Catalogue:   parts.catalogue,
		EPP:         accounts,
		RDAP:        registryData,
		WHOIS:       records,
		DNS:         delegations,
		Deadline:    time.Duration(look.Deadline),
		KeepFree:    time.Duration(look.KeepFree),
		KeepTaken:   time.Duration(look.KeepTaken),
		KeepUnknown: time.Duration(look.KeepUnknown),
		MaxKept:     look.MaxKept,
		MaxUnderWay: look.MaxUnderWay,
		Now:         parts.now,
		Logger:      parts.logger,
		Observe:     parts.observe,
		Disagreed:   parts.disagreed,
	})
	if err != nil {
		return nil, err
	}
	return &lookups{engine: engine, rdap: registryData, dns: delegations, registries: registries, guard: guard}, nil
}

// keepBootstrapFresh runs until ctx ends.
func (l *lookups) keepBootstrapFresh(ctx context.Context) { _ = l.rdap.Run(ctx) }

func (l *lookups) close() {
	l.engine.Close()
	l.rdap.Close()
	l.registries.close()
}

// newSourceMetrics measures the questions to sources outside.
func newSourceMetrics(metrics *prometheus.Registry) (func(lookup.Source, string, time.Duration), error) {
	duration := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "dotkontor_lookup_source_duration_seconds",
		Help:    "Time that a source outside took to answer, by source and outcome.",
		Buckets: []float64{0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 6},
	}, []string{"source", "outcome"})
	if err := metrics.Register(duration); err != nil {
		return nil, err
	}
	return func(source lookup.Source, outcome string, took time.Duration) {
		duration.WithLabelValues(string(source), outcome).Observe(took.Seconds())
	}, nil
}

// newHostMetrics counts what happens at the hosts of registries. They come from
// the price list and the bootstrap, never from a client, so the number of
// series is bounded.
func newHostMetrics(metrics *prometheus.Registry) (func(string, manners.Event), error) {
	events := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_upstream_host_events_total",
		Help: "What happened at the hosts of registries beside questions and answers, by host and event.",
	}, []string{"host", "event"})
	return func(host string, event manners.Event) {
		events.WithLabelValues(host, string(event)).Inc()
	}, metrics.Register(events)
}

// newDisagreementMetrics counts contradictions by extension, of which the price
// list knows all.
func newDisagreementMetrics(metrics *prometheus.Registry) (func(string), error) {
	total := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_lookup_disagreements_total",
		Help: "Names about which two sources contradicted each other, by extension.",
	}, []string{"extension"})
	return func(tld string) { total.WithLabelValues(tld).Inc() }, metrics.Register(total)
}

// patience is how long a command waits for the answer about one name. Many names
// of a batch stand behind one host and wait for their turn there, while each
// question to a source keeps its own, short time-out.
const patience = 5 * time.Minute

// oneShot is where the commands that ask once find their world: the same
// configuration file as the service's.
type oneShot struct {
	Config  string `env:"DOTKONTOR_CONFIG" help:"Configuration file of the service (TOML): which world, limits, time-outs, price list. Default: the real world." placeholder:"FILE"`
	Refresh bool   `help:"Fetch IANA's list of RDAP services first. Without it the list that came with the program is used, which saves a question."`
}

// world is the configuration and the price list in force.
func (o oneShot) world(t *terminal) (config.Config, *catalog.Catalog, error) {
	cfg, err := config.Load(o.Config, t.environment)
	if err != nil {
		return cfg, nil, err
	}
	edition, err := store.ReadPriceList(t.ctx, storeOptions(cfg))
	return cfg, edition.List, err
}

// open connects to the world. underWay bounds the names that are asked about at
// one moment.
func (o oneShot) open(t *terminal, cfg config.Config, list *catalog.Catalog, underWay int) (*lookups, error) {
	cfg.Lookup.Deadline = config.Duration(max(patience, time.Duration(cfg.Lookup.Deadline)))
	cfg.Lookup.MaxUnderWay = underWay
	// All of them may stand behind one host, and none must be turned away there.
	cfg.Upstream.PerHostWaiting = max(cfg.Upstream.PerHostWaiting, underWay)
	live := catalog.NewLive(list)
	look, err := newLookups(lookupParts{cfg: cfg, catalogue: live, now: time.Now})
	if err != nil {
		return nil, err
	}
	if sold := newSales(cfg, look.registries); sold.any() { // else this is no shop's configuration
		live.Decide(sold.of)
	}
	if !o.Refresh {
		return look, nil
	}
	if err := look.rdap.Refresh(t.ctx); err != nil {
		t.note("Die Liste der RDAP-Dienste ist nicht abrufbar, die mitgelieferte gilt.",
			"IANA's list of RDAP services can't be fetched; the one that came with the program is used.")
	}
	return look, nil
}
