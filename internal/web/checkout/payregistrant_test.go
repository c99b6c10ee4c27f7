package checkout

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func TestPay_MissingDataLinksToItsForm(t *testing.T) {
	t.Parallel()
	registrant := `href="/portal/profile/registrant?next=%2Fcheckout%2Fdotkontor_pay_x"`
	view := ownView(order.AwaitingPayment)
	view.Payable, view.Missing = false, []string{"eu_presence"}
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{registrant, "Europäischen Union"}, []string{payButton, `name="street"`})
	view.Missing = []string{order.MissingIdentity}
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{`href="` + verifyPage + `"`}, []string{payButton, registrant})
	visit(t, &fakeOrders{view: ownView(order.AwaitingVerification)}, "erika", payPage, nil).wantPage(http.StatusOK, []string{`href="` + verifyPage + `"`}, []string{payButton})
}

// A chosen holder is not confused with the customer, whose own details are complete.
func TestPay_ExtensionDoesNotAdmitChosenHolder(t *testing.T) {
	t.Parallel()
	const button = `href="#holders">Anderen Inhaber wählen</a><a href="/portal/holders/hld_1?next=%2Fcheckout%2Fdotkontor_pay_x">Angaben von Bergbahn AG ändern</a>`
	view := ownView(order.AwaitingPayment)
	view.Payable, view.Missing = false, []string{"eu_presence"}
	first, second := &view.Order.Items[0], &view.Order.Items[1]
	second.Holder, second.Registrant = "hld_1", registrar.Registrant{Name: "Reto Berg", Organisation: "Bergbahn AG", Country: "CH"}
	view.MissingByItem = map[string][]string{second.ID: {"eu_presence"}}
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{
		"Inhaber: Bergbahn AG, Schweiz", "<strong>müller.com</strong>: Diese Endung ist Inhabern in der EU und im EWR vorbehalten. Der gewählte Inhaber hat dort keine Anschrift.", button, "sobald jede Domain einen Inhaber hat",
	}, []string{"Ihre Angaben", "/portal/profile/registrant?next=%2F", payButton, "sobald die Angaben oben vollständig sind"})
	// Another domain that the customer can't hold asks for their own address.
	view.MissingByItem[first.ID] = []string{"eu_presence"}
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{
		"<strong>" + first.Name + "</strong>: Diese Endung ist Inhabern in der Europäischen Union", "/portal/profile/registrant?next=%2F", button, "sobald die Angaben oben vollständig sind",
	}, []string{first.Name + ", müller.com"})
}

// A card that was used in another account counts, too. The reason is the same for everyone, so it
// tells nothing about other accounts.
func TestPay_ReasonOfIdentityCheckIncludesPaymentMethods(t *testing.T) {
	t.Parallel()
	visit(t, &fakeOrders{view: ownView(order.AwaitingVerification)}, "erika", payPage, nil).wantPage(http.StatusOK, []string{
		"wenn Bestellungen mit demselben Konto, derselben E\u2011Mail-Adresse oder demselben Zahlungsmittel innerhalb von 30 Tagen 500,00\u00a0€ übersteigen",
	}, nil)
}

func TestPay_ChangeDetailsReturnsToTheOrder(t *testing.T) {
	t.Parallel()
	view := ownView(order.AwaitingPayment)
	view.Owner.HasRegistrant = true
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{`<a href="/portal/profile/registrant?next=%2fcheckout%2fdotkontor_pay_x">Angaben ändern</a>`}, nil)
}

// withoutRegistrant is an order whose customer has entered no registrant yet.
func withoutRegistrant() order.View {
	view := ownView(order.AwaitingPayment)
	view.Payable, view.Missing = false, []string{order.MissingRegistrant}
	view.Owner = order.Buyer{Customer: "cus_1", Email: "erika@example.org"}
	return view
}

var typedRegistrant = []string{"name", "Erika Mustermann", "street", "Heidestraße 17", "postal_code", "51147", "city", "Köln", "country", "DE", "phone", "+49 221 123456"}

func TestPay_FirstRegistrantIsEnteredHere(t *testing.T) {
	t.Parallel()
	d := &fakeOrders{view: withoutRegistrant(), to: "https://provider.example/pay"}
	visit(t, d, "erika", payPage, nil).wantPage(http.StatusOK, []string{`name="street"`, payButton, `id="consent"`, "Nötig, wenn Sie als Privatperson bestellen."}, []string{"/portal/profile/registrant?next", `name="kind"`})
	paid := form(append([]string{"gross", "3570", "consent", order.ConsentWording("de")}, typedRegistrant...)...)
	visit(t, d, "erika", payPage+"/pay", paid).wantRedirect(d.to)
	if !slices.Equal(d.calls, []string{"registrant", "pay"}) || d.registrant.Kind != account.Person || d.registrant.City != "Köln" {
		t.Errorf("called %v with %+v", d.calls, d.registrant)
	}
	paid.Set("organisation", "Mustermann GmbH")
	visit(t, d, "erika", payPage+"/pay", paid)
	if d.registrant.Kind != account.Company {
		t.Errorf("a company is registered as %q", d.registrant.Kind)
	}
}

func TestPay_SaysThatOnlyIdentityIsMissing(t *testing.T) {
	t.Parallel()
	const identity, details = "sobald Ihre Identität bestätigt ist", "sobald die Angaben oben vollständig sind"
	view := ownView(order.AwaitingVerification)
	view.Payable, view.Missing = false, []string{order.MissingIdentity}
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{identity}, []string{details})
	view.Missing = append(view.Missing, order.MissingCode)
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{details}, []string{identity})
}

func TestPay_OneDomainHasHolderInSingular(t *testing.T) {
	t.Parallel()
	view := ownView(order.AwaitingPayment)
	for i := range view.Order.Items {
		view.Order.Items[i].Kind = order.Register
	}
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{"Inhaber der Domains"}, nil)
	view.Order.Items = view.Order.Items[:1]
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{"Inhaber der Domain"}, []string{"Inhaber der Domains"})
}

func TestPay_StateIsAskedOutsideClosedPart(t *testing.T) {
	t.Parallel()
	d := &fakeOrders{view: withoutRegistrant()}
	page := visit(t, d, "erika", payPage, nil).Body.String()
	country, state, closed := strings.Index(page, `name="country"`), strings.Index(page, `name="state"`), strings.Index(page, "Firma oder Umsatzsteuer-ID angeben")
	if country < 0 || state < country || closed < state || !strings.Contains(page, "only-state") {
		t.Errorf("country at %d, state at %d, the closed part at %d", country, state, closed)
	}
}

func TestPay_InvalidRegistrantKeepsInputAndPaysNothing(t *testing.T) {
	t.Parallel()
	d := &fakeOrders{view: withoutRegistrant(), registrantErr: &account.FieldError{Fields: map[string]registrar.Code{"postal_code": account.FieldForm}}}
	paid := form(append([]string{"gross", "3570", "consent", order.ConsentWording("de"), "auto_renew", "2026-11-de"}, typedRegistrant...)...)
	visit(t, d, "erika", payPage+"/pay", paid).wantPage(http.StatusUnprocessableEntity, []string{
		`value="Heidestraße 17"`, `value="&#43;49 221 123456"`, "Diese Postleitzahl passt nicht zum Land.", `value="51147" autocomplete="postal-code"`,
	}, nil)
	if !slices.Equal(d.calls, []string{"registrant"}) {
		t.Errorf("called %v", d.calls)
	}
	d.view.Order.Totals.Rule = "unknown_country"
	visit(t, d, "erika", payPage+"/pay", paid).wantPage(http.StatusUnprocessableEntity, []string{"solange Ihre Angaben nicht vollständig sind"}, []string{"weil wir Ihr Land noch nicht kennen"})
	visit(t, d, "erika", payPage, nil).wantPage(http.StatusOK, []string{"weil wir Ihr Land noch nicht kennen"}, nil)
	d.view.Missing = append(d.view.Missing, order.MissingCode)
	visit(t, d, "erika", payPage+"/registrant", form(typedRegistrant...)).wantPage(http.StatusUnprocessableEntity, []string{`value="Heidestraße 17"`}, []string{payButton})
	d.registrantErr = nil
	visit(t, d, "erika", payPage+"/registrant", form(typedRegistrant...)).wantRedirect(payPage)
}

func TestPay_HolderTextsFitEveryKindOfItem(t *testing.T) {
	t.Parallel()
	kinds := func(all ...order.Kind) (view order.View) {
		view = withoutRegistrant()
		view.Order.Items = view.Order.Items[:len(all)]
		for i, kind := range all {
			view.Order.Items[i].Kind = kind
		}
		return view
	}
	forAnother := func(view order.View) order.View {
		view.Order.Items[0].Holder = "hld_1"
		return view
	}
	const all, some, same = "Diese Person oder Firma wird als Inhaber eingetragen", "für die Sie keinen anderen Inhaber wählen", "Wem die Domains gehören, ändert sie nicht."
	for _, test := range []struct {
		view        order.View
		shows, term string
	}{
		{kinds(order.Register, order.Register), all, "Konto"},
		{kinds(order.Register, order.Renew), some, "Kunde"},
		{kinds(order.Register, order.Transfer), all, "Konto"},
		{forAnother(kinds(order.Register, order.Transfer)), some, "Kunde"},
		{forAnother(kinds(order.Transfer)), same, "Rechnung an"},
		{kinds(order.Renew, order.Restore), same, "Rechnung an"},
	} {
		hides := slices.DeleteFunc([]string{all, some, same}, func(text string) bool { return text == test.shows })
		visit(t, &fakeOrders{view: test.view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{test.shows, "<dt>" + test.term + "</dt>"}, hides)
	}
}

func TestPay_HoldersAreChosenForEachItem(t *testing.T) {
	t.Parallel()
	view := ownView(order.AwaitingPayment)
	view.Order.Items[0].Holder, view.Order.Items[0].Registrant = "hld_1", registrar.Registrant{Name: "Max Teufel", Organisation: "Teeladen GmbH"}
	d := &fakeOrders{view: view}
	visit(t, d, "erika", payPage, nil).wantPage(http.StatusOK, []string{"Inhaber: Teeladen GmbH", `name="holder.itm_1"`, "ich selbst"}, nil)
	visit(t, d, "erika", payPage+"/holders", form("holder.itm_1", "own", "holder.itm_2", "hld_1", "other", "x")).wantRedirect(payPage)
	if want := map[string]string{"itm_1": "own", "itm_2": "hld_1"}; !maps.Equal(d.holders, want) {
		t.Errorf("chosen: %v", d.holders)
	}
	d.err = refusal(registrar.KindConflict, holder.NoSuchHolder)
	visit(t, d, "erika", payPage+"/holders", form("holder.itm_1", "hld_x")).wantPage(http.StatusConflict, []string{"Diesen Inhaber gibt es in Ihrem Konto nicht mehr."}, nil)
}

func TestPay_TransferNamesFutureHolder(t *testing.T) {
	t.Parallel()
	notice := "Mit dem Umzug tragen wir den Inhaber ein, den Sie hier wählen."
	view := ownView(order.AwaitingPayment)
	all := view.Order.Items
	view.Order.Items = all[1:2]
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, []string{notice, `name="holder"`, "ich selbst", "/portal/holders/new?next=%2Fcheckout%2F" + secret}, []string{`name="holder.itm_2"`})
	view.Order.Items = all[:1]
	visit(t, &fakeOrders{view: view}, "erika", payPage, nil).wantPage(http.StatusOK, nil, []string{notice, `name="holder"`})
}

func TestPay_OneHolderIsChosenForAllItems(t *testing.T) {
	t.Parallel()
	d := &fakeOrders{view: ownView(order.AwaitingPayment)}
	visit(t, d, "erika", payPage, nil).wantPage(http.StatusOK, []string{"Ein Inhaber für alle Domains", `name="holder.itm_1"`, `name="holder.itm_2"`}, []string{`name="holder.itm_3"`})
	fields := form("holder", "hld_1", "item", "itm_1")
	fields.Add("item", "itm_2")
	visit(t, d, "erika", payPage+"/holders", fields).wantRedirect(payPage)
	if want := map[string]string{"itm_1": "hld_1", "itm_2": "hld_1"}; !maps.Equal(d.holders, want) {
		t.Errorf("chosen: %v", d.holders)
	}
}

// An order is never for another holder than the customer has chosen.
func TestPay_HolderChosenButNotSavedIsSavedAndShownFirst(t *testing.T) {
	t.Parallel()
	d := &fakeOrders{view: ownView(order.AwaitingPayment)}
	visit(t, d, "erika", payPage, nil).wantPage(http.StatusOK, []string{`<select id="holder" name="holder" form="order">`, `<input type="hidden" name="was.holder" value="own" form="order">`, `name="holders" value="one" form="order" formaction="` + payPage + `/holders" formnovalidate`}, nil)
	sent := func(one, first string) url.Values {
		fields := form("gross", "3570", "items", "x", "holder", one, "was.holder", "own", "holder.itm_1", first, "was.holder.itm_1", "own", "holder.itm_2", "own", "was.holder.itm_2", "own", "item", "itm_1")
		fields.Add("item", "itm_2")
		return fields
	}
	for _, test := range []struct {
		one, first string
		want       map[string]string
	}{
		{"hld_1", "own", map[string]string{"itm_1": "hld_1", "itm_2": "hld_1"}},
		{"own", "hld_1", map[string]string{"itm_1": "hld_1"}},
	} {
		visit(t, d, "erika", payPage+"/pay", sent(test.one, test.first)).wantPage(http.StatusConflict, []string{"Sie haben einen anderen Inhaber gewählt; er ist jetzt gespeichert."}, nil)
		if !maps.Equal(d.holders, test.want) || slices.Contains(d.calls, "pay") {
			t.Errorf("%s, %s: chosen %v, called %v", test.one, test.first, d.holders, d.calls)
		}
	}
	d.holders = nil
	if visit(t, d, "erika", payPage+"/pay", sent("own", "own")); d.holders != nil || !slices.Contains(d.calls, "pay") {
		t.Errorf("unchanged: chosen %v, called %v", d.holders, d.calls)
	}
	// Each of the two buttons saves what stands above it.
	fields := sent("hld_1", "own")
	fields.Set("holders", "each")
	visit(t, d, "erika", payPage+"/holders", fields).wantRedirect(payPage)
	if want := map[string]string{"itm_1": "own", "itm_2": "own"}; !maps.Equal(d.holders, want) {
		t.Errorf("each: %v", d.holders)
	}
}
