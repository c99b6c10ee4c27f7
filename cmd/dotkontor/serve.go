package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/duty"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/dossier"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/office"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/quota"
	"github.com/dotkontor/dotkontor/internal/registrar/steward"
	"github.com/dotkontor/dotkontor/internal/registrar/tidings"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/upstream/stripe"
	"github.com/dotkontor/dotkontor/internal/upstream/vies"
	"github.com/dotkontor/dotkontor/internal/web"
	"github.com/dotkontor/dotkontor/internal/web/checkout"
	"github.com/dotkontor/dotkontor/internal/web/discovery"
	"github.com/dotkontor/dotkontor/internal/web/mcp"
	"github.com/dotkontor/dotkontor/internal/web/oauth"
	"github.com/dotkontor/dotkontor/internal/web/portal"
	"github.com/dotkontor/dotkontor/internal/web/start"
)

const (
	// watchPricesEvery leaves room for the read itself within the second after which all
	// nodes quote the same prices.
	watchPricesEvery = 500 * time.Millisecond
	sweepLimitsEvery = time.Minute
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
	logger, flush := newLogger(cfg.Log, t.err)
	defer flush()
	p, err := newProduct(t.ctx, cfg, logger, time.Now)
	flush() // the record of the start is written even if the process is killed next
	if err != nil {
		return withPortHint(err, "server.listen")
	}
	p.people.keys.Reload(func() ([]registrar.SealKey, error) {
		cfg, err := config.Load(c.Config, t.environment)
		if err != nil {
			return nil, err
		}
		return sealKeys(cfg)
	})
	tuneMemory(cfg)
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
	people     *accounts
	lines      *provision.Service
	sales      sales
	registries *registries
	changes    *steward.Service
	// orders is nil where no payment provider is set.
	orders   *order.Service
	invoices *invoice.Service
	provider *stripe.Client
	// names bounds the questions to registries of each customer and agent.
	names *nameBudget
	// tidings tells agents about their orders; nil where there are none.
	tidings *tidings.Runner
	node    string
	// office is what operators do by hand.
	office *office.Service
	// vies and paymentsSeen are how those outside do; vies is nil without orders.
	vies         *vies.Client
	paymentsSeen lastSeen
}

// newProduct wires everything and opens the listeners; nothing is served yet.
func newProduct(ctx context.Context, cfg config.Config, logger *slog.Logger, now func() time.Time) (*product, error) {
	p := &product{cfg: cfg, metrics: prometheus.NewRegistry()}
	logger, err := countRecords(logger, p.metrics)
	if err != nil {
		return nil, err
	}
	p.logger = logger
	p.metrics.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))

	shipped, err := catalog.Shipped()
	if err != nil {
		return nil, err
	}
	live := catalog.NewLive(shipped) // until the database is open

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
	p.registries = look.registries
	p.sales = newSales(cfg, look.registries)
	live.Decide(p.sales.of)
	p.background = append(p.background, look.keepBootstrapFresh)
	p.closers = append(p.closers, look.close)
	budget, whoisBudget, err := p.newBudgets()
	if err != nil {
		return nil, err
	}
	tokenBudget, err := p.newLimiter(
		quota.Window{Limit: cfg.Limits.TokenPerMinute, Per: time.Minute}, quota.Window{Limit: cfg.Limits.TokenPerHour, Per: time.Hour})
	if err != nil {
		return nil, err
	}
	registrations, err := p.newLimiter(
		quota.Window{Limit: cfg.Limits.RegisterPerMinute, Per: time.Minute}, quota.Window{Limit: cfg.Limits.RegisterPerHour, Per: time.Hour})
	if err != nil {
		return nil, err
	}
	badTokens, err := p.newGate(1, quota.Window{Limit: cfg.Limits.BadTokensPerAddress, Per: time.Minute})
	if err != nil {
		return nil, err
	}
	badGrants, err := p.newGate(1, quota.Window{Limit: cfg.Limits.BadTokensPerAddress, Per: time.Minute})
	if err != nil {
		return nil, err
	}
	if p.names, err = newNameBudget(cfg.Limits, p.newLimiter); err != nil {
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
	people, err := p.openAccounts(ctx, live, now)
	if err != nil {
		return nil, p.abandon(err)
	}
	p.people = people
	if err := p.takeNode(ctx); err != nil {
		return nil, p.abandon(err)
	}
	if err := p.loadPrices(ctx, live); err != nil {
		return nil, p.abandon(err)
	}
	if err := p.openOffice(); err != nil {
		return nil, p.abandon(err)
	}
	if err := p.provision(look.registries, now); err != nil {
		return nil, p.abandon(err)
	}
	changes, err := p.lookAfter(look.registries, live, now)
	if err != nil {
		return nil, p.abandon(err)
	}
	p.changes = changes
	dossiers, err := dossier.New(dossier.Config{Store: p.people.db, Base: p.cfg.BaseURL})
	if err != nil {
		return nil, p.abandon(err)
	}
	if err := p.watchTerms(now); err != nil {
		return nil, p.abandon(err)
	}
	if err := p.takeOrders(ctx, live, observeHost, now); err != nil {
		return nil, p.abandon(err)
	}
	tokens, err := newAgentTokens(people.access, p.metrics)
	if err != nil {
		return nil, p.abandon(err)
	}
	rates, err := billing.ShippedRates()
	if err != nil {
		return nil, p.abandon(err)
	}
	front := web.Config{
		Facts: discovery.Facts{
			BaseURL:         p.cfg.BaseURL,
			Version:         version,
			LookupPerMinute: cfg.Limits.LookupPerMinute,
			LookupPer6Hours: cfg.Limits.LookupPer6Hours,
			WhoisPerMinute:  cfg.Limits.WhoisPerMinute,
			WhoisPer6Hours:  cfg.Limits.WhoisPer6Hours,
			TokenPerMinute:  cfg.Limits.TokenPerMinute,
			TokenPerHour:    cfg.Limits.TokenPerHour,
			ClientDocuments: p.cfg.FetchesDocuments(),
		},
		Lookups: look.engine,
		Budget:  budget,
		Agents: mcp.Config{
			AllowedOrigins: cfg.Server.AllowedOrigins,
			Version:        version,
			Limits: mcp.Limits{
				LookupPerMinute: cfg.Limits.LookupPerMinute, LookupPer6Hours: cfg.Limits.LookupPer6Hours,
				WhoisPerMinute: cfg.Limits.WhoisPerMinute, WhoisPer6Hours: cfg.Limits.WhoisPer6Hours,
			},
			Lookups: look.engine, Catalogue: live, WhoisBudget: whoisBudget,
			Tokens: tokens, TokenBudget: tokenBudget, BadTokens: badTokens, Domains: agentDomains{people.holdings, live, p.cfg.BaseURL},
		},
		OAuth: oauth.Config{Applications: people.apps, Registrations: registrations, BadTokens: badGrants, Issued: badTokens.Prove},
		Portal: portal.Config{
			Customers: people.customers, Access: people.access, Holdings: people.holdings, Applications: people.apps, Agents: people.agents,
			MailWorks: people.post.runner != nil, Steward: changes, Dossier: dossiers,
		},
		Start: start.Config{
			Lookups: look.engine, WhoisBudget: whoisBudget, Catalogue: live,
			RateBasisPoints: func(at time.Time) int { return rates.Domestic(at).BasisPoints },
		},
		Operators:      p.operatorPages(look, live),
		TrustedProxies: proxies,
		Ready:          p.server.ready,
		Degraded:       p.degraded,
		Streams:        max(1, cfg.Server.MaxConnections/10),
		Closing:        p.server.closing,
		Logger:         logger,
		Registry:       p.metrics,
	}
	if err := p.declareLaw(ctx, &front); err != nil {
		return nil, p.abandon(err)
	}
	if p.orders != nil {
		// An interface that holds a nil pointer is not nil, so they are set here.
		front.Checkout.Orders, front.Portal.Orders = p.orders, p.orders
		front.Checkout.Holdings = people.holdings
		if err := p.showInvoices(&front); err != nil {
			return nil, p.abandon(err)
		}
		front.Agents.Orders = agentOrders{p.orders, people.access, live, p.cfg.BaseURL}
		front.Payments = stripeMessages{p.provider, p.orders}
		if front.Sessions, err = p.sessions(live); err != nil {
			return nil, p.abandon(err)
		}
		if front.Checkout.Codes, err = p.countCodes(); err != nil {
			return nil, p.abandon(err)
		}
		front.Checkout.Basket = &checkout.Basket{Extension: live.Extension, RateBasisPoints: front.Start.RateBasisPoints}
	}
	handler, err := web.New(front)
	if err != nil {
		return nil, p.abandon(err)
	}
	if err := errors.Join(p.server.handle(handler, p.metrics, p.degraded), p.watchGauges(look)); err != nil {
		return nil, p.abandon(err)
	}
	if err := p.logStart(ctx, live); err != nil {
		return nil, p.abandon(err)
	}
	return p, nil
}

// logStart writes down what runs, so that a log answers which version, schema and
// accounts an incident was with.
func (p *product) logStart(ctx context.Context, live *catalog.Live) error {
	schema, err := p.people.db.SchemaVersion(ctx)
	if err != nil {
		return err
	}
	accounts := make([]string, 0, len(p.cfg.EPP))
	for _, account := range p.cfg.EPP {
		accounts = append(accounts, account.Name+"@"+account.Server)
	}
	p.logger.InfoContext(ctx, "starting", "version", version, "revision", revision(), "node", p.node, "base_url", p.cfg.BaseURL,
		"listen", p.server.address(), "database", p.people.db.Engine(), "schema", schema, "extensions", live.Catalog().Len(),
		"epp_accounts", accounts, "payments", p.provider != nil, "mail", p.cfg.Mail.Server != "")
	return nil
}

// openAccounts opens the accounts for as long as the product runs.
func (p *product) openAccounts(ctx context.Context, catalogue *catalog.Live, now func() time.Time) (*accounts, error) {
	people, err := openAccountsHashing(ctx, p.cfg, p.logger, now, catalogue, p.newHashWorkers())
	if err != nil {
		return nil, err
	}
	if err := p.watchDatabase(people.db); err != nil {
		return nil, errors.Join(err, people.close())
	}
	p.background = append(p.background, people.background...)
	p.closers = append(p.closers, func() {
		if people.close() != nil {
			p.logger.WarnContext(context.WithoutCancel(ctx), "the database was not closed well")
		}
	})
	if people.post.runner == nil {
		p.logger.WarnContext(ctx, "no mail server is set (mail.server): letters wait, and nobody can register or choose another password")
	}
	return people, people.post.count(p.metrics)
}

// loadPrices puts the stored price list in force and follows its later editions.
func (p *product) loadPrices(ctx context.Context, live *catalog.Live) error {
	edition, err := p.people.db.PriceList(ctx)
	if err != nil {
		return err
	}
	// A price list of the version before this one. Quoting the shipped prices instead
	// would be worse than not starting.
	old := filepath.Join(p.cfg.Data, "extensions.csv")
	if _, err := os.Stat(old); err == nil && edition.Number == 0 {
		return fmt.Errorf("%s is no longer read: put it in force with 'dotkontor catalog import --yes --config FILE %q', then remove it", old, old)
	}
	live.Replace(edition.List)
	p.background = append(p.background, func(ctx context.Context) {
		p.people.db.WatchPriceList(ctx, watchPricesEvery, edition.Number, live, p.logger)
	})
	return nil
}

// takeNode takes this node's name and gives back what its last process held. Nothing
// is served or claimed yet, so a retry never meets a lease of a process that is gone.
func (p *product) takeNode(ctx context.Context) error {
	node, err := takeNodeName(p.cfg.Data)
	if err != nil {
		return err
	}
	p.closers = append(p.closers, node.release)
	p.node = node.name
	starting, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	if err := p.people.keys.Join(starting, p.node); err != nil {
		return err
	}
	p.background = append(p.background, p.people.keys.Run)
	released, err := p.people.db.TakeNode(starting, p.node, time.Now())
	if err != nil { // they end by themselves
		p.logger.ErrorContext(ctx, "leases of the last run not released", "error", err.Error())
	}
	if released != (store.Released{}) {
		p.logger.InfoContext(ctx, "leases of the last run released", "orders", released.Orders, "lines", released.Lines, "changes", released.Changes,
			"mails", released.Mails, "agent_events", released.AgentEvents, "idempotency_keys", released.Keys)
	}
	return nil
}

// provision carries out paid lines for as long as the product runs.
func (p *product) provision(registries *registries, now func() time.Time) error {
	var err error
	p.lines, err = newProvisioning(provisionParts{
		cfg: p.cfg, people: p.people, registries: registries, node: p.node, now: now, logger: p.logger, metrics: p.metrics, office: p.office,
		ended: func() {
			if p.orders != nil { // it is set before anything runs
				p.orders.Wake()
			}
		},
	})
	if err != nil {
		return err
	}
	p.background = append(p.background, p.lines.Run)
	return nil
}

// abandon closes what is open already, and returns why.
func (p *product) abandon(why error) error {
	for _, closeIt := range p.closers {
		closeIt()
	}
	return errors.Join(why, p.server.close())
}

// newBudgets sets the limits of the lookups, and those of whois_lookup.
func (p *product) newBudgets() (lookups, whois *quota.Budget, err error) {
	limits := p.cfg.Limits
	var shared, sharedWhois []quota.Shared
	for _, egress := range limits.SharedEgress {
		networks, err := config.Prefixes([]string{egress.Network})
		if err != nil {
			return nil, nil, err
		}
		shared = append(shared, quota.Shared{
			Network: networks[0],
			Windows: windows(egress.LookupPerMinute, egress.LookupPer6Hours),
		})
		sharedWhois = append(sharedWhois, quota.Shared{
			Network: networks[0],
			Windows: windows((egress.LookupPerMinute+1)/2, (egress.LookupPer6Hours+1)/2),
		})
	}
	lookups, err = p.newBudget(windows(limits.LookupPerMinute, limits.LookupPer6Hours), shared)
	if err != nil {
		return nil, nil, err
	}
	whois, err = p.newBudget(windows(limits.WhoisPerMinute, limits.WhoisPer6Hours), sharedWhois)
	if err != nil {
		return nil, nil, err
	}
	return lookups, whois, p.metrics.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "dotkontor_limits_addresses",
		Help: "Addresses whose requests are remembered at this moment, counted once for each kind of limit.",
	}, func() float64 { return float64(lookups.Len() + whois.Len()) }))
}

func (p *product) newBudget(everyone []quota.Window, shared []quota.Shared) (*quota.Budget, error) {
	budget, err := quota.NewBudget(quota.Config{Windows: everyone, MaxKeys: p.cfg.Limits.MaxAddresses}, shared)
	if err != nil {
		return nil, err
	}
	p.background = append(p.background, func(ctx context.Context) { budget.Run(ctx, sweepLimitsEvery) })
	return budget, nil
}

// newLimiter counts by whatever key it is given, and forgets in the background.
func (p *product) newLimiter(windows ...quota.Window) (*quota.Limiter, error) {
	limiter, err := quota.New(quota.Config{Windows: windows, MaxKeys: p.cfg.Limits.MaxAddresses})
	if err != nil {
		return nil, err
	}
	p.background = append(p.background, func(ctx context.Context) { limiter.Run(ctx, sweepLimitsEvery) })
	return limiter, nil
}

// newGate is newLimiter for failed attempts to authenticate; those with a well-formed
// key may be keyed times as many.
func (p *product) newGate(keyed int, windows ...quota.Window) (*quota.Gate, error) {
	gate, err := quota.NewGate(quota.Config{Windows: windows, MaxKeys: p.cfg.Limits.MaxAddresses}, keyed)
	if err != nil {
		return nil, err
	}
	for _, limiter := range gate.Limiters() {
		p.background = append(p.background, func(ctx context.Context) { limiter.Run(ctx, sweepLimitsEvery) })
	}
	return gate, nil
}

func windows(perMinute, perSixHours int) []quota.Window {
	return []quota.Window{{Limit: perMinute, Per: time.Minute}, {Limit: perSixHours, Per: 6 * time.Hour}}
}

// run serves until ctx ends, then drains. onReady is told the base address once
// requests are answered.
func (p *product) run(ctx context.Context, onReady func(baseURL string)) error {
	beside, stop := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	for _, work := range p.background {
		all.Go(func() { duty.Supervise(beside, duty.Report(p.logger, "background"), work) })
	}
	err := p.server.run(ctx, func() { onReady(p.cfg.BaseURL) })
	stop()
	all.Wait()
	for _, closeIt := range p.closers {
		closeIt()
	}
	return err
}
