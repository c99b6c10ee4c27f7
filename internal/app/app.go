// Package app builds the service from a configuration. It is the only package where
// domain services, store, upstreams and web meet.
package app

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/failpoint"
	"github.com/dotkontor/dotkontor/internal/invoicepdf"
	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/contactcheck"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/delegate"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/export"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
	"github.com/dotkontor/dotkontor/internal/registrar/inquiry"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/overview"
	"github.com/dotkontor/dotkontor/internal/registrar/premium"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/registrar/transferaway"
	"github.com/dotkontor/dotkontor/internal/registrar/webhook"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/tracing"
	"github.com/dotkontor/dotkontor/internal/upstream/redis"
	"github.com/dotkontor/dotkontor/internal/upstream/stripe"
	"github.com/dotkontor/dotkontor/internal/upstream/vies"
	"github.com/dotkontor/dotkontor/internal/web"
	"github.com/dotkontor/dotkontor/internal/web/discovery"
	"github.com/dotkontor/dotkontor/internal/web/mcp"
	"github.com/dotkontor/dotkontor/internal/web/oauth"
	"github.com/dotkontor/dotkontor/internal/web/portal"
	"github.com/dotkontor/dotkontor/internal/web/site"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

const (
	// priceListPollInterval is below one second, within which all nodes must quote the same prices.
	priceListPollInterval = 500 * time.Millisecond
)

// App is the whole service. The sandbox runs the same one with another configuration.
type App struct {
	cfg     config.Config
	now     func() time.Time // business time, which a sandbox may move
	logger  *slog.Logger
	metrics *prometheus.Registry
	tracer  *tracing.Tracer // nil unless a collector is configured
	// mcpExtension is empty in the product.
	mcpExtension mcp.Extension
	background
	closers []func()
	proxies []netip.Prefix
	server  *server

	live    *catalog.Live // the current price list
	lookups *Lookups
	sales   order.Sales
	costs   *cost.Prices
	premium *premium.Pricing // nil: premium names are not sold
	margins *cost.Margins
	limits  limits

	services      *Services
	shared        *redis.Server // nil: this node shares nothing but the database
	node          string
	heartbeat     *jobs.Heartbeat // nil with SQLite, which has one node
	admin         *admin.Service
	provisioning  *provision.Service
	changes       *domainchange.Service
	transfersAway *transferaway.Service
	terms         *lifecycle.Service
	restorePrice  func(ctx context.Context, term lifecycle.Term, now time.Time) (registrar.Cents, bool) // as mails name it
	contacts      *contactcheck.Service
	brake         *lifecycle.Brake

	// Without a payment provider nothing can be ordered, and these are nil.
	refunds  *order.Refunds
	orders   *order.Service
	consents *renewal.Consents
	invoices *invoice.Service
	revenue  *invoice.Revenue
	notices  *withdrawal.Service
	contact  *inquiry.Service
	inbox    *inbox.Service
	disputes *dispute.Service
	webhooks *jobs.Worker[webhook.Delivery]
	renewals *renewal.Worker
	stripe   *stripe.Client
	vies     *vies.Client

	stripeHealth, mailHealth upstreamHealth
}

// background has the functions that run alongside the requests until their context ends.
type background []func(context.Context)

// inBackground adds work for Run. If its service could not be built, New fails and the
// work never runs.
func (b *background) inBackground(work ...func(context.Context)) { *b = append(*b, work...) }

// Options are what the sandbox and tests change.
type Options struct {
	Now func() time.Time // the business time; nil means time.Now, or a test's
	MCP mcp.Extension
}

// New builds the service and opens its listeners. Nothing is served before Run.
func New(ctx context.Context, cfg config.Config, logger *slog.Logger, opts Options) (*App, error) {
	var clockMoved <-chan struct{}
	if opts.Now == nil {
		opts.Now, clockMoved = failpoint.Clock(ctx)
	}
	registrar.Default(&opts.Now, time.Now)
	p := &App{cfg: cfg, now: opts.Now, mcpExtension: opts.MCP, metrics: prometheus.NewRegistry()}
	p.logger = countLogRecords(logger, p.metrics)
	p.metrics.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, step := range []func(context.Context) error{
		p.openLookups, p.listen,
		p.openServices, p.newLimits, p.claimNode, p.startTracing, p.loadPriceList, p.startCosts,
		p.startProvisioning, p.startDomainChanges, p.openAdmin, p.startTransfersAway, p.openNotices, p.startTerms, p.startContactChecks, p.startOrders, p.startRenewals, p.startDisputes,
		p.handleRequests, p.registerGauges, p.logStart,
	} {
		if err := step(ctx); err != nil {
			return nil, p.Abort(err)
		}
	}
	p.followClock(clockMoved)
	return p, nil
}

func (p *App) openLookups(context.Context) error {
	shipped, err := catalog.Shipped()
	if err != nil {
		return err
	}
	p.live = catalog.NewLive(shipped) // until the database is open
	p.costs = &cost.Prices{Extension: p.live.Extension, Rates: &cost.Rates{}}
	p.premium = newPremiumPricing(p.cfg.Premium, p.costs.Rates, p.now)
	if p.lookups, err = newLookups(p.cfg, p.live, p.premium, 0, p.now, p.logger, p.metrics); err != nil {
		return err
	}
	p.inBackground(func(ctx context.Context) { _ = p.lookups.RDAP.Run(ctx) }) // refreshes IANA's bootstrap
	p.closers = append(p.closers, p.lookups.Close)
	p.sales = NewSales(p.cfg, p.lookups.Registries)
	p.sales.Costs, p.sales.Now = p.costs, p.now
	p.live.SetSaleDecider(p.sales.SaleOf)
	return nil
}

func (p *App) listen(ctx context.Context) (err error) {
	if p.proxies, err = config.Prefixes(p.cfg.Server.TrustedProxies); err != nil {
		return err
	}
	if p.server, err = listen(ctx, p.cfg.Server, p.proxies, p.logger); err != nil {
		return err
	}
	p.cfg.BaseURL = p.server.resolvePort(p.cfg.BaseURL)
	return nil
}

func (p *App) handleRequests(ctx context.Context) error {
	webConfig, err := p.webConfig(ctx)
	if err != nil {
		return err
	}
	handler, err := web.New(webConfig)
	p.server.handle(jobs.WithHeartbeat(context.WithoutCancel(ctx), p.heartbeat), handler, p.metrics, p.degraded, logLevelOf(p.logger))
	return err
}

func (p *App) webConfig(ctx context.Context) (web.Config, error) {
	dossiers, err := export.New(export.Config{Store: p.services.DB, BaseURL: p.cfg.BaseURL})
	if err != nil {
		return web.Config{}, err
	}
	rates, err := billing.EmbeddedRates()
	if err != nil {
		return web.Config{}, err
	}
	overviews, err := overview.New(p.services.DB, p.transferDays, p.now, time.Now)
	if err != nil {
		return web.Config{}, err
	}
	delegates, err := delegate.New(delegate.Config{
		Store: p.services.DB, Tokens: p.services.Tokens, Applications: p.services.apps, Agents: p.services.Agents, Now: time.Now,
	})
	if err != nil {
		return web.Config{}, err
	}
	displayedRate := func(at time.Time) int { return rates.Domestic(at).BasisPoints }
	actions, err := p.bulkActions()
	if err != nil {
		return web.Config{}, err
	}
	webConfig := web.Config{
		Facts: discovery.Facts{
			BaseURL: p.cfg.BaseURL, Version: Version, ClientDocuments: p.cfg.FetchesClientMetadata(),
			LookupPerMinute: p.cfg.Limits.LookupPerMinute, LookupPer6Hours: p.cfg.Limits.LookupPer6Hours,
			WhoisPerMinute: p.cfg.Limits.WhoisPerMinute, WhoisPer6Hours: p.cfg.Limits.WhoisPer6Hours,
			TokenPerMinute: p.cfg.Limits.TokenPerMinute, TokenPerHour: p.cfg.Limits.TokenPerHour,
		},
		Lookups: p.lookups.Engine,
		Budget:  p.limits.lookups,
		MCP: mcp.Config{
			AllowedOrigins: p.cfg.Server.AllowedOrigins,
			Version:        Version,
			Limits: mcp.Limits{
				LookupPerMinute: p.cfg.Limits.LookupPerMinute, LookupPer6Hours: p.cfg.Limits.LookupPer6Hours,
				WhoisPerMinute: p.cfg.Limits.WhoisPerMinute, WhoisPer6Hours: p.cfg.Limits.WhoisPer6Hours,
			},
			Lookups: p.lookups.Engine, Catalog: p.live, WhoisBudget: p.limits.whois,
			Tokens: newMCPTokens(p.services.Tokens, p.metrics), TokenBudget: p.limits.tokens, BadTokens: p.limits.badTokens,
			Domains: p.services.Portfolio, Holders: p.services.Holders, Extension: p.mcpExtension,
		},
		OAuth: oauth.Config{Applications: p.services.apps, Registrations: p.limits.registrations, BadTokens: p.limits.badGrants, Issued: p.limits.badTokens.Trust},
		Portal: portal.Config{
			Accounts: p.services.Customers, AccessTokens: p.services.Tokens, Portfolio: p.services.Portfolio, Applications: p.services.apps, Agents: p.services.Agents,
			MailEnabled: p.services.mail != nil, DomainChanges: p.changes, Holders: p.services.Holders, TransfersAway: p.transfersAway, Bulk: actions, Exporter: dossiers,
			Overview: overviews, Delegates: delegates, Contacts: p.contacts, Extension: p.live.Extension, Now: p.now,
			OpenNotices: p.services.DB.ListOpenNotices, ContractNotices: p.services.DB.ListContractNotices, Locks: p.admin.LocksOf,
		},
		Site: site.Config{
			Now:     p.now,
			Lookups: p.lookups.Engine, WhoisBudget: p.limits.whois, Catalog: p.live,
			RateBasisPoints: displayedRate, Seal: p.services.keys.Seal(), HeldDomains: p.services.Portfolio.HeldIDs,
		},
		Operator:       p.operatorPages(),
		TrustedProxies: p.proxies,
		CountryHeader:  p.cfg.Server.CountryHeader,
		Ready:          p.server.ready,
		Degraded:       p.degraded,
		MaxStreams:     max(1, p.cfg.Server.MaxConnections/10),
		Closing:        p.server.closing,
		Logger:         p.logger,
		Registry:       p.metrics,
		Tracer:         p.tracer,
	}
	if webConfig.Portal.ContactLimit, err = p.newTextLimiter("contact links", contactLinksPerHour, contactLinksPer10Hours); err != nil {
		return web.Config{}, err
	}
	if err := p.addLegalPages(ctx, &webConfig); err != nil {
		return web.Config{}, err
	}
	if err := p.addRDAP(&webConfig); err != nil {
		return web.Config{}, err
	}
	if p.orders != nil {
		// Set only here, because an interface that holds a nil pointer is not nil.
		webConfig.Checkout.Orders, webConfig.Portal.Orders = p.orders, p.orders
		webConfig.Checkout.FindDomain = p.services.Portfolio.FindByName
		webConfig.Checkout.Invoices, webConfig.Checkout.Holders = p.invoices, p.services.Holders.List
		if webConfig.Checkout.InvoiceRenderer, err = invoicepdf.New(); err != nil {
			return web.Config{}, err
		}
		webConfig.MCP.Orders = mcp.OrderService{Orders: p.orders, Tokens: p.services.Tokens, Catalog: p.live, OrdersURL: p.cfg.BaseURL + ui.OrdersPath}
		webConfig.Portal.Renewals, webConfig.MCP.Renewals = p.consents, p.consents
		if webConfig.Portal.MethodLimit, err = p.newTextLimiter("payment method setups", methodSetupsPerHour, methodSetupsPer10Hours); err != nil {
			return web.Config{}, err
		}
		webConfig.StripeEvents = stripeEvents{p.stripe, p.orders, p.consents, p.disputes}
		if webConfig.ACP, err = p.acpConfig(); err != nil {
			return web.Config{}, err
		}
		if webConfig.Checkout.AuthCodeLimit, err = p.newTextLimiter("auth codes", authCodesPerHour, authCodesPer10Hours); err != nil {
			return web.Config{}, err
		}
		webConfig.Checkout.EndedDomains, webConfig.Checkout.Restricted = p.services.DB.ListEndedDomains, p.services.Portfolio.Restricted
		webConfig.Checkout.LocksTransfers, webConfig.Checkout.TransferTerms = p.sales.Accounts.LocksTransfers, p.sales.Accounts.TransferTerms
		webConfig.Checkout.Declared, webConfig.Checkout.HeldDomains, webConfig.Checkout.Disputes = p.services.DB.ListNoticesAbout, p.services.Portfolio.HeldIDs, p.services.DB.ListCustomerDisputes
		webConfig.Checkout.LongestTerm, webConfig.Site.LongestTerm = p.sales.Accounts.LongestTerm, p.sales.Accounts.LongestTerm
		webConfig.Checkout.Transfers = p.services.DB
		webConfig.Checkout.Extension, webConfig.Checkout.RateBasisPoints, webConfig.Checkout.Now = p.live.Extension, displayedRate, p.now
	}
	return webConfig, nil
}

// logStart logs the version, schema and accounts in use, for the analysis of incidents.
func (p *App) logStart(ctx context.Context) error {
	schema, err := p.services.DB.SchemaVersion(ctx)
	if err != nil {
		return err
	}
	accounts := make([]string, 0, len(p.cfg.EPP))
	for _, account := range p.cfg.EPP {
		accounts = append(accounts, account.Name+"@"+account.Server)
	}
	p.logger.InfoContext(ctx, "starting", "version", Version, "revision", revision(), "node", p.node, "base_url", p.cfg.BaseURL,
		"listen", p.server.address(), "database", p.services.DB.SQL().Engine(), "schema", schema, "extensions", p.live.Catalog().Len(),
		"epp_accounts", accounts, "payments", p.stripe != nil, "mail", p.cfg.Mail.Server != "")
	return nil
}

func (p *App) openServices(ctx context.Context) error {
	hooks := serviceHooks{
		live: p.live, hashes: p.newHashWorkers(), onMail: p.countMails(), recordMailError: p.recordJobError(admin.JobMail),
	}
	if p.cfg.Shared.URL != "" {
		hooks.newShared = p.newShared
	}
	services, err := openServicesWith(ctx, p.cfg, p.logger, p.now, hooks)
	if err != nil {
		return err
	}
	p.startDatabaseWatch(services.DB.SQL())
	p.services = services
	p.inBackground(services.background...)
	p.closers = append(p.closers, func() {
		if services.Close() != nil {
			p.logger.WarnContext(context.WithoutCancel(ctx), "closing the database failed")
		}
	})
	if services.mail == nil {
		p.logger.WarnContext(ctx, "no mail server is configured (mail.server): mails are queued, and customers can't register or reset passwords")
	}
	return nil
}

// claimNode claims this node's name and releases the leases of its previous process.
// It runs before anything is served, so that retries never meet a dead lease.
func (p *App) claimNode(ctx context.Context) error {
	node, release, err := claimNodeName(p.cfg.Data)
	if err != nil {
		return err
	}
	p.node, p.closers = node, append(p.closers, release)
	startCtx, cancel := context.WithTimeout(ctx, OpenTimeout)
	defer cancel()
	if err := p.services.keys.RegisterNode(startCtx, p.node); err != nil {
		return err
	}
	p.inBackground(p.services.keys.Run)
	released, err := p.services.DB.ClaimNode(startCtx, p.node, time.Now())
	if err != nil { // they expire anyway
		p.logger.ErrorContext(ctx, "releasing leases of the previous run failed", "error", err.Error())
	}
	if released != (store.ReleasedLeases{}) {
		p.logger.InfoContext(ctx, "leases of the previous run released", releasedAttrs(released)...)
	}
	p.startHeartbeat()
	return nil
}

// Abort closes everything that is open and returns cause.
func (p *App) Abort(cause error) error {
	p.close()
	if p.server == nil {
		return cause
	}
	return errors.Join(cause, p.server.close())
}

// BaseURL returns the base URL with the actual port.
func (p *App) BaseURL() string { return p.cfg.BaseURL }

// Address returns the address that the service listens on.
func (p *App) Address() string { return p.server.address() }

// Metrics returns the metrics of all parts of the service.
func (p *App) Metrics() prometheus.Gatherer { return p.metrics }

// ReloadKeys sets the function that the service uses to reload secret keys.
func (p *App) ReloadKeys(load func() ([]registrar.SealKey, error)) { p.services.keys.SetLoader(load) }

// Run serves until ctx ends, then drains. It calls onReady with the base URL once
// requests are answered.
func (p *App) Run(ctx context.Context, onReady func(baseURL string)) error {
	backgroundCtx, stop := context.WithCancel(p.tracer.Context(jobs.WithHeartbeat(context.WithoutCancel(ctx), p.heartbeat)))
	var all sync.WaitGroup
	for _, work := range p.background {
		all.Go(func() { jobs.Supervise(backgroundCtx, jobs.ErrorLogger(p.logger, "background"), work) })
	}
	p.awaitShared(ctx)
	err := p.server.run(ctx, func() { onReady(p.cfg.BaseURL) })
	stop()
	all.Wait()
	p.close()
	return err
}

func (p *App) close() {
	for _, closeFn := range p.closers {
		closeFn()
	}
}
