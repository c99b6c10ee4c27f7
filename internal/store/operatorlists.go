package store

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

// Prefixes of the ids of payments and refunds, and what sorts after all of them.
const (
	paymentPrefix = "pay_"
	refundPrefix  = "ref_"
	afterAllIDs   = "zzzzzzzzzzzzzzzzzzzzzzzzzzz"
)

type orderEntryRow interface {
	query.ListAllOrdersRow | query.ListAllOrdersInStateRow | query.ListAllOrdersByNameRow | query.ListAllOrdersOfAddressRow | query.ListPaidOrdersWithAddressRow
}

func orderEntryOf[Row orderEntryRow](r Row) admin.OrderEntry {
	row := query.ListAllOrdersRow(r)
	return admin.OrderEntry{
		ID: row.ID, Customer: row.CustomerID, State: row.State, Channel: row.Channel, Subject: admin.Subject{Name: row.Name, Items: int(row.Items), Email: row.Email},
		Gross: registrar.Cents(row.Gross), CreatedAt: fromMicros(row.CreatedAt), PaidAt: fromMicros(row.PaidAt),
	}
}

// ListAllOrders returns a page of all customers' orders, the newest first.
func (db *DB) ListAllOrders(ctx context.Context, filter admin.OrderFilter, before string, limit int) ([]admin.OrderEntry, error) {
	orders, err := db.listAllOrders(ctx, filter, before, limit)
	if err != nil || len(orders) == 0 {
		return nil, err
	}
	ids := make([]string, len(orders))
	for i, o := range orders {
		ids[i] = o.ID
	}
	refunded, err := db.read().ListRefundedOrders(ctx, jsonText(ids))
	for i, o := range orders {
		orders[i].Refunded = slices.Contains(refunded, o.ID)
	}
	return orders, err
}

func (db *DB) listAllOrders(ctx context.Context, filter admin.OrderFilter, before string, limit int) ([]admin.OrderEntry, error) {
	if sqldb.IsUnstorable(before) || sqldb.IsUnstorable(filter.Name) || sqldb.IsUnstorable(filter.EmailKey) {
		return nil, nil
	}
	before = cmp.Or(before, lastOrder)
	switch q := db.read(); {
	case filter.Name != "":
		return rowsAs(orderEntryOf[query.ListAllOrdersByNameRow])(q.ListAllOrdersByName(ctx, query.ListAllOrdersByNameParams{
			Name: filter.Name, OrderID: before, Limit: int32(limit),
		}))
	case filter.EmailKey != "":
		return db.listOrdersOfAddress(ctx, filter.EmailKey, before, limit)
	case filter.State != "":
		return rowsAs(orderEntryOf[query.ListAllOrdersInStateRow])(q.ListAllOrdersInState(ctx, query.ListAllOrdersInStateParams{
			State: filter.State, ID: before, Limit: int32(limit),
		}))
	default:
		return rowsAs(orderEntryOf[query.ListAllOrdersRow])(q.ListAllOrders(ctx, before, int32(limit)))
	}
}

// listOrdersOfAddress returns the orders of the account with an address, and the paid ones that
// name the address without belonging to it.
func (db *DB) listOrdersOfAddress(ctx context.Context, key, before string, limit int) ([]admin.OrderEntry, error) {
	own, err := rowsAs(orderEntryOf[query.ListAllOrdersOfAddressRow])(db.read().ListAllOrdersOfAddress(ctx, query.ListAllOrdersOfAddressParams{
		EmailKey: key, ID: before, Limit: int32(limit),
	}))
	if err != nil {
		return nil, err
	}
	paid, err := rowsAs(orderEntryOf[query.ListPaidOrdersWithAddressRow])(db.read().ListPaidOrdersWithAddress(ctx, key, int32(limit)))
	for _, entry := range paid {
		if entry.ID < before && !slices.ContainsFunc(own, func(other admin.OrderEntry) bool { return other.ID == entry.ID }) {
			own = append(own, entry)
		}
	}
	slices.SortFunc(own, func(a, b admin.OrderEntry) int { return cmp.Compare(b.ID, a.ID) })
	return own[:min(len(own), limit)], err
}

func paymentEntryOf[Row query.ListAllPaymentsRow | query.ListAllPaymentsInStateRow | query.ListAllRefundedPaymentsRow](r Row) admin.PaymentEntry {
	row := query.ListAllPaymentsRow(r)
	return admin.PaymentEntry{
		ID: row.ID, Order: row.OrderID, Kind: row.Kind, State: row.State, Intent: row.Intent, Failure: registrar.Code(row.Failure),
		Amount: registrar.Cents(row.Amount), Refunded: registrar.Cents(row.Refunded), Withdrawn: registrar.Cents(row.Withdrawn), UpdatedAt: fromMicros(row.UpdatedAt), Subject: admin.Subject{Name: row.Name, Items: int(row.Items), Email: row.Email},
	}
}

// ListAllPayments returns a page of all payments, or those in a state, the newest first. The
// state refunded includes captured payments of which something was refunded.
func (db *DB) ListAllPayments(ctx context.Context, state, before string, limit int) ([]admin.PaymentEntry, error) {
	if sqldb.IsUnstorable(before) {
		return nil, nil
	}
	before = cmp.Or(before, paymentPrefix+afterAllIDs)
	switch state {
	case "":
		return rowsAs(paymentEntryOf[query.ListAllPaymentsRow])(db.read().ListAllPayments(ctx, before, int32(limit)))
	case string(order.PaymentRefunded):
		return rowsAs(paymentEntryOf[query.ListAllRefundedPaymentsRow])(db.read().ListAllRefundedPayments(ctx, before, int32(limit)))
	}
	return rowsAs(paymentEntryOf[query.ListAllPaymentsInStateRow])(db.read().ListAllPaymentsInState(ctx, query.ListAllPaymentsInStateParams{
		State: state, ID: before, Limit: int32(limit),
	}))
}

func refundEntryOf[Row query.ListAllRefundsRow | query.ListAllPendingRefundsRow | query.ListAllUndecidedRefundsRow](r Row) admin.RefundEntry {
	row := query.ListAllRefundsRow(r)
	refund := refundOf(query.Refund{
		ID: row.ID, ItemID: row.ItemID, Provider: row.Provider, Source: row.Source, Reason: row.Reason, Failure: row.Failure,
	})
	items := row.RefundedItems
	if items == 0 {
		items = row.Items
	}
	madeAt := fromMicros(row.MadeAt)
	if !refund.Made() {
		madeAt = time.Time{} // the customer doesn't have the money
	}
	return admin.RefundEntry{
		ID: row.ID, Order: row.OrderID, Customer: row.CustomerID, Payment: row.PaymentID, Provider: row.Provider, Amount: registrar.Cents(row.Amount),
		Source: string(refund.Source), Reason: refund.ReasonOf(), State: refund.State(), Task: row.Task, Failure: refund.Failure,
		CreatedAt: fromMicros(row.CreatedAt), MadeAt: madeAt, FailedAt: fromMicros(row.FailedAt), PaidAt: fromMicros(row.PaidAt), Notice: row.NoticeID, Declared: fromMicros(row.DeclaredAt), Subject: admin.Subject{Name: row.Name, Items: int(items), Email: row.Email},
	}
}

// ListAllRefunds returns a page of refunds, the newest first.
func (db *DB) ListAllRefunds(ctx context.Context, filter admin.RefundFilter, before string, limit int) ([]admin.RefundEntry, error) {
	if sqldb.IsUnstorable(before) {
		return nil, nil
	}
	before = cmp.Or(before, refundPrefix+afterAllIDs)
	switch q := db.read(); filter {
	case admin.PendingRefunds:
		return rowsAs(refundEntryOf[query.ListAllPendingRefundsRow])(q.ListAllPendingRefunds(ctx, before, int32(limit)))
	case admin.UndecidedRefunds:
		return rowsAs(refundEntryOf[query.ListAllUndecidedRefundsRow])(q.ListAllUndecidedRefunds(ctx, before, int32(limit)))
	default:
		return rowsAs(refundEntryOf[query.ListAllRefundsRow])(q.ListAllRefunds(ctx, before, int32(limit)))
	}
}

// FindOrderID returns the order of a number: that of an order, payment, refund or invoice,
// or the provider's of a payment.
func (db *DB) FindOrderID(ctx context.Context, number string) (string, bool, error) {
	if sqldb.IsUnstorable(number) {
		return "", false, nil
	}
	q := db.read()
	switch {
	case strings.HasPrefix(number, orderPrefix):
		o, found, err := db.OrderByID(ctx, number)
		return o.ID, found, err
	case strings.HasPrefix(number, paymentPrefix):
		return foundValue(q.GetOrderIDByPayment(ctx, number))
	case strings.HasPrefix(number, refundPrefix):
		return foundValue(q.GetOrderIDByRefund(ctx, number))
	case strings.HasPrefix(number, "pi_"):
		o, found, err := db.OrderByIntent(ctx, number)
		return o.ID, found, err
	case strings.HasPrefix(number, "cs_"):
		o, found, err := db.OrderBySession(ctx, number)
		return o.ID, found, err
	default:
		return foundValue(q.GetOrderIDByInvoiceNumber(ctx, number))
	}
}

// ListOrderJobs returns the unfinished jobs of an order: itself, its items, its webhook, and
// its queued mails.
func (db *DB) ListOrderJobs(ctx context.Context, customer, order string, limit int) ([]admin.Job, error) {
	q := db.read()
	own, err := rowsAs(jobOf[query.ListOrderJobRow](admin.JobOrder))(q.ListOrderJob(ctx, order))
	if err != nil {
		return nil, err
	}
	items, err := rowsAs(jobOf[query.ListProvisionItemJobsOfOrderRow](admin.JobItem))(q.ListProvisionItemJobsOfOrder(ctx, order))
	if err != nil {
		return nil, err
	}
	webhooks, err := rowsAs(jobOf[query.ListWebhookJobsOfOrderRow](admin.JobWebhook))(q.ListWebhookJobsOfOrder(ctx, order))
	if err != nil {
		return nil, err
	}
	jobs := append(append(own, items...), webhooks...)
	mails, err := q.ListQueuedMailsOfCustomer(ctx, customer, int32(limit))
	for _, mail := range mails {
		if fromJSON[map[string]string](mail.Data)["order"] == order {
			jobs = append(jobs, admin.Job{Kind: admin.JobMail, ID: mail.ID, What: mail.Kind, DueAt: fromMicros(mail.DueAt), Attempts: int(mail.Attempts)})
		}
	}
	return jobs, err
}
