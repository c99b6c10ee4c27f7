package app

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/contactcheck"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/upstream/epp"
	"github.com/dotkontor/dotkontor/internal/web"
)

// termRegistries are the accounts as the ends of terms need them.
func (r *Registries) termRegistries() []lifecycle.NamedRegistry {
	var all []lifecycle.NamedRegistry
	for _, account := range r.provisionAccounts() {
		if registry, ok := account.Account.(*epp.Provisioner); ok {
			all = append(all, lifecycle.NamedRegistry{Name: account.Name, Serves: account.Serves, Registry: registry})
		}
	}
	return all
}

// NewTerms returns a service for commands, by which operators see the brake and decide. The
// running service carries their decisions out.
func NewTerms(services *Services) (*lifecycle.Service, error) {
	brake, err := lifecycle.NewBrake(lifecycle.BrakeConfig{Store: services.DB})
	if err != nil {
		return nil, err
	}
	contacts, err := contactcheck.New(contactcheck.Config{Store: services.DB, LacksHold: func(tld string) bool { return epp.PolicyOf(tld).NoHold }})
	if err != nil {
		return nil, err
	}
	return lifecycle.New(lifecycle.Config{
		Store: services.DB, Brake: brake, Node: NewNodeName(), Logger: slog.New(slog.DiscardHandler), Suspensions: contacts.ListPlanned,
	})
}

// startTerms starts the notices before and after the end of a term, and what happens to
// domains that are not paid.
func (p *App) startTerms(context.Context) error {
	rates, err := billing.EmbeddedRates()
	if err != nil {
		return err
	}
	if p.brake, err = lifecycle.NewBrake(lifecycle.BrakeConfig{Store: p.services.DB, Now: p.now, Logger: p.logger}); err != nil {
		return err
	}
	vatRate := func(ctx context.Context, customer string, now time.Time) (int, error) {
		if p.orders == nil { // set before anything runs
			return rates.Domestic(now).BasisPoints, nil
		}
		ctx, cancel := context.WithTimeout(ctx, vatRateTimeout)
		defer cancel()
		tax, err := p.orders.VATRate(ctx, registrar.Actor{Kind: registrar.ActorSystem, Customer: customer})
		return tax.RateBasisPoints, err
	}
	p.restorePrice = restorePrice(p.live, p.services.DB, vatRate)
	notices := newCounter(p.metrics, "dotkontor_expiry_notices_total",
		"Notices about the end of a domain's term, by kind: expiring_month, expiring_week, expired; and yearly data reminders (data_reminder).",
		newLabel("kind", registrar.MailExpiringMonth, registrar.MailExpiringWeek, registrar.MailExpired, registrar.MailDataReminder))
	transitions := newCounter(p.metrics, "dotkontor_unpaid_terms_total",
		"States that unpaid terms of domains reached: holding, held, deleting, redemption, releasing, closed, paid.",
		newLabel("state", lifecycle.Holding, lifecycle.Held, lifecycle.Deleting, lifecycle.Redemption, lifecycle.Releasing, lifecycle.Closed, lifecycle.Paid))
	p.terms, err = lifecycle.New(lifecycle.Config{
		Store: p.services.DB, Brake: p.brake, Registries: p.lookups.Registries.termRegistries(), Node: p.node, Now: p.now, Logger: p.logger,
		MailQueued: p.services.mail.Wake, RestorePrice: p.restorePrice, RenewalPrice: renewalPrice(p.live, p.services.DB, vatRate), Costs: p.costs,
		Suspensions: func(ctx context.Context, now time.Time) (planned, online []lifecycle.PlannedAction, err error) {
			return p.contacts.ListPlanned(ctx, now) // set before anything runs
		},
		OnNotice:     func(kind registrar.MailKind) { notices.WithLabelValues(string(kind)).Inc() },
		OnTransition: func(state lifecycle.State) { transitions.WithLabelValues(string(state)).Inc() },
	})
	newBacklogGauge(p.metrics, "dotkontor_brake_engaged", //nolint:contextcheck // a scrape has no context
		"1 while the safety brake has stopped holds and deletions, 2 if also notices and charges, 0 otherwise; -1 if the database does not respond.",
		func(ctx context.Context) (int, error) {
			status, _, err := p.brake.Status(ctx)
			switch {
			case status.StoppedByClock():
				return 2, err
			case status.Engaged():
				return 1, err
			}
			return 0, err
		})
	newBacklogGauge(p.metrics, "dotkontor_unpaid_terms_waiting", //nolint:contextcheck // as above
		"Unpaid terms that wait for an operator; -1 if the database does not respond.",
		func(ctx context.Context) (int, error) {
			waiting, err := p.services.DB.ListWaitingTerms(ctx, maxCountedTerms)
			waiting = slices.DeleteFunc(waiting, func(term lifecycle.Term) bool { return term.WaitsFor == lifecycle.LeftAlone })
			return len(waiting), err
		})
	p.inBackground(p.terms.Run)
	return err
}

// maxCountedTerms bounds the rows that a scrape reads.
const maxCountedTerms = 1000

// vatRateTimeout leaves a notice the time to be stored although a VAT ID can't be validated.
const vatRateTimeout = 5 * time.Second

// customerDomains are the domains with what is stored about them; *store.DB has them.
type customerDomains interface {
	GetCustomerDomain(ctx context.Context, customer, id string) (domainchange.Domain, bool, error)
}

// customerRate returns the VAT rate of a customer, as pages about prices use it.
type customerRate func(ctx context.Context, customer string, now time.Time) (basisPoints int, err error)

// restorePrice is what mails say about a restore: the list price with the customer's VAT. They name
// none for a premium domain, nor if the rate is unknown or the database does not say that it is not
// one.
func restorePrice(live *catalog.Live, domains customerDomains, vatRate customerRate) func(ctx context.Context, term lifecycle.Term, now time.Time) (registrar.Cents, bool) {
	return func(ctx context.Context, term lifecycle.Term, now time.Time) (registrar.Cents, bool) {
		extension, listed := live.Extension(term.TLD)
		if !listed || extension.Restore <= 0 || extension.Renew <= 0 {
			return 0, false
		}
		if domain, found, err := domains.GetCustomerDomain(ctx, term.Customer, term.Domain); err != nil || !found || domain.Premium {
			return 0, true
		}
		rate, err := vatRate(ctx, term.Customer, now)
		if err != nil {
			return 0, true
		}
		years := provision.YearsAhead(term.End, now, extension.Term())
		return billing.Gross(order.NetPrice(extension, order.Restore, years), rate), true
	}
}

// renewalPrice is what mails say about a renewal: the list price of the shortest term, as
// restorePrice.
func renewalPrice(live *catalog.Live, domains customerDomains, vatRate customerRate) func(ctx context.Context, domain lifecycle.Domain, now time.Time) lifecycle.RenewalPrice {
	return func(ctx context.Context, domain lifecycle.Domain, now time.Time) lifecycle.RenewalPrice {
		extension, listed := live.Extension(domain.TLD)
		if held, found, err := domains.GetCustomerDomain(ctx, domain.Customer, domain.ID); !listed || err != nil || !found || held.Premium {
			return lifecycle.RenewalPrice{}
		}
		rate, err := vatRate(ctx, domain.Customer, now)
		if err != nil {
			return lifecycle.RenewalPrice{}
		}
		return lifecycle.RenewalPrice{
			Gross: billing.Gross(order.NetPrice(extension, order.Renew, extension.Term()), rate), Years: extension.Term(), RateBasisPoints: rate,
		}
	}
}

// degradedTerms reports an engaged brake, as the database has it.
func (p *App) degradedTerms() []web.Degraded {
	if p.brake == nil {
		return nil
	}
	status := p.brake.LastSeen()
	if !status.Engaged() {
		return nil
	}
	return []web.Degraded{{Part: registrar.PartTerms, State: "stopped_by_" + string(status.Reason), Since: status.StoppedAt}}
}
