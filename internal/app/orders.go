package app

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/upstream/stripe"
	"github.com/dotkontor/dotkontor/internal/web/acp"
)

// startOrders starts ordering and payment. Without a payment provider it does nothing.
func (p *App) startOrders(ctx context.Context) error {
	observe, err := newStripeMetrics(p.metrics, &p.stripeHealth)
	if err != nil {
		return err
	}
	provider := newStripe(p.cfg.Stripe, p.logger, observe)
	if provider == nil {
		p.logger.InfoContext(ctx, "ordering is disabled: no payment provider is configured (stripe.secret_key)")
		return nil
	}
	taxes, err := newVAT(vatParts{
		cfg: p.cfg.VAT, db: p.services.DB, now: p.now, logger: p.logger, metrics: p.metrics, observeHost: p.observeHost,
	})
	if err != nil {
		return err
	}
	p.closers = append(p.closers, taxes.vies.Close)
	p.stripe, p.vies = provider, taxes.vies
	if err := p.startInvoices(ctx); err != nil {
		return err
	}
	p.orders, err = newOrders(orderParts{
		cfg: p.cfg, services: p.services, catalog: p.live, provisioning: p.provisioning, sales: p.sales, stripe: provider, taxes: taxes.taxes,
		node: p.node, now: p.now, logger: p.logger, metrics: p.metrics, onChange: p.wakeWebhooks, invoices: p.invoices, admin: p.admin,
		closing: p.server.closing,
		budget:  p.limits.names,
	})
	if err != nil {
		return err
	}
	p.background = append(p.background, taxes.monitor.Run, p.orders.Run)
	if err := p.startWebhooks(); err != nil {
		return err
	}
	return registerRefundBacklog(ctx, p.services, p.metrics)
}

// Auth codes that one customer may try: enough to mistype every item of an order twice,
// too few to guess one.
const (
	authCodesPerHour    = 60
	authCodesPer10Hours = 200
)

// newAuthCodeLimiter limits auth codes per customer. The function returns how long to wait.
func (p *App) newAuthCodeLimiter() (func(customer string) time.Duration, error) {
	tries, err := p.newLimiter(
		ratelimit.Window{Limit: authCodesPerHour, Per: time.Hour}, ratelimit.Window{Limit: authCodesPer10Hours, Per: 10 * time.Hour})
	return tries.AllowText, err
}

// forgedKeys is the factor by which an address may fail more often with a well-formed
// key than without, because agents in the same cloud share addresses.
const forgedKeys = 20

func (p *App) acpConfig() (acp.Config, error) {
	creates, err := p.newLimiter(ratelimit.Window{Limit: p.cfg.Limits.SessionsPerAgent, Per: time.Minute})
	if err != nil {
		return acp.Config{}, err
	}
	refusals, err := p.newGate(forgedKeys, ratelimit.Window{Limit: p.cfg.Limits.BadSignaturesPerAddress, Per: time.Minute})
	return acp.Config{
		Agents: p.services.Agents, Orders: p.orders, Idempotency: p.services.idempotency, CreateLimit: creates, BadSignatures: refusals,
		SupportsTLD: func(tld string) bool {
			_, listed := p.live.Extension(tld)
			return listed
		},
	}, err
}

type orderParts struct {
	cfg          config.Config
	services     *Services
	catalog      *catalog.Live
	provisioning *provision.Service
	sales        order.Sales
	stripe       *stripe.Client
	taxes        *billing.Assessor
	node         string
	now          func() time.Time // business time
	logger       *slog.Logger
	metrics      *prometheus.Registry
	admin        *admin.Service
	onChange     func() // called after a state change or refund
	invoices     *invoice.Service
	closing      <-chan struct{} // closed when this node drains
	budget       *nameBudget
}

func newOrders(parts orderParts) (*order.Service, error) {
	market := order.Market{Extension: parts.catalog.Extension, Sales: parts.sales, Registry: parts.provisioning}
	if parts.admin != nil {
		market.RenewalForbidden = func(ctx context.Context, domain string) (bool, error) {
			forbidden, err := parts.admin.Forbids(ctx, domain, admin.Renewal)
			return forbidden, registrar.DatabaseError(err)
		}
	}
	settings := order.Config{
		Store: parts.services.DB, Quote: market.Quote, Taxes: parts.taxes, Provider: parts.stripe, Portfolio: parts.services.Portfolio,
		SpendBudget: parts.budget.Spend, ItemsPaid: parts.provisioning.Wake,
		Seal: parts.services.keys.Seal(), Node: parts.node, BaseURL: parts.cfg.BaseURL, Extension: parts.catalog.Extension, Draining: parts.closing,
		AllowMail: func(address string) bool {
			return parts.services.guestMailLimit.AllowText(strings.ToLower(address)) == 0
		},
		OrderTTL: time.Duration(parts.cfg.Orders.Hold), MaxOpen: parts.cfg.Orders.MaxOpen,
		RecheckInterval: time.Duration(parts.cfg.Orders.RecheckInterval),
		VerifyOver:      registrar.Cents(parts.cfg.Orders.VerifyOverEUR) * 100,
		Now:             parts.now, Logger: parts.logger, MailQueued: parts.services.mail.wake,
	}
	settings.RecordError = jobErrorRecorder(parts.admin, admin.JobOrder, parts.logger)
	if err := registerOrderHooks(&settings, parts); err != nil {
		return nil, err
	}
	return order.New(settings)
}

// registerOrderHooks registers the metrics of orders, and wakes invoices and webhooks after
// changes. States, reasons and codes are constants, so the number of series is bounded.
func registerOrderHooks(settings *order.Config, parts orderParts) error {
	reached := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_orders_total", Help: "Orders that reached a state, by state.",
	}, []string{"state"})
	refunded := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_refunds_total", Help: "Refunds made, by reason: failed_item, unmatched.",
	}, []string{"reason"})
	waiting := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_orders_waiting_total",
		Help: "Retries of orders that wait for the payment provider, by operation (page, charge, close, payment, refund, identity, items) and error code.",
	}, []string{"what", "code"})
	oldest := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "dotkontor_orders_overdue_seconds",
		Help: "Delay of the most overdue order. More than a minute means that no node processes orders.",
	})
	for _, collector := range []prometheus.Collector{reached, refunded, waiting, oldest} {
		if err := parts.metrics.Register(collector); err != nil {
			return err
		}
	}
	initCounters(reached, labelValues(order.States()...))
	initCounters(refunded, order.RefundReasons())
	initCounters(waiting, []string{"page", "charge", "close", "payment", "refund", "identity", "items"}, faultCodes())
	settings.OnStateChange = func(state order.State) {
		reached.WithLabelValues(string(state)).Inc()
		parts.onChange()
		if state == order.Provisioning {
			parts.invoices.Wake()
		}
	}
	settings.OnRefund = func(reason string) {
		refunded.WithLabelValues(reason).Inc()
		parts.onChange()
		parts.invoices.Wake()
	}
	settings.OnRetry = func(what string, code registrar.Code) { waiting.WithLabelValues(what, string(code)).Inc() }
	settings.OnOldestDue = func(age time.Duration) { oldest.Set(age.Seconds()) }
	return nil
}

// registerRefundBacklog counts pending refunds of all nodes in the database at each scrape.
func registerRefundBacklog(ctx context.Context, services *Services, metrics *prometheus.Registry) error {
	const within = 2 * time.Second
	return metrics.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "dotkontor_refunds_waiting",
		Help: "Refunds that are due but not made yet; -1 if the database does not respond.",
	}, func() float64 {
		queryCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
		defer cancel()
		backlog, err := services.DB.CountOrderBacklog(queryCtx, time.Now())
		if err != nil {
			return -1
		}
		return float64(backlog.Refunds)
	}))
}
