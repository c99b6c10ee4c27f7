// Package app builds the service from a configuration. It is the only package in which domain services, store, upstreams and web meet.
package app

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/export"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/registrar/webhook"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/upstream/stripe"
	"github.com/dotkontor/dotkontor/internal/upstream/vies"
	"github.com/dotkontor/dotkontor/internal/web"
	"github.com/dotkontor/dotkontor/internal/web/checkout"
	"github.com/dotkontor/dotkontor/internal/web/discovery"
	"github.com/dotkontor/dotkontor/internal/web/mcp"
	"github.com/dotkontor/dotkontor/internal/web/oauth"
	"github.com/dotkontor/dotkontor/internal/web/portal"
	"github.com/dotkontor/dotkontor/internal/web/site"
)

const (
	// priceListPollInterval leaves room for the read itself within the second after which all
	// nodes quote the same prices.
	priceListPollInterval = 500 * time.Millisecond
	limiterSweepInterval  = time.Minute
)

// App is the whole service. This file is the only place where its parts
// meet; the sandbox runs the same one with another configuration.
type App struct {
	cfg     config.Config
	logger  *slog.Logger
	metrics *prometheus.Registry
	// background is what runs beside the requests; each ends with its context.
	background   []func(context.Context)
	closers      []func()
	server       *server
	services     *Services
	provisioning *provision.Service
	sales        Sales
	registries   *Registries
	changes      *domainchange.Service
	// orders is nil where no payment provider is set.
	orders   *order.Service
	invoices *invoice.Service
	stripe   *stripe.Client
	// nameBudget bounds the questions to registries of each customer and agent.
	nameBudget *nameBudget
	// webhooks tells agents about their orders; nil where there are none.
	webhooks *webhook.Runner
	node     string
	// admin is what operators do by hand.
	admin *admin.Service
	// vies and paymentsSeen are how those outside do; vies is nil without orders.
	vies         *vies.Client
	stripeHealth upstreamHealth
}

// New wires everything and opens the listeners; nothing is served yet.
func New(ctx context.Context, cfg config.Config, logger *slog.Logger, now func() time.Time) (*App, error) {
	p := &App{cfg: cfg, metrics: prometheus.NewRegistry()}
	logger, err := countLogRecords(logger, p.metrics)
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
	lookups, err := NewLookups(LookupParts{
		Config: cfg, Catalog: live, Now: now, Logger: logger,
		ObserveSource: observe, ObserveHost: observeHost, OnDisagreement: disagreed,
	})
	if err != nil {
		return nil, err
	}
	p.registries = lookups.Registries
	p.sales = NewSales(cfg, lookups.Registries)
	live.SetSaleDecider(p.sales.SaleOf)
	p.background = append(p.background, lookups.refreshBootstrap)
	p.closers = append(p.closers, lookups.Close)
	budget, whoisBudget, err := p.newLookupBudgets()
	if err != nil {
		return nil, err
	}
	tokenBudget, err := p.newLimiter(
		ratelimit.Window{Limit: cfg.Limits.TokenPerMinute, Per: time.Minute}, ratelimit.Window{Limit: cfg.Limits.TokenPerHour, Per: time.Hour})
	if err != nil {
		return nil, err
	}
	registrations, err := p.newLimiter(
		ratelimit.Window{Limit: cfg.Limits.RegisterPerMinute, Per: time.Minute}, ratelimit.Window{Limit: cfg.Limits.RegisterPerHour, Per: time.Hour})
	if err != nil {
		return nil, err
	}
	badTokens, err := p.newGate(1, ratelimit.Window{Limit: cfg.Limits.BadTokensPerAddress, Per: time.Minute})
	if err != nil {
		return nil, err
	}
	badGrants, err := p.newGate(1, ratelimit.Window{Limit: cfg.Limits.BadTokensPerAddress, Per: time.Minute})
	if err != nil {
		return nil, err
	}
	if p.nameBudget, err = newNameBudget(cfg.Limits, p.newLimiter); err != nil {
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
	services, err := p.openServices(ctx, live, now)
	if err != nil {
		return nil, p.Abort(err)
	}
	p.services = services
	if err := p.claimNode(ctx); err != nil {
		return nil, p.Abort(err)
	}
	if err := p.loadPriceList(ctx, live); err != nil {
		return nil, p.Abort(err)
	}
	if err := p.openAdmin(); err != nil {
		return nil, p.Abort(err)
	}
	if err := p.startProvisioning(lookups.Registries, now); err != nil {
		return nil, p.Abort(err)
	}
	changes, err := p.startDomainChanges(lookups.Registries, live, now)
	if err != nil {
		return nil, p.Abort(err)
	}
	p.changes = changes
	dossiers, err := export.New(export.Config{Store: p.services.DB, BaseURL: p.cfg.BaseURL})
	if err != nil {
		return nil, p.Abort(err)
	}
	if err := p.startExpiryNotices(now); err != nil {
		return nil, p.Abort(err)
	}
	if err := p.startOrders(ctx, live, observeHost, now); err != nil {
		return nil, p.Abort(err)
	}
	tokens, err := newMCPTokens(services.Tokens, p.metrics)
	if err != nil {
		return nil, p.Abort(err)
	}
	rates, err := billing.EmbeddedRates()
	if err != nil {
		return nil, p.Abort(err)
	}
	webConfig := web.Config{
		Facts: discovery.Facts{
			BaseURL:         p.cfg.BaseURL,
			Version:         Version,
			LookupPerMinute: cfg.Limits.LookupPerMinute,
			LookupPer6Hours: cfg.Limits.LookupPer6Hours,
			WhoisPerMinute:  cfg.Limits.WhoisPerMinute,
			WhoisPer6Hours:  cfg.Limits.WhoisPer6Hours,
			TokenPerMinute:  cfg.Limits.TokenPerMinute,
			TokenPerHour:    cfg.Limits.TokenPerHour,
			ClientDocuments: p.cfg.FetchesClientMetadata(),
		},
		Lookups: lookups.Engine,
		Budget:  budget,
		MCP: mcp.Config{
			AllowedOrigins: cfg.Server.AllowedOrigins,
			Version:        Version,
			Limits: mcp.Limits{
				LookupPerMinute: cfg.Limits.LookupPerMinute, LookupPer6Hours: cfg.Limits.LookupPer6Hours,
				WhoisPerMinute: cfg.Limits.WhoisPerMinute, WhoisPer6Hours: cfg.Limits.WhoisPer6Hours,
			},
			Lookups: lookups.Engine, Catalog: live, WhoisBudget: whoisBudget,
			Tokens: tokens, TokenBudget: tokenBudget, BadTokens: badTokens, Domains: mcpDomains{services.Portfolio, live, p.cfg.BaseURL},
		},
		OAuth: oauth.Config{Applications: services.apps, Registrations: registrations, BadTokens: badGrants, Issued: badTokens.Trust},
		Portal: portal.Config{
			Accounts: services.Customers, AccessTokens: services.Tokens, Portfolio: services.Portfolio, Applications: services.apps, Agents: services.Agents,
			MailEnabled: services.mail.runner != nil, DomainChanges: changes, Exporter: dossiers,
		},
		Site: site.Config{
			Lookups: lookups.Engine, WhoisBudget: whoisBudget, Catalog: live,
			RateBasisPoints: func(at time.Time) int { return rates.Domestic(at).BasisPoints },
		},
		Operator:       p.operatorPages(lookups, live),
		TrustedProxies: proxies,
		Ready:          p.server.ready,
		Degraded:       p.degraded,
		MaxStreams:     max(1, cfg.Server.MaxConnections/10),
		Closing:        p.server.closing,
		Logger:         logger,
		Registry:       p.metrics,
	}
	if err := p.addLegalPages(ctx, &webConfig); err != nil {
		return nil, p.Abort(err)
	}
	if p.orders != nil {
		// An interface that holds a nil pointer is not nil, so they are set here.
		webConfig.Checkout.Orders, webConfig.Portal.Orders = p.orders, p.orders
		webConfig.Checkout.Portfolio = services.Portfolio
		if err := p.addInvoicePages(&webConfig); err != nil {
			return nil, p.Abort(err)
		}
		webConfig.MCP.Orders = mcpOrders{p.orders, services.Tokens, live, p.cfg.BaseURL}
		webConfig.StripeEvents = stripeEvents{p.stripe, p.orders}
		if webConfig.ACP, err = p.acpConfig(live); err != nil {
			return nil, p.Abort(err)
		}
		if webConfig.Checkout.AuthCodeLimit, err = p.newAuthCodeLimiter(); err != nil {
			return nil, p.Abort(err)
		}
		webConfig.Checkout.Basket = &checkout.Basket{Extension: live.Extension, RateBasisPoints: webConfig.Site.RateBasisPoints}
	}
	handler, err := web.New(webConfig)
	if err != nil {
		return nil, p.Abort(err)
	}
	if err := errors.Join(p.server.handle(handler, p.metrics, p.degraded), p.registerGauges(lookups)); err != nil {
		return nil, p.Abort(err)
	}
	if err := p.logStart(ctx, live); err != nil {
		return nil, p.Abort(err)
	}
	return p, nil
}

// logStart writes down what runs, so that a log answers which version, schema and
// accounts an incident was with.
func (p *App) logStart(ctx context.Context, live *catalog.Live) error {
	schema, err := p.services.DB.SchemaVersion(ctx)
	if err != nil {
		return err
	}
	accounts := make([]string, 0, len(p.cfg.EPP))
	for _, account := range p.cfg.EPP {
		accounts = append(accounts, account.Name+"@"+account.Server)
	}
	p.logger.InfoContext(ctx, "starting", "version", Version, "revision", Revision(), "node", p.node, "base_url", p.cfg.BaseURL,
		"listen", p.server.address(), "database", p.services.DB.SQL().Engine(), "schema", schema, "extensions", live.Catalog().Len(),
		"epp_accounts", accounts, "payments", p.stripe != nil, "mail", p.cfg.Mail.Server != "")
	return nil
}

// openServices opens the accounts for as long as the product runs.
func (p *App) openServices(ctx context.Context, live *catalog.Live, now func() time.Time) (*Services, error) {
	services, err := openServicesWith(ctx, p.cfg, p.logger, now, live, p.newHashWorkers())
	if err != nil {
		return nil, err
	}
	if err := p.startDatabaseWatch(services.DB.SQL()); err != nil {
		return nil, errors.Join(err, services.Close())
	}
	p.background = append(p.background, services.background...)
	p.closers = append(p.closers, func() {
		if services.Close() != nil {
			p.logger.WarnContext(context.WithoutCancel(ctx), "the database was not closed well")
		}
	})
	if services.mail.runner == nil {
		p.logger.WarnContext(ctx, "no mail server is set (mail.server): letters wait, and nobody can register or choose another password")
	}
	return services, services.mail.registerMetrics(p.metrics)
}

// claimNode takes this node's name and gives back what its last process held. Nothing
// is served or claimed yet, so a retry never meets a lease of a process that is gone.
func (p *App) claimNode(ctx context.Context) error {
	node, err := claimNodeName(p.cfg.Data)
	if err != nil {
		return err
	}
	p.closers = append(p.closers, node.release)
	p.node = node.name
	startCtx, cancel := context.WithTimeout(ctx, OpenTimeout)
	defer cancel()
	if err := p.services.keys.RegisterNode(startCtx, p.node); err != nil {
		return err
	}
	p.background = append(p.background, p.services.keys.Run)
	released, err := p.services.DB.ClaimNode(startCtx, p.node, time.Now())
	if err != nil { // they end by themselves
		p.logger.ErrorContext(ctx, "leases of the last run not released", "error", err.Error())
	}
	if released != (store.ReleasedLeases{}) {
		p.logger.InfoContext(ctx, "leases of the last run released", "orders", released.Orders, "provision_items", released.ProvisionItems, "domain_changes", released.DomainChanges,
			"mails", released.Mails, "webhook_deliveries", released.WebhookDeliveries, "idempotency_keys", released.IdempotencyKeys)
	}
	return nil
}

// startProvisioning carries out paid lines for as long as the product runs.
func (p *App) startProvisioning(registries *Registries, now func() time.Time) error {
	var err error
	p.provisioning, err = NewProvisioning(ProvisionParts{
		Config: p.cfg, Services: p.services, Registries: registries, Node: p.node, Now: now, Logger: p.logger, metrics: p.metrics, admin: p.admin,
		onEnd: func() {
			if p.orders != nil { // it is set before anything runs
				p.orders.Wake()
			}
		},
	})
	if err != nil {
		return err
	}
	p.background = append(p.background, p.provisioning.Run)
	return nil
}

// Abort closes what is open already, and returns why.
func (p *App) Abort(cause error) error {
	for _, closeFn := range p.closers {
		closeFn()
	}
	return errors.Join(cause, p.server.close())
}

// BaseURL is the configured base URL with the port that is really open.
func (p *App) BaseURL() string { return p.cfg.BaseURL }

// Address is the address that the service listens on.
func (p *App) Address() string { return p.server.address() }

// Metrics is where every part of the service registers its metrics.
func (p *App) Metrics() prometheus.Gatherer { return p.metrics }

// ReloadKeys makes load the source of the secret keys from now on.
func (p *App) ReloadKeys(load func() ([]registrar.SealKey, error)) { p.services.keys.SetLoader(load) }

// Run serves until ctx ends, then drains. onReady is told the base address once
// requests are answered.
func (p *App) Run(ctx context.Context, onReady func(baseURL string)) error {
	backgroundCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	var all sync.WaitGroup
	for _, work := range p.background {
		all.Go(func() { jobs.Supervise(backgroundCtx, jobs.ErrorLogger(p.logger, "background"), work) })
	}
	err := p.server.run(ctx, func() { onReady(p.cfg.BaseURL) })
	stop()
	all.Wait()
	for _, closeFn := range p.closers {
		closeFn()
	}
	return err
}
