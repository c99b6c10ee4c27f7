package portal

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/web/portal"
)

// addDomain adds a domain to an account and returns its id.
func (s *env) addDomain(owner, label string, status registrar.DomainStatus) string {
	s.t.Helper()
	return s.addDomainOf(owner, label, ".de", status)
}

func (s *env) addDomainOf(owner, label, tld string, status registrar.DomainStatus) string {
	s.t.Helper()
	added, err := s.portfolio.Add(s.t.Context(), registrar.Actor{Kind: registrar.ActorOperator, Through: "test"}, portfolio.AddParams{
		Customer: owner, Name: registrar.NewName(label, tld), Status: status, PaidUntil: s.clock.now().Add(90 * 24 * time.Hour),
	})
	must(s.t, err)
	return added.ID
}

// fakeOrders accepts renewals.
type fakeOrders struct {
	base     string
	err      error
	requests [][]order.RequestedItem
	refused  []order.RefusedItem
	open     int // items of the open order
	orders   []order.Order
	// transfers is the list of every customer.
	transfers []order.ListedTransfer
	actor     registrar.Actor
	rate      int // the customer's VAT rate; 0 means Germany's
}

func (c *fakeOrders) VATRate(context.Context, registrar.Actor) (billing.Assessment, error) {
	return billing.Assessment{RateBasisPoints: cmp.Or(c.rate, 1900), Rule: billing.RuleDomestic}, nil
}

func (c *fakeOrders) List(context.Context, registrar.Actor, string, int) ([]order.Order, error) {
	return c.orders, nil
}

func (c *fakeOrders) ListRefundedFor(_ context.Context, _ registrar.Actor, notices []string) (found []order.Order, err error) {
	for _, o := range c.orders {
		if slices.ContainsFunc(notices, func(notice string) bool { return o.RefundOfWithdrawal(notice, "").Amount > 0 }) {
			found = append(found, o)
		}
	}
	return found, nil
}

func (c *fakeOrders) AddRenewals(_ context.Context, actor registrar.Actor, items []order.RequestedItem) (order.Order, []order.RefusedItem, error) {
	c.requests, c.actor = append(c.requests, items), actor
	return order.Order{ID: "ord_1"}, c.refused, c.err
}

func (c *fakeOrders) OpenRenewals(context.Context, registrar.Actor) (order.Order, bool, error) {
	return order.Order{ID: "ord_1", Items: make([]order.Item, c.open), Totals: order.Totals{Gross: 2380}}, c.open > 0, nil
}

func (c *fakeOrders) Get(_ context.Context, _ registrar.Actor, id string) (order.Order, error) {
	return order.Order{ID: id, State: order.AwaitingPayment}, c.err
}

func (c *fakeOrders) TransferList(context.Context, registrar.Actor) ([]order.ListedTransfer, error) {
	return c.transfers, nil
}

func (c *fakeOrders) PayURL(order.Order) (string, error) {
	return c.base + "/checkout/dotkontor_pay_x", nil
}

// install adds the fake and real consents to the portal's configuration.
func (c *fakeOrders) install(s *env, pages *portal.Config) {
	pages.Orders, pages.Now = c, s.clock.now
	pages.Extension = func(tld string) (registrar.Extension, bool) {
		return registrar.Extension{TLD: tld, Renew: 1000, Restore: 5000}, tld != ".alt"
	}
	s.provider = &fakeMethodProvider{}
	consents, err := renewal.NewConsents(renewal.ConsentConfig{
		Store: s.db, Provider: s.provider, BaseURL: "https://shop.example", Now: s.clock.now,
		Price: func(context.Context, string, order.RenewalTerm) (order.RenewalPrice, error) {
			return order.RenewalPrice{Years: 1, Gross: s.renewalPrice(), RateBasisPoints: 1900}, nil
		},
	})
	must(s.t, err)
	pages.Renewals = consents
}

func TestRenew_CreatesOrder(t *testing.T) {
	t.Parallel()
	c := &fakeOrders{base: "https://elsewhere.example"}
	s := newEnvWith(t, c.install)
	erika := s.newMember("erika@example.org")
	active, gone := s.addDomain(erika.ID, "laufend", registrar.DomainActive), s.addDomain(erika.ID, "weg", registrar.DomainTransferredOut)
	b := s.signedInBrowser("erika@example.org")
	renew := "/portal/domains/" + active + "/renew"
	if list := b.get("/portal/domains").body; !strings.Contains(list, renew) || strings.Contains(list, gone+"/renew") {
		t.Errorf("the list offers the wrong renewals: %s", list)
	}
	if got := b.post(renew, nil); got.status != http.StatusSeeOther || got.location() != "/checkout/dotkontor_pay_x" {
		t.Fatalf("got %d %s", got.status, got.location())
	}
	request := c.requests[0]
	if len(request) != 1 || request[0].Name.ASCII() != "laufend.de" || request[0].Kind != order.Renew || c.actor.Customer != erika.ID || c.actor.Kind != registrar.ActorPerson {
		t.Errorf("ordered %+v by %+v", request, c.actor)
	}
	s.registry.maxYears = 3
	if page := b.get("/portal/domains/" + active).body; strings.Count(page, "<option value=") != 3 || !strings.Contains(page, "3 Jahre: 35,70\u00a0€, bis ") {
		t.Errorf("the page does not offer up to three years with their prices: %s", page)
	}
	if got := b.post(renew, url.Values{"years": {"3"}}); got.status != http.StatusSeeOther || c.requests[1][0].Years != 3 {
		t.Errorf("three years: %d, %+v", got.status, c.requests)
	}
	if got := b.post(renew, url.Values{"years": {"viele"}}); got.status != http.StatusConflict || len(c.requests) != 2 {
		t.Errorf("years that are no number: %d", got.status)
	}
	for code, sentence := range map[error]string{
		&order.ItemsRefused{}: "können Sie zurzeit nicht verlängern",
		&registrar.Error{Kind: registrar.KindConflict, Code: order.TooManyOpen}: "zu viele offene Bestellungen",
	} {
		c.err = code
		if got := b.post(renew, nil); got.status != http.StatusConflict || !strings.Contains(got.body, sentence) || !strings.Contains(got.body, "laufend.de") {
			t.Errorf("%v: %d %s", code, got.status, got.body)
		}
	}
}

func TestDomainPage_TenYearLimitIsNamed(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	now := s.clock.now()
	added, err := s.portfolio.Add(t.Context(), registrar.Actor{Kind: registrar.ActorOperator, Through: "test"}, portfolio.AddParams{
		Customer: s.newMember("erika@example.org").ID, Name: registrar.NewName("lange", ".de"), Status: registrar.DomainActive, PaidUntil: now.AddDate(9, 6, 0),
	})
	must(t, err)
	page := s.signedInBrowser("erika@example.org").get("/portal/domains/" + added.ID).body
	if from := now.AddDate(9, 6, 0).AddDate(-9, 0, 0).Format("02.01.2006"); !strings.Contains(page, "Verlängern können Sie wieder ab "+from) || strings.Contains(page, added.ID+"/renew") {
		t.Errorf("the page does not say that it can be renewed from %s: %s", from, page)
	}
}

func TestDomainPage_RenewalAndRestorePricesHaveTheAccountsVAT(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{rate: 2500}).install) // Denmark's
	customer := s.newMember("erika@example.org").ID
	active, deleted := s.addDomain(customer, "laufend", registrar.DomainActive), s.addDomainOf(customer, "geloescht", ".org", registrar.DomainRedemption)
	s.registry.records["geloescht.org"] = domainchange.Record{Updated: s.clock.now(), Statuses: []string{"pendingDelete", "redemptionPeriod"}}
	b := s.signedInBrowser("erika@example.org")
	for id, price := range map[string]string{active: "12,50", deleted: "62,50"} {
		if page := b.get("/portal/domains/" + id).body; !strings.Contains(page, price) || strings.Contains(page, "11,90") || strings.Contains(page, "deutscher USt") {
			t.Errorf("the page lacks %s: %s", price, page)
		}
	}
}

func TestDomainPage_PremiumDomainHasNoListPrice(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{rate: 2500}).install)
	customer := s.newMember("erika@example.org").ID
	active, deleted := s.addDomain(customer, "laufend", registrar.DomainActive), s.addDomainOf(customer, "geloescht", ".org", registrar.DomainRedemption)
	s.registry.records["geloescht.org"] = domainchange.Record{Updated: s.clock.now(), Statuses: []string{"pendingDelete", "redemptionPeriod"}}
	s.exec("UPDATE domains SET premium = 1")
	b := s.signedInBrowser("erika@example.org")
	for id, price := range map[string]string{active: "12,50", deleted: "62,50"} {
		if page := b.get("/portal/domains/" + id).body; strings.Contains(page, price) || !strings.Contains(page, "für diese Premium-Domain einen eigenen Preis") {
			t.Errorf("the page shows %s: %s", price, page)
		}
	}
}

func TestRestore_CreatesOrderWhileRegistryOffersIt(t *testing.T) {
	t.Parallel()
	c := &fakeOrders{base: "https://elsewhere.example"}
	s := newEnvWith(t, c.install)
	customer := s.newMember("erika@example.org").ID
	noRestore := "/portal/domains/" + s.addDomain(customer, "geloescht", registrar.DomainRedemption)
	b := s.signedInBrowser("erika@example.org")
	path := "/portal/domains/" + s.addDomainOf(customer, "geloescht", ".org", registrar.DomainRedemption)
	s.registry.records["geloescht.org"] = domainchange.Record{Updated: s.clock.now(), Statuses: []string{"pendingDelete", "redemptionPeriod"}}
	s.registry.records["geloescht.de"] = domainchange.Record{Updated: s.clock.now(), Statuses: []string{"pendingDelete", "redemptionPeriod"}}
	if page := b.get(noRestore).body; strings.Contains(page, noRestore+"/restore") || !strings.Contains(page, "Bei uns lässt sie sich nicht wiederherstellen") || strings.Contains(page, "Gelöscht") {
		t.Errorf("a registry without a redemption period: %s", page)
	}
	deadline := lastFullDay(s.clock.now().AddDate(0, 0, 30))
	if page := b.get(path).body; !strings.Contains(page, path+"/restore") || strings.Contains(page, path+"/renew") || !strings.Contains(page, deadline) || !strings.Contains(page, "59,50") {
		t.Errorf("the page lacks price or deadline %s: %s", deadline, page)
	}
	s.clock.advance(40 * 24 * time.Hour)
	if page := s.signedInBrowser("erika@example.org").get(path).body; !strings.Contains(page, path+"/restore") || strings.Contains(page, "voraussichtlich") ||
		!strings.Contains(page, `deren Tag wir nicht genau kennen. Warten Sie besser nicht; bei Fragen schreiben Sie uns: <a href="/kontakt">`) || !strings.Contains(page, "wiederherstellbar bis 30 Tage nach der Löschung") || strings.Contains(page, "ließ sie sich") {
		t.Errorf("a deadline in the past is shown, or nothing instead: %s", page)
	}
	b = s.signedInBrowser("erika@example.org")
	if got := b.post(path+"/restore", nil); got.status != http.StatusSeeOther || c.requests[0][0].Kind != order.Restore {
		t.Errorf("got %d, ordered %+v", got.status, c.requests)
	}
}

func TestRestore_RefusalIsExplainedOnTheDomainsPage(t *testing.T) {
	t.Parallel()
	c := &fakeOrders{}
	s := newEnvWith(t, c.install)
	path := "/portal/domains/" + s.addDomainOf(s.newMember("erika@example.org").ID, "geloescht", ".org", registrar.DomainRedemption)
	s.registry.records["geloescht.org"] = domainchange.Record{Updated: s.clock.now(), Statuses: []string{"pendingDelete", "redemptionPeriod"}}
	b := s.signedInBrowser("erika@example.org")
	for code, says := range map[registrar.Code]string{provision.NotRestorable: "bietet es nicht mehr an", registrar.RegistryDenied: "zurzeit nicht wiederherstellen"} {
		c.err = &order.ItemsRefused{Items: []order.RefusedItem{{Reason: registrar.Conflict(code)}}}
		if got := b.post(path+"/restore", nil); got.status != http.StatusConflict || !strings.Contains(got.body, says) || !strings.Contains(got.body, "Überblick") || strings.Contains(got.body, "zurzeit nicht verlängern") {
			t.Errorf("%s: %d %s", code, got.status, got.body)
		}
	}
}

func TestRestore_IsNotOfferedOnceRegistryHasReleasedTheDomain(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*fakeRegistry){
		"pending deletion": func(r *fakeRegistry) {
			r.records["geloescht.org"] = domainchange.Record{Statuses: []string{"pendingDelete"}}
		},
		"gone": func(r *fakeRegistry) { r.err = registrar.NotFound(registrar.RegistryNotFound) },
	} {
		s := newEnvWith(t, (&fakeOrders{}).install)
		path := "/portal/domains/" + s.addDomainOf(s.newMember("erika@example.org").ID, "geloescht", ".org", registrar.DomainRedemption)
		change(s.registry)
		page := s.signedInBrowser("erika@example.org").get(path).body
		if strings.Contains(page, path+"/restore") || !strings.Contains(page, `nicht wiederherstellen. Bei Fragen wenden Sie sich bitte an uns. <a href="/kontakt">`) || strings.Contains(page, "..") || strings.Contains(page, "antwortet gerade nicht") ||
			name == "gone" && (strings.Contains(page, "hält sie noch einige Zeit zurück") || strings.Contains(page, "Rückholfrist") || !strings.Contains(page, "gibt es bei der Registry nicht mehr")) {
			t.Errorf("%s: %s", name, page)
		}
	}
}

func TestWithoutOrders_NoRenewalIsOffered(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	id := s.addDomain(s.newMember("erika@example.org").ID, "laufend", registrar.DomainActive)
	b := s.signedInBrowser("erika@example.org")
	if list := b.get("/portal/domains").body; strings.Contains(list, id+"/") || strings.Contains(list, "/portal/orders") || !strings.Contains(list, "laufend.de") {
		t.Errorf("the list offers %s", list)
	}
	for _, path := range []string{
		"/portal/domains/" + id + "/renew", "/portal/domains/" + id + "/auto-renew", "/portal/domains/" + id + "/auto-renew/off",
		"/portal/domains/" + id + "/expire", "/portal/domains/" + id + "/keep", "/portal/payment-methods", "/portal/payment-methods/remove",
	} {
		if got := b.post(path, nil); got.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.status)
		}
	}
	for _, path := range []string{"/portal/orders", "/portal/payment-methods", "/checkout/dotkontor_pay_x", "/checkout/verify/x"} {
		if got := b.get(path); got.status != http.StatusNotFound || !strings.Contains(got.body, "<html") {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}

// The form and the sign-in return to the order that led there.
func TestRegistrantForm_ReturnsToOrder(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	const there = "/checkout/dotkontor_pay_x"
	if got := b.get("/portal/profile/registrant?next=" + url.QueryEscape(there)); !strings.Contains(got.body, `name="next" value="`+there+`"`) {
		t.Errorf("the form loses the order: %s", got.body)
	} else if !strings.Contains(got.body, `href="`+there+`">Zurück, ohne zu speichern<`) || strings.Contains(got.body, "Zurück zum Profil") {
		t.Errorf("skipping the form does not return to the order: %s", got.body)
	}
	if got := b.get("/portal/profile/registrant?next=https://evil.example/"); !strings.Contains(got.body, "Zurück zum Profil") || strings.Contains(got.body, `href="https://evil`) {
		t.Errorf("the form leads to another site: %s", got.body)
	}
	fields := url.Values{
		"kind": {"person"}, "name": {"Erika Mustermann"}, "street": {"Heidestraße 17"}, "postal_code": {"51147"}, "city": {"Köln"},
		"country": {"DE"}, "phone": {"+49 221 123456"}, "next": {there},
	}
	if got := b.post("/portal/profile/registrant", fields); got.location() != there {
		t.Errorf("saving redirects to %q: %s", got.location(), got.body)
	}
	fields.Set("next", "https://evil.example/")
	if got := b.post("/portal/profile/registrant", fields); got.location() != "/portal/profile" {
		t.Errorf("saving redirects to %q", got.location())
	}
	fields.Set("name", "")
	fields.Set("next", there)
	if got := b.post("/portal/profile/registrant", fields); !strings.Contains(got.body, `name="next" value="`+there+`"`) {
		t.Errorf("an invalid form loses the order: %s", got.body)
	}
	if got := b.post("/portal/sign-out", url.Values{"next": {there}}); got.location() != "/portal/sign-in?next=%2Fcheckout%2Fdotkontor_pay_x" {
		t.Errorf("signing out redirects to %q", got.location())
	}
	if got := b.post("/portal/sign-in", url.Values{"email": {"erika@example.org"}, "password": {password}, "next": {there}}); got.location() != there {
		t.Errorf("signing in redirects to %q", got.location())
	}
}
