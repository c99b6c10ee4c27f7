package stripe

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing/reconcile"
)

// newListClient serves 250 charges and 250 refunds, newest first like Stripe. Every
// tenth charge and every tenth refund failed. Each page fails once.
func newListClient(t *testing.T) *Client {
	t.Helper()
	const total = 250
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1)%2 == 1 {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, `{"error":{"type":"api_error"}}`)
			return
		}
		first := total
		if after := r.URL.Query().Get("starting_after"); after != "" {
			number, err := strconv.Atoi(after[3:])
			if err != nil {
				t.Errorf("starting_after is %q", after)
			}
			first = number - 1
		}
		if r.URL.Query().Get("limit") != "100" {
			t.Errorf("requested %s", r.URL)
		}
		var page []string
		for n := first; n > 0 && len(page) < 100; n-- {
			status := "succeeded"
			if n%10 == 0 {
				status = "failed"
			}
			one := fmt.Sprintf(`{"id":"ch_%d","amount":%d,"amount_captured":%d,"amount_refunded":%d,"captured":%t,"currency":"eur","created":%d,"status":%q,"payment_intent":"pi_%d","metadata":{"payment":"pay_%d"}}`,
				n, n, n, n/2, status == "succeeded", 1000+n, status, n, n)
			if r.URL.Path == "/v1/refunds" {
				one = fmt.Sprintf(`{"id":"re_%d","amount":%d,"created":%d,"status":%q,"payment_intent":"pi_%d","metadata":{"refund":"ref_%d"}}`, n, n, 1000+n, status, n, n)
			}
			page = append(page, one)
		}
		_, _ = fmt.Fprintf(w, `{"object":"list","has_more":%t,"data":[%s]}`, first > 100, strings.Join(page, ","))
	}))
	t.Cleanup(server.Close)
	return New(Options{Key: "sk_test_lists", URL: server.URL})
}

func TestCharges_ListsEachSuccessfulChargeOnce(t *testing.T) {
	t.Parallel()
	var ids []string
	for charge, err := range newListClient(t).Charges(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, charge.ID)
		if charge.ID != "ch_7" {
			continue
		}
		if at := charge.CreatedAt.Unix(); at != 1007 || charge.Intent != "pi_7" || charge.Payment != "pay_7" || charge.Amount != 7 || charge.Refunded != 3 || charge.Currency != "eur" {
			t.Errorf("got %+v", charge)
		}
	}
	slices.Sort(ids)
	if ids = slices.Compact(ids); len(ids) != 225 || slices.Contains(ids, "ch_10") {
		t.Errorf("%d charges, want 225 that succeeded", len(ids))
	}
}

func TestRefunds_ListsEachRefundWithFailures(t *testing.T) {
	t.Parallel()
	seen := make(map[string]reconcile.ProviderRefund)
	for refund, err := range newListClient(t).Refunds(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		seen[refund.ID] = refund
	}
	if got := seen["re_7"]; len(seen) != 250 || got.Failed || got.Refund != "ref_7" || got.Intent != "pi_7" || got.Amount != 7 || got.CreatedAt.Unix() != 1007 || !seen["re_10"].Failed {
		t.Errorf("%d refunds, got %+v", len(seen), got)
	}
}

func TestCharges_StopsAfterListError(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"error":{"type":"invalid_request_error"}}`)
	}))
	t.Cleanup(server.Close)
	client := New(Options{Key: "sk_test_lists", URL: server.URL})
	count := 0
	for _, err := range client.Charges(t.Context()) {
		count++
		if registrar.CodeOf(err) != KeyRefused {
			t.Errorf("got %v", err)
		}
	}
	if count != 1 {
		t.Errorf("the sequence had %d entries", count)
	}
}
