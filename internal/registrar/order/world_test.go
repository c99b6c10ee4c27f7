package order_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// page is a page to pay at, as the provider keeps it.
type page struct {
	order.Page
	session  string
	standing order.Standing
}

// provider is a payment provider with a memory: what has the same id is the same.
type provider struct {
	mu       sync.Mutex
	pages    map[string]*page
	refunds  map[string]order.RefundCall
	asked    map[string]int
	checks   map[string]*order.Verification
	keys     map[string]string
	down     error // answers nothing
	crashing bool  // does everything, and answers nothing
	now      func() time.Time
	// meanwhile is what happens elsewhere while a refund is made.
	meanwhile func()
	// failing says that the first call with an id fails, which is remembered under
	// that id for ever, as some providers do.
	failing    bool
	remembered map[string]bool
	// refuse is the provider's word about a refund; nil means that none is refused.
	refuse func(order.RefundCall) error
	// backs are where verifications were to lead back to, by id; looks how often one
	// was looked at in vain.
	backs map[string]string
	looks int
	// pageLooks and checkLooks count questions about pages and verifications; hold, if
	// set, is how long an answer takes.
	pageLooks, checkLooks int
	hold                  time.Duration
	// tokens are what became of those that were used, by token; before is called
	// when a charge has arrived and nothing was decided, confirmed after it was.
	tokens            map[string]string
	before, confirmed func()
	prepared          int
}

var errDown = &registrar.Error{Kind: registrar.KindUpstream, Code: registrar.FaultTimeout}

// failed says that a call with this id has failed for ever.
func (p *provider) failed(id string) bool {
	if p.failing {
		p.remembered[id] = true
	}
	return p.remembered[id]
}

func (p *provider) answer() error {
	if p.crashing {
		return errDown
	}
	return nil
}

func (p *provider) OpenPage(_ context.Context, wanted order.Page) (order.Opened, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down != nil {
		return order.Opened{}, p.down
	}
	if p.failed(wanted.ID) {
		return order.Opened{}, errDown
	}
	made, found := p.pages[wanted.ID]
	if !found {
		made = &page{Page: wanted, session: "cs_" + wanted.ID}
		made.standing = order.Standing{Payment: wanted.ID, Order: wanted.Order, Currency: "eur", Amount: wanted.Amount}
		p.pages[wanted.ID] = made
	}
	return order.Opened{Session: made.session, URL: "https://pay.example/" + made.session, EndsAt: made.EndsAt}, p.answer()
}

func (p *provider) at(session string) *page {
	return p.pages[strings.TrimPrefix(strings.TrimPrefix(session, "cs_"), "pi_")]
}

func (p *provider) Look(_ context.Context, session string) (order.Standing, error) {
	time.Sleep(p.hold)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pageLooks++
	if p.down != nil {
		return order.Standing{}, p.down
	}
	made := p.at(session)
	if !made.standing.Paid && !p.now().Before(made.EndsAt) {
		made.standing.Ended = true
	}
	return made.standing, p.answer()
}

func (p *provider) ClosePage(_ context.Context, session string) (order.Standing, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down != nil {
		return order.Standing{}, p.down
	}
	made := p.at(session)
	if !made.standing.Paid {
		made.standing.Ended = true
	}
	return made.standing, p.answer()
}

func (p *provider) Refund(_ context.Context, refund order.RefundCall, asked bool) (string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down != nil {
		return "", p.down
	}
	p.asked[refund.ID]++
	if p.refuse != nil {
		if err := p.refuse(refund); err != nil {
			return "", err
		}
	}
	if p.meanwhile != nil {
		p.meanwhile()
	}
	if earlier, found := p.refunds[refund.ID]; found {
		if !asked || earlier != refund {
			return "", errors.New("a second refund")
		}
		return "re_" + refund.ID, p.answer()
	}
	p.refunds[refund.ID] = refund
	return "re_" + refund.ID, p.answer()
}

func (p *provider) OpenVerification(_ context.Context, id, _, _, _, back string) (string, string, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down != nil {
		return "", "", p.down
	}
	if p.failed(id) {
		return "", "", errDown
	}
	if _, found := p.keys[id]; found && p.backs[id] != back {
		return "", "", &registrar.Error{Kind: registrar.KindConflict, Code: "id_used_otherwise"}
	} else if !found {
		p.backs[id] = back
		p.keys[id] = "vs_" + strconv.Itoa(len(p.keys))
		p.checks[p.keys[id]] = &order.Verification{URL: "https://who.example/" + p.keys[id]}
	}
	session := p.keys[id]
	return session, p.checks[session].URL, p.answer()
}

func (p *provider) LookVerification(_ context.Context, session string) (order.Verification, error) {
	time.Sleep(p.hold)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.checkLooks++
	if p.down != nil {
		p.looks++
		return order.Verification{}, p.down
	}
	if p.checks[session] == nil {
		return order.Verification{}, &registrar.Error{Kind: registrar.KindNotFound, Code: "provider_knows_nothing"}
	}
	return *p.checks[session], nil
}

// pay is the human at the page; false if it is closed.
func (p *provider) pay(url string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	made := p.at(strings.TrimPrefix(url, "https://pay.example/"))
	if made.standing.Ended || !p.now().Before(made.EndsAt) {
		return false
	}
	made.standing.Paid, made.standing.Ended = true, true
	made.standing.Intent, made.standing.Card = "pi_"+made.session, "card"
	if made.Keep {
		made.standing.Method = &order.Method{Holder: "cus_1", ID: "pm_1", Label: "Visa •••• 4242"}
	}
	return true
}

// forcePay pays a page that is closed, as a bank may that is late.
func (p *provider) forcePay(session string, change func(*order.Standing)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	made := p.at(session)
	made.standing.Paid, made.standing.Intent = true, "pi_"+made.session
	if change != nil {
		change(&made.standing)
	}
}

func (p *provider) set(change func(*provider)) {
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
	nobody       = registrar.Actor{Kind: registrar.ActorPerson}
)

// world is a service with everything around it.
type world struct {
	t        *testing.T
	store    *memory
	provider *provider
	market   *market
	service  *order.Service
	mayWrite func(address string) bool // nil: to everybody
	// extension is the price list; nil means that it demands nothing.
	extension func(tld string) (registrar.Extension, bool)
	offset    time.Duration // of the business clock
	closing   chan struct{} // nil: the node never drains
	mu        sync.Mutex
	budget    order.Budget // nil: no bound
	// lookAgain is how long pages do not ask the provider again.
	lookAgain time.Duration
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, lookAgain: time.Nanosecond,
		store: &memory{
			orders: map[string]order.Order{}, identities: map[string]order.Identity{}, held: map[string]bool{}, methods: map[string]order.Method{},
			buyers: map[string]order.Buyer{
				anna: {Customer: anna, Email: "anna@mueller.example", Language: "de", Told: true, Name: "Anna Müller", Country: "DE"},
				bert: {Customer: bert, Email: "bert@example.org", Language: "en"},
			},
		},
		market: &market{net: 1000, code: "right", refuse: map[string]error{}, missing: map[string][]string{}, verify: map[string]bool{}},
	}
	w.provider = &provider{
		pages: map[string]*page{}, refunds: map[string]order.RefundCall{}, asked: map[string]int{},
		checks: map[string]*order.Verification{}, keys: map[string]string{}, now: w.now,
		remembered: map[string]bool{}, backs: map[string]string{}, tokens: map[string]string{},
	}
	w.service = w.start("node")
	return w
}

// start is a process of a node, which begins by releasing the node's leases.
func (w *world) start(node string) *order.Service {
	w.t.Helper()
	w.store.freeOrders(node, time.Now())
	seal, err := registrar.NewSeal([32]byte{7})
	if err != nil {
		w.t.Fatal(err)
	}
	service, err := order.New(order.Config{
		Store: w.store, Market: w.market, Taxes: taxes{}, Payments: w.provider, Tokens: w.provider, Registrants: everybody{}, Identities: w.provider, Lines: lines{make(chan struct{}, 1)},
		Holdings: names{"meinladen.de"}, Seal: seal, Node: node, BaseURL: "https://kontor.example", Now: w.now, Extension: w.extension, Closing: w.closing,
		Budget: w.budget, LookAgain: w.lookAgain,
		MayWriteTo: func(address string) bool { return w.mayWrite == nil || w.mayWrite(address) },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return service
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.offset)
}

func (w *world) advance(by time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.offset += by
}

func wanted(kind order.Kind, labels ...string) order.Request {
	req := order.Request{Channel: order.ThroughMCP, ByName: "My agent"}
	for _, label := range labels {
		req.Items = append(req.Items, order.Wanted{Name: registrar.NewName(label, ".de"), Kind: kind})
	}
	return req
}

// made is an order of Anna's agent, and the secret of its link.
func (w *world) made(req order.Request) (order.Order, string) {
	w.t.Helper()
	o, err := w.service.Start(w.t.Context(), annasAgent, req)
	if err != nil {
		w.t.Fatal(err)
	}
	return o, w.secret(o)
}

func (w *world) secret(o order.Order) string {
	w.t.Helper()
	address, err := w.service.PayURL(o)
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.TrimPrefix(address, "https://kontor.example/checkout/")
}

// paid is one that Anna has paid.
func (w *world) paid(req order.Request) (order.Order, string) {
	w.t.Helper()
	o, secret := w.made(req)
	url := w.pay(secret, o.Totals.Gross)
	w.provider.pay(url)
	if err := w.service.Returned(w.t.Context(), annaInPerson, secret); err != nil {
		w.t.Fatal(err)
	}
	return w.get(o.ID), secret
}

func (w *world) pay(secret string, shown registrar.Cents) string {
	w.t.Helper()
	url, err := w.service.Pay(w.t.Context(), annaInPerson, secret, agreed(shown))
	if err != nil {
		w.t.Fatal(err)
	}
	return url
}

func (w *world) get(id string) order.Order {
	w.t.Helper()
	o, found, err := w.store.OrderByID(w.t.Context(), id)
	if err != nil || !found {
		w.t.Fatalf("order %s: %v %v", id, found, err)
	}
	return o
}

func (w *world) state(id string, want order.State) order.Order {
	w.t.Helper()
	o := w.get(id)
	if o.State != want {
		w.t.Fatalf("the order is %s, want %s", o.State, want)
	}
	return o
}

func code(err error) registrar.Code { return registrar.CodeOf(err) }

// books checks what must always hold.
func (w *world) books() {
	w.t.Helper()
	w.provider.mu.Lock()
	defer w.provider.mu.Unlock()
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	for _, problem := range w.store.problems {
		w.t.Error(problem)
	}
	back := map[string]registrar.Cents{}
	for _, refund := range w.provider.refunds {
		back[refund.Intent] += refund.Amount
	}
	kept := map[string]string{}
	for _, o := range w.store.orders {
		var sum order.Totals
		for _, item := range o.Items {
			sum.Net, sum.VAT, sum.Gross = sum.Net+item.Net, sum.VAT+item.VAT, sum.Gross+item.Gross
		}
		if sum.Net != o.Totals.Net || sum.VAT != o.Totals.VAT || sum.Gross != o.Totals.Gross {
			w.t.Errorf("order %s: the items add up to %v, the totals are %v", o.ID, sum, o.Totals)
		}
		count := 0
		for _, payment := range o.Payments {
			if payment.State == order.PaymentKept {
				count++
				kept[payment.Intent] = o.ID
				if charged := w.provider.at(payment.Session).standing; !charged.Paid || charged.Amount != o.Totals.Gross {
					w.t.Errorf("order %s keeps a charge of %v for %v", o.ID, charged.Amount, o.Totals.Gross)
				}
			}
		}
		paid := o.State == order.Provisioning || o.State == order.Completed || o.State == order.PartiallyCompleted || o.State == order.Failed
		if want := map[bool]int{true: 1}[paid && o.Totals.Gross > 0]; count != want {
			w.t.Errorf("order %s is %s and keeps %d payments", o.ID, o.State, count)
		}
	}
	for _, made := range w.provider.pages {
		if !made.standing.Paid {
			continue
		}
		if kept[made.standing.Intent] == "" && back[made.standing.Intent] != made.standing.Amount {
			w.t.Errorf("a charge of %v for %s has no order, and %v went back", made.standing.Amount, made.Order, back[made.standing.Intent])
		}
	}
}
