package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing/books"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

var _ invoice.Store = (*DB)(nil)

// lastInvoice is behind every identifier of a document.
const lastInvoice = "inv_zzzzzzzzzzzzzzzzzzzzzzzzzzz"

// errTaken rolls back what somebody else has issued.
var errTaken = errors.New("the document is not owed any more")

// oweInvoices writes down, with the change of an order that causes it, that an
// invoice or a correction is to be issued.
func oweInvoices(ctx context.Context, q *query.Queries, move order.Move) error {
	now := move.Order
	if move.Lines && now.Totals.Gross > 0 {
		buyer, err := buyerText(ctx, q, now.Customer)
		if err != nil {
			return err
		}
		if err := owe(ctx, q, move, "", buyer); err != nil {
			return err
		}
	}
	made := make(map[string]bool, len(move.Was.Refunds))
	for _, refund := range move.Was.Refunds {
		made[refund.ID] = refund.Provider != ""
	}
	for _, refund := range now.Refunds {
		// A payment that the order did not want has no invoice to correct.
		if refund.Provider == "" || refund.Item == "" || made[refund.ID] {
			continue
		}
		if err := owe(ctx, q, move, refund.ID, ""); err != nil {
			return err
		}
	}
	return nil
}

// owe notes the true time: how long something waits is not a matter of business.
func owe(ctx context.Context, q *query.Queries, move order.Move, refund, buyer string) error {
	return q.OweInvoice(ctx, query.OweInvoiceParams{
		ID: registrar.NewID("due_", move.At), OrderID: move.Order.ID, RefundID: refund, Buyer: buyer, CreatedAt: micros(move.At),
	})
}

func buyerNow(ctx context.Context, q *query.Queries, customer string) (invoice.Buyer, error) {
	row, err := q.InvoiceBuyer(ctx, customer)
	return invoice.Buyer{
		Name: row.Name, Organisation: row.Organisation, Street: row.Street, PostalCode: row.PostalCode, City: row.City, State: row.State,
		Country: row.Country, VATID: row.VatID, Email: row.Email, Language: row.Language,
	}, err
}

// buyerText is a customer as they are now, to be kept.
func buyerText(ctx context.Context, q *query.Queries, customer string) (string, error) {
	buyer, err := buyerNow(ctx, q, customer)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(buyer)
	return string(text), err
}

// BuyerNow is a customer as they are now.
func (db *DB) BuyerNow(ctx context.Context, customer string) (invoice.Buyer, error) {
	return buyerNow(ctx, db.read(), customer)
}

// DueDocuments are those that are owed, by their ids.
func (db *DB) DueDocuments(ctx context.Context, after string, limit int) ([]invoice.Due, error) {
	rows, err := db.read().InvoicesDue(ctx, query.InvoicesDueParams{ID: after, Limit: int32(limit)})
	due := make([]invoice.Due, 0, len(rows))
	for _, row := range rows {
		one := invoice.Due{ID: row.ID, Order: row.OrderID, Refund: row.RefundID, Since: fromMicros(row.CreatedAt)}
		if row.Buyer != "" {
			one.Buyer = new(invoice.Buyer)
			if err := json.Unmarshal([]byte(row.Buyer), one.Buyer); err != nil {
				return nil, fmt.Errorf("the buyer of %s: %w", row.ID, err)
			}
		}
		due = append(due, one)
	}
	return due, err
}

// SaleOf is an order as far as its documents need it.
func (db *DB) SaleOf(ctx context.Context, id string) (invoice.Sale, error) {
	o, found, err := db.OrderByID(ctx, id)
	if err == nil && !found {
		err = &registrar.Error{Kind: registrar.KindNotFound, Code: order.NoSuchOrder}
	}
	if err != nil {
		return invoice.Sale{}, err
	}
	sale := invoice.Sale{
		Order: o.ID, Customer: o.Customer, PaidAt: o.PaidAt, Net: o.Totals.Net, VAT: o.Totals.VAT, Gross: o.Totals.Gross,
		RateBasisPoints: o.Totals.RateBasisPoints, Rule: o.Totals.Rule, Country: o.Totals.Country, VATID: o.Totals.VATID,
	}
	for _, item := range o.Items {
		sale.Items = append(sale.Items, invoice.Item{
			ID: item.ID, Name: item.Name, Kind: string(item.Kind), Years: item.Years, Net: item.Net, VAT: item.VAT, Gross: item.Gross,
		})
	}
	for _, payment := range o.Payments {
		if payment.State == order.PaymentKept {
			sale.Payment = payment.ID
		}
	}
	for _, refund := range o.Refunds {
		sale.Refunds = append(sale.Refunds, invoice.Refund{ID: refund.ID, Item: refund.Item, Amount: refund.Amount, MadeAt: refund.MadeAt})
	}
	return sale, nil
}

// Issue stores a document with the next number of its series. The counter's row
// comes after the document's own, and is the last that anybody waits for.
func (db *DB) Issue(ctx context.Context, due invoice.Due, series string, numbered func(count int64) invoice.Document) (bool, error) {
	err := db.write(ctx, func(q *query.Queries) error {
		taken, err := q.TakeInvoiceDue(ctx, due.ID)
		if err != nil {
			return err
		}
		if taken == 0 {
			return errTaken
		}
		count, err := q.NextInvoiceNumber(ctx, series)
		if err != nil {
			return err
		}
		d := numbered(count)
		content, err := json.Marshal(d)
		if err != nil {
			return err
		}
		return q.InsertInvoice(ctx, query.InsertInvoiceParams{
			ID: d.ID, OrderID: d.Order, RefundID: d.Refund, Kind: string(d.Kind), Series: d.Series, Number: d.Count,
			Label: d.Number, Net: int64(d.Net), Vat: int64(d.VAT), Gross: int64(d.Gross), IssuedAt: micros(d.IssuedAt), Content: string(content),
		})
	})
	if errors.Is(err, errTaken) {
		return false, nil
	}
	return err == nil, err
}

func documentOf(content string, err error) (invoice.Document, bool, error) {
	if ok, err := found(err); !ok {
		return invoice.Document{}, false, err
	}
	var d invoice.Document
	err = json.Unmarshal([]byte(content), &d)
	return d, err == nil, err
}

func documentsOf(contents []string, err error) ([]invoice.Document, error) {
	if err != nil {
		return nil, err
	}
	all := make([]invoice.Document, 0, len(contents))
	for _, content := range contents {
		d, _, err := documentOf(content, nil)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// InvoiceOf is the invoice of an order.
func (db *DB) InvoiceOf(ctx context.Context, id string) (invoice.Document, bool, error) {
	return documentOf(db.read().InvoiceOfOrder(ctx, id))
}

// DocumentByNumber finds anybody's document, for operators.
func (db *DB) DocumentByNumber(ctx context.Context, number string) (invoice.Document, bool, error) {
	if neverStored(number) {
		return invoice.Document{}, false, nil
	}
	return documentOf(db.read().InvoiceByLabel(ctx, number))
}

// DocumentOf finds a document that belongs to the customer.
func (db *DB) DocumentOf(ctx context.Context, customer, id string) (invoice.Document, bool, error) {
	if neverStored(id) {
		return invoice.Document{}, false, nil
	}
	return documentOf(db.read().InvoiceOfCustomer(ctx, query.InvoiceOfCustomerParams{CustomerID: customer, ID: id}))
}

// DocumentsOf is a page of a customer's documents, the newest first.
func (db *DB) DocumentsOf(ctx context.Context, customer, before string, limit int) ([]invoice.Document, error) {
	if neverStored(before) {
		return nil, nil
	}
	if before == "" {
		before = lastInvoice
	}
	return documentsOf(db.read().InvoicesBefore(ctx, query.InvoicesBeforeParams{CustomerID: customer, ID: before, Limit: int32(limit)}))
}

// DocumentsOfOrder are all of one order, the invoice first.
func (db *DB) DocumentsOfOrder(ctx context.Context, customer, id string) ([]invoice.Document, error) {
	if neverStored(id) {
		return nil, nil
	}
	return documentsOf(db.read().InvoicesOfOrder(ctx, query.InvoicesOfOrderParams{OrderID: id, CustomerID: customer}))
}

// DocumentsAfter is a page of everybody's documents, by id.
func (db *DB) DocumentsAfter(ctx context.Context, id string, limit int) ([]invoice.Document, error) {
	return documentsOf(db.read().InvoicesAfter(ctx, query.InvoicesAfterParams{ID: id, Limit: int32(limit)}))
}

// BookedDocuments are all documents, for an audit: first those that are owed, so that
// one which is issued meanwhile is seen twice rather than not at all.
func (db *DB) BookedDocuments(ctx context.Context) iter.Seq2[books.Document, error] {
	owed := pages(func(after string, limit int) ([]query.InvoicesDue, error) {
		return db.read().InvoicesDue(ctx, query.InvoicesDueParams{ID: after, Limit: int32(limit)})
	}, func(row query.InvoicesDue) string { return row.ID }, func(row query.InvoicesDue) books.Document {
		return books.Document{ID: row.ID, Order: row.OrderID, Refund: row.RefundID, Owed: true, At: fromMicros(row.CreatedAt)}
	})
	issued := pages(func(after string, limit int) ([]query.BookedInvoicesRow, error) {
		return db.read().BookedInvoices(ctx, query.BookedInvoicesParams{ID: after, Limit: int32(limit)})
	}, func(row query.BookedInvoicesRow) string { return row.ID }, func(row query.BookedInvoicesRow) books.Document {
		return books.Document{
			ID: row.ID, Order: row.OrderID, Refund: row.RefundID, Series: row.Series, Count: row.Number, Number: row.Label,
			Net: registrar.Cents(row.Net), VAT: registrar.Cents(row.Vat), Gross: registrar.Cents(row.Gross), At: fromMicros(row.IssuedAt),
		}
	})
	return func(yield func(books.Document, error) bool) {
		for _, part := range []iter.Seq2[books.Document, error]{owed, issued} {
			for one, err := range part {
				if !yield(one, err) || err != nil {
					return
				}
			}
		}
	}
}
