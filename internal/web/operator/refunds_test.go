package operator

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func TestRefundRefusal_NamesWhyNothingCanBeRefunded(t *testing.T) {
	t.Parallel()
	paid := order.Order{
		State: order.Completed, Totals: order.Totals{Gross: 1190}, Items: []order.Item{{ID: "itm_1", Gross: 1190, State: order.ItemActive}},
		Payments: []order.Payment{{ID: "pay_1", State: order.PaymentCaptured, Amount: 1190}},
	}
	inProgress, unpaid := paid, paid
	inProgress.State, unpaid.Payments = order.Provisioning, nil
	disputed := func(status dispute.Status, refundable bool) []dispute.Dispute {
		return []dispute.Dispute{{Report: dispute.Report{Status: status, Refundable: refundable}}}
	}
	for name, test := range map[string]struct {
		order    order.Order
		disputes []dispute.Dispute
		want     registrar.Code
	}{
		"completed":          {paid, nil, ""},
		"inquiry":            {paid, disputed(dispute.WarningNeedsResponse, true), ""},
		"won":                {paid, disputed(dispute.Won, false), ""},
		"disputed":           {paid, disputed(dispute.NeedsResponse, false), order.ChargeDisputed},
		"lost":               {paid, disputed(dispute.Lost, false), order.ChargeLost},
		"still provisioning": {inProgress, nil, order.OrderInProgress},
		"unpaid":             {unpaid, nil, order.OrderNotPaid},
	} {
		if got := (OrderRecord{Order: test.order, Disputes: test.disputes}).RefundRefusal(); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestWithdrawnItem_OnlyWhatTheNoticeNames(t *testing.T) {
	t.Parallel()
	paid := order.Order{
		Totals: order.Totals{Gross: 3000}, Payments: []order.Payment{{ID: "pay_1", State: order.PaymentCaptured, Amount: 3000}},
		Items: []order.Item{{ID: "itm_1", Name: "teeladen.de", Gross: 1000}, {ID: "itm_2", Name: "laden.de", Gross: 1000}, {ID: "itm_3", Name: "haus.de", Gross: 1000}},
	}
	begun := paid
	begun.Refunds = []order.Refund{{ID: "ref_1", Payment: "pay_1", Provider: "re_1", Amount: 1000, Source: order.ByOperator, Parts: []order.RefundPart{{Item: "itm_1", Gross: 1000}}}}
	for _, test := range []struct {
		order          order.Order
		contract, want string
		named          int
	}{
		{paid, "teeladen.de", "itm_1", 1},
		{paid, "Domain LADEN.DE, 3.11.2026", "itm_2", 1},
		{paid, "teeladen.de und laden.de", "itm_1", 2},
		{begun, "teeladen.de und laden.de", "itm_2", 2},
		{paid, "teeladen.de, laden.de, haus.de", "", 3},
		{paid, "ord_06f0000000000000000000", "", 3},
		{paid, "meinteeladen.de", "", 3},
		{paid, "Bestellung ord_1 (laden.de)", "itm_2", 1},
		{paid, "", "", 3},
	} {
		if got := withdrawnItem(test.order, test.contract); got != test.want {
			t.Errorf("%q begins with %q, want %q", test.contract, got, test.want)
		}
		if named := namedItems(test.order.Items, test.contract); len(named) != test.named {
			t.Errorf("%q is about %+v", test.contract, named)
		}
	}
}

func TestOrderRecord_FullyRefundedPaymentIsReturned(t *testing.T) {
	t.Parallel()
	payment := order.Payment{ID: "pay_1", State: order.PaymentCaptured, Amount: 1500}
	record := OrderRecord{Order: order.Order{Payments: []order.Payment{payment}, Refunds: []order.Refund{
		{Payment: "pay_1", Provider: "re_1", Amount: 1000}, {Payment: "pay_1", Amount: 500}, {Payment: "pay_0", Provider: "re_0", Amount: 500},
	}}}
	if sum := record.RefundedPayment(payment); sum != 1000 || isReturned(record.Order) {
		t.Errorf("refunded %d, returned %t", sum, isReturned(record.Order))
	}
	record.Refunds[1].Provider = "re_2"
	if sum := record.RefundedPayment(payment); sum != 1500 || !isReturned(record.Order) {
		t.Errorf("all refunded: %d, returned %t", sum, isReturned(record.Order))
	}
}
