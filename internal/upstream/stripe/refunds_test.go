package stripe

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

var sampleRefund = order.RefundRequest{ID: "ref_1", Order: "ord_1", Intent: "pi_1", Amount: 1190, Reason: "failed_item"}

// undisputed are the charges of a payment without a dispute.
const undisputed = `{"object":"list","has_more":false,"data":[{"id":"ch_1","disputed":false}]}`

func TestRefund_SendsOurIDAsKeyAndMetadata(t *testing.T) {
	t.Parallel()
	withScript(t, func(t *testing.T, c *Client, s *scriptedTransport) {
		id, err := c.Refund(t.Context(), sampleRefund, false)
		if err != nil || id != "re_1" || len(s.sent) != 2 {
			t.Fatalf("got %q, %v after %d calls", id, err, len(s.sent))
		}
		form := s.sent[1].form
		if s.sent[1].key != "ref_1" || form.Get("metadata[refund]") != "ref_1" || form.Get("metadata[order]") != "ord_1" ||
			form.Get("metadata[reason]") != "failed_item" || form.Get("payment_intent") != "pi_1" || form.Get("amount") != "1190" {
			t.Errorf("sent %+v", s.sent[1])
		}
	}, ok(undisputed), ok(`{"id":"re_1","status":"pending"}`))
}

func TestRefund_SearchesBeforeRepeating(t *testing.T) {
	t.Parallel()
	first := `{"object":"list","has_more":true,"url":"/v1/refunds","data":[{"id":"re_8","status":"succeeded","metadata":{"refund":"ref_8"}},{"id":"re_9","status":"succeeded"}]}`
	withScript(t, func(t *testing.T, c *Client, s *scriptedTransport) {
		id, err := c.Refund(t.Context(), sampleRefund, true)
		if err != nil || id != "re_1" {
			t.Errorf("got %q, %v", id, err)
		}
		for _, request := range s.sent {
			if request.method != http.MethodGet || request.form.Get("payment_intent") != "pi_1" {
				t.Errorf("sent %+v", request)
			}
		}
		if len(s.sent) != 2 || s.sent[1].form.Get("starting_after") != "re_9" {
			t.Errorf("the second page was not read: %+v", s.sent)
		}
	}, ok(first), ok(`{"object":"list","has_more":false,"data":[{"id":"re_1","status":"succeeded","metadata":{"refund":"ref_1"}}]}`))
	withScript(t, func(t *testing.T, c *Client, s *scriptedTransport) {
		id, err := c.Refund(t.Context(), sampleRefund, true)
		if err != nil || id != "re_1" || len(s.sent) != 3 || s.sent[2].method != http.MethodPost {
			t.Errorf("got %q, %v after %+v", id, err, s.sent)
		}
	}, ok(`{"object":"list","has_more":false,"data":[]}`), ok(undisputed), ok(`{"id":"re_1","status":"succeeded"}`))
}

func TestRefund_FailedSearchCreatesNone(t *testing.T) {
	t.Parallel()
	withScript(t, func(t *testing.T, c *Client, s *scriptedTransport) {
		if _, err := c.Refund(t.Context(), sampleRefund, true); registrar.KindOf(err) != registrar.KindUpstream {
			t.Errorf("got %v", err)
		}
		for _, request := range s.sent {
			if request.method != http.MethodGet {
				t.Errorf("sent %+v", request)
			}
		}
	}, errorResponse(http.StatusInternalServerError, "api_error", ""))
}

func TestRefund_FailedAtBankIsRefundFailed(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"failed", "canceled"} {
		withScript(t, func(t *testing.T, c *Client, _ *scriptedTransport) {
			if id, err := c.Refund(t.Context(), sampleRefund, true); registrar.CodeOf(err) != RefundFailed || registrar.KindOf(err) != registrar.KindConflict {
				t.Errorf("%s: got %q, %v", status, id, err)
			}
		}, ok(`{"object":"list","data":[{"id":"re_1","status":"`+status+`","metadata":{"refund":"ref_1"}}]}`))
	}
}

func TestRefund_DisputedChargeOnlyIfRefundable(t *testing.T) {
	t.Parallel()
	const disputed = `{"object":"list","has_more":false,"data":[{"id":"ch_1","disputed":true}]}`
	withScript(t, func(t *testing.T, c *Client, s *scriptedTransport) {
		if _, err := c.Refund(t.Context(), sampleRefund, false); registrar.CodeOf(err) != order.ChargeDisputed || registrar.KindOf(err) != registrar.KindConflict {
			t.Errorf("got %v", err)
		}
		if len(s.sent) != 2 || s.sent[1].form.Get("charge") != "ch_1" {
			t.Errorf("sent %+v", s.sent)
		}
	}, ok(disputed), ok(`{"object":"list","has_more":false,"data":[{"id":"du_1","is_charge_refundable":false}]}`))
	withScript(t, func(t *testing.T, c *Client, _ *scriptedTransport) {
		if _, err := c.Refund(t.Context(), sampleRefund, false); registrar.CodeOf(err) != order.ChargeLost || registrar.KindOf(err) != registrar.KindConflict {
			t.Errorf("lost: got %v", err)
		}
	}, ok(disputed), ok(`{"object":"list","has_more":false,"data":[{"id":"du_1","status":"lost","is_charge_refundable":false}]}`))
	withScript(t, func(t *testing.T, c *Client, s *scriptedTransport) {
		if id, err := c.Refund(t.Context(), sampleRefund, false); err != nil || id != "re_1" || len(s.sent) != 3 {
			t.Errorf("got %q, %v after %d calls", id, err, len(s.sent))
		}
	}, ok(disputed), ok(`{"object":"list","has_more":false,"data":[{"id":"du_1","is_charge_refundable":true}]}`), ok(`{"id":"re_1","status":"succeeded"}`))
}

func TestListRefunds_ReportsOurIDAndFailure(t *testing.T) {
	t.Parallel()
	const list = `{"object":"list","has_more":false,"data":[{"id":"re_2","amount":500,"status":"failed","payment_intent":"pi_1"},` +
		`{"id":"re_1","amount":1190,"status":"succeeded","payment_intent":"pi_1","metadata":{"refund":"ref_1"}}]}`
	want := []order.ProviderRefund{{ID: "re_2", Intent: "pi_1", Amount: 500, Failed: true}, {ID: "re_1", Intent: "pi_1", Refund: "ref_1", Amount: 1190}}
	withScript(t, func(t *testing.T, c *Client, s *scriptedTransport) {
		if got, err := c.ListRefunds(t.Context(), "pi_1"); err != nil || !slices.Equal(got, want) || s.sent[0].form.Get("payment_intent") != "pi_1" {
			t.Errorf("got %+v, %v", got, err)
		}
	}, ok(list))
	withScript(t, func(t *testing.T, c *Client, s *scriptedTransport) {
		var got []order.ProviderRefund
		for one, err := range c.RefundsSince(t.Context(), time.Unix(1_800_000_000, 0)) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, one)
		}
		if !slices.Equal(got, want) || s.sent[0].form.Get("created[gte]") != "1800000000" {
			t.Errorf("got %+v after %+v", got, s.sent)
		}
	}, ok(list))
}
