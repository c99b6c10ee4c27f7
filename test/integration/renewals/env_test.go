// Package renewals tests automatic renewals end to end on both databases: the renewal worker,
// orders and provisioning with the sandbox's registry and payment provider.
package renewals

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/billing/reconcile"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/premium"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
	sandbox "github.com/dotkontor/dotkontor/internal/sandbox/stripe"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
	"github.com/dotkontor/dotkontor/internal/upstream/epp"
	"github.com/dotkontor/dotkontor/internal/upstream/stripe"
	"github.com/dotkontor/dotkontor/test/testkit"
	"github.com/dotkontor/dotkontor/test/testkit/dbtest"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

const (
	day        = 24 * time.Hour
	customerID = "cus_ada"
	baseURL    = "https://kontor.example"

	cardDeclines = "4000000000000341"
	cardAsks     = "4000002760003184"
	cardEmpty    = "4000000000009995"
	cardExpired  = "4000000000000069"
)

var (
	operator = registrar.Actor{Kind: registrar.ActorOperator, Through: "test"}
	ada      = registrar.Actor{Kind: registrar.ActorPerson, Customer: customerID, Through: "ses_1"}
)

// env is the sandbox's registry and payment provider with the services on one database.
type env struct {
	t        *testing.T
	db       *store.DB
	world    *registry.Registry
	provider *sandbox.Server
	stripe   *stripe.Client
	seal     *registrar.Seal
	orders   *order.Service
	worker   *renewal.Worker
	registry *provision.Service
	accounts provision.Accounts
	rates    cost.Rates
	pages    int
	// stopProvisioning leaves paid items as they are.
	stopProvisioning func()

	mu sync.Mutex
	// listed changes the price list: a TLD to its renewal price, 0 if it is not sold.
	listed map[string]registrar.Cents
	// currency replaces that of the simulated registry's fees; empty leaves it.
	currency string
	// onQuote is called before each quote of a name.
	onQuote func(name string)
	stopped bool // the brake
}

// eachEngine runs a test with its own environment on SQLite and PostgreSQL.
func eachEngine(t *testing.T, test func(t *testing.T, s *env)) {
	t.Helper()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, newEnv(t, dbtest.SQLite(t)))
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, newEnv(t, dbtest.Postgres(t, 8)))
	})
}

func newEnv(t *testing.T, options store.Options) *env {
	t.Helper()
	s := &env{t: t, listed: map[string]registrar.Cents{}}
	list, err := catalog.Shipped()
	s.must(err)
	var zones []registry.Zone
	for _, ext := range list.All() {
		zones = append(zones, registry.Zone{TLD: ext.TLD, MinYears: ext.MinYears, MaxYears: ext.MaxYears})
	}
	s.world, err = registry.Start(registry.Options{Zones: zones})
	s.must(err)
	t.Cleanup(func() { _ = s.world.Close() })
	s.provider, err = sandbox.Start(sandbox.Options{Now: s.world.Now, Endpoint: "http://127.0.0.1:1/"})
	s.must(err)
	t.Cleanup(func() { _ = s.provider.Close() })
	s.stripe = stripe.New(stripe.Options{Key: s.provider.SecretKey(), URL: s.provider.API(), Methods: []string{"card"}})
	s.db, err = store.Open(t.Context(), options)
	s.must(err)
	t.Cleanup(func() { _ = s.db.Close() })
	s.addCustomer()
	s.seal, err = registrar.NewSeal([32]byte{1})
	s.must(err)
	s.startProvisioning()
	s.orders, s.worker = s.newNode("node1", list)
	s.inBackground(s.orders.Run)
	return s
}

func (s *env) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *env) inBackground(run func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(s.t.Context())
	var running sync.WaitGroup
	running.Go(func() { run(ctx) })
	stop = func() { cancel(); running.Wait() }
	s.t.Cleanup(stop)
	return stop
}

// connect returns a client of one of the simulated registry's accounts.
func (s *env) connect(account string) *epp.Client {
	s.t.Helper()
	login, _ := s.world.Account(account)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(s.world.EPPCA())
	client, err := epp.New(epp.Account{
		Address: s.world.EPP(), ClientID: login.ID, Password: login.Password, TLS: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
	})
	s.must(err)
	s.t.Cleanup(func() { client.Close(context.Background()) })
	return client
}

func (s *env) startProvisioning() {
	var err error
	s.accounts = provision.Accounts{{
		Name: "sandbox", Serves: func(string) bool { return true }, PollInterval: 100 * time.Millisecond, Account: simulatedAccount{epp.NewProvisioner(s.connect(registry.ProductAccount), nil), s},
	}}
	s.registry, err = provision.New(provision.Config{
		Store: s.db, Domains: s.db, Seal: s.seal, Node: "provisioning", Now: s.world.Now, Accounts: s.accounts,
	})
	s.must(err)
	s.stopProvisioning = s.inBackground(s.registry.Run)
}

// simulatedAccount is the account at the simulated registry, whose fees are in euros.
type simulatedAccount struct {
	provision.Account
	env *env
}

func (a simulatedAccount) CheckAvailability(ctx context.Context, query provision.AvailabilityQuery) (provision.PremiumFees, error) {
	fees, err := a.Account.CheckAvailability(ctx, query)
	a.env.mu.Lock()
	defer a.env.mu.Unlock()
	if !fees.Term.IsZero() && a.env.currency != "" {
		fees.Term.Currency, fees.Renewal.Currency = a.env.currency, a.env.currency
	}
	return fees, err
}

// newNode returns the services of one node.
func (s *env) newNode(node string, list *catalog.Catalog) (*order.Service, *renewal.Worker) {
	rates, err := billing.EmbeddedRates()
	s.must(err)
	extension := func(tld string) (registrar.Extension, bool) {
		ext, listed := list.Extension(tld)
		s.mu.Lock()
		defer s.mu.Unlock()
		if price, changed := s.listed[tld]; changed {
			ext.Renew = price
			listed = price > 0
		}
		return ext, listed
	}
	locks, err := admin.New(admin.Config{Store: s.db})
	s.must(err)
	market := order.Market{
		Extension: extension, Sales: order.Sales{Payments: true, Accounts: s.accounts}, Registry: s.registry, Locks: locks, Renewing: s.db.IsRenewing,
		Premium: &premium.Pricing{MarginPercent: 10, Rates: &s.rates, Now: s.world.Now},
	}
	orders, err := order.New(order.Config{
		Store: s.db, Taxes: billing.New(billing.Config{Rates: rates}), Provider: s.stripe, Seal: s.seal, Node: node, BaseURL: baseURL,
		Extension: extension, Now: s.world.Now, ItemsPaid: s.registry.ItemsPaid, RecheckInterval: time.Nanosecond, IsRenewalWording: renewal.IsCurrentWording, OpenNotices: s.db.ListOpenNotices,
		Quote: func(ctx context.Context, request provision.QuoteRequest) (order.Quote, error) {
			s.mu.Lock()
			hook := s.onQuote
			s.mu.Unlock()
			if hook != nil {
				hook(request.Name.ASCII())
			}
			return market.Quote(ctx, request)
		},
	})
	s.must(err)
	worker, err := renewal.NewWorker(renewal.WorkerConfig{Store: s.db, Orders: orders, Now: s.world.Now, Stopped: func(context.Context) (bool, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.stopped, nil
	}})
	s.must(err)
	return orders, worker
}

func (s *env) addCustomer() {
	s.must(s.db.UpdateCustomers(s.t.Context(), func(tx account.Tx) error {
		if _, err := tx.InsertAccount(s.t.Context(), account.Account{
			Customer: account.Customer{ID: customerID, Email: "ada@example.org", Language: "de", CreatedAt: time.Now(), ConfirmedAt: time.Now()},
			EmailKey: "ada@example.org", UserHandle: "ada",
		}); err != nil {
			return err
		}
		return tx.PutRegistrant(s.t.Context(), customerID, account.Registrant{
			Kind: account.Person, Name: "Ada Größe", Street: "Hauptstr. 1", PostalCode: "10115", City: "Berlin", Country: "DE",
			Phone: "+49.301234567", UpdatedAt: time.Now(),
		})
	}))
}

// saveCard pays a small amount at the provider's page, which saves the card.
func (s *env) saveCard() order.PaymentMethod {
	s.t.Helper()
	s.pages++
	opened, err := s.stripe.OpenPage(s.t.Context(), order.PaymentPage{
		ID: fmt.Sprintf("pay_saved_%d", s.pages), Order: "elsewhere", Items: []order.Item{{Name: "x", Gross: 100}}, Amount: 100, Email: "ada@example.org",
		SaveMethod: true, PaidURL: baseURL, BackURL: baseURL, EndsAt: s.world.Now().Add(time.Hour),
	})
	s.must(err)
	s.post(opened.URL, url.Values{"cardNumber": {"4242424242424242"}})
	status, err := s.stripe.FetchPage(s.t.Context(), opened.Session)
	s.must(err)
	if status.Method == nil {
		s.t.Fatalf("no card was saved: %+v", status)
	}
	_, err = s.stripe.Refund(s.t.Context(), order.RefundRequest{ID: fmt.Sprintf("ref_saved_%d", s.pages), Order: "elsewhere", Intent: status.Intent, Amount: 100}, false)
	s.must(err)
	s.must(s.db.PutPaymentMethod(s.t.Context(), customerID, *status.Method, s.world.Now()))
	return *status.Method
}

// behave makes the saved cards behave like a test number.
func (s *env) behave(number string) {
	s.t.Helper()
	s.must(s.provider.ChangeCards(sandbox.SavedCard{Behaves: number}))
}

func (s *env) post(address string, form url.Values) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, address, strings.NewReader(form.Encode()))
	s.must(err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	s.must(err)
	s.must(response.Body.Close())
}

// register registers domains for a year and gives the customer's consent to renew them
// automatically at their current price.
func (s *env) register(names ...string) {
	s.t.Helper()
	for _, name := range names {
		label, tld, _ := strings.Cut(name, ".")
		item, err := s.registry.CreateItem(s.t.Context(), operator, provision.PaidItem{
			Customer: customerID, Name: registrar.NewName(label, "."+tld), Kind: provision.Register, Payment: "manual:" + name,
		})
		s.must(err)
		testkit.Eventually(s.t, name+" registered", func() bool {
			now, err := s.registry.GetItem(s.t.Context(), operator, item.ID)
			return err == nil && now.State == provision.StateActive
		})
		s.consent(name)
	}
}

func (s *env) price(name string) registrar.Cents {
	s.t.Helper()
	_, tld, _ := strings.Cut(name, ".")
	term := order.RenewalTerm{TLD: "." + tld}
	if strings.HasPrefix(name, "premium-") {
		term.PremiumName = name
	}
	prices, err := s.orders.RenewalPrices(s.t.Context(), customerID, []order.RenewalTerm{term})
	s.must(err)
	return prices[term].Gross
}

func (s *env) exec(text string, values ...any) {
	s.t.Helper()
	s.must(s.db.SQL().Write(s.t.Context(), func(tx sqldb.DBTX) error {
		_, err := tx.ExecContext(s.t.Context(), text, values...)
		return err
	}))
}

// consent stores a consent as given now, as the consent page does.
func (s *env) consent(name string) {
	s.t.Helper()
	d := s.domain(name)
	now := s.world.Now().UnixMicro()
	s.exec("UPDATE domains SET at_term_end = 'renew' WHERE id = $1", d.ID)
	s.exec(`INSERT INTO renewal_consents (id, domain_id, customer_id, name, wording, years, gross, charge_at, method, through, address, given_at)
		VALUES ($1, $2, $3, $4, 'test', 1, $5, $6, 'Visa •••• 4242', 'ses_1', '', $7)`,
		registrar.NewID("con_", s.world.Now()), d.ID, customerID, name, int64(s.price(name)), d.PaidUntil.UnixMicro(), now)
}

// withdraw ends the consent, as the portal does.
func (s *env) withdraw(name string) {
	s.t.Helper()
	d := s.domain(name)
	s.exec("UPDATE domains SET at_term_end = '' WHERE id = $1", d.ID)
	s.exec("UPDATE renewal_consents SET ended_at = $1, end_reason = 'customer' WHERE domain_id = $2 AND ended_at = 0", s.world.Now().UnixMicro(), d.ID)
}

func (s *env) domain(name string) provision.Domain {
	s.t.Helper()
	d, found, err := s.db.DomainByName(s.t.Context(), name)
	s.must(err)
	if !found {
		s.t.Fatalf("no domain %s", name)
	}
	return d
}

// advanceTo moves the business time to so long before the end of a domain's term.
func (s *env) advanceTo(name string, before time.Duration) {
	s.t.Helper()
	s.must(s.world.Advance(s.domain(name).PaidUntil.Add(-before).Sub(s.world.Now())))
}

func (s *env) announce() {
	s.t.Helper()
	s.must(s.worker.Announce(s.t.Context(), customerID))
}

func (s *env) charge() {
	s.t.Helper()
	s.must(s.worker.Charge(s.t.Context(), customerID))
}

// announced registers, saves a card, announces the charges and moves to the day of the charge.
func (s *env) announced(names ...string) {
	s.t.Helper()
	s.saveCard()
	s.register(names...)
	s.advanceTo(names[0], 44*day)
	s.announce()
	s.advanceTo(names[0], 14*day-time.Hour)
}

// renewals returns the renewals of a domain, by term.
func (s *env) renewals(name string) (all []renewal.Renewal) {
	s.t.Helper()
	for row, err := range s.db.ReconciliationRenewals(s.t.Context()) {
		s.must(err)
		if row.Name == name {
			all = append(all, row)
		}
	}
	return all
}

// renewal returns the only renewal of a domain.
func (s *env) renewal(name string) renewal.Renewal {
	s.t.Helper()
	all := s.renewals(name)
	if len(all) != 1 {
		s.t.Fatalf("%s has the renewals %+v, want one", name, all)
	}
	return all[0]
}

func (s *env) wantState(name string, want renewal.State, failure registrar.Code) renewal.Renewal {
	s.t.Helper()
	row := s.renewal(name)
	if row.State != want || row.Failure != failure {
		s.t.Fatalf("the renewal of %s is %s %q, want %s %q", name, row.State, row.Failure, want, failure)
	}
	return row
}

// waitRenewed waits until the registry has renewed a domain and its order has ended.
func (s *env) waitRenewed(name string) renewal.Renewal {
	s.t.Helper()
	testkit.Eventually(s.t, name+" renewed", func() bool { return s.renewal(name).State == renewal.Renewed })
	row := s.renewal(name)
	testkit.Eventually(s.t, "order ended", func() bool { return s.order(row.Order).State.Final() })
	return row
}

func (s *env) order(id string) order.Order {
	s.t.Helper()
	o, found, err := s.db.OrderByID(s.t.Context(), id)
	s.must(err)
	if !found {
		s.t.Fatalf("no order %q", id)
	}
	return o
}

// automaticOrders returns all orders of automatic renewals, oldest first.
func (s *env) automaticOrders() (all []order.Order) {
	s.t.Helper()
	for o, err := range s.db.ReconciliationOrders(s.t.Context()) {
		s.must(err)
		if o.Channel == order.ChannelRenewal {
			all = append(all, o)
		}
	}
	return all
}

// charged returns the sum that the provider has taken and not refunded.
func (s *env) charged() (sum registrar.Cents) {
	for _, c := range s.provider.Records().Charges {
		if c.Status == "succeeded" {
			sum += registrar.Cents(c.Amount - c.Refunded)
		}
	}
	return sum
}

// mails returns the queued mails of a kind.
func (s *env) mails(kind registrar.MailKind) (all []map[string]string) {
	s.t.Helper()
	later := time.Now().AddDate(10, 0, 0)
	queued, err := s.db.ClaimDueMails(s.t.Context(), later, later, 1000) // no mailer runs
	s.must(err)
	for _, mail := range queued {
		if mail.Kind == kind {
			all = append(all, mail.Data)
		}
	}
	return all
}

func (s *env) wantMails(kind registrar.MailKind, want int) []map[string]string {
	s.t.Helper()
	got := s.mails(kind)
	if len(got) != want {
		text, _ := json.Marshal(got)
		s.t.Fatalf("%d mails %s, want %d: %s", len(got), kind, want, text)
	}
	return got
}

// manualOrder orders a renewal as the customer in the portal.
func (s *env) manualOrder(name string) (order.Order, error) {
	label, tld, _ := strings.Cut(name, ".")
	return s.orders.Create(s.t.Context(), ada, order.Request{Channel: order.ChannelPortal, Items: []order.RequestedItem{
		{Name: registrar.NewName(label, "."+tld), Kind: order.Renew},
	}})
}

// startPaying opens the payment page of an order.
func (s *env) startPaying(o order.Order) (page string, err error) {
	s.t.Helper()
	address, err := s.orders.PayURL(o)
	s.must(err)
	return s.orders.Pay(s.t.Context(), ada, strings.TrimPrefix(address, baseURL+"/checkout/"), order.Confirmation{
		Gross: o.Totals.Gross, Items: o.ItemsDigest(), Consent: order.ConsentWording("de"),
	})
}

// finishPaying pays the page and returns.
func (s *env) finishPaying(o order.Order, page string) {
	s.t.Helper()
	s.post(page, url.Values{"cardNumber": {"4242424242424242"}})
	address, err := s.orders.PayURL(o)
	s.must(err)
	s.must(s.orders.HandleReturn(s.t.Context(), ada, strings.TrimPrefix(address, baseURL+"/checkout/")))
}

// reconcile checks that orders, payments, renewals and domains agree.
func (s *env) reconcile() {
	s.t.Helper()
	report, err := reconcile.Run(s.t.Context(), s.db, s.stripe, reconcile.Options{Now: s.world.Now()})
	s.must(err)
	for _, finding := range report.Findings {
		s.t.Error(finding)
	}
	if slices.ContainsFunc(s.provider.Records().Charges, func(c sandbox.Charge) bool { return c.Refunded > c.Amount }) {
		s.t.Error("more was refunded than charged")
	}
}

func sqliteOptions(t *testing.T) store.Options {
	t.Helper()
	return dbtest.SQLite(t)
}

// refusedWith reports whether an order was refused because of an item.
func refusedWith(err error, code registrar.Code) bool {
	var refused *order.ItemsRefused
	return errors.As(err, &refused) && slices.ContainsFunc(refused.Items, func(i order.RefusedItem) bool { return registrar.CodeOf(i.Reason) == code })
}
