package app

import (
	"context"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/web/acp"
)

// startOrders starts ordering and payment. Without a payment provider it does nothing.
func (p *App) startOrders(ctx context.Context) error {
	if p.stripe = p.newStripe(); p.stripe == nil {
		p.logger.InfoContext(ctx, "ordering is disabled: no payment provider is configured (stripe.secret_key)")
		return nil
	}
	taxes, monitor, err := p.openVAT()
	if err != nil {
		return err
	}
	if err := p.startInvoices(); err != nil { //nolint:contextcheck // a scrape has no context
		return err
	}
	if err := p.startWebhooks(); err != nil {
		return err
	}
	market := order.Market{Extension: p.live.Extension, Sales: p.sales, Registry: p.provisioning, Locks: p.admin, Premium: p.premium, Renewing: p.services.DB.IsRenewing}
	settings := order.Config{
		Store: p.services.DB, Quote: market.Quote, Taxes: taxes, Provider: p.stripe, Portfolio: p.services.Portfolio, Holder: p.services.Holders.Registrant,
		SpendBudget: p.limits.names.Spend, ItemsPaid: p.provisioning.ItemsPaid,
		Seal: p.services.keys.Seal(), Node: p.node, BaseURL: p.cfg.BaseURL, Extension: p.live.Extension, Draining: p.server.closing,
		AllowMail: func(address string) bool { return p.services.guestMailLimit.AllowText(strings.ToLower(address)) == 0 },
		OrderTTL:  time.Duration(p.cfg.Orders.Hold), MaxOpen: p.cfg.Orders.MaxOpen,
		RecheckInterval: time.Duration(p.cfg.Orders.RecheckInterval),
		VerifyOver:      registrar.Cents(p.cfg.Orders.VerifyOverEUR) * 100,
		Now:             p.now, Logger: p.logger, MailQueued: p.services.mail.Wake, WebhookQueued: p.webhooks.Wake,
		RecordError: p.recordJobError(admin.JobOrder), IsRenewalWording: renewal.IsCurrentWording,
		NextCharge: renewal.NextCharge(p.services.Portfolio, p.now), LiftedExpiry: renewal.LiftedExpiry(p.services.DB), OpenNotices: p.services.DB.ListOpenNotices,
		LocksTransfers: p.sales.Accounts.LocksTransfers,
		TransferDays:   p.transferDays,
	}
	p.observeOrders(&settings) //nolint:contextcheck // as above
	if p.orders, err = order.New(settings); err != nil {
		return err
	}
	detacher, err := renewal.NewDetacher(renewal.DetacherConfig{Store: p.services.DB, Provider: p.stripe, Now: p.now, Logger: p.logger})
	if err != nil {
		return err
	}
	newBacklogGauge(p.metrics, "dotkontor_method_detachments_retrying", //nolint:contextcheck // a scrape has no context
		"Removed payment methods that the payment provider was asked to detach and has not yet; -1 if the database does not respond.",
		p.services.DB.CountRetryingDetachments)
	p.inBackground(monitor.Run, p.orders.Run, p.orders.RunRefundSync, detacher.Run)
	p.consents, err = renewal.NewConsents(renewal.ConsentConfig{
		Store: p.services.DB, Price: p.orders.RenewalPrice, RestorePrice: p.restorePrice, Provider: p.stripe, BaseURL: p.cfg.BaseURL,
		Now: p.now, MailQueued: p.services.mail.Wake, MethodDetached: detacher.Wake,
	})
	return err
}

// observeOrders sets the hooks that count orders and wake invoices. States,
// reasons and codes are constants, so the number of series is bounded.
func (p *App) observeOrders(settings *order.Config) {
	reached := newCounter(p.metrics, "dotkontor_orders_total", "Orders that reached a state, by state.", newLabel("state", order.States()...))
	refunded := newCounter(p.metrics, "dotkontor_refunds_total",
		"Refunds made, by reason: failed_item, unmatched, provider (made there), or the one that an operator chose.", newLabel("reason", order.RefundReasons()...))
	waiting := newCounter(p.metrics, "dotkontor_orders_waiting_total",
		"Retries of orders that wait for the payment provider, by operation (page, charge, close, payment, refund, identity, items) and error code.",
		newLabel("what", "page", "charge", "close", "payment", "refund", "identity", "items"), newLabel("code", faultCodes...))
	oldest := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "dotkontor_orders_overdue_seconds",
		Help: "Delay of the most overdue order. More than a minute means that no node processes orders.",
	})
	p.metrics.MustRegister(oldest)
	newBacklogGauge(p.metrics, "dotkontor_refunds_waiting",
		"Refunds that are due but not made yet; -1 if the database does not respond.",
		func(ctx context.Context) (int, error) {
			backlog, err := p.services.DB.CountOrderBacklog(ctx, time.Now())
			return backlog.Refunds, err
		})
	settings.OnStateChange = func(state order.State) {
		reached.WithLabelValues(string(state)).Inc()
		if state == order.Provisioning {
			p.invoices.Wake()
		}
	}
	settings.OnRefund = func(reason string) {
		refunded.WithLabelValues(reason).Inc()
		p.invoices.Wake()
	}
	settings.OnRetry = func(what string, code registrar.Code) { waiting.WithLabelValues(what, string(code)).Inc() }
	settings.OnOldestDue = func(age time.Duration) { oldest.Set(age.Seconds()) }
}

// Auth codes that one customer may try: enough to mistype every item of an order twice,
// too few to guess one.
const (
	authCodesPerHour    = 60
	authCodesPer10Hours = 200
)

// Payment methods that one customer may try to add.
const (
	methodSetupsPerHour    = 20
	methodSetupsPer10Hours = 60
)

// forgedKeys is the factor by which an address may fail more often with a well-formed
// key than without, because agents in the same cloud share addresses.
const forgedKeys = 20

func (p *App) acpConfig() (acp.Config, error) {
	creates, err := p.newLimiter("sessions of agents", ratelimit.Window{Limit: p.cfg.Limits.SessionsPerAgent, Per: time.Minute})
	if err != nil {
		return acp.Config{}, err
	}
	refusals, err := p.newGate("bad signatures", forgedKeys, ratelimit.Window{Limit: p.cfg.Limits.BadSignaturesPerAddress, Per: time.Minute})
	return acp.Config{
		Agents: p.services.Agents, Orders: p.orders, Idempotency: p.services.idempotency, CreateLimit: creates, BadSignatures: refusals,
		SupportsTLD: func(tld string) bool {
			_, listed := p.live.Extension(tld)
			return listed
		},
	}, err
}

// transferDays returns how many days a transfer to us may take.
func (p *App) transferDays(tld string) int {
	_, days := p.sales.Accounts.TransferTerms(tld)
	return days
}
