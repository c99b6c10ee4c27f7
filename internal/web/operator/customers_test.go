package operator

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// An item that was never paid waits for nothing once its order has ended.
func TestOrderRecord_ItemOfEndedOrderDoesNotWait(t *testing.T) {
	t.Parallel()
	for state, want := range map[order.State]string{order.AwaitingPayment: "waiting", order.Expired: "expired", order.Canceled: "canceled"} {
		if got := (OrderRecord{Order: order.Order{State: state}}).StateOf(order.Item{State: order.ItemWaiting}); got != want {
			t.Errorf("%s: %s", state, got)
		}
	}
	if got := (OrderRecord{Order: order.Order{State: order.PartiallyCompleted}}).StateOf(order.Item{State: order.ItemRefunded}); got != "refunded" {
		t.Error(got)
	}
}

func TestCustomerRecord_LogNamesDomainsInsteadOfIDs(t *testing.T) {
	t.Parallel()
	known := "ord_01h00000000000000000000000"
	record := CustomerRecord{Orders: []order.Order{{ID: known, Items: []order.Item{{Name: "eins.de"}, {Name: "zwei.de"}}}}}
	if o := record.OrderOf(known); o == nil || o.Name != "eins.de" || o.More() != 1 {
		t.Errorf("%+v", o)
	}
	if o := record.OrderOf("ord_01h00000000000000000000001"); o != nil {
		t.Errorf("an order that was not read: %+v", o)
	}
	for text, want := range map[string]string{"ses_01h00000000000000000000000": "", known: known, "eins.de": "eins.de", "password": "password"} {
		if got := record.Readable(text); got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
	refund := OrderRecord{Operators: map[string]string{"cus_1": "ops@example.org"}}
	if got := refund.OperatorOf(order.Refund{By: "cus_1"}) + " " + refund.OperatorOf(order.Refund{By: "root"}); got != "ops@example.org root" {
		t.Error(got)
	}
}
