package order_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// nextStates repeats the table of doc.go, to check every transition against it.
var nextStates = map[order.State][]order.State{
	order.AwaitingVerification: {order.AwaitingPayment, order.Canceled, order.Expired},
	order.AwaitingPayment:      {order.Paying, order.Provisioning, order.Canceled, order.Expired, order.AwaitingVerification},
	order.Paying:               {order.Provisioning, order.AwaitingPayment, order.Expired},
	order.Provisioning:         {order.Completed, order.PartiallyCompleted, order.Failed},
}

var nextPaymentStates = map[order.PaymentState][]order.PaymentState{
	"":                     {order.PaymentOpening},
	order.PaymentOpening:   {order.PaymentOpen, order.PaymentClosed},
	order.PaymentOpen:      {order.PaymentClosing, order.PaymentCaptured, order.PaymentUnmatched, order.PaymentClosed},
	order.PaymentClosing:   {order.PaymentCaptured, order.PaymentUnmatched, order.PaymentClosed},
	order.PaymentUnmatched: {order.PaymentRefunded},
	order.PaymentClosed:    {order.PaymentUnmatched},
	order.PaymentCaptured:  nil,
	order.PaymentRefunded:  nil,
}

// illegalTransitions lists what a change does that the tables do not allow.
func illegalTransitions(was, now order.Order) (problems []string) {
	if was.State != now.State && !slices.Contains(nextStates[was.State], now.State) {
		problems = append(problems, fmt.Sprintf("order: from %s to %s", was.State, now.State))
	}
	if now.State == order.Provisioning && was.State == order.AwaitingPayment && now.Totals.Gross != 0 {
		problems = append(problems, fmt.Sprintf("an order of %v is provisioned without a payment", now.Totals.Gross))
	}
	before := make(map[string]order.PaymentState)
	for _, payment := range was.Payments {
		before[payment.ID] = payment.State
	}
	for _, payment := range now.Payments {
		if earlier := before[payment.ID]; earlier != payment.State && !slices.Contains(nextPaymentStates[earlier], payment.State) {
			problems = append(problems, fmt.Sprintf("payment: from %q to %s", earlier, payment.State))
		}
		delete(before, payment.ID)
	}
	itemsGone := len(now.Items) != len(was.Items) && (now.Agent == "" && !now.Editable() || !was.State.Open() || was.State == order.Paying)
	if len(before) > 0 || len(now.Refunds) < len(was.Refunds) || itemsGone {
		problems = append(problems, "items, payments or refunds are missing")
	}
	for i, refund := range was.Refunds {
		if after := now.Refunds[i]; refund.Provider != "" && (after.Provider != refund.Provider || after.Amount != refund.Amount || refund.Failure != "" && after.Failure != refund.Failure) {
			problems = append(problems, "a made refund has changed")
		}
	}
	return problems
}

// refundEventsWithoutRefund lists the audit events about a refund that do not name it: the account's
// activity shows the domains of that refund.
func refundEventsWithoutRefund(transition order.Transition) (problems []string) {
	for _, event := range transition.AuditEvents {
		about := event.Action == order.ActionRefunded || strings.HasPrefix(string(event.Action), "refund_")
		if known := slices.ContainsFunc(transition.To.Refunds, func(r order.Refund) bool { return r.ID == event.Refund }); about != known {
			problems = append(problems, fmt.Sprintf("the event %s names the refund %q", event.Action, event.Refund))
		}
	}
	return problems
}
