package checkout

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// browser keeps its basket between requests.
type browser struct {
	t      *testing.T
	d      *fakeOrders
	who    string
	basket string
}

const basketName = "__Host-dotkontor_basket"

func (s *browser) visit(path string, fields url.Values) response {
	s.t.Helper()
	r := httptest.NewRequest(http.MethodGet, base+path, nil)
	if fields != nil {
		r = httptest.NewRequest(http.MethodPost, base+path, strings.NewReader(fields.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if s.who != "" {
		r.AddCookie(&http.Cookie{Name: "__Host-dotkontor", Value: s.who})
	}
	if s.basket != "" {
		r.AddCookie(&http.Cookie{Name: basketName, Value: s.basket})
	}
	got := send(s.t, s.d, r)
	for _, cookie := range got.Result().Cookies() {
		if cookie.Name == basketName {
			s.basket = cookie.Value
		}
	}
	return got
}

func TestBasket_ShowsItemsWithListPrices(t *testing.T) {
	t.Parallel()
	s := &browser{t: t, d: &fakeOrders{}}
	s.visit("/warenkorb", nil).wantPage(http.StatusOK, []string{"Ihr Warenkorb ist leer."}, []string{"Gesamtbetrag"})
	s.visit("/warenkorb/add", form("item", "register:kaffee.de")).wantRedirect("/warenkorb")
	s.visit("/warenkorb/add", form("domain", "Tee.com")).wantRedirect("/warenkorb")
	s.visit("/warenkorb/add", form("item", "register:mate.ai")).wantRedirect("/warenkorb")
	// .ai is sold for two years. 6.90 + 12.90 + 140.00 is 159.80, and 19 % of that 30.36.
	s.visit("/warenkorb", nil).wantPage(http.StatusOK, []string{
		"kaffee.de", "tee.com", "mate.ai", "Registrierung, 2 Jahre", "Umzug zu uns", "159,80", "30,36", "190,16", "danach 7,02\u00a0€ brutto pro Jahr", "für 2 Jahre",
		"Anmelden und zur Kasse", "Berechnet mit 19\u00a0% deutscher Umsatzsteuer",
		`action="/portal/register/sent"`,
	}, []string{`action="/warenkorb/order"`})
	s.visit("/basket", nil).wantPage(http.StatusOK, []string{"Basket", "€190.16", "Registration, 2 years"}, nil)
	// A name is in it once, with the kind requested last.
	s.visit("/warenkorb/add", form("item", "transfer:kaffee.de")).wantRedirect("/warenkorb")
	if s.basket != "transfer:tee.com~register:mate.ai~transfer:kaffee.de" {
		t.Errorf("the basket is %s", s.basket)
	}
	s.visit("/warenkorb/remove", form("item", "register:mate.ai")).wantRedirect("/warenkorb")
	s.visit("/warenkorb", nil).wantPage(http.StatusOK, []string{"tee.com", "0,00"}, []string{"mate.ai"})
	if s.d.calls != nil {
		t.Errorf("the basket called %v", s.d.calls)
	}
}

func TestBasket_TermOfRegistrationCanBeChosen(t *testing.T) {
	t.Parallel()
	s := &browser{t: t, d: &fakeOrders{}, basket: "register:kaffee.de~register:mate.dev"}
	s.visit("/warenkorb", nil).wantPage(http.StatusOK, []string{
		`<option value="1" selected>1 Jahr</option>`, `<option value="3">3 Jahre</option>`, "Laufzeit von mate.dev", "Preise aktualisieren", "Registrierung, 1 Jahr",
	}, []string{`value="4"`, "Laufzeit von kaffee.de"})
	s.visit("/warenkorb/term", form("item", "register:mate.dev", "years", "3")).wantRedirect("/warenkorb#years-mate.dev")
	if s.basket != "register:kaffee.de~register-3:mate.dev" {
		t.Errorf("the basket is %s", s.basket)
	}
	s.visit("/basket", nil).wantPage(http.StatusOK, []string{`<option value="3" selected>3 years</option>`, "€40.00", "Update prices"}, nil)
	for _, planted := range []string{"register-4:mate.dev", "register-0:mate.dev", "register-1:mate.dev", "register-3:kaffee.de"} {
		other := &browser{t: t, d: &fakeOrders{}, basket: planted}
		other.visit("/warenkorb", nil)
		if _, name, _ := strings.Cut(planted, ":"); other.basket != "register:"+name {
			t.Errorf("%s is kept as %s", planted, other.basket)
		}
	}
	if got := s.visit("/warenkorb/term", form("item", "register-3:mate.dev", "years", "viele")); got.Code != http.StatusConflict {
		t.Errorf("a term that is no number: %d", got.Code)
	}
	s.visit("/warenkorb/term", form("item", "register:gone.dev", "years", "2")).wantRedirect("/warenkorb")
	buyer := &browser{t: t, d: &fakeOrders{view: ownView(order.AwaitingPayment)}, who: "erika", basket: s.basket}
	buyer.visit("/warenkorb/order", form()).wantRedirect(payPage)
	if items := buyer.d.asked.Items; len(items) != 2 || items[0].Years != 0 || items[1].Years != 3 {
		t.Errorf("ordered %+v", items)
	}
}

// Without script, a term that was just chosen is submitted by the button that orders.
func TestBasket_OrderHasTermsAsChosen(t *testing.T) {
	t.Parallel()
	s := &browser{t: t, d: &fakeOrders{view: ownView(order.AwaitingPayment)}, who: "erika", basket: "register:kaffee.de~register:mate.dev~register-2:tee.dev"}
	chosen := url.Values{"item": {"register:mate.dev", "register-2:tee.dev"}, "years": {"2", "3"}}
	s.visit("/warenkorb/order", chosen).wantRedirect(payPage)
	if items := s.d.asked.Items; len(items) != 3 || items[0].Years != 0 || items[1].Years != 2 || items[2].Years != 3 {
		t.Errorf("ordered %+v", items)
	}
}

func TestBasket_ItemsOfUnpaidOrderReturn(t *testing.T) {
	t.Parallel()
	unpaid := func(state order.State, items ...order.Item) *browser {
		o := newOrder(state)
		o.Items = items
		view := ownView(order.AwaitingPayment)
		return &browser{t: t, d: &fakeOrders{orders: []order.Order{o}, view: view}, who: "erika", basket: "register:kaffee.de~transfer:mate.dev"}
	}
	registered := order.Item{Name: "mate.dev", TLD: ".dev", Kind: order.Register, Years: 3}
	transferred := order.Item{Name: "xn--mller-kva.com", TLD: ".com", Kind: order.Transfer, Years: 1}
	unlisted := order.Item{Name: "tee.gone", TLD: ".gone", Kind: order.Register, Years: 1}
	renewed := order.Item{Name: "alt.com", TLD: ".com", Kind: order.Renew, Years: 2}
	again := form("order", "ord_1")
	for _, state := range []order.State{order.Expired, order.Canceled} {
		s := unpaid(state, registered, transferred, unlisted)
		s.visit("/portal/orders/ord_1", nil).wantPage(http.StatusOK, []string{"Noch einmal in den Warenkorb"}, nil)
		s.visit("/warenkorb/again", again).wantRedirect("/warenkorb")
		if s.basket != "register:kaffee.de~register-3:mate.dev~transfer:xn--mller-kva.com" || s.d.calls != nil {
			t.Errorf("%s: the basket is %s after %v", state, s.basket, s.d.calls)
		}
	}
	s := unpaid(order.Expired, renewed)
	s.visit("/warenkorb/again", again).wantRedirect(payPage)
	if items := s.d.asked.Items; len(items) != 1 || items[0].Name.ASCII() != "alt.com" || items[0].Kind != order.Renew || items[0].Years != 2 {
		t.Errorf("renewals %+v", items)
	}
	s = unpaid(order.Expired, renewed, registered)
	s.d.err = &order.ItemsRefused{}
	s.visit("/warenkorb/again", again).wantPage(http.StatusConflict, []string{"Diese Domains lassen sich zurzeit nicht verlängern."}, nil)
	if s.basket != "register:kaffee.de~register-3:mate.dev" {
		t.Errorf("the basket is %s after refused renewals", s.basket)
	}
	s = unpaid(order.Completed, registered)
	s.visit("/portal/orders/ord_1", nil).wantPage(http.StatusOK, nil, []string{"Noch einmal in den Warenkorb"})
	if s.visit("/warenkorb/again", again).wantRedirect("/portal/orders/ord_1"); s.basket != "register:kaffee.de~transfer:mate.dev" {
		t.Errorf("a paid order changes the basket: %s", s.basket)
	}
	s.who = ""
	s.visit("/warenkorb/again", again).wantRedirect("/portal/sign-in?next=%2Fportal%2Forders")
}

func TestBasket_ItemsOfUnpaidOrderLeftOutAreNamed(t *testing.T) {
	t.Parallel()
	registered := order.Item{Name: "mate.dev", TLD: ".dev", Kind: order.Register, Years: 3}
	unlisted := order.Item{Name: "tee.gone", TLD: ".gone", Kind: order.Register, Years: 1}
	renewed := order.Item{Name: "alt.com", TLD: ".com", Kind: order.Renew, Years: 2}
	refused := []order.RefusedItem{{Name: "alt.com", Kind: order.Renew, Reason: refusal(registrar.KindConflict, order.TermPaid)}}
	for _, test := range []struct {
		items   []order.Item
		refused []order.RefusedItem
		to, say string
	}{
		{[]order.Item{registered}, nil, "/warenkorb", ""},
		{[]order.Item{registered, unlisted}, nil, "/warenkorb", "again_partly"},
		{[]order.Item{registered, renewed}, nil, "/warenkorb", "again_split"},
		{[]order.Item{registered, renewed}, refused, "/warenkorb", "again_partly_split"},
		{[]order.Item{renewed, renewed}, nil, payPage, ""},
		{[]order.Item{renewed, renewed}, refused, payPage, "again_partly"},
	} {
		o := newOrder(order.Expired)
		o.Items = test.items
		s := &browser{t: t, d: &fakeOrders{orders: []order.Order{o}, view: ownView(order.AwaitingPayment), refused: test.refused}, who: "erika"}
		got := s.visit("/warenkorb/again", form("order", "ord_1"))
		got.wantRedirect(test.to)
		if say := flash(got); say != test.say {
			t.Errorf("%+v: the message is %q, want %q", test.items, say, test.say)
		}
	}
}

// The order has the prices of whole terms, the basket those of a year.
func TestBasket_PremiumNameOfUnpaidOrderKeepsItsPrices(t *testing.T) {
	t.Parallel()
	fee := registrar.Money{Amount: registrar.AmountOf(40000), Currency: "EUR"}
	for _, test := range []struct {
		item       order.Item
		entry, net string
	}{
		{order.Item{Name: "gold.ai", TLD: ".ai", Years: 2, Net: 100000, PremiumRenewal: 100000}, "register-0-50000-50000:gold.ai", "1.000,00"},
		{order.Item{Name: "gold.dev", TLD: ".dev", Years: 3, Net: 79750, PremiumRenewal: 25000}, "register-3-29750-25000:gold.dev", "797,50"},
	} {
		o := newOrder(order.Expired)
		test.item.Kind, test.item.PremiumFee = order.Register, fee
		o.Items = []order.Item{test.item}
		s := &browser{t: t, d: &fakeOrders{orders: []order.Order{o}}, who: "erika"}
		s.visit("/warenkorb/again", form("order", "ord_1")).wantRedirect("/warenkorb")
		if s.basket != test.entry {
			t.Errorf("the basket is %s, want %s", s.basket, test.entry)
		}
		s.visit("/warenkorb", nil).wantPage(http.StatusOK, []string{test.net}, nil)
	}
}

func TestBasket_KnownAddressDeterminesVATRate(t *testing.T) {
	t.Parallel()
	const unknown = "Ihr Steuersatz hängt von Ihrer Anschrift ab"
	for country, known := range map[string]string{
		"": "", "DE": "Berechnet mit 19\u00a0% Umsatzsteuer, passend zu Ihrer Anschrift.", "AT": "weil Ihre Umsatzsteuer-ID bestätigt ist: Sie schulden die Steuer selbst (Reverse Charge).",
		"CH": "Berechnet ohne Umsatzsteuer: Bei Ihrer Anschrift fällt keine deutsche Umsatzsteuer an.",
	} {
		s := &browser{t: t, d: &fakeOrders{}, who: "erika"}
		if country != "" {
			s.d.registrant = account.Registrant{Name: "Erika Mustermann", Country: country}
		}
		s.visit("/warenkorb/add", form("item", "register:kaffee.de")).wantRedirect("/warenkorb")
		if known == "" {
			s.visit("/warenkorb", nil).wantPage(http.StatusOK, []string{unknown}, []string{"passend zu Ihrer Anschrift"})
		} else {
			s.visit("/warenkorb", nil).wantPage(http.StatusOK, []string{known}, []string{unknown, map[bool]string{true: "passend zu Ihrer Anschrift", false: "Reverse Charge"}[country == "AT"], map[bool]string{true: "Ihre Umsatzsteuer-ID", false: unknown}[country == "CH"]})
		}
		if text, want := s.visit("/warenkorb", nil).text(), country == "" || country == "DE"; strings.Contains(strings.ToLower(text), "brutto") != want {
			t.Errorf("%s: gross prices, want %t: %s", country, want, text)
		}
	}
}

func TestBasket_PremiumNameHasPricesOfSearch(t *testing.T) {
	t.Parallel()
	s := &browser{t: t, d: &fakeOrders{}}
	s.visit("/warenkorb/add", form("item", "register-0-29750-25000:gold.dev")).wantRedirect("/warenkorb")
	s.visit("/warenkorb", nil).wantPage(http.StatusOK, []string{"297,50", "danach 297,50\u00a0€ brutto pro Jahr", ">Premium</span>"}, []string{"10,00"})
	s.visit("/warenkorb/term", form("item", s.basket, "years", "2")).wantRedirect("/warenkorb#years-gold.dev")
	s.visit("/warenkorb", nil).wantPage(http.StatusOK, []string{"547,50"}, nil)
	if s.basket != "register-2-29750-25000:gold.dev" {
		t.Errorf("the basket is %s", s.basket)
	}
	for _, planted := range []string{"register-0-99999999999-1:gold.dev", "register-0--5-1:gold.dev", "register-0-x-y:gold.dev"} {
		other := &browser{t: t, d: &fakeOrders{}, basket: planted}
		other.visit("/warenkorb", nil).wantPage(http.StatusOK, []string{"10,00"}, nil)
	}
}

func TestBasket_AnnouncesUnicodeNameAndCount(t *testing.T) {
	t.Parallel()
	s := &browser{t: t, d: &fakeOrders{}}
	for item, want := range map[string]string{"register:xn--bcher-kva.de": "bücher.de liegt im Warenkorb. Er enthält jetzt 1 Domain."} {
		if body := s.visit("/warenkorb/add", form("item", item, "part", "1")).Body.String(); !strings.Contains(body, want) {
			t.Errorf("%s: %s", item, body)
		}
	}
}

func TestBasket_AnnouncesIdentityCheckBeforeOrder(t *testing.T) {
	t.Parallel()
	for _, who := range []string{"", "erika"} {
		s := &browser{t: t, d: &fakeOrders{verifyOver: 100_00}, who: who, basket: "register:kaffee.de"}
		s.visit("/warenkorb", nil).wantPage(http.StatusOK, nil, []string{"Identität"})
		s.basket += "~register:mate.ai"
		s.visit("/warenkorb", nil).wantPage(http.StatusOK, []string{"innerhalb von 30 Tagen 100,00\u00a0€, weisen Sie vor der Zahlung einmal Ihre Identität nach", "Ausweis oder Pass"}, nil)
		if who == "" {
			s.visit("/basket", nil).wantPage(http.StatusOK, []string{"exceed €100.00 within 30 days"}, nil)
		}
		s.basket = "register:kino.film"
		s.visit("/warenkorb", nil).wantPage(http.StatusOK, []string{"Für eine dieser Endungen weisen Sie"}, nil)
	}
}

func TestBasket_InvalidNamesAreRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fields url.Values
		says   string
	}{
		{form("domain", "kein name"), "Diese Domain kann nicht umziehen"},
		{form("domain", ""), "Diese Domain kann nicht umziehen"},
		{form("domain", "kaffee.gibtesnicht"), "Diese Endung führen wir nicht"},
		{form("item", "renew:kaffee.de"), "Diese Domain kann nicht umziehen"},
		{form("item", "register:<b>.de"), "Diese Domain kann nicht umziehen"},
	} {
		s := &browser{t: t, d: &fakeOrders{}}
		got := s.visit("/warenkorb/add", c.fields)
		if got.Code < 400 || got.Code >= 500 || !strings.Contains(got.Body.String(), c.says) || s.basket != "" {
			t.Errorf("%v: %d, basket %q: %s", c.fields, got.Code, s.basket, got.text())
		}
	}
	// A planted cookie shows nothing and breaks nothing.
	for _, planted := range []string{"register:<script>", "~~~", "x", strings.Repeat("register:a.de~", 400)} {
		s := &browser{t: t, d: &fakeOrders{}, basket: planted}
		s.visit("/warenkorb", nil).wantPage(http.StatusOK, []string{"Warenkorb"}, []string{"<script>"})
	}
}

// An extension may have left the list, and cookies can be planted.
func TestBasket_HeaderCountMatchesShownItems(t *testing.T) {
	t.Parallel()
	s := &browser{t: t, d: &fakeOrders{}, basket: "register:kaffee.de~register:kaffee.gibtesnicht~transfer:KAFFEE.de~register:Tee.com~x"}
	s.visit("/warenkorb", nil).wantPage(http.StatusOK, []string{"kaffee.de", "tee.com", `data-count>2<`}, []string{"Umzug zu uns", "KAFFEE"})
	if s.basket != "register:kaffee.de~register:tee.com" {
		t.Errorf("the basket is %s", s.basket)
	}
	s.visit("/warenkorb/remove", form("item", "register:tee.com")).wantRedirect("/warenkorb")
	if s.basket != "register:kaffee.de" {
		t.Errorf("the basket is %s", s.basket)
	}
}

func TestBasket_HoldsAtMostTwentyItems(t *testing.T) {
	t.Parallel()
	s := &browser{t: t, d: &fakeOrders{}}
	for i := range 20 {
		s.visit("/warenkorb/add", form("item", fmt.Sprintf("register:name-%d.de", i))).wantRedirect("/warenkorb")
	}
	full := s.basket
	s.visit("/warenkorb/add", form("item", "register:one-more.de")).wantPage(http.StatusConflict, []string{"Der Warenkorb ist voll."}, nil)
	got := s.visit("/warenkorb/add", form("item", "register:one-more.de", "part", "1"))
	if got.Code != http.StatusConflict || !strings.Contains(got.Body.String(), `"error":"Der Warenkorb ist voll.`) || s.basket != full {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	s = &browser{t: t, d: &fakeOrders{}}
	got = s.visit("/warenkorb/add", form("item", "register:kaffee.de", "part", "1"))
	if got.Code != http.StatusOK || !strings.Contains(got.Body.String(), `"count":1`) || s.basket != "register:kaffee.de" {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}

func TestBasket_OrderNeedsSignIn(t *testing.T) {
	t.Parallel()
	const basket = "register:kaffee.de~transfer:tee.com"
	guest := &browser{t: t, d: &fakeOrders{}, basket: basket}
	guest.visit("/warenkorb/order", form()).wantRedirect("/portal/sign-in?next=%2Fwarenkorb")
	if guest.d.calls != nil || guest.basket != basket {
		t.Errorf("a guest ordered: %v, basket %q", guest.d.calls, guest.basket)
	}
	s := &browser{t: t, d: &fakeOrders{view: ownView(order.AwaitingPayment)}, who: "erika", basket: basket}
	s.visit("/warenkorb", nil).wantPage(http.StatusOK, []string{"Weiter zur Kasse"}, []string{"Konto anlegen"})
	s.visit("/warenkorb/order", form()).wantRedirect(payPage)
	items := s.d.asked.Items
	if s.d.asked.Channel != order.ChannelPortal || len(items) != 2 || items[0].Name.ASCII() != "kaffee.de" || items[0].Kind != order.Register ||
		items[1].Name.ASCII() != "tee.com" || items[1].Kind != order.Transfer || s.d.asked.DryRun || s.basket != "" {
		t.Errorf("asked %+v, basket %q", s.d.asked, s.basket)
	}
	// After coming back the page links to the order.
	open := newOrder(order.AwaitingPayment)
	open.Channel = order.ChannelPortal
	s.d.orders = []order.Order{open}
	s.visit("/warenkorb", nil).wantPage(http.StatusOK, []string{"Ihr Warenkorb ist leer.", `href="` + payPage + `"`}, nil)
	s.visit("/warenkorb/order", form()).wantRedirect("/warenkorb")
}

func TestBasket_RefusalsShownPerItem(t *testing.T) {
	t.Parallel()
	const basket = "register:kaffee.de~register:tee.com"
	d := &fakeOrders{err: &order.ItemsRefused{Items: []order.RefusedItem{
		{Name: "tee.com", Kind: order.Register, Reason: &registrar.Error{Kind: registrar.KindConflict, Code: "name_taken"}},
		{Name: "kaffee.de", Kind: order.Register, Reason: &registrar.Error{Kind: registrar.KindUpstream, Code: "epp_timeout"}},
	}}}
	s := &browser{t: t, d: d, who: "erika", basket: basket}
	s.visit("/warenkorb/order", form()).wantPage(http.StatusConflict, []string{
		"Bestellt wurde nichts.", "tee.com Diese Domain ist vergeben.", "kaffee.de Die Registry antwortet gerade nicht.",
	}, nil)
	if s.basket != basket {
		t.Errorf("the basket is %q", s.basket)
	}
	for says, err := range map[string]error{
		"offene Bestellungen": &registrar.Error{Kind: registrar.KindConflict, Code: order.TooManyOpen},
		"antwortet gerade":    &registrar.Error{Kind: registrar.KindUpstream, Code: "epp_timeout"},
	} {
		s := &browser{t: t, d: &fakeOrders{err: err}, who: "erika", basket: basket}
		s.visit("/warenkorb/order", form()).wantPage(http.StatusConflict, []string{says}, nil)
	}
	waits := &fakeOrders{err: &registrar.Error{Kind: registrar.KindRateLimited, Code: order.OverBudget, RetryAfter: 90 * time.Second}}
	s = &browser{t: t, d: waits, who: "erika", basket: basket}
	got := s.visit("/warenkorb/order", form())
	got.wantPage(http.StatusTooManyRequests, []string{"in 90 Sekunden"}, nil)
	if got.Header().Get("Retry-After") != "90" || s.basket != basket {
		t.Errorf("%v, and the basket is %q", got.Header(), s.basket)
	}
}

func TestBasket_RefusedItemsAreOutsideTheTotalAndRemovedTogether(t *testing.T) {
	t.Parallel()
	taken := &registrar.Error{Kind: registrar.KindConflict, Code: "name_taken"}
	d := &fakeOrders{err: &order.ItemsRefused{Items: []order.RefusedItem{
		{Name: "tee.com", Kind: order.Register, Reason: taken}, {Name: "mate.com", Kind: order.Register, Reason: taken},
	}}}
	s := &browser{t: t, d: d, who: "erika", basket: "register:tee.com~register:mate.com~register:saft.com"}
	s.visit("/warenkorb", nil).wantPage(http.StatusOK, nil, []string{"Diese Domain ist vergeben"})
	// The link of the mail leads here if the order could not be prepared.
	page := s.visit("/warenkorb?checked=1", nil)
	page.wantPage(http.StatusOK, []string{"tee.com Diese Domain ist vergeben.", "Alle 2 nicht bestellbaren entfernen", "Gesamtbetrag 15,35 €"}, nil)
	if !d.asked.DryRun {
		t.Error("the page has ordered")
	}
	s.visit("/warenkorb/remove", url.Values{"item": {"register:tee.com", "register:mate.com"}}).wantRedirect("/warenkorb")
	if s.basket != "register:saft.com" {
		t.Errorf("the basket is %q", s.basket)
	}
}

func TestBasket_UnansweredRegistryIsSaidAtTheDomain(t *testing.T) {
	t.Parallel()
	d := &fakeOrders{err: &order.ItemsUnquoted{Items: []order.RefusedItem{
		{Name: "tee.com", Kind: order.Register, Reason: &registrar.Error{Kind: registrar.KindUpstream, Code: "epp_timeout"}},
	}}}
	s := &browser{t: t, d: d, who: "erika", basket: "register:tee.com~register:saft.com"}
	s.visit("/warenkorb/order", form()).wantPage(http.StatusConflict, []string{"Bestellt wurde nichts.", "tee.com Die Registry antwortet gerade nicht."}, []string{"saft.com Die Registry"})
}

func TestTransferPage_RunningTransferIsNotOwnedYet(t *testing.T) {
	t.Parallel()
	orders := &fakeOrders{
		holds: map[string]string{"tee.com": "dom_7"}, status: registrar.DomainPending,
		err: &order.ItemsRefused{Items: []order.RefusedItem{{Name: "tee.com", Kind: order.Transfer, Reason: &registrar.Error{Kind: registrar.KindConflict, Code: registrar.NameHeld}}}},
	}
	visit(t, orders, "erika", "/umzug", form("lines", "tee.com geheim")).wantPage(http.StatusUnprocessableEntity,
		[]string{"Diese Domain zieht schon zu uns um.", `href="/portal/domains/dom_7"`}, []string{"gehört Ihnen schon"})
}

func TestBasket_OnlyHolderSeesOwnDomainLink(t *testing.T) {
	t.Parallel()
	held := &registrar.Error{Kind: registrar.KindConflict, Code: registrar.NameHeld}
	const yours, link, taken = "Diese Domain gehört Ihnen schon.", `href="/portal/domains/dom_7"`, "Diese Domain ist vergeben"
	refused := func() *fakeOrders {
		return &fakeOrders{
			holds: map[string]string{"tee.com": "dom_7", "beispiel.de": "dom_7"},
			err:   &order.ItemsRefused{Items: []order.RefusedItem{{Name: "tee.com", Kind: order.Register, Reason: held}}},
		}
	}
	erika := &browser{t: t, d: refused(), who: "erika", basket: "register:tee.com"}
	erika.visit("/warenkorb/order", form()).wantPage(http.StatusConflict, []string{yours, link}, []string{taken})
	english := &browser{t: t, d: refused(), who: "english", basket: "register:tee.com"}
	english.visit("/warenkorb/order", form()).wantPage(http.StatusConflict, []string{"You already own this domain.", link}, nil)
	max := &browser{t: t, d: refused(), who: "max", basket: "register:tee.com"}
	max.visit("/warenkorb/order", form()).wantPage(http.StatusConflict, []string{taken}, []string{yours, link})

	// The same on the page of an order.
	for who, c := range map[string]struct {
		view    order.View
		yes, no []string
	}{
		"erika": {ownView(order.AwaitingPayment), []string{yours, link}, []string{taken}},
		"max":   {foreignView(order.AwaitingPayment), []string{taken}, []string{yours, link}},
		"":      {foreignView(order.AwaitingPayment), []string{taken}, []string{yours, link}},
	} {
		d := refused()
		d.err, d.view = nil, c.view
		d.view.Refused = map[string]error{"itm_1": held}
		visit(t, d, who, payPage, nil).wantPage(http.StatusOK, c.yes, c.no)
	}
}

func TestBasket_InvalidEmailStaysInBasket(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t, &fakeOrders{})
	page := h.Frame.Page(func(req *ui.Request) error {
		return h.ShowBasketEmail(req, "erika@example", registrar.Invalid(account.EmailInvalid))
	})
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/portal/register/sent", http.NoBody)
	r.AddCookie(&http.Cookie{Name: basketName, Value: "register:kaffee.de"})
	w := httptest.NewRecorder()
	page(w, r)
	response{w, t}.wantPage(http.StatusUnprocessableEntity, []string{"kaffee.de", `value="erika@example"`, `id="email-problem"`, "gültige E‑Mail-Adresse"}, []string{"Konto anlegen"})
}

// The purchase may have been completed in another browser.
func TestBasket_BoughtDomainsAreDropped(t *testing.T) {
	t.Parallel()
	paid := newOrder(order.Provisioning)
	paid.Items[0].Name, paid.Items[0].State = "xn--bcher-kva.de", order.ItemProvisioning
	for who, want := range map[string]string{"erika": "register:kaffee.de", "": "register:tee.com~register:xn--bcher-kva.de~register:kaffee.de"} {
		d := &fakeOrders{holds: map[string]string{"tee.com": "dom_7"}, orders: []order.Order{paid}}
		s := &browser{t: t, d: d, who: who, basket: "register:tee.com~register:xn--bcher-kva.de~register:kaffee.de"}
		got := s.visit("/warenkorb", nil)
		const note = "nicht mehr im Warenkorb: tee.com, bücher.de."
		if strings.Contains(got.Body.String(), note) != (who != "") || s.basket != want {
			t.Errorf("%q: the basket is %q: %s", who, s.basket, got.Body.String())
		}
	}
}

func TestHeader_CountsOnEveryPageWhatTheBasketShows(t *testing.T) {
	t.Parallel()
	paid := newOrder(order.Provisioning)
	paid.Items[0].Name, paid.Items[0].State = "gekauft.de", order.ItemProvisioning
	const basket = "register:kaffee.de~transfer:kaffee.de~register:tee.com~register:gekauft.de~register:kaffee.gibtesnicht"
	for who, count := range map[string]int{"erika": 1, "": 3} { // erika holds tee.com
		for _, path := range []string{"/umzug", "/portal/orders", "/checkout/unknown", "/warenkorb"} {
			if who == "" && path == "/portal/orders" {
				continue
			}
			d := &fakeOrders{holds: map[string]string{"tee.com": "dom_7"}, orders: []order.Order{paid}}
			s := &browser{t: t, d: d, who: who, basket: basket}
			if page := s.visit(path, nil).Body.String(); !strings.Contains(page, fmt.Sprintf("data-count>%d<", count)) {
				t.Errorf("%q, %s: the header does not count %d: %s", who, path, count, page)
			}
			s.basket = basket
			if got := s.visit("/warenkorb/count", nil); got.Code != http.StatusOK || strings.TrimSpace(got.Body.String()) != fmt.Sprintf(`{"count":%d}`, count) {
				t.Errorf("%q: the script gets %d %s", who, got.Code, got.Body)
			}
		}
	}
	// After an error the page lists what was bought, too.
	d := &fakeOrders{holds: map[string]string{"tee.com": "dom_7"}, err: &registrar.Error{Kind: registrar.KindConflict, Code: order.TooManyOpen}}
	s := &browser{t: t, d: d, who: "erika", basket: "register:kaffee.de~register:tee.com"}
	s.visit("/warenkorb/order", form()).wantPage(http.StatusConflict, []string{"data-count>2<"}, nil)
}

func TestBasket_UnsoldExtensionIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fields       url.Values
		german, says string
	}{
		{form("item", "register:kaffee.it"), "Diese Endung können Sie hier nur abfragen", "You can only look up this extension here"},
		{form("domain", "kaffee.it"), "Diese Endung können Sie hier nur abfragen", "You can only look up this extension here"},
		{form("domain", "kaffee.uk"), "Bestellen können Sie ihn bei uns nicht", "You can&#39;t order it here"},
	} {
		for who, text := range map[string]string{"erika": c.german, "english": c.says} {
			s := &browser{t: t, d: &fakeOrders{}, who: who}
			got := s.visit("/warenkorb/add", c.fields)
			if got.Code < 400 || got.Code >= 500 || !strings.Contains(got.Body.String(), text) || s.basket != "" {
				t.Errorf("%v for %s: %d, basket %q: %s", c.fields, who, got.Code, s.basket, got.text())
			}
		}
	}
	s := &browser{t: t, d: &fakeOrders{}}
	s.visit("/warenkorb/add", form("item", "register:kaffee.uk")).wantRedirect("/warenkorb")
	// An extension that is no longer sold costs nothing and shows the reason.
	s = &browser{t: t, d: &fakeOrders{}, basket: "register:kaffee.de~register:kaffee.it"}
	s.visit("/warenkorb", nil).wantPage(http.StatusOK, []string{"kaffee.it", "Diese Endung können Sie hier nur abfragen", "8,21"}, []string{"20,11"})
}
