package order_test

import (
	"context"
	"errors"
	"iter"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

// page is a payment page at the fake provider.
type page struct {
	order.PaymentPage
	session string
	status  order.PaymentStatus
}

// fakeProvider is a payment provider that honours idempotency keys.
type fakeProvider struct {
	mu              sync.Mutex
	pages           map[string]*page
	refunds         map[string]order.RefundRequest
	refundCalls     map[string]int
	verifications   map[string]*order.Verification
	verificationIDs map[string]string
	down            error // fails every call
	crashing        bool  // executes every call, but fails to respond
	now             func() time.Time
	// duringRefund runs while a refund is made.
	duringRefund func()
	// failing makes the first call with an id fail; some providers replay that failure
	// for ever.
	failing    bool
	remembered map[string]bool
	// refuse returns the provider's refusal of a refund; nil refuses none.
	refuse func(order.RefundRequest) error
	// foreign are refunds made at the provider, returned those whose money came back.
	foreign  []order.ProviderRefund
	returned map[string]bool
	// returnURLs are the return URLs of verifications by id; looks counts fetches that
	// found them open.
	returnURLs    map[string]string
	failedFetches int
	// pageFetches and verificationFetches count calls; hold, if set, delays the
	// response.
	pageFetches, chargeFetches, verificationFetches int
	latency                                         time.Duration
	// tokens has the outcome of used tokens; before is called when a charge has arrived
	// and is undecided, confirmed after it is decided.
	tokens                    map[string]string
	beforeCharge, afterCharge func()
	prepared                  int
}

var errDown = &registrar.Error{Kind: registrar.KindUpstream, Code: registrar.FaultTimeout}

// failsForever reports whether the call with this id has failed for ever.
func (p *fakeProvider) failsForever(id string) bool {
	if p.failing {
		p.remembered[id] = true
	}
	return p.remembered[id]
}

func (p *fakeProvider) crashError() error {
	if p.crashing {
		return errDown
	}
	return nil
}

func (p *fakeProvider) OpenPage(_ context.Context, wanted order.PaymentPage) (order.OpenedPage, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down != nil {
		return order.OpenedPage{}, p.down
	}
	if p.failsForever(wanted.ID) {
		return order.OpenedPage{}, errDown
	}
	made, found := p.pages[wanted.ID]
	if !found {
		made = &page{PaymentPage: wanted, session: "cs_" + wanted.ID}
		made.status = order.PaymentStatus{Payment: wanted.ID, Order: wanted.Order, Currency: "eur", Amount: wanted.Amount}
		p.pages[wanted.ID] = made
	}
	return order.OpenedPage{Session: made.session, URL: "https://pay.example/" + made.session, EndsAt: made.EndsAt}, p.crashError()
}

func (p *fakeProvider) pageBySession(session string) *page {
	return p.pages[strings.TrimPrefix(strings.TrimPrefix(session, "cs_"), "pi_")]
}

func (p *fakeProvider) FetchPage(_ context.Context, session string) (order.PaymentStatus, error) {
	time.Sleep(p.latency)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pageFetches++
	if p.down != nil {
		return order.PaymentStatus{}, p.down
	}
	made := p.pageBySession(session)
	if !made.status.Paid && !p.now().Before(made.EndsAt) {
		made.status.Ended = true
	}
	return made.status, p.crashError()
}

func (p *fakeProvider) ClosePage(_ context.Context, session string) (order.PaymentStatus, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down != nil {
		return order.PaymentStatus{}, p.down
	}
	made := p.pageBySession(session)
	if !made.status.Paid {
		made.status.Ended = true
	}
	return made.status, p.crashError()
}

func (p *fakeProvider) Refund(_ context.Context, refund order.RefundRequest, asked bool) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down != nil {
		return "", p.down
	}
	p.refundCalls[refund.ID]++
	if p.refuse != nil {
		if err := p.refuse(refund); err != nil {
			return "", err
		}
	}
	if p.duringRefund != nil {
		p.duringRefund()
	}
	if earlier, found := p.refunds[refund.ID]; found {
		if !asked || earlier != refund {
			return "", errors.New("a second refund")
		}
		return "re_" + refund.ID, p.crashError()
	}
	p.refunds[refund.ID] = refund
	return "re_" + refund.ID, p.crashError()
}

// listed returns the refunds of an intent, or of all, as the provider lists them.
func (p *fakeProvider) listed(intent string) (all []order.ProviderRefund) {
	for id, r := range p.refunds {
		if intent == "" || r.Intent == intent {
			all = append(all, order.ProviderRefund{ID: "re_" + id, Intent: r.Intent, Refund: id, Amount: r.Amount, Failed: p.returned["re_"+id]})
		}
	}
	for _, r := range p.foreign {
		if intent == "" || r.Intent == intent {
			r.Failed = p.returned[r.ID]
			all = append(all, r)
		}
	}
	return all
}

func (p *fakeProvider) ListRefunds(_ context.Context, intent string) ([]order.ProviderRefund, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.listed(intent), p.down
}

func (p *fakeProvider) RefundsSince(context.Context, time.Time) iter.Seq2[order.ProviderRefund, error] {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.listed("")
	return func(yield func(order.ProviderRefund, error) bool) {
		for _, one := range all {
			if !yield(one, nil) {
				return
			}
		}
	}
}

func (p *fakeProvider) OpenVerification(_ context.Context, id, _, _, _, back string) (string, string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down != nil {
		return "", "", p.down
	}
	if p.failsForever(id) {
		return "", "", errDown
	}
	if _, found := p.verificationIDs[id]; found && p.returnURLs[id] != back {
		return "", "", &registrar.Error{Kind: registrar.KindConflict, Code: "id_used_otherwise"}
	} else if !found {
		p.returnURLs[id] = back
		p.verificationIDs[id] = "vs_" + strconv.Itoa(len(p.verificationIDs))
		p.verifications[p.verificationIDs[id]] = &order.Verification{URL: "https://who.example/" + p.verificationIDs[id]}
	}
	session := p.verificationIDs[id]
	return session, p.verifications[session].URL, p.crashError()
}

func (p *fakeProvider) FetchVerification(_ context.Context, session string) (order.Verification, error) {
	time.Sleep(p.latency)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.verificationFetches++
	if p.down != nil {
		p.failedFetches++
		return order.Verification{}, p.down
	}
	if p.verifications[session] == nil {
		return order.Verification{}, &registrar.Error{Kind: registrar.KindNotFound, Code: "provider_knows_nothing"}
	}
	return *p.verifications[session], nil
}

// pay pays the page; false if it is closed.
func (p *fakeProvider) pay(url string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	made := p.pageBySession(strings.TrimPrefix(url, "https://pay.example/"))
	if made.status.Ended || !p.now().Before(made.EndsAt) {
		return false
	}
	made.status.Paid, made.status.Ended = true, true
	made.status.Intent, made.status.Card = "pi_"+made.session, "card"
	if made.SaveMethod {
		made.status.Method = &order.PaymentMethod{ProviderCustomer: "cus_1", ID: "pm_1", Label: "Visa •••• 4242"}
	}
	return true
}

// forcePay pays a closed page, as a late bank may.
func (p *fakeProvider) forcePay(session string, change func(*order.PaymentStatus)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	made := p.pageBySession(session)
	made.status.Paid, made.status.Intent = true, "pi_"+made.session
	if change != nil {
		change(&made.status)
	}
}

func (p *fakeProvider) set(change func(*fakeProvider)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(p)
}

const (
	anna = "cus_anna"
	bert = "cus_bert"
)

var (
	annaInPerson = registrar.Actor{Kind: registrar.ActorPerson, Customer: anna, Through: "ses_1"}
	annasAgent   = registrar.Actor{Kind: registrar.ActorToken, Customer: anna, Through: "tok_1"}
	bertInPerson = registrar.Actor{Kind: registrar.ActorPerson, Customer: bert, Through: "ses_2"}
	anonymous    = registrar.Actor{Kind: registrar.ActorPerson}
)

// testEnv is a service with its fakes.
type testEnv struct {
	openNotices func(ctx context.Context, customer string, domains []string) (map[string][]withdrawal.Kind, error)

	t         *testing.T
	store     *memStore
	provider  *fakeProvider
	market    *fakeMarket
	service   *order.Service
	allowMail func(address string) bool // nil: always allowed
	// extension is the price list; nil means no rules.
	extension func(tld string) (registrar.Extension, bool)
	offset    time.Duration // of the business clock
	draining  chan struct{} // nil: the node never drains
	mu        sync.Mutex
	budget    *fakeBudget // nil: no limit
	// recheckInterval is Config.RecheckInterval.
	recheckInterval time.Duration
	holders         fakeHolders // of anna
}

func newEnv(t *testing.T) *testEnv {
	t.Helper()
	env := &testEnv{
		t: t, recheckInterval: time.Nanosecond,
		store: &memStore{
			orders: map[string]order.Order{}, identities: map[string]order.Identity{}, held: map[string]bool{}, methods: map[string]order.PaymentMethod{},
			buyers: map[string]order.Buyer{
				anna: {Customer: anna, Email: "anna@mueller.example", Language: "de", HasRegistrant: true, Name: "Anna Müller", Country: "DE"},
				bert: {Customer: bert, Email: "bert@example.org", Language: "en"},
			},
		},
		market: &fakeMarket{net: 1000, code: "right", refuse: map[string]error{}, missing: map[string][]string{}, verify: map[string]bool{}},
	}
	env.provider = &fakeProvider{
		pages: map[string]*page{}, refunds: map[string]order.RefundRequest{}, refundCalls: map[string]int{},
		verifications: map[string]*order.Verification{}, verificationIDs: map[string]string{}, now: env.now,
		remembered: map[string]bool{}, returnURLs: map[string]string{}, tokens: map[string]string{},
	}
	env.service = env.startNode("node")
	return env
}

// startNode starts a node, which first releases the node's leases.
func (env *testEnv) startNode(node string) *order.Service {
	env.t.Helper()
	env.store.releaseLeases(node, time.Now())
	seal, err := registrar.NewSeal([32]byte{7})
	if err != nil {
		env.t.Fatal(err)
	}
	rates, err := billing.EmbeddedRates()
	if err != nil {
		env.t.Fatal(err)
	}
	held := portfolio.New(fakePortfolio{names: []string{"meinladen.de"}}, time.Now)
	service, err := order.New(order.Config{
		Store: env.store, Quote: env.market.Quote, Taxes: billing.New(billing.Config{Rates: rates, Validator: fakeVATIDs{}}), Provider: env.provider,
		Portfolio: held, Seal: seal, Node: node, BaseURL: "https://kontor.example", Now: env.now, Extension: env.extensionOf, IsRenewalWording: func(wording string) bool { return wording == renewalWording }, Draining: env.draining,
		Holder: env.holders.registrant, SpendBudget: env.budget.spend, RecheckInterval: env.recheckInterval,
		LocksTransfers: func(tld string) bool { return tld == ".de" },
		TransferDays:   func(string) int { return 5 },
		OpenNotices: func(ctx context.Context, customer string, domains []string) (map[string][]withdrawal.Kind, error) {
			if env.openNotices == nil {
				return nil, nil
			}
			return env.openNotices(ctx, customer, domains)
		},
		NextCharge: func(_ context.Context, customer, _ string, until time.Time) (time.Time, bool, error) {
			if customer != anna {
				return time.Time{}, false, nil
			}
			return until.AddDate(0, 0, -14), time.Until(until) < 32*24*time.Hour, nil // every domain of hers renews automatically
		},
		LiftedExpiry: func(_ context.Context, customer, name string) (bool, error) {
			return customer == anna && name == "laden.de", nil
		},
		AllowMail: func(address string) bool { return env.allowMail == nil || env.allowMail(address) },
	})
	if err != nil {
		env.t.Fatal(err)
	}
	return service
}

func (env *testEnv) now() time.Time {
	env.mu.Lock()
	defer env.mu.Unlock()
	return time.Now().Add(env.offset)
}

func (env *testEnv) advance(by time.Duration) {
	env.mu.Lock()
	defer env.mu.Unlock()
	env.offset += by
}

func newRequest(kind order.Kind, labels ...string) order.Request {
	req := order.Request{Channel: order.ChannelMCP, ByName: "My agent"}
	for _, label := range labels {
		req.Items = append(req.Items, order.RequestedItem{Name: registrar.NewName(label, ".de"), Kind: kind})
	}
	return req
}

// createOrder creates an order through Anna's agent and returns its link secret, too.
func (env *testEnv) createOrder(req order.Request) (order.Order, string) {
	env.t.Helper()
	o, err := env.service.Create(env.t.Context(), annasAgent, req)
	if err != nil {
		env.t.Fatal(err)
	}
	return o, env.secret(o)
}

func (env *testEnv) secret(o order.Order) string {
	env.t.Helper()
	address, err := env.service.PayURL(o)
	if err != nil {
		env.t.Fatal(err)
	}
	return strings.TrimPrefix(address, "https://kontor.example/checkout/")
}

// createPaidOrder creates an order that Anna has paid.
func (env *testEnv) createPaidOrder(req order.Request) (order.Order, string) {
	env.t.Helper()
	o, secret := env.createOrder(req)
	url := env.pay(secret, o.Totals.Gross)
	env.provider.pay(url)
	if err := env.service.HandleReturn(env.t.Context(), annaInPerson, secret); err != nil {
		env.t.Fatal(err)
	}
	return env.get(o.ID), secret
}

func (env *testEnv) pay(secret string, shown registrar.Cents) string {
	env.t.Helper()
	url, err := env.service.Pay(env.t.Context(), annaInPerson, secret, consentTo(shown))
	if err != nil {
		env.t.Fatal(err)
	}
	return url
}

func (env *testEnv) get(id string) order.Order {
	env.t.Helper()
	o, found, err := env.store.OrderByID(env.t.Context(), id)
	if err != nil || !found {
		env.t.Fatalf("order %s: %v %v", id, found, err)
	}
	return o
}

func (env *testEnv) wantState(id string, want order.State) order.Order {
	env.t.Helper()
	o := env.get(id)
	if o.State != want {
		env.t.Fatalf("the order is %s, want %s", o.State, want)
	}
	return o
}

func code(err error) registrar.Code { return registrar.CodeOf(err) }

// checkInvariants checks what must always hold.
func (env *testEnv) checkInvariants() {
	env.t.Helper()
	env.provider.mu.Lock()
	defer env.provider.mu.Unlock()
	env.store.mu.Lock()
	defer env.store.mu.Unlock()
	for _, problem := range env.store.problems {
		env.t.Error(problem)
	}
	back := map[string]registrar.Cents{}
	for _, refund := range env.provider.refunds {
		back[refund.Intent] += refund.Amount
	}
	kept := map[string]string{}
	for _, o := range env.store.orders {
		var sum order.Totals
		for _, item := range o.Items {
			sum.Net, sum.VAT, sum.Gross = sum.Net+item.Net, sum.VAT+item.VAT, sum.Gross+item.Gross
		}
		if sum.Net != o.Totals.Net || sum.VAT != o.Totals.VAT || sum.Gross != o.Totals.Gross {
			env.t.Errorf("order %s: the items add up to %v, the totals are %v", o.ID, sum, o.Totals)
		}
		count := 0
		for _, payment := range o.Payments {
			if payment.State == order.PaymentCaptured {
				count++
				kept[payment.Intent] = o.ID
				if charged := env.provider.pageBySession(payment.Session).status; !charged.Paid || charged.Amount != o.Totals.Gross {
					env.t.Errorf("order %s captured %v, want %v", o.ID, charged.Amount, o.Totals.Gross)
				}
			}
		}
		paid := o.State == order.Provisioning || o.State == order.Completed || o.State == order.PartiallyCompleted || o.State == order.Failed
		if want := map[bool]int{true: 1}[paid && o.Totals.Gross > 0]; count != want {
			env.t.Errorf("order %s is %s and has %d captured payments", o.ID, o.State, count)
		}
	}
	for _, made := range env.provider.pages {
		if !made.status.Paid {
			continue
		}
		if kept[made.status.Intent] == "" && back[made.status.Intent] != made.status.Amount {
			env.t.Errorf("charge of %v for %s has no order, refunded %v", made.status.Amount, made.Order, back[made.status.Intent])
		}
	}
}
