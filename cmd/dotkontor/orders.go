package main

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/config"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/upstream/hostlimit"
	"github.com/dotkontor/dotkontor/internal/upstream/stripe"
	"github.com/dotkontor/dotkontor/internal/web/acp"
)

// startOrders has customers' orders paid and seen through for as long as the product
// runs. Without a payment provider there are none.
func (p *App) startOrders(
	ctx context.Context, live *catalog.Live, observeHost func(host string, event hostlimit.Event), now func() time.Time,
) error {
	provider, err := NewStripe(p.cfg.Stripe, p.logger, p.metrics, &p.stripeHealth)
	if err != nil {
		return err
	}
	if provider == nil {
		p.logger.InfoContext(ctx, "nothing can be ordered, because no payment provider is set (stripe.secret_key)")
		return nil
	}
	taxes, err := NewVAT(VATParts{
		Config: p.cfg.VAT, DB: p.services.DB, Now: now, Logger: p.logger, metrics: p.metrics, observeHost: observeHost,
	})
	if err != nil {
		return err
	}
	p.closers = append(p.closers, taxes.VIES.Close)
	p.stripe, p.vies = provider, taxes.VIES
	if err := p.startInvoices(ctx, now); err != nil {
		return err
	}
	p.orders, err = newOrders(orderParts{
		cfg: p.cfg, services: p.services, catalog: live, provisioning: p.provisioning, sales: p.sales, stripe: provider, taxes: taxes.taxes,
		node: p.node, now: now, logger: p.logger, metrics: p.metrics, onChange: p.wakeWebhooks, invoices: p.invoices, admin: p.admin,
		closing: p.server.closing,
		budget:  p.nameBudget,
	})
	if err != nil {
		return err
	}
	p.background = append(p.background, taxes.Watch.Run, p.orders.Run)
	if err := p.startWebhooks(); err != nil {
		return err
	}
	return registerRefundBacklog(ctx, p.services, p.metrics)
}

// How many auth codes one customer may try: enough for every item of an order to be
// mistyped twice, and too few to guess anybody's.
const (
	authCodesPerHour    = 60
	authCodesPer10Hours = 200
)

// newAuthCodeLimiter bounds the auth codes that a customer tries. It says how long to wait.
func (p *App) newAuthCodeLimiter() (func(customer string) time.Duration, error) {
	tries, err := p.newLimiter(
		ratelimit.Window{Limit: authCodesPerHour, Per: time.Hour}, ratelimit.Window{Limit: authCodesPer10Hours, Per: 10 * time.Hour})
	return textLimiter{tries}.Count, err
}

// forgedKeys is how many times more failures with a well-formed key an address may have
// than without: agents share addresses with others in the same cloud.
const forgedKeys = 20

// acpConfig is where agents check out.
func (p *App) acpConfig(live *catalog.Live) (acp.Config, error) {
	creates, err := p.newLimiter(ratelimit.Window{Limit: p.cfg.Limits.SessionsPerAgent, Per: time.Minute})
	if err != nil {
		return acp.Config{}, err
	}
	refusals, err := p.newGate(forgedKeys, ratelimit.Window{Limit: p.cfg.Limits.BadSignaturesPerAddress, Per: time.Minute})
	return acp.Config{
		Agents: p.services.Agents, Orders: p.orders, Idempotency: p.services.idempotency, CreateLimit: creates, BadSignatures: refusals,
		SupportsTLD: func(tld string) bool {
			_, listed := live.Extension(tld)
			return listed
		},
	}, err
}

// orderParts is what orders are made of.
type orderParts struct {
	cfg          config.Config
	services     *Services
	catalog      *catalog.Live
	provisioning *provision.Service
	sales        Sales
	stripe       *stripe.Client
	taxes        order.Taxes
	node         string
	now          func() time.Time // the time of the business
	logger       *slog.Logger
	metrics      *prometheus.Registry // nil means that nobody counts
	// admin keeps locks, and why work does not get on; nil means that nobody does.
	admin *admin.Service
	// onChange is told that an order has come to a state or that money went back; nil
	// means that nobody waits.
	onChange func()
	invoices *invoice.Service // nil means that another process issues them
	// closing is closed when this node drains; nil means never.
	closing <-chan struct{}
	// budget bounds the questions to registries; nil means that nothing does.
	budget order.Budget
}

func newOrders(parts orderParts) (*order.Service, error) {
	settings := order.Config{
		Store: parts.services.DB, Market: orderMarket{parts.catalog, parts.provisioning, parts.sales, parts.admin}, Taxes: parts.taxes,
		Payments: parts.stripe, Tokens: parts.stripe, Registrants: orderRegistrants{}, Identities: parts.stripe, Provisioner: parts.provisioning, Portfolio: orderPortfolio{parts.services.Portfolio}, Budget: parts.budget,
		Seal: parts.services.keys.Seal(), Node: parts.node, BaseURL: parts.cfg.BaseURL, Extension: parts.catalog.Extension, Draining: parts.closing,
		AllowMail: func(address string) bool { return parts.services.guestMailLimit.Count(strings.ToLower(address)) == 0 },
		OrderTTL:  time.Duration(parts.cfg.Orders.Hold), MaxOpen: parts.cfg.Orders.MaxOpen,
		RecheckInterval: time.Duration(parts.cfg.Orders.RecheckInterval),
		VerifyOver:      registrar.Cents(parts.cfg.Orders.VerifyOverEUR) * 100,
		Now:             parts.now, Logger: parts.logger, MailQueued: parts.services.mail.wake,
	}
	if parts.metrics != nil {
		if err := registerOrderMetrics(&settings, parts.metrics); err != nil {
			return nil, err
		}
	}
	if parts.admin != nil {
		settings.RecordError = jobErrorRecorder(parts.admin, admin.JobOrder, parts.logger)
	}
	if parts.onChange != nil {
		notifyOnOrderChange(&settings, parts.onChange)
	}
	wakeInvoicesOnOrderChange(&settings, parts.invoices)
	return order.New(settings)
}

// notifyOnOrderChange has changed called beside what counts.
func notifyOnOrderChange(settings *order.Config, changed func()) {
	reached, refunded := settings.OnStateChange, settings.OnRefund
	settings.OnStateChange = func(state order.State) {
		if reached != nil {
			reached(state)
		}
		changed()
	}
	settings.OnRefund = func(reason string) {
		if refunded != nil {
			refunded(reason)
		}
		changed()
	}
}

// registerOrderMetrics registers the figures. States, reasons and codes come from our own
// tables, so the number of series is bounded.
func registerOrderMetrics(settings *order.Config, metrics *prometheus.Registry) error {
	reached := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_orders_total", Help: "Orders that have come to a state, by state.",
	}, []string{"state"})
	refunded := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_refunds_total", Help: "Refunds that were made, by reason: failed_item, unmatched.",
	}, []string{"reason"})
	waiting := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_orders_waiting_total",
		Help: "How often an order had to wait for the payment provider, by what it waits for (page, charge, close, payment, refund, identity, lines) and reason.",
	}, []string{"what", "code"})
	oldest := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "dotkontor_orders_overdue_seconds",
		Help: "How long the order has waited that is the longest overdue for a look. More than a minute means that nobody looks.",
	})
	for _, collector := range []prometheus.Collector{reached, refunded, waiting, oldest} {
		if err := metrics.Register(collector); err != nil {
			return err
		}
	}
	initCounters(reached, labelValues(order.States()...))
	initCounters(refunded, order.RefundReasons())
	initCounters(waiting, []string{"page", "charge", "close", "payment", "refund", "identity", "lines"}, faultCodes())
	settings.OnStateChange = func(state order.State) { reached.WithLabelValues(string(state)).Inc() }
	settings.OnRefund = func(reason string) { refunded.WithLabelValues(reason).Inc() }
	settings.OnRetry = func(what string, code registrar.Code) { waiting.WithLabelValues(what, string(code)).Inc() }
	settings.OnOldestDue = func(age time.Duration) { oldest.Set(age.Seconds()) }
	return nil
}

// registerRefundBacklog shows what waits in the database, for all nodes together. It is
// asked when somebody reads the figures.
func registerRefundBacklog(ctx context.Context, services *Services, metrics *prometheus.Registry) error {
	const within = 2 * time.Second
	return metrics.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "dotkontor_refunds_waiting",
		Help: "Refunds that are owed and not made yet; -1 if the database does not answer.",
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

// orderMarket is the price list, and the registries that carry orders out.
type orderMarket struct {
	catalog      *catalog.Live
	provisioning *provision.Service
	sales        Sales
	// locks say what may not be done with a domain; nil means that none does.
	locks *admin.Service
}

var _ order.Market = orderMarket{}

// Quote asks the registry, and prices by the list.
func (m orderMarket) Quote(ctx context.Context, item order.QuoteRequest) (order.Quote, error) {
	extension, listed := m.catalog.Extension(item.Name.TLD())
	if !listed {
		return order.Quote{}, &registrar.Error{Kind: registrar.KindUnsupported, Code: registrar.ExtensionNotCarried}
	}
	if err := m.sales.refusal(extension, item.Kind); err != nil {
		return order.Quote{}, err
	}
	request := provision.QuoteRequest{
		Customer: item.Customer, Name: item.Name, Extension: extension, Kind: provision.Kind(item.Kind), Years: item.Years, Code: item.Code,
		Registrant: item.Registrant,
		Purpose:    item.Purpose, Admit: item.Admit,
	}
	quote, err := m.provisioning.Quote(ctx, request)
	if err != nil {
		return order.Quote{AskedAt: quote.AskedAt, Stale: quote.Stale}, err
	}
	if item.Kind == order.Renew && m.locks != nil {
		forbidden, err := m.locks.Forbids(ctx, quote.Domain, admin.Renewal)
		switch {
		case err != nil:
			return order.Quote{}, databaseError(err)
		case forbidden:
			return order.Quote{}, &registrar.Error{Kind: registrar.KindConflict, Code: domainchange.DomainRestricted}
		}
	}
	return order.Quote{
		Years: quote.Years, Net: netPrice(extension, item.Kind, quote.Years), Account: quote.Account, Domain: quote.Domain,
		Verify: extension.Verify, Missing: quote.Missing, AskedAt: quote.AskedAt, Stale: quote.Stale,
	}, nil
}

// netPrice is the price of a whole term. Prices of registration and renewal are for a
// year, that of a transfer is for the transfer.
func netPrice(extension registrar.Extension, kind order.Kind, years int) registrar.Cents {
	switch kind {
	case order.Transfer:
		return extension.Transfer
	case order.Renew:
		return extension.Renew * registrar.Cents(years)
	default:
		return extension.Register * registrar.Cents(years)
	}
}

// orderRegistrants makes holders of what agents tell of buyers, by the rules of the
// form in the portal.
type orderRegistrants struct{}

var _ order.Registrants = orderRegistrants{}

// contactFields are the fields of a registrant in the words of a contact.
var contactFields = map[string][]string{
	account.FieldName: {"first_name", "last_name"}, account.FieldOrganisation: {"organisation"}, account.FieldStreet: {"street"},
	account.FieldPostalCode: {"postal_code"}, account.FieldCity: {"city"}, account.FieldState: {"state"},
	account.FieldCountry: {"country"}, account.FieldPhone: {"phone"}, account.FieldVATID: {"vat_id"}, account.FieldEmail: {"email"},
}

// Normalise checks everything at once.
func (orderRegistrants) Normalise(contact order.Contact) (order.Contact, []string) {
	street := contact.Street
	if contact.Street2 != "" {
		street += ", " + contact.Street2
	}
	kind := account.Person
	if contact.Organisation != "" {
		kind = account.Company
	}
	fitted, email, err := account.NormaliseRegistrant(account.Registrant{
		Kind: kind, Name: contact.Name(), Organisation: contact.Organisation, Street: street, PostalCode: contact.PostalCode,
		City: contact.City, State: contact.State, Country: contact.Country, Phone: contact.Phone, VATID: contact.VATID,
	}, contact.Email)
	var missing []string
	var wrong *account.FieldError
	switch {
	case errors.As(err, &wrong):
		for field, names := range contactFields {
			if _, bad := wrong.Fields[field]; bad {
				missing = append(missing, names...)
			}
		}
		slices.Sort(missing)
		return contact, missing
	case err != nil:
		return contact, []string{"email"}
	}
	// The name is one field of a registrant.
	return order.Contact{
		LastName: fitted.Name, Organisation: fitted.Organisation, Email: email, Phone: fitted.Phone, VATID: fitted.VATID,
		Street: fitted.Street, PostalCode: fitted.PostalCode, City: fitted.City, State: fitted.State, Country: fitted.Country,
		Language: contact.Language,
	}, nil
}

// orderPortfolio lets orders compare names with what the customer has.
type orderPortfolio struct{ portfolio *portfolio.Service }

var _ order.Portfolio = orderPortfolio{}

// NamesOf are the names that a customer holds.
func (h orderPortfolio) NamesOf(ctx context.Context, customer string) ([]string, error) {
	held, err := h.portfolio.List(ctx, registrar.Actor{Kind: registrar.ActorSystem, Customer: customer})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(held))
	for i, domain := range held {
		names[i] = domain.Name
	}
	return names, nil
}
