package checkout

import (
	"slices"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

func TestTransferTimeline_FollowsItemAndRefund(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	h := newTestHandler(t, &fakeOrders{})
	h.TransferTerms = func(string) (int, int) { return 1, 5 }
	paid := order.Order{ID: "ord_1", Items: []order.Item{{ID: "itm_1", Name: "tee.com", Gross: 1535}, {ID: "itm_2", Name: "gratis.at"}}}
	refunded := paid
	refunded.Refunds = []order.Refund{{Item: "itm_1", Provider: "re_1", MadeAt: day}}
	returned, repeated := paid, paid
	returned.Refunds = []order.Refund{{ID: "ref_1", Item: "itm_1", Provider: "re_1", MadeAt: day, Failure: order.ReturnedByBank, FailedAt: day, Task: order.TaskReturned}}
	repeated.Refunds = []order.Refund{
		{ID: "ref_1", Item: "itm_1", Provider: "re_1", MadeAt: day, Failure: order.ReturnedByBank, FailedAt: day},
		{ID: "ref_2", Source: order.ByOperator, Parts: []order.RefundPart{{Item: "itm_1", Gross: 1535}}, Replaces: "ref_1", Provider: "re_2", MadeAt: day},
	}
	settled := paid
	settled.Refunds = repeated.Refunds[:1]
	for name, test := range map[string]struct {
		item     provision.Item
		order    order.Order
		stateKey string
		events   []string
	}{
		"paid":     {provision.Item{Name: "tee.com", State: provision.StatePaid, CreatedAt: noon}, paid, "item.provisioning.transfer", []string{"transfers.paid", "transfers.sending"}},
		"refused":  {provision.Item{Name: "tee.com", State: provision.StateRequested, CreatedAt: noon.AddDate(0, 0, -1)}, paid, "item.provisioning.transfer", []string{"transfers.paid", "transfers.delayed"}},
		"pending":  {provision.Item{Name: "tee.com", State: provision.StatePending}, paid, "item.provisioning.transfer", []string{"transfers.paid", "transfers.requested", "transfers.expected"}},
		"done":     {provision.Item{Name: "tee.com", State: provision.StateActive}, paid, "item.active.transfer", []string{"transfers.paid", "transfers.done"}},
		"failed":   {provision.Item{Name: "tee.com", State: provision.StateFailed}, paid, "item.failed", []string{"transfers.paid", "transfers.failed", "transfers.refund_due"}},
		"refunded": {provision.Item{Name: "tee.com", State: provision.StateFailed}, refunded, "item.refunded", []string{"transfers.paid", "transfers.failed", "transfers.refunded"}},
		"returned": {provision.Item{Name: "tee.com", State: provision.StateFailed}, returned, "item.failed", []string{"transfers.paid", "transfers.failed", "transfers.refund_returned", "transfers.refund_again"}},
		"repeated": {provision.Item{Name: "tee.com", State: provision.StateFailed}, repeated, "item.refunded", []string{"transfers.paid", "transfers.failed", "transfers.refunded"}},
		"settled":  {provision.Item{Name: "tee.com", State: provision.StateFailed}, settled, "item.refunded", []string{"transfers.paid", "transfers.failed", "transfers.refund_returned", "transfers.refund_settled"}},
		"free":     {provision.Item{Name: "gratis.at", State: provision.StateFailed}, refunded, "item.failed.free", []string{"transfers.confirmed", "transfers.failed"}},
	} {
		test.item.Payment, test.item.RequestedAt = "order:ord_1", day
		row, err := h.newTransferRow(nil, test.item, nil, map[string]order.Order{"ord_1": test.order})
		var keys []string
		for _, event := range row.Events {
			keys = append(keys, event.Key)
			if event.Key == "transfers.expected" && !event.At.Equal(day.AddDate(0, 0, 5)) {
				t.Errorf("%s: expected by %s", name, event.At)
			}
		}
		if err != nil || row.StateKey != test.stateKey || !slices.Equal(keys, test.events) {
			t.Errorf("%s: %+v, %v", name, row, err)
		}
	}
}

func TestTransferTimeline_ShowsEveryOutcomeWithItsDate(t *testing.T) {
	t.Parallel()
	paidAt := time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)
	requested, decided := paidAt.Add(time.Minute), paidAt.AddDate(0, 0, 3)
	h := newTestHandler(t, &fakeOrders{})
	h.TransferTerms = func(string) (int, int) { return 1, 5 }
	o := order.Order{ID: "ord_1", Items: []order.Item{{ID: "itm_1", Name: "tee.com", Gross: 1535}}, Refunds: []order.Refund{{Item: "itm_1", Provider: "re_1", MadeAt: decided}}}
	report := func(status string) inbox.Transfer {
		return inbox.Transfer{Status: status, RequestedAt: requested, DecidedAt: decided, Ours: true}
	}
	others := []inbox.Transfer{
		{Status: "clientRejected", RequestedAt: paidAt.AddDate(1, 0, 0), Ours: true}, // a later order
		{Status: "clientCancelled", RequestedAt: paidAt, DecidedAt: decided},         // another registrar's
		{Status: "clientRejected", RequestedAt: paidAt.AddDate(-1, 0, 0), Ours: true},
	}
	failed := func(outcome string) []string {
		return []string{"transfers.paid", "transfers.requested", outcome, "transfers.failed", "transfers.refunded"}
	}
	done := func(outcome string) []string {
		return []string{"transfers.paid", "transfers.requested", outcome, "transfers.done"}
	}
	for _, test := range []struct {
		status string
		state  provision.State
		events []string
	}{
		{"pending", provision.StatePending, []string{"transfers.paid", "transfers.requested", "transfers.expected"}},
		{"clientApproved", provision.StatePending, []string{"transfers.paid", "transfers.requested", "transfers.approved", "transfers.soon"}},
		{"clientApproved", provision.StateActive, done("transfers.approved")},
		{"serverApproved", provision.StateActive, done("transfers.timed_out")},
		{"clientRejected", provision.StateFailed, failed("transfers.rejected")},
		{"clientCancelled", provision.StateFailed, failed("transfers.cancelled")},
		{"serverCancelled", provision.StateFailed, failed("transfers.cancelled")},
	} {
		item := provision.Item{Name: "tee.com", State: test.state, Payment: "order:ord_1", CreatedAt: paidAt, RequestedAt: requested}
		reports := append([]inbox.Transfer{others[0], report(test.status)}, others[1:]...)
		row, err := h.newTransferRow(nil, item, reportsOf(item, reports), map[string]order.Order{"ord_1": o})
		var keys []string
		for _, event := range row.Events {
			keys = append(keys, event.Key)
			if slices.Contains([]string{"transfers.approved", "transfers.timed_out", "transfers.rejected", "transfers.cancelled"}, event.Key) && !event.At.Equal(decided) {
				t.Errorf("%s: %s at %s", test.status, event.Key, event.At)
			}
		}
		if err != nil || !slices.Equal(keys, test.events) {
			t.Errorf("%s, %s: %v, %v", test.status, test.state, keys, err)
		}
	}
}
