package order_test

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

func TestResultOf_OnlyFinalItemsOfOrders(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		item provision.Item
		want order.ItemResult
		ok   bool
	}{
		{provision.Item{Payment: order.PaymentOf("ord_1"), State: provision.StateActive}, order.ItemResult{Order: "ord_1", State: order.ItemActive}, true},
		{provision.Item{Payment: order.PaymentOf("ord_1"), State: provision.StateFailed, Failure: "taken"}, order.ItemResult{Order: "ord_1", State: order.ItemFailed, Failure: "taken"}, true},
		{provision.Item{Payment: order.PaymentOf("ord_1"), State: provision.StatePaid}, order.ItemResult{}, false},
		{provision.Item{Payment: "manual:1", State: provision.StateActive}, order.ItemResult{}, false},
	} {
		if got, ok := order.ResultOf(test.item); got != test.want || ok != test.ok {
			t.Errorf("%+v: got %+v, %t", test.item, got, ok)
		}
	}
}

func TestSpending_TotalIsLargestSumPlusPaying(t *testing.T) {
	t.Parallel()
	for want, spent := range map[int]order.Spending{
		0: {},
		6: {Paying: 1, ByAccount: 5, ByEmail: 3},
		8: {Paying: 1, ByAccount: 5, ByEmail: 7},
		9: {ByAccount: 5, ByEmail: 7, ByCard: 9},
	} {
		if got := spent.Total(); int(got) != want {
			t.Errorf("%+v: got %d, want %d", spent, got, want)
		}
	}
}

func TestTransition_LocksBuyerWhoClaimsOrStartsToPay(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		from, to order.Order
		want     bool
	}{
		{order.Order{State: order.AwaitingPayment, Claimed: true}, order.Order{State: order.Paying, Claimed: true}, true},
		{order.Order{State: order.AwaitingPayment, Claimed: true}, order.Order{State: order.Provisioning, Claimed: true}, true},
		{order.Order{State: order.Paying, Claimed: true}, order.Order{State: order.Provisioning, Claimed: true}, false},
		{order.Order{State: order.AwaitingPayment}, order.Order{State: order.AwaitingPayment, Claimed: true}, true},
		{order.Order{State: order.AwaitingPayment}, order.Order{State: order.Paying}, false},
	} {
		if got := (order.Transition{From: test.from, To: test.to}).LocksBuyer(); got != test.want {
			t.Errorf("from %s to %s: got %t", test.from.State, test.to.State, got)
		}
	}
}
