package checkout

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

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
