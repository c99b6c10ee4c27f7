package payments

import (
	"strconv"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	sandbox "github.com/dotkontor/dotkontor/internal/sandbox/stripe"
)

func (s *env) prepareCharge(t *testing.T, id, token string, amount registrar.Cents) order.Charge {
	t.Helper()
	charge := order.Charge{ID: id, Order: "ord_1", Amount: amount, Token: token}
	intent, err := s.client.PrepareCharge(t.Context(), charge)
	if err != nil {
		t.Fatal(err)
	}
	charge.Intent = intent
	return charge
}

func TestToken_PaysOnce(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	if err := s.client.CheckToken(t.Context(), "spt_ok_1", 1190, time.Now()); err != nil {
		t.Fatal(err)
	}
	charge := s.prepareCharge(t, "pay_1", "spt_ok_1", 1190)
	for range 2 { // the second is a retry
		got, err := s.client.Charge(t.Context(), charge)
		if err != nil || !got.Status.Paid || got.Status.Amount != 1190 || got.Status.Payment != "pay_1" || got.Status.Card == "" {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	s.waitForEvent(t, order.Event{Intent: charge.Intent})
	if err := s.client.CheckToken(t.Context(), "spt_ok_1", 1190, time.Now()); registrar.CodeOf(err) != order.PaymentDeclined {
		t.Errorf("spent token: %v", err)
	}
	second := s.prepareCharge(t, "pay_2", "spt_ok_1", 1190)
	if got, err := s.client.Charge(t.Context(), second); err != nil || got.Declined != order.PaymentDeclined {
		t.Errorf("spent token: %+v, %v", got, err)
	}
	if got, err := s.client.CancelCharge(t.Context(), charge.Intent); err != nil || !got.Paid {
		t.Errorf("canceling a paid intent: %+v, %v", got, err)
	}
	if got, err := s.client.CancelCharge(t.Context(), second.Intent); err != nil || !got.Ended || got.Paid {
		t.Errorf("canceling an unpaid intent: %+v, %v", got, err)
	}
	if id, err := s.client.Refund(t.Context(), order.RefundRequest{ID: "ref_1", Order: "ord_1", Intent: charge.Intent, Amount: 1190, Reason: "failed_item"}, false); err != nil || id == "" {
		t.Errorf("the refund: %q, %v", id, err)
	}
}

// The sandbox documents tokens as a prefix with any suffix.
func TestToken_AnySuffixIsAccepted(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	for i, token := range []string{
		"spt_ok", "spt_ok-1", "spt_ok.2026-11-15T09:00:00Z", "spt_ok/../charges", "spt_ok?x=1&y=2#z", "spt_ok 100%", "spt_ok+ä€", "spt_ok%2F..",
	} {
		if err := s.client.CheckToken(t.Context(), token, 1190, time.Now()); err != nil {
			t.Errorf("%q: %v", token, err)
			continue
		}
		charge := s.prepareCharge(t, "pay_"+strconv.Itoa(i), token, 1190)
		if got, err := s.client.Charge(t.Context(), charge); err != nil || !got.Status.Paid {
			t.Errorf("%q: %+v, %v", token, got, err)
		}
	}
}

func TestToken_PrefixDecidesOutcome(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	for token, want := range map[string]registrar.Code{
		"spt_ok_a": "", "spt_declined_a": "", "spt_human_a": "", "spt_expired_a": order.TokenExpired, "spt_small_a": order.TokenTooSmall,
		"spt_other": order.PaymentDeclined,
	} {
		if err := s.client.CheckToken(t.Context(), token, 1190, time.Now()); registrar.CodeOf(err) != want {
			t.Errorf("%s: %v", token, err)
		}
	}
	for token, want := range map[string]order.ChargeOutcome{
		"spt_declined_a": {Declined: order.PaymentDeclined}, "spt_expired_a": {Declined: order.PaymentDeclined},
		"spt_small_a": {Declined: order.PaymentDeclined}, "spt_human_a": {NeedsHuman: true},
	} {
		charge := s.prepareCharge(t, "pay_"+token, token, 1190)
		got, err := s.client.Charge(t.Context(), charge)
		if err != nil || got.Declined != want.Declined || got.NeedsHuman != want.NeedsHuman || got.Status.Paid {
			t.Errorf("%s: %+v, %v", token, got, err)
		}
		if status, err := s.client.CancelCharge(t.Context(), charge.Intent); err != nil || !status.Ended {
			t.Errorf("%s can't be canceled: %+v, %v", token, status, err)
		}
		if got, err := s.client.Charge(t.Context(), order.Charge{ID: "pay_again_" + token, Intent: charge.Intent, Token: "spt_ok_b"}); err != nil || got.Status.Paid {
			t.Errorf("%s was paid after it was canceled: %+v, %v", token, got, err)
		}
	}
}

func TestCharge_LostResponseChargesOnce(t *testing.T) {
	t.Parallel()
	for _, do := range []string{"fail_after", "drop_after", "fail_before", "drop_before", "fail_kept"} {
		t.Run(do, func(t *testing.T) {
			t.Parallel()
			s := newEnv(t)
			charge := s.prepareCharge(t, "pay_1", "spt_ok_1", 1190)
			if err := s.server.Fault(sandbox.Fault{On: "intent.confirm", Do: do, Times: 1}); err != nil {
				t.Fatal(err)
			}
			_, err := s.client.Charge(t.Context(), charge)
			if (err != nil) != (do == "fail_kept") {
				t.Errorf("charging: %v", err)
			}
			status, err := s.client.CancelCharge(t.Context(), charge.Intent)
			if err != nil || !status.Paid {
				t.Errorf("%+v, %v", status, err)
			}
			charges := 0
			for one, err := range s.client.Charges(t.Context()) {
				if err != nil || one.Payment != "pay_1" || one.Amount != 1190 {
					t.Errorf("%+v, %v", one, err)
				}
				charges++
			}
			if charges != 1 {
				t.Errorf("%d charges", charges)
			}
		})
	}
}
