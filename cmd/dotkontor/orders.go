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
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/office"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/quota"
	"github.com/dotkontor/dotkontor/internal/registrar/steward"
	"github.com/dotkontor/dotkontor/internal/upstream/manners"
	"github.com/dotkontor/dotkontor/internal/upstream/stripe"
	"github.com/dotkontor/dotkontor/internal/web/acp"
)

// takeOrders has customers' orders paid and seen through for as long as the product
// runs. Without a payment provider there are none.
func (p *product) takeOrders(
	ctx context.Context, catalogue *catalog.Live, observeHost func(host string, event manners.Event), now func() time.Time,
) error {
	provider, err := newStripe(p.cfg.Stripe, p.logger, p.metrics, &p.paymentsSeen)
	if err != nil {
		return err
	}
	if provider == nil {
		p.logger.InfoContext(ctx, "nothing can be ordered, because no payment provider is set (stripe.secret_key)")
		return nil
	}
	taxes, err := newVAT(vatParts{
		cfg: p.cfg.VAT, db: p.people.db, now: now, logger: p.logger, metrics: p.metrics, observeHost: observeHost,
	})
	if err != nil {
		return err
	}
	p.closers = append(p.closers, taxes.vies.Close)
	p.provider, p.vies = provider, taxes.vies
	if err := p.issueInvoices(ctx, now); err != nil {
		return err
	}
	p.orders, err = newOrders(orderParts{
		cfg: p.cfg, people: p.people, catalogue: catalogue, lines: p.lines, sales: p.sales, provider: provider, taxes: taxes.taxes,
		node: p.node, now: now, logger: p.logger, metrics: p.metrics, changed: p.wakeTidings, invoices: p.invoices, office: p.office,
		closing: p.server.closing,
		budget:  p.names,
	})
	if err != nil {
		return err
	}
	p.background = append(p.background, taxes.watch.Run, p.orders.Run)
	if err := p.tellAgents(); err != nil {
		return err
	}
	return countBacklog(ctx, p.people, p.metrics)
}

// How many auth codes one customer may try: enough for every item of an order to be
// mistyped twice, and too few to guess anybody's.
const (
	codesPerHour    = 60
	codesPer10Hours = 200
)

// countCodes bounds the auth codes that a customer tries. It says how long to wait.
func (p *product) countCodes() (func(customer string) time.Duration, error) {
	tries, err := p.newLimiter(
		quota.Window{Limit: codesPerHour, Per: time.Hour}, quota.Window{Limit: codesPer10Hours, Per: 10 * time.Hour})
	return throttle{tries}.Count, err
}

// forgedKeys is how many times more failures with a well-formed key an address may have
// than without: agents share addresses with others in the same cloud.
const forgedKeys = 20

// sessions is where agents check out.
func (p *product) sessions(catalogue *catalog.Live) (acp.Config, error) {
	creates, err := p.newLimiter(quota.Window{Limit: p.cfg.Limits.SessionsPerAgent, Per: time.Minute})
	if err != nil {
		return acp.Config{}, err
	}
	refusals, err := p.newGate(forgedKeys, quota.Window{Limit: p.cfg.Limits.BadSignaturesPerAddress, Per: time.Minute})
	return acp.Config{
		Agents: p.people.agents, Orders: p.orders, Answers: p.people.answers, Creates: creates, BadSignatures: refusals,
		Listed: func(tld string) bool {
			_, listed := catalogue.Extension(tld)
			return listed
		},
	}, err
}

// orderParts is what orders are made of.
type orderParts struct {
	cfg       config.Config
	people    *accounts
	catalogue *catalog.Live
	lines     *provision.Service
	sales     sales
	provider  *stripe.Client
	taxes     order.Taxes
	node      string
	now       func() time.Time // the time of the business
	logger    *slog.Logger
	metrics   *prometheus.Registry // nil means that nobody counts
	// office keeps locks, and why work does not get on; nil means that nobody does.
	office *office.Service
	// changed is told that an order has come to a state or that money went back; nil
	// means that nobody waits.
	changed  func()
	invoices *invoice.Service // nil means that another process issues them
	// closing is closed when this node drains; nil means never.
	closing <-chan struct{}
	// budget bounds the questions to registries; nil means that nothing does.
	budget order.Budget
}

func newOrders(parts orderParts) (*order.Service, error) {
	settings := order.Config{
		Store: parts.people.db, Market: orderMarket{parts.catalogue, parts.lines, parts.sales, parts.office}, Taxes: parts.taxes,
		Payments: parts.provider, Tokens: parts.provider, Registrants: orderRegistrants{}, Identities: parts.provider, Lines: parts.lines, Holdings: orderHoldings{parts.people.holdings}, Budget: parts.budget,
		Seal: parts.people.keys.Seal(), Node: parts.node, BaseURL: parts.cfg.BaseURL, Extension: parts.catalogue.Extension, Closing: parts.closing,
		MayWriteTo: func(address string) bool { return parts.people.strangers.Count(strings.ToLower(address)) == 0 },
		Hold:       time.Duration(parts.cfg.Orders.Hold), MaxOpen: parts.cfg.Orders.MaxOpen,
		LookAgain:  time.Duration(parts.cfg.Orders.LookAgain),
		VerifyOver: registrar.Cents(parts.cfg.Orders.VerifyOverEUR) * 100,
		Now:        parts.now, Logger: parts.logger, LettersWaiting: parts.people.post.wake,
	}
	if parts.metrics != nil {
		if err := countOrders(&settings, parts.metrics); err != nil {
			return nil, err
		}
	}
	if parts.office != nil {
		settings.SetBack = setBack(parts.office, office.JobOrder, parts.logger)
	}
	if parts.changed != nil {
		listenToOrders(&settings, parts.changed)
	}
	wakeInvoices(&settings, parts.invoices)
	return order.New(settings)
}

// listenToOrders has changed called beside what counts.
func listenToOrders(settings *order.Config, changed func()) {
	reached, refunded := settings.Reached, settings.Refunded
	settings.Reached = func(state order.State) {
		if reached != nil {
			reached(state)
		}
		changed()
	}
	settings.Refunded = func(reason string) {
		if refunded != nil {
			refunded(reason)
		}
		changed()
	}
}

// countOrders registers the figures. States, reasons and codes come from our own
// tables, so the number of series is bounded.
func countOrders(settings *order.Config, metrics *prometheus.Registry) error {
	reached := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_orders_total", Help: "Orders that have come to a state, by state.",
	}, []string{"state"})
	refunded := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "dotkontor_refunds_total", Help: "Refunds that were made, by reason: failed_item, surplus.",
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
	startAtZero(reached, values(order.States()...))
	startAtZero(refunded, order.RefundReasons())
	startAtZero(waiting, []string{"page", "charge", "close", "payment", "refund", "identity", "lines"}, faults())
	settings.Reached = func(state order.State) { reached.WithLabelValues(string(state)).Inc() }
	settings.Refunded = func(reason string) { refunded.WithLabelValues(reason).Inc() }
	settings.Waiting = func(what string, code registrar.Code) { waiting.WithLabelValues(what, string(code)).Inc() }
	settings.Oldest = func(age time.Duration) { oldest.Set(age.Seconds()) }
	return nil
}

// countBacklog shows what waits in the database, for all nodes together. It is
// asked when somebody reads the figures.
func countBacklog(ctx context.Context, people *accounts, metrics *prometheus.Registry) error {
	const within = 2 * time.Second
	return metrics.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "dotkontor_refunds_waiting",
		Help: "Refunds that are owed and not made yet; -1 if the database does not answer.",
	}, func() float64 {
		asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
		defer cancel()
		backlog, err := people.db.OrderBacklog(asking, time.Now())
		if err != nil {
			return -1
		}
		return float64(backlog.Refunds)
	}))
}

// orderMarket is the price list, and the registries that carry orders out.
type orderMarket struct {
	catalogue *catalog.Live
	lines     *provision.Service
	sales     sales
	// locks say what may not be done with a domain; nil means that none does.
	locks *office.Service
}

var _ order.Market = orderMarket{}

// Quote asks the registry, and prices by the list.
func (m orderMarket) Quote(ctx context.Context, wish order.Wish) (order.Quote, error) {
	extension, listed := m.catalogue.Extension(wish.Name.TLD())
	if !listed {
		return order.Quote{}, &registrar.Error{Kind: registrar.KindUnsupported, Code: registrar.ExtensionNotCarried}
	}
	if err := m.sales.refusal(extension, wish.Kind); err != nil {
		return order.Quote{}, err
	}
	wanted := provision.Wanted{
		Customer: wish.Customer, Name: wish.Name, Extension: extension, Kind: provision.Kind(wish.Kind), Years: wish.Years, Code: wish.Code,
		Holder:  wish.Holder,
		Purpose: wish.Purpose, Admit: wish.Admit,
	}
	quote, err := m.lines.Quote(ctx, wanted)
	if err != nil {
		return order.Quote{AskedAt: quote.AskedAt, Stale: quote.Stale}, err
	}
	if wish.Kind == order.Renew && m.locks != nil {
		barred, err := m.locks.Bars(ctx, quote.Domain, office.Renewal)
		switch {
		case err != nil:
			return order.Quote{}, databaseFault(err)
		case barred:
			return order.Quote{}, &registrar.Error{Kind: registrar.KindConflict, Code: steward.Barred}
		}
	}
	return order.Quote{
		Years: quote.Years, Net: netOf(extension, wish.Kind, quote.Years), Account: quote.Account, Domain: quote.Domain,
		Verify: extension.Verify, Missing: quote.Missing, AskedAt: quote.AskedAt, Stale: quote.Stale,
	}, nil
}

// netOf is the price of a whole term. Prices of registration and renewal are for a
// year, that of a transfer is for the transfer.
func netOf(extension registrar.Extension, kind order.Kind, years int) registrar.Cents {
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
	customer.FieldName: {"first_name", "last_name"}, customer.FieldOrganisation: {"organisation"}, customer.FieldStreet: {"street"},
	customer.FieldPostalCode: {"postal_code"}, customer.FieldCity: {"city"}, customer.FieldState: {"state"},
	customer.FieldCountry: {"country"}, customer.FieldPhone: {"phone"}, customer.FieldVATID: {"vat_id"}, customer.FieldEmail: {"email"},
}

// Fit checks everything at once.
func (orderRegistrants) Fit(contact order.Contact) (order.Contact, []string) {
	street := contact.Street
	if contact.Street2 != "" {
		street += ", " + contact.Street2
	}
	kind := customer.Person
	if contact.Organisation != "" {
		kind = customer.Company
	}
	fitted, email, err := customer.FitRegistrant(customer.Registrant{
		Kind: kind, Name: contact.Name(), Organisation: contact.Organisation, Street: street, PostalCode: contact.PostalCode,
		City: contact.City, State: contact.State, Country: contact.Country, Phone: contact.Phone, VATID: contact.VATID,
	}, contact.Email)
	var untold []string
	var wrong *customer.FieldError
	switch {
	case errors.As(err, &wrong):
		for field, words := range contactFields {
			if _, bad := wrong.Fields[field]; bad {
				untold = append(untold, words...)
			}
		}
		slices.Sort(untold)
		return contact, untold
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

// orderHoldings lets orders compare names with what the customer has.
type orderHoldings struct{ holdings *holding.Service }

var _ order.Holdings = orderHoldings{}

// NamesOf are the names that a customer holds.
func (h orderHoldings) NamesOf(ctx context.Context, customer string) ([]string, error) {
	held, err := h.holdings.List(ctx, registrar.Actor{Kind: registrar.ActorSystem, Customer: customer})
	if err != nil {
		return nil, err
	}
	names := make([]string, len(held))
	for i, domain := range held {
		names[i] = domain.Name
	}
	return names, nil
}
