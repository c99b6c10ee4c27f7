package app

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
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
	p.orders, err = p.newOrders(taxes.taxes)
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

func (p *App) newOrders(taxes *billing.Assessor) (*order.Service, error) {
	market := order.Market{Extension: p.live.Extension, Sales: p.sales, Registry: p.provisioning, Locks: p.admin}
	settings := order.Config{
		Store: p.services.DB, Quote: market.Quote, Taxes: taxes, Provider: p.stripe, Portfolio: p.services.Portfolio,
		SpendBudget: p.limits.names.Spend, ItemsPaid: p.provisioning.Wake,
		Seal: p.services.keys.Seal(), Node: p.node, BaseURL: p.cfg.BaseURL, Extension: p.live.Extension, Draining: p.server.closing,
		AllowMail: func(address string) bool { return p.services.guestMailLimit.AllowText(strings.ToLower(address)) == 0 },
		OrderTTL:  time.Duration(p.cfg.Orders.Hold), MaxOpen: p.cfg.Orders.MaxOpen,
		RecheckInterval: time.Duration(p.cfg.Orders.RecheckInterval),
		VerifyOver:      registrar.Cents(p.cfg.Orders.VerifyOverEUR) * 100,
		Now:             p.now, Logger: p.logger, MailQueued: p.services.mail.wake,
		RecordError: jobErrorRecorder(p.admin, admin.JobOrder, p.logger),
	}
	if err := p.registerOrderHooks(&settings); err != nil {
		return nil, err
	}
	return order.New(settings)
}

// registerOrderHooks registers the metrics of orders, and wakes invoices and webhooks after
// changes. States, reasons and codes are constants, so the number of series is bounded.
func (p *App) registerOrderHooks(settings *order.Config) error {
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
		if err := p.metrics.Register(collector); err != nil {
			return err
		}
	}
	initCounters(reached, labelValues(order.States()...))
	initCounters(refunded, order.RefundReasons())
	initCounters(waiting, []string{"page", "charge", "close", "payment", "refund", "identity", "items"}, faultCodes())
	settings.OnStateChange = func(state order.State) {
		reached.WithLabelValues(string(state)).Inc()
		p.wakeWebhooks()
		if state == order.Provisioning {
			p.invoices.Wake()
		}
	}
	settings.OnRefund = func(reason string) {
		refunded.WithLabelValues(reason).Inc()
		p.wakeWebhooks()
		p.invoices.Wake()
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
