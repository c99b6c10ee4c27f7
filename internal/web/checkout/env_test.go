package checkout

import (
	"cmp"
	"context"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/lifecycle"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

const (
	base       = "https://domains.example"
	secret     = "dotkontor_pay_x"
	payPage    = "/checkout/" + secret
	verifyPage = "/checkout/verify/dotkontor_verify_x"

	claimSecret = "dotkontor_link_x"
)

var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// fakeOrders returns what a test sets and records its calls. Methods of nil fields must
// not be called.
type fakeOrders struct {
	view           order.View
	nextViews      []order.View // views of later requests, in order
	verify         order.VerifyView
	orders         []order.Order
	err            error
	to             string
	calls          []string
	actor          registrar.Actor
	confirmation   order.Confirmation
	item           string
	code           string
	holders        map[string]string
	pending        error // returned by View
	pages          http.Handler
	invoices       *fakeInvoices
	codes          func(customer string) time.Duration
	asked          order.Request
	ended          map[string]lifecycle.EndedDomain
	restricted     map[string]portfolio.State
	disputes       map[string][]dispute.Dispute // by order
	disputeQueries int
	refused        []order.RefusedItem // by AddRenewals
	now            time.Time           // the business time; zero: noon
	declared       []withdrawal.Notice
	// holds are the domains of cus_1 by name.
	holds map[string]string
	// status, paidUntil and choice are those of every held domain.
	status    registrar.DomainStatus
	paidUntil time.Time
	choice    registrar.TermEndChoice
	// registrant was added; registrantErr is returned instead.
	registrant    account.Registrant
	registrantErr error
	noAddress     bool // the customer has no registrant data
	// verifyOver is the gross above which an identity is required; 0: never.
	verifyOver registrar.Cents
	// transfers is the list of every customer.
	transfers []order.ListedTransfer
}

func (d *fakeOrders) VATRate(context.Context, registrar.Actor) (billing.Assessment, error) {
	if d.noAddress {
		return billing.Assessment{RateBasisPoints: 1900, Rule: billing.RuleUnknownCountry}, nil
	}
	switch d.registrant.Country {
	case "CH":
		return billing.Assessment{Rule: billing.RuleOutsideEU}, nil
	case "AT":
		return billing.Assessment{Rule: billing.RuleReverseCharge, VATID: "ATU12345678"}, nil
	}
	return billing.Assessment{RateBasisPoints: 1900, Rule: billing.RuleDomestic}, nil
}

func (d *fakeOrders) VerifyOver() registrar.Cents { return 500_00 }

func (d *fakeOrders) ExpectedIdentityCheck(_ context.Context, _ registrar.Actor, gross registrar.Cents, verify bool) (order.IdentityCheck, error) {
	if verify {
		return order.IdentityCheck{Needed: true}, nil
	}
	return order.IdentityCheck{Needed: d.verifyOver > 0 && gross > d.verifyOver, Over: d.verifyOver}, nil
}

func (d *fakeOrders) Registrant(context.Context, registrar.Actor) (account.Registrant, bool, error) {
	return d.registrant, d.registrant.Name != "", nil
}

func (d *fakeOrders) AddRegistrant(_ context.Context, actor registrar.Actor, registrant account.Registrant) error {
	d.record("registrant", actor)
	d.registrant = registrant
	return d.registrantErr
}

func (d *fakeOrders) FindByName(_ context.Context, actor registrar.Actor, name string) (portfolio.Domain, bool, error) {
	id, held := d.holds[name]
	return portfolio.Domain{ID: id, Name: name, Status: d.status, PaidUntil: d.paidUntil, AtTermEnd: d.choice}, held && actor.Customer == "cus_1", nil
}

func (d *fakeOrders) record(call string, actor registrar.Actor) {
	d.calls = append(d.calls, call)
	d.actor = actor
}

func (d *fakeOrders) View(_ context.Context, actor registrar.Actor, link string) (order.View, error) {
	if link != secret {
		return order.View{}, &registrar.Error{Kind: registrar.KindNotFound, Code: order.NoSuchOrder}
	}
	d.actor = actor
	view := d.view
	if len(d.nextViews) > 0 {
		d.view, d.nextViews = d.nextViews[0], d.nextViews[1:]
	}
	return view, d.pending
}

func (d *fakeOrders) SetHolders(_ context.Context, actor registrar.Actor, _ string, holders map[string]string) error {
	d.record("holders", actor)
	d.holders = holders
	return d.err
}

func (d *fakeOrders) SetAuthCode(_ context.Context, actor registrar.Actor, _, item, code string) error {
	d.record("code", actor)
	d.item, d.code = item, code
	return d.err
}

func (d *fakeOrders) Pay(_ context.Context, actor registrar.Actor, _ string, confirmation order.Confirmation) (string, error) {
	d.record("pay", actor)
	d.confirmation = confirmation
	return d.to, d.err
}

func (d *fakeOrders) HandleReturn(_ context.Context, actor registrar.Actor, _ string) error {
	d.record("returned", actor)
	return d.err
}

func (d *fakeOrders) AbortPayment(_ context.Context, actor registrar.Actor, _ string) error {
	d.record("back", actor)
	return d.err
}

func (d *fakeOrders) RemoveItem(_ context.Context, actor registrar.Actor, _, item string) error {
	d.record("remove "+item, actor)
	return d.err
}

func (d *fakeOrders) Decline(_ context.Context, actor registrar.Actor, _ string) error {
	d.record("decline", actor)
	return d.err
}

func (d *fakeOrders) VerifyView(_ context.Context, actor registrar.Actor, _ string) (order.VerifyView, error) {
	d.actor = actor
	return d.verify, d.pending
}

func (d *fakeOrders) StartVerification(_ context.Context, actor registrar.Actor, _ string) (string, error) {
	d.record("verify", actor)
	return d.to, d.err
}

func (d *fakeOrders) ClaimableOrder(_ context.Context, link string) (order.Order, error) {
	if link != claimSecret {
		return order.Order{}, &registrar.Error{Kind: registrar.KindNotFound, Code: order.NoSuchClaim}
	}
	return d.view.Order, nil
}

func (d *fakeOrders) Claim(ctx context.Context, actor registrar.Actor, link string) (order.Order, error) {
	d.record("claim", actor)
	return d.ClaimableOrder(ctx, link)
}

func (d *fakeOrders) ResendClaimMail(_ context.Context, actor registrar.Actor, _ string) error {
	d.record("ask_claim", actor)
	return d.err
}

func (d *fakeOrders) Prepare(_ context.Context, _ registrar.Actor, request order.Request) (order.View, error) {
	d.asked = request
	return d.view, d.err
}

func (d *fakeOrders) TransferList(context.Context, registrar.Actor) ([]order.ListedTransfer, error) {
	return d.transfers, nil
}

func (d *fakeOrders) ReplaceTransfers(_ context.Context, _ registrar.Actor, remove []string, add []order.ListedTransfer) error {
	d.transfers = append(slices.DeleteFunc(d.transfers, func(line order.ListedTransfer) bool {
		return slices.Contains(remove, line.Name) || slices.ContainsFunc(add, func(other order.ListedTransfer) bool { return other.Name == line.Name })
	}), add...)
	return nil
}

func (d *fakeOrders) Create(_ context.Context, actor registrar.Actor, request order.Request) (order.Order, error) {
	d.record("start", actor)
	d.asked = request
	return d.view.Order, d.err
}

func (d *fakeOrders) AddRenewals(_ context.Context, actor registrar.Actor, requested []order.RequestedItem) (order.Order, []order.RefusedItem, error) {
	d.record("renew", actor)
	d.asked = order.Request{Items: requested}
	return d.view.Order, d.refused, d.err
}

func (d *fakeOrders) Get(_ context.Context, _ registrar.Actor, id string) (order.Order, error) {
	for _, o := range d.orders {
		if o.ID == id {
			return o, nil
		}
	}
	return order.Order{}, &registrar.Error{Kind: registrar.KindNotFound, Code: order.NoSuchOrder}
}

func (d *fakeOrders) List(_ context.Context, _ registrar.Actor, before string, limit int) ([]order.Order, error) {
	from := 0
	for i, o := range d.orders {
		if o.ID == before {
			from = i + 1
		}
	}
	return d.orders[from:min(len(d.orders), from+limit)], nil
}

func (d *fakeOrders) PayURL(order.Order) (string, error)    { return base + payPage, nil }
func (d *fakeOrders) VerifyURL(order.Order) (string, error) { return base + verifyPage, nil }

// sessions knows two customers.
type sessions struct{}

func (sessions) Visitor(_ context.Context, cookie string) (account.Visitor, error) {
	who := map[string]account.Customer{
		"erika":   {ID: "cus_1", Email: "erika@example.org", Language: ui.German},
		"english": {ID: "cus_1", Email: "erika@example.org", Language: ui.English},
		"max":     {ID: "cus_2", Email: "max@example.org", Language: ui.German},
	}
	found, ok := who[cookie]
	if !ok {
		return account.Visitor{}, &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	return account.Visitor{Customer: found, Session: account.Session{ID: "ses_1", AuthenticatedAt: noon}}, nil
}

// newOrder has a registration, a transfer and a renewal.
func newOrder(state order.State) order.Order {
	o := order.Order{
		ID: "ord_1", Customer: "cus_1", State: state, Channel: order.ChannelMCP, Claimed: true,
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
		Customer: "cus_1", Email: "erika@example.org", HasRegistrant: true, Name: "Erika Mustermann", Street: "Heidestraße 17",
		PostalCode: "51147", City: "Köln", Country: "DE",
	}
}

// ownView is an order as its customer sees it, foreignView as others do.
func ownView(state order.State) order.View {
	o := newOrder(state)
	view := order.View{Order: o, IsOwner: true, Owner: owner(), Payable: state == order.AwaitingPayment, Renewals: make(map[string]order.TermPrice)}
	for _, item := range o.Items {
		view.Renewals[item.ID] = order.TermPrice{Years: 1, Gross: 1428}
	}
	return view
}

func foreignView(state order.State) order.View {
	return order.View{Order: newOrder(state), Owner: order.Buyer{Email: "e•••@example.org"}}
}

type response struct {
	*httptest.ResponseRecorder
	t *testing.T
}

// visit requests a path as the given customer (empty: not signed in). With fields it is
// a POST.
func visit(t *testing.T, d *fakeOrders, who, path string, fields url.Values) response {
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

// send serves one request.
func send(t *testing.T, d *fakeOrders, r *http.Request) response {
	t.Helper()
	if d.pages == nil {
		d.pages = newPages(t, d)
	}
	w := httptest.NewRecorder()
	d.pages.ServeHTTP(w, r)
	return response{w, t}
}

// newPages returns the pages with a fake service.
func newPages(t *testing.T, d *fakeOrders) http.Handler {
	t.Helper()
	mux := http.NewServeMux()
	for _, r := range newTestHandler(t, d).Routes() {
		mux.HandleFunc(r.Method+" "+r.Path, r.Handler)
	}
	return mux
}

func newTestHandler(t *testing.T, d *fakeOrders) *Handler {
	t.Helper()
	var h *Handler
	frame, err := ui.New(ui.Config{
		CountBasket: func(req *ui.Request) int { return h.CountBasket(req) }, BaseURL: base, Sessions: sessions{}, Address: func(*http.Request) netip.Addr { return netip.Addr{} },
		Now: func() time.Time { return noon }, Orders: true, Legal: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if d.codes == nil {
		d.codes = func(string) time.Duration { return 0 }
	}
	if d.invoices == nil {
		d.invoices = newFakeInvoices(1)
	}
	h, err = New(Config{
		Frame: frame, Orders: d, Registrants: d, Invoices: d.invoices, InvoiceRenderer: d.invoices, FindDomain: d.FindByName, AuthCodeLimit: d.codes,
		Extension: extension, RateBasisPoints: func(time.Time) int { return 1900 }, LongestTerm: func(ext registrar.Extension) int { return max(ext.Term(), ext.MaxYears) }, LocksTransfers: func(tld string) bool { return tld == ".com" },
		EndedDomains: func(context.Context, string) (map[string]lifecycle.EndedDomain, error) { return d.ended, nil },
		Declared: func(_ context.Context, customer string, contracts ...withdrawal.Contract) ([]withdrawal.Notice, error) {
			return slices.DeleteFunc(slices.Clone(d.declared), func(n withdrawal.Notice) bool {
				return n.Customer != customer || len(withdrawal.NoticesAbout([]withdrawal.Notice{n}, contracts...)) == 0
			}), nil
		},
		HeldDomains: func(_ context.Context, actor registrar.Actor, names []string) (map[string]string, error) {
			if len(names) > portfolio.MaxHeldNames {
				t.Errorf("asked for %d names at once", len(names))
			}
			ids := make(map[string]string)
			for _, name := range names {
				if id := d.holds[name]; id != "" && actor.Customer == "cus_1" {
					ids[name] = id
				}
			}
			return ids, nil
		},
		Restricted: func(context.Context, registrar.Actor) (map[string]portfolio.State, error) { return d.restricted, nil },
		Disputes: func(_ context.Context, customer, first, last string) (all []dispute.Dispute, err error) {
			d.disputeQueries++
			for id, some := range d.disputes {
				for _, one := range some {
					if one.Order = id; customer == "cus_1" && first <= id && id <= last {
						all = append(all, one)
					}
				}
			}
			return all, nil
		},
		Now: func() time.Time { return cmp.Or(d.now, noon) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// extension is a price list of three rows.
func extension(tld string) (registrar.Extension, bool) {
	ext, listed := map[string]registrar.Extension{
		".de":  {TLD: ".de", Register: 690, Renew: 590, Transfer: 0, MinYears: 1},
		".com": {TLD: ".com", Register: 1290, Renew: 1290, Transfer: 1290, Restore: 4990, MinYears: 1},
		".it": {TLD: ".it", Register: 1000, Renew: 1000, Transfer: 1000, MinYears: 1, Sale: registrar.Sale{
			Decided: true, NoRegistration: "not_eligible", NoTransfer: "not_eligible",
		}},
		".uk":   {TLD: ".uk", Register: 1000, Renew: 1000, MinYears: 1, Sale: registrar.Sale{Decided: true, NoTransfer: "transfer_not_offered"}},
		".film": {TLD: ".film", Register: 1000, Renew: 1000, MinYears: 1, Verify: true},
		".dev":  {TLD: ".dev", Register: 1000, Renew: 1500, Transfer: 1500, MaxYears: 3},
		".ai":   {TLD: ".ai", Register: 7000, Renew: 8000, Transfer: 14000, MinYears: 2},
	}[tld]
	return ext, listed
}

// text returns the text of the page's main part with single spaces.
func (a response) text() string {
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

// wantPage checks which texts the page contains.
func (a response) wantPage(status int, yes, no []string) {
	a.t.Helper()
	if a.Code != status {
		a.t.Fatalf("the response was %d: %s", a.Code, a.Body.String())
	}
	said, all := a.text(), a.Body.String()
	for _, want := range yes {
		if !strings.Contains(said, want) && !strings.Contains(all, want) {
			a.t.Errorf("the page lacks %q: %s", want, said)
		}
	}
	for _, never := range no {
		if strings.Contains(all, never) || strings.Contains(said, never) {
			a.t.Errorf("the page contains %q: %s", never, said)
		}
	}
}

// wantRedirect checks a redirect.
func (a response) wantRedirect(to string) {
	a.t.Helper()
	if got := a.Header().Get("Location"); a.Code != http.StatusSeeOther || got != to {
		a.t.Errorf("the response was %d to %q, want a redirect to %q: %s", a.Code, got, to, a.Body.String())
	}
}

func form(pairs ...string) url.Values {
	values := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return values
}
