package sandbox

import (
	"context"
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
)

// demoDomain is a domain of the demo customer and its data at the registry. Days are
// relative to demo.Since.
type demoDomain struct {
	label, tld string
	status     registrar.DomainStatus
	paidUntil  int                     // 0: nothing paid yet
	choice     registrar.TermEndChoice // what the customer has decided

	registrar   string
	statuses    []string
	created     int
	expires     int
	nameservers []string
}

const otherRegistrar = "Nordlicht Namen GmbH"

// demoDomains returns a domain in every state that a customer can see. Of the active ones,
// one renews automatically, one is undecided and one is left to expire.
func demoDomains() []demoDomain {
	ours := []string{"ns1.dotkontor.example", "ns2.dotkontor.example"}
	theirs := []string{"ns1.nordlicht-namen.example", "ns2.nordlicht-namen.example"}
	return []demoDomain{
		{
			label: "kaffeehaus-elbblick", tld: ".de", status: registrar.DomainActive, paidUntil: 220, choice: registrar.TermEndRenew,
			registrar: registry.ProductName, created: -1240, expires: 220, nameservers: ours,
		},
		{
			label: "elbblick-roesterei", tld: ".com", status: registrar.DomainActive, paidUntil: 45,
			registrar: registry.ProductName, statuses: []string{"clientTransferProhibited"}, created: -685, expires: 45, nameservers: ours,
		},
		{
			label: "elbblick", tld: ".io", status: registrar.DomainActive, paidUntil: 130, choice: registrar.TermEndExpire,
			registrar: registry.ProductName, statuses: []string{"clientTransferProhibited"}, created: -235, expires: 130, nameservers: ours,
		},
		{ // an inbound transfer: the name stays at the losing registrar until the fifth day
			label: "kaffeekurse-hamburg", tld: ".com", status: registrar.DomainPending,
			registrar: otherRegistrar, statuses: []string{"pendingTransfer"}, created: -900, expires: 195, nameservers: theirs,
		},
		{ // auto-renewed by the registry; on clientHold until it is paid
			label: "elbblick-catering", tld: ".com", status: registrar.DomainExpired, paidUntil: -10,
			registrar: registry.ProductName, statuses: []string{"autoRenewPeriod", "clientHold"}, created: -740, expires: 355,
		},
		{
			label: "hafenfest-kaffee", tld: ".io", status: registrar.DomainRedemption, paidUntil: -55,
			registrar: registry.ProductName, statuses: []string{"redemptionPeriod", "pendingDelete"}, created: -785, expires: -55,
		},
		{ // returned to DENIC, which contacts the holder
			label: "roestmeister-elbe", tld: ".de", status: registrar.DomainTransit, paidUntil: -20,
			registrar: "DENIC TRANSIT (Sandbox)", created: -750, expires: 345, nameservers: []string{"ns1.transit.registry.example", "ns2.transit.registry.example"},
		},
		{
			label: "kaffeebohne-nord", tld: ".de", status: registrar.DomainTransferredOut, paidUntil: 80,
			registrar: otherRegistrar, created: -1015, expires: 80, nameservers: theirs,
		},
	}
}

func (d demo) date(days int) time.Time { return d.Since.AddDate(0, 0, days) }

// registryDomains returns the customer's domains as the simulated registry has them.
func (d demo) registryDomains() []registry.SeedDomain {
	var all []registry.SeedDomain
	for _, domain := range demoDomains() {
		all = append(all, registry.SeedDomain{
			Name: domain.label + domain.tld, Registrar: domain.registrar, Statuses: domain.statuses,
			Created: d.date(domain.created), Changed: d.date(min(domain.expires-365, -1)), Expires: d.date(domain.expires),
			Nameservers: domain.nameservers,
		})
	}
	return all
}

func (d *demo) ensureDomains(ctx context.Context, services *app.Services, operator registrar.Actor) error {
	owner := registrar.Actor{Kind: registrar.ActorPerson, Customer: operator.Customer}
	domains, err := services.Portfolio.List(ctx, owner)
	if err != nil {
		return err
	}
	has := map[string]bool{}
	for _, domain := range domains {
		has[domain.Name] = true
	}
	for _, domain := range demoDomains() {
		if has[domain.label+domain.tld] {
			continue
		}
		addition := portfolio.AddParams{
			Customer: operator.Customer, Name: registrar.NewName(domain.label, domain.tld), Status: domain.status,
		}
		if domain.paidUntil != 0 {
			addition.PaidUntil = d.date(domain.paidUntil)
		}
		added, err := services.Portfolio.Add(ctx, operator, addition)
		if registrar.CodeOf(err) == registrar.NameHeld { // another account may hold it
			continue
		}
		if err == nil && (domain.status == registrar.DomainExpired || domain.status == registrar.DomainRedemption) {
			err = services.DB.MakeDomainSyncDue(ctx, added.Name, time.Now()) // its state at the registry decides what pages say
		}
		if err == nil {
			err = d.choose(ctx, services, owner, added.ID, domain.choice)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// choose decides about the end of a domain's term as its customer would in the portal.
func (d *demo) choose(ctx context.Context, services *app.Services, owner registrar.Actor, domain string, choice registrar.TermEndChoice) error {
	if choice == registrar.TermEndUndecided {
		return nil
	}
	consents, err := d.newConsents(ctx, services)
	if err != nil {
		return err
	}
	if choice == registrar.TermEndExpire {
		return consents.LetExpire(ctx, owner, domain)
	}
	offer, err := consents.Offer(ctx, owner, domain)
	if err != nil || offer.Method == "" { // without a payment provider there is none
		return err
	}
	return consents.Agree(ctx, owner, domain, renewal.Agreement{
		Wording: renewal.ConsentWording(demoLanguage), Gross: offer.Gross, ChargeAt: offer.ChargeAt, Method: offer.Method,
	})
}

// newConsents returns the service for the demo customer, who pays German VAT.
func (d *demo) newConsents(ctx context.Context, services *app.Services) (*renewal.Consents, error) {
	edition, err := services.DB.PriceList(ctx)
	if err != nil {
		return nil, err
	}
	rates, err := billing.EmbeddedRates()
	if err != nil {
		return nil, err
	}
	list := catalog.NewLive(edition.List)
	return renewal.NewConsents(renewal.ConsentConfig{Store: services.DB, Price: func(_ context.Context, _ string, term order.RenewalTerm) (order.RenewalPrice, error) {
		extension, listed := list.Extension(term.TLD)
		if !listed || extension.Renew <= 0 {
			return order.RenewalPrice{}, &registrar.Error{Kind: registrar.KindUnsupported, Code: order.NoPrice}
		}
		years, rate := extension.Term(), rates.Domestic(d.Since).BasisPoints
		return order.RenewalPrice{Years: years, Gross: billing.Gross(order.NetPrice(extension, order.Renew, years), rate), RateBasisPoints: rate}, nil
	}})
}
