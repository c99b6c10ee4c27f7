package checkout

import (
	"slices"
	"testing"
	"time"

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
	for name, test := range map[string]struct {
		item     provision.Item
		order    order.Order
		stateKey string
		events   []string
	}{
		"paid":     {provision.Item{Name: "tee.com", State: provision.StatePaid}, paid, "item.provisioning.transfer", []string{"transfers.paid", "transfers.soon"}},
		"pending":  {provision.Item{Name: "tee.com", State: provision.StatePending}, paid, "item.provisioning.transfer", []string{"transfers.paid", "transfers.requested", "transfers.expected"}},
		"done":     {provision.Item{Name: "tee.com", State: provision.StateActive}, paid, "item.active.transfer", []string{"transfers.paid", "transfers.done"}},
		"failed":   {provision.Item{Name: "tee.com", State: provision.StateFailed}, paid, "item.failed", []string{"transfers.paid", "transfers.failed", "transfers.refund_due"}},
		"refunded": {provision.Item{Name: "tee.com", State: provision.StateFailed}, refunded, "item.refunded", []string{"transfers.paid", "transfers.failed", "transfers.refunded"}},
		"free":     {provision.Item{Name: "gratis.at", State: provision.StateFailed}, refunded, "item.failed.free", []string{"transfers.paid", "transfers.failed"}},
	} {
		test.item.Payment, test.item.RequestedAt = "order:ord_1", day
		row, err := h.newTransferRow(nil, test.item, map[string]order.Order{"ord_1": test.order})
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
