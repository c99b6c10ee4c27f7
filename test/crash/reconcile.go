package crash

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// openPaymentStates are the states in which a payment may still change.
var openPaymentStates = []order.PaymentState{order.PaymentOpening, order.PaymentOpen, order.PaymentClosing, order.PaymentUnmatched}

// unsettled lists orders and payments that are not final.
func unsettled(o order.Order) bool {
	for _, refund := range o.Refunds {
		if refund.Due() {
			return true
		}
	}
	for _, payment := range o.Payments {
		if slices.Contains(openPaymentStates, payment.State) {
			return true
		}
	}
	return !o.State.Final()
}

// WaitSettled waits until every order is final and all payments and refunds are done.
func (s *Shop) WaitSettled(ctx context.Context, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	hurried := time.Duration(0)
	return RetryUntil(ctx, "the end of all orders", func() (bool, error) {
		orders, err := s.allOrders(ctx)
		if err != nil {
			return false, err
		}
		var open []string
		for _, o := range orders {
			if unsettled(o) {
				open = append(open, fmt.Sprintf("%s is %s, due %s: %+v %+v", o.ID, o.State, o.DueAt.Format(time.TimeOnly), o.Payments, o.Refunds))
			}
		}
		if len(open) == 0 {
			return true, nil
		}
		// Pending objects are decided as the registry's clock advances. It must not run
		// far ahead of the product's, because payment pages expire by it.
		if hurried < maxClockAdvance && s.hasPendingItems(ctx) {
			hurried += time.Second
			if err := s.Control.Advance(ctx, time.Second); err != nil {
				return false, err
			}
		}
		return false, fmt.Errorf("%d orders are not final:\n%s", len(open), strings.Join(open, "\n"))
	})
}

// maxClockAdvance bounds how far the world's clock is advanced for pending objects.
const maxClockAdvance = 8 * time.Second

// hasPendingItems reports whether an object at the registry is pending.
func (s *Shop) hasPendingItems(ctx context.Context) bool {
	lines, err := s.openItems(ctx)
	return err == nil && slices.ContainsFunc(lines, func(line provision.Item) bool { return line.State == provision.StatePending })
}

// allOrders returns every order.
func (s *Shop) allOrders(ctx context.Context) (all []order.Order, err error) {
	const many = 200
	for last := ""; ; last = all[len(all)-1].ID {
		page, err := s.DB.ListOrdersAfter(ctx, last, many)
		if err != nil {
			return nil, err
		}
		if all = append(all, page...); len(page) < many {
			return all, nil
		}
	}
}

// Reconcile compares items with the registry, and orders with the provider.
func (s *Shop) Reconcile(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return errors.Join(s.reconcilePayments(ctx), s.Env.Reconcile(ctx))
}

// reconcilePayments compares orders, invoices and the provider's charges by running
// 'dotkontor doctor --reconcile'.
func (s *Shop) reconcilePayments(ctx context.Context) error {
	var found error
	err := RetryUntil(ctx, "the reconciliation", func() (bool, error) {
		audit := exec.CommandContext(ctx, s.Binary, "doctor", "--reconcile", "--patience", "0s", "--config", s.World.Ready)
		output, err := audit.CombinedOutput()
		if err == nil {
			return true, nil
		}
		err = fmt.Errorf("doctor --reconcile: %w\n%s", err, output)
		if bytes.Contains(output, []byte("upstream (")) { // the provider's chaos
			return false, err
		}
		found = err
		return true, nil
	})
	return errors.Join(err, found)
}
