package mcp

import (
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

func TestDelayedMessage_PromisesRefundOnlyForPayment(t *testing.T) {
	t.Parallel()
	paid := order.Order{State: order.Provisioning, PaidAt: time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC), Totals: order.Totals{Gross: 821}}
	free := paid
	free.Totals.Gross = 0
	if got := delayedMessage(paid); !strings.Contains(got, "paid at 2026-11-15T12:00:00Z") || !strings.Contains(got, "refunded in full") || !strings.Contains(got, "must not pay again") {
		t.Errorf("paid: %s", got)
	}
	if got := delayedMessage(free); strings.Contains(got, "refund") || !strings.Contains(got, "nothing was charged") {
		t.Errorf("free: %s", got)
	}
}
