package checkout

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/registrar/holding"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

const (
	base   = "https://domains.example"
	secret = "dotkontor_pay_x"
	here   = "/checkout/" + secret
	proof  = "/checkout/verify/dotkontor_verify_x"

	claimSecret = "dotkontor_link_x"
)

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// desk is a service of orders that says what a test wants and remembers what it
// was asked. A field that is nil must not be asked.
type desk struct {
	view    order.View
	then    []order.View // what later visits find, one after the other
	verify  order.VerifyView
	orders  []order.Order
	err     error
	to      string
	calls   []string
	actor   registrar.Actor
	told    order.Confirmation
	item    string
	code    string
	pending error // of Visit
	pages   http.Handler
	codes   func(customer string) time.Duration
	asked   order.Request
	// holds are the domains of cus_1, by name.
	holds map[string]string
}

func (d *desk) Held(_ context.Context, actor registrar.Actor, name string) (holding.Domain, bool, error) {
	id, held := d.holds[name]
	return holding.Domain{ID: id, Name: name}, held && actor.Customer == "cus_1", nil
}

func (d *desk) did(call string, actor registrar.Actor) {
	d.calls = append(d.calls, call)
	d.actor = actor
}

func (d *desk) Visit(_ context.Context, actor registrar.Actor, link string) (order.View, error) {
	if link != secret {
		return order.View{}, &registrar.Error{Kind: registrar.KindNotFound, Code: order.NoSuchOrder}
	}
	d.actor = actor
	view := d.view
	if len(d.then) > 0 {
		d.view, d.then = d.then[0], d.then[1:]
	}
	return view, d.pending
}

func (d *desk) SetCode(_ context.Context, actor registrar.Actor, _, item, code string) error {
	d.did("code", actor)
	d.item, d.code = item, code
	return d.err
}

func (d *desk) Pay(_ context.Context, actor registrar.Actor, _ string, told order.Confirmation) (string, error) {
	d.did("pay", actor)
	d.told = told
	return d.to, d.err
}

func (d *desk) Returned(_ context.Context, actor registrar.Actor, _ string) error {
	d.did("returned", actor)
	return d.err
}

func (d *desk) Back(_ context.Context, actor registrar.Actor, _ string) error {
	d.did("back", actor)
	return d.err
}

func (d *desk) Decline(_ context.Context, actor registrar.Actor, _ string) error {
	d.did("decline", actor)
	return d.err
}

func (d *desk) VerifyVisit(_ context.Context, actor registrar.Actor, _ string) (order.VerifyView, error) {
	d.actor = actor
	return d.verify, d.pending
}

func (d *desk) Verify(_ context.Context, actor registrar.Actor, _ string) (string, error) {
	d.did("verify", actor)
	return d.to, d.err
}

func (d *desk) Claimable(_ context.Context, link string) (order.Order, error) {
	if link != claimSecret {
		return order.Order{}, &registrar.Error{Kind: registrar.KindNotFound, Code: order.NoSuchClaim}
	}
	return d.view.Order, nil
}

func (d *desk) Claim(ctx context.Context, actor registrar.Actor, link string) (order.Order, error) {
	d.did("claim", actor)
	return d.Claimable(ctx, link)
}

func (d *desk) AskClaim(_ context.Context, actor registrar.Actor, _ string) error {
	d.did("ask_claim", actor)
	return d.err
}

func (d *desk) Start(_ context.Context, actor registrar.Actor, request order.Request) (order.Order, error) {
	d.did("start", actor)
	d.asked = request
	return d.view.Order, d.err
}

func (d *desk) Get(_ context.Context, _ registrar.Actor, id string) (order.Order, error) {
	for _, o := range d.orders {
		if o.ID == id {
			return o, nil
		}
	}
	return order.Order{}, &registrar.Error{Kind: registrar.KindNotFound, Code: order.NoSuchOrder}
}

func (d *desk) List(_ context.Context, _ registrar.Actor, before string, limit int) ([]order.Order, error) {
	from := 0
	for i, o := range d.orders {
		if o.ID == before {
			from = i + 1
		}
	}
	return d.orders[from:min(len(d.orders), from+limit)], nil
}

func (d *desk) PayURL(order.Order) (string, error)    { return base + here, nil }
func (d *desk) VerifyURL(order.Order) (string, error) { return base + proof, nil }

// sessions knows two people.
type sessions struct{}

func (sessions) Visitor(_ context.Context, cookie string) (customer.Visitor, error) {
	who := map[string]customer.Customer{
		"erika":   {ID: "cus_1", Email: "erika@example.org", Language: page.German},
		"english": {ID: "cus_1", Email: "erika@example.org", Language: page.English},
		"max":     {ID: "cus_2", Email: "max@example.org", Language: page.German},
	}
	found, ok := who[cookie]
	if !ok {
		return customer.Visitor{}, &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	return customer.Visitor{Customer: found, Session: customer.Session{ID: "ses_1", AuthenticatedAt: noon}}, nil
}

// anOrder is one of a registration, a transfer and a renewal.
func anOrder(state order.State) order.Order {
	o := order.Order{
		ID: "ord_1", Customer: "cus_1", State: state, Channel: order.ThroughMCP, Claimed: true,
		By: registrar.Actor{Kind: registrar.ActorToken}, ByName: "Agent <b>auf</b> dem Laptop",
		Items: []order.Item{
			{ID: "itm_1", Name: "beispiel.de", TLD: ".de", Kind: order.Register, Years: 1, Net: 1000, VAT: 190, Gross: 1190, State: order.ItemWaiting},
			{ID: "itm_2", Name: "xn--mller-kva.com", TLD: ".com", Kind: order.Transfer, Years: 2, Net: 2000, VAT: 380, Gross: 2380, State: order.ItemWaiting},
			{ID: "itm_3", Name: "alt.shop", TLD: ".shop", Kind: order.Renew, Years: 0, State: order.ItemWaiting},
		},
		Totals:    order.Totals{Net: 3000, VAT: 570, Gross: 3570, RateBasisPoints: 1900, Rule: "domestic", Country: "DE"},
		CreatedAt: noon.Add(-time.Hour), UpdatedAt: noon, ExpiresAt: noon.Add(23 * time.Hour),
	}
	if state == order.Provisioning || state == order.Completed || state == order.PartiallyCompleted || state == order.Failed {
		o.PaidAt = noon
	}
	return o
}

func owner() order.Buyer {
	return order.Buyer{
		Customer: "cus_1", Email: "erika@example.org", Told: true, Name: "Erika Mustermann", Street: "Heidestraße 17",
		PostalCode: "51147", City: "Köln", Country: "DE",
	}
}

// theirs is an order as its customer sees it; foreign as everybody else does.
func theirs(state order.State) order.View {
	return order.View{Order: anOrder(state), Yours: true, Owner: owner(), Payable: state == order.AwaitingPayment}
}

func foreign(state order.State) order.View {
	return order.View{Order: anOrder(state), Owner: order.Buyer{Email: "e•••@example.org"}}
}

type answer struct {
	*httptest.ResponseRecorder
	t *testing.T
}

// visit lets somebody (empty: nobody who is signed in) ask for a path. With
// fields it is a POST.
func visit(t *testing.T, d *desk, who, path string, fields url.Values) answer {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, base+path, nil)
	if fields != nil {
		r = httptest.NewRequest(http.MethodPost, base+path, strings.NewReader(fields.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if who != "" {
		r.AddCookie(&http.Cookie{Name: "__Host-dotkontor", Value: who})
	}
	return send(t, d, r)
}

// send lets the pages answer a request.
func send(t *testing.T, d *desk, r *http.Request) answer {
	t.Helper()
	if d.pages == nil {
		d.pages = open(t, d)
	}
	w := httptest.NewRecorder()
	d.pages.ServeHTTP(w, r)
	return answer{w, t}
}

// open is the pages in front of a desk.
func open(t *testing.T, d *desk) http.Handler {
	t.Helper()
	frame, err := page.New(page.Config{
		BaseURL: base, Sessions: sessions{}, Address: func(*http.Request) netip.Addr { return netip.Addr{} },
		Now: func() time.Time { return noon }, Orders: true, Basket: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	h, err := New(Config{Frame: frame, Orders: d, Holdings: d, Codes: d.codes, Basket: &Basket{
		Extension: extension, RateBasisPoints: func(time.Time) int { return 1900 },
	}})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	for _, r := range h.Routes() {
		mux.HandleFunc(r.Method+" "+r.Path, r.Handler)
	}
	return mux
}

// extension is a price list of three rows.
func extension(tld string) (registrar.Extension, bool) {
	ext, listed := map[string]registrar.Extension{
		".de":  {TLD: ".de", Register: 690, Renew: 590, Transfer: 0, MinYears: 1},
		".com": {TLD: ".com", Register: 1290, Renew: 1290, Transfer: 1290, MinYears: 1},
		".it": {TLD: ".it", Register: 1000, Renew: 1000, Transfer: 1000, MinYears: 1, Sale: registrar.Sale{
			Decided: true, NoRegistration: "not_eligible", NoTransfer: "not_eligible",
		}},
		".uk": {TLD: ".uk", Register: 1000, Renew: 1000, MinYears: 1, Sale: registrar.Sale{Decided: true, NoTransfer: "transfer_not_offered"}},
		".ai": {TLD: ".ai", Register: 7000, Renew: 8000, Transfer: 14000, MinYears: 2},
	}[tld]
	return ext, listed
}

// text is what the page's main part says, with single spaces.
func (a answer) text() string {
	a.t.Helper()
	root, err := html.Parse(strings.NewReader(a.Body.String()))
	if err != nil {
		a.t.Fatal(err)
	}
	var out strings.Builder
	for node := range root.Descendants() {
		if node.Type == html.ElementNode && node.Data == "main" {
			for inner := range node.Descendants() {
				if inner.Type == html.TextNode {
					out.WriteString(inner.Data + " ")
				}
			}
		}
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// says checks which of these the page says.
func (a answer) says(status int, yes, no []string) {
	a.t.Helper()
	if a.Code != status {
		a.t.Fatalf("the answer was %d: %s", a.Code, a.Body.String())
	}
	said, all := a.text(), a.Body.String()
	for _, want := range yes {
		if !strings.Contains(said, want) && !strings.Contains(all, want) {
			a.t.Errorf("the page does not say %q: %s", want, said)
		}
	}
	for _, never := range no {
		if strings.Contains(all, never) || strings.Contains(said, never) {
			a.t.Errorf("the page says %q: %s", never, said)
		}
	}
}

// leads checks a redirect.
func (a answer) leads(to string) {
	a.t.Helper()
	if got := a.Header().Get("Location"); a.Code != http.StatusSeeOther || got != to {
		a.t.Errorf("the answer was %d to %q and not to %q: %s", a.Code, got, to, a.Body.String())
	}
}

func form(pairs ...string) url.Values {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return values
}
