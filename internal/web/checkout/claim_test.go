package checkout

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func TestClaim_NeedsSignInAndPost(t *testing.T) {
	t.Parallel()
	path := "/checkout/claim?link=" + claimSecret
	const button = "In dieses Konto übernehmen"
	d := &fakeOrders{view: ownView(order.Provisioning)}
	got := visit(t, d, "", path, nil)
	if got.Code != http.StatusOK || strings.Contains(got.Body.String(), button) || !strings.Contains(got.Body.String(), "/portal/sign-in?next=%2Fcheckout%2Fclaim") {
		t.Errorf("before the sign-in: %d %s", got.Code, got.Body)
	}
	got = visit(t, d, "erika", path, nil)
	if got.Code != http.StatusOK || !strings.Contains(got.Body.String(), button) || len(d.calls) != 0 {
		t.Errorf("after it: %d %v %s", got.Code, d.calls, got.Body)
	}
	got = visit(t, d, "", "/checkout/claim", url.Values{"link": {claimSecret}})
	back := "/portal/sign-in?next=" + url.QueryEscape(path)
	if got.Code != http.StatusSeeOther || got.Header().Get("Location") != back || len(d.calls) != 0 {
		t.Errorf("a button without a sign-in: %d %q %v", got.Code, got.Header().Get("Location"), d.calls)
	}
	got = visit(t, d, "erika", "/checkout/claim", url.Values{"link": {claimSecret}})
	if got.Code != http.StatusSeeOther || got.Header().Get("Location") != "/portal/orders/ord_1" || !slices.Equal(d.calls, []string{"claim"}) || d.actor.Customer != "cus_1" {
		t.Errorf("the button: %d %q %v %+v", got.Code, got.Header().Get("Location"), d.calls, d.actor)
	}
	for _, fields := range []url.Values{nil, {"link": {"another"}}} {
		if got = visit(t, d, "erika", "/checkout/claim?link=another", fields); got.Code != http.StatusNotFound {
			t.Errorf("a link that does not work: %d", got.Code)
		}
	}
}

func TestPay_UnclaimedOrderOffersOnlyClaimMail(t *testing.T) {
	t.Parallel()
	view := foreignView(order.AwaitingPayment)
	view.Order.Claimed = false
	d := &fakeOrders{view: view}
	for _, who := range []string{"", "max"} {
		got := visit(t, d, who, payPage, nil).Body.String()
		if !strings.Contains(got, "Noch keinem Konto zugeordnet") || strings.Contains(got, "Konto wechseln") || strings.Contains(got, payButton) {
			t.Errorf("%q sees %s", who, got)
		}
	}
	got := visit(t, d, "", payPage+"/claim", url.Values{})
	if got.Code != http.StatusSeeOther || !slices.Equal(d.calls, []string{"ask_claim"}) {
		t.Errorf("asking for the link: %d %v", got.Code, d.calls)
	}
}

// traveller keeps the cookies of a browser that prefers German.
type traveller struct {
	t       *testing.T
	d       *fakeOrders
	cookies map[string]string
}

func (v *traveller) visit(path string, fields url.Values) response {
	v.t.Helper()
	r := httptest.NewRequest(http.MethodGet, base+path, nil)
	if fields != nil {
		r = httptest.NewRequest(http.MethodPost, base+path, strings.NewReader(fields.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	r.Header.Set("Accept-Language", "de")
	for name, value := range v.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	got := send(v.t, v.d, r)
	for _, cookie := range got.Result().Cookies() {
		v.cookies[cookie.Name] = cookie.Value
	}
	return got
}

const languageName = "dotkontor_lang"

func TestClaim_LanguageIsKeptThroughJourney(t *testing.T) {
	t.Parallel()
	claimPage := "/checkout/claim?link=" + claimSecret
	for name, test := range map[string]struct {
		contact, chosen, want, cookie string
	}{
		"the guest's":                     {contact: "en", want: "en", cookie: "en-account"},
		"chosen before":                   {contact: "en", chosen: "de", want: "de", cookie: "de"},
		"the guest's, like the browser's": {contact: "de", want: "de", cookie: "de-account"},
		"chosen against the guest's":      {contact: "de", chosen: "en", want: "en", cookie: "en"},
	} {
		view := ownView(order.Provisioning)
		view.Order.Contact.Language = test.contact
		v := &traveller{t, &fakeOrders{view: view}, map[string]string{}}
		if test.chosen != "" {
			v.cookies[languageName] = test.chosen
		}
		page := `<html lang="` + test.want + `"`
		v.visit(claimPage, nil).wantPage(http.StatusOK, []string{page}, nil)
		if v.cookies[languageName] != test.cookie {
			t.Errorf("%s: the cookie is %q", name, v.cookies[languageName])
		}
		v.visit("/checkout/claim", url.Values{"link": {claimSecret}}) // leads to the sign-in
		v.visit("/checkout/claim", url.Values{"link": {"expired"}})
		v.d.view = foreignView(order.AwaitingPayment)
		v.visit(payPage, nil).wantPage(http.StatusOK, []string{page}, nil)
		v.visit("/checkout/claim?link=expired", nil).wantPage(http.StatusNotFound, []string{page}, nil)
		if v.cookies[languageName] != test.cookie {
			t.Errorf("%s: after the journey the cookie is %q", name, v.cookies[languageName])
		}
	}
}

func TestPay_LanguageIsKeptThroughJourney(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		account, chosen, want, cookie string
	}{
		"the account's": {account: "en", want: "en", cookie: "en-account"},
		"chosen before": {account: "en", chosen: "de", want: "de", cookie: "de"},
		"unknown":       {want: "de"},
	} {
		view := foreignView(order.AwaitingPayment)
		view.Owner.Language = test.account
		v := &traveller{t, &fakeOrders{view: view, err: refusal(registrar.KindForbidden, order.NotYours)}, map[string]string{}}
		if test.chosen != "" {
			v.cookies[languageName] = test.chosen
		}
		page := `<html lang="` + test.want + `"`
		v.visit(payPage, nil).wantPage(http.StatusOK, []string{page}, nil)
		v.visit(payPage+"/pay", url.Values{"gross": {"3570"}}).wantPage(http.StatusForbidden, []string{page}, nil)
		v.visit(payPage+"/claim", url.Values{})
		v.visit(payPage, nil).wantPage(http.StatusOK, []string{page}, nil)
		if v.cookies[languageName] != test.cookie {
			t.Errorf("%s: the cookie is %q", name, v.cookies[languageName])
		}
		// Once signed in, the account's language counts, which the sign-in has set to the choice.
		v.d.view = ownView(order.AwaitingPayment)
		v.cookies["__Host-dotkontor"] = map[string]string{"de": "erika", "en": "english"}[test.want]
		v.visit(payPage, nil).wantPage(http.StatusOK, []string{page}, nil)
	}
}
