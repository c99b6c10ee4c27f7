package store

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/billing/reconcile"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

func TestReconcile_MapsEveryState(t *testing.T) {
	t.Parallel()
	for state, want := range map[order.PaymentState]reconcile.PaymentStatus{
		order.PaymentOpening: reconcile.PaymentInFlight, order.PaymentOpen: reconcile.PaymentInFlight, order.PaymentClosing: reconcile.PaymentInFlight,
		order.PaymentCaptured: reconcile.PaymentCaptured, order.PaymentUnmatched: reconcile.PaymentUnmatched, order.PaymentRefunded: reconcile.PaymentRefunded, order.PaymentClosed: reconcile.PaymentClosed,
	} {
		booked := reconcileOrderOf(order.Order{Payments: []order.Payment{{ID: "pay_1", State: state, Amount: 7, Intent: "pi_1"}}})
		if got := booked.Payments[0]; got.Status != want || got.Amount != 7 || got.Intent != "pi_1" {
			t.Errorf("%s: %+v", state, got)
		}
	}
	for state, want := range map[order.ItemState]reconcile.Stage{
		order.ItemWaiting: reconcile.ItemOpen, order.ItemProvisioning: reconcile.ItemOpen, order.ItemActive: reconcile.ItemDone, order.ItemFailed: reconcile.ItemFailed, order.ItemRefunded: reconcile.ItemRefunded,
	} {
		if got := reconcileOrderOf(order.Order{Items: []order.Item{{State: state}}}).Items[0].Stage; got != want {
			t.Errorf("%s: %q", state, got)
		}
	}
	for state, want := range map[provision.State]reconcile.Stage{
		provision.StatePaid: reconcile.ItemOpen, provision.StatePending: reconcile.ItemOpen, provision.StateUndoing: reconcile.ItemOpen, provision.StateActive: reconcile.ItemDone, provision.StateFailed: reconcile.ItemFailed,
	} {
		if got := reconcileItemOf(provision.Item{State: state}).Stage; got != want {
			t.Errorf("%s: %q", state, got)
		}
	}
	if got := reconcileItemOf(provision.Item{Payment: order.PaymentOf("ord_1")}).Order; got != "ord_1" {
		t.Errorf("an item of an order: %q", got)
	}
	if got := reconcileItemOf(provision.Item{Payment: "manual:R-1"}).Order; got != "" {
		t.Errorf("an item added by an operator: %q", got)
	}
	for state, want := range map[order.State][2]bool{
		order.AwaitingVerification: {false, false}, order.AwaitingPayment: {false, false}, order.Paying: {false, false},
		order.Provisioning: {true, false}, order.Completed: {true, true}, order.Expired: {false, true},
	} {
		o := order.Order{State: state}
		if want[0] {
			o.PaidAt = time.Unix(1, 0)
		}
		if got := reconcileOrderOf(o); got.Paid != want[0] || got.Ended != want[1] {
			t.Errorf("%s: %+v", state, got)
		}
	}
}

func TestReconcile_ReadsAllPages(t *testing.T) {
	t.Parallel()
	all := make([]string, 2*reconcilePageSize+1)
	for i := range all {
		all[i] = fmt.Sprintf("%05d", i+1)
	}
	asked := 0
	next := func(after string, limit int) ([]string, error) {
		asked++
		first, _ := slices.BinarySearch(all, after+"\x00")
		return all[first:min(first+limit, len(all))], nil
	}
	same := func(text string) string { return text }
	var read []string
	for one, err := range pages(next, same, same) {
		if err != nil {
			t.Fatal(err)
		}
		read = append(read, one)
	}
	if !slices.Equal(read, all) || asked != 3 {
		t.Errorf("%d rows in %d pages, want %d in 3", len(read), asked, len(all))
	}
	cut := errors.New("cut off")
	for _, err := range pages(func(string, int) ([]string, error) { return nil, cut }, same, same) {
		if !errors.Is(err, cut) {
			t.Errorf("got %v", err)
		}
	}
}
