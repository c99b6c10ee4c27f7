package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing/reconcile"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/store/query"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
)

var _ invoice.Store = (*DB)(nil)

// lastInvoice sorts after every document id.
const lastInvoice = "inv_zzzzzzzzzzzzzzzzzzzzzzzzzzz"

// insertPendingInvoices records that an invoice or corrections must be issued. It uses the
// wall clock, which measures how long a document is pending.
func insertPendingInvoices(ctx context.Context, q *query.Queries, transition order.Transition) error {
	insert := func(refund, buyer string) error {
		return q.InsertPendingInvoice(ctx, query.InsertPendingInvoiceParams{
			ID: registrar.NewID("due_", transition.At), OrderID: transition.To.ID, RefundID: refund, Buyer: buyer, CreatedAt: micros(transition.At),
		})
	}
	if transition.InvoiceDue() {
		buyer, err := invoiceBuyerJSON(ctx, q, transition)
		if err != nil {
			return err
		}
		if err := insert("", buyer); err != nil {
			return err
		}
	}
	for _, refund := range transition.CorrectionsDue() {
		if err := insert(refund, ""); err != nil {
			return err
		}
	}
	return nil
}

func invoiceBuyerJSON(ctx context.Context, q *query.Queries, transition order.Transition) (string, error) {
	b := transition.InvoiceBuyer
	if b == nil {
		return currentInvoiceBuyerJSON(ctx, q, transition.To.Customer)
	}
	return jsonText(invoice.Buyer{
		Name: b.Name, Organisation: b.Organisation, Street: b.Street, PostalCode: b.PostalCode, City: b.City, State: b.State,
		Country: b.Country, VATID: b.VATID, Email: b.Email, Language: b.Language,
	}), nil
}

func currentInvoiceBuyer(ctx context.Context, q *query.Queries, customer string) (invoice.Buyer, error) {
	row, err := q.GetInvoiceBuyer(ctx, customer)
	return invoice.Buyer{
		Name: row.Name, Organisation: row.Organisation, Street: row.Street, PostalCode: row.PostalCode, City: row.City, State: row.State,
		Country: row.Country, VATID: row.VatID, Email: row.Email, Language: row.Language,
	}, err
}

// currentInvoiceBuyerJSON returns the customer's current data in stored form.
func currentInvoiceBuyerJSON(ctx context.Context, q *query.Queries, customer string) (string, error) {
	buyer, err := currentInvoiceBuyer(ctx, q, customer)
	return jsonText(buyer), err
}

// GetCurrentBuyer returns the customer's current data.
func (db *DB) GetCurrentBuyer(ctx context.Context, customer string) (invoice.Buyer, error) {
	return currentInvoiceBuyer(ctx, db.read(), customer)
}

// ListPendingDocuments returns documents to be issued with their orders, by id.
func (db *DB) ListPendingDocuments(ctx context.Context, after string, limit int) ([]invoice.Pending, error) {
	q := db.read()
	pending, err := decodeRows(func(row query.PendingInvoice) (invoice.Pending, error) {
		due := invoice.Pending{ID: row.ID, Order: row.OrderID, Refund: row.RefundID}
		if row.Buyer == "" {
			return due, nil
		}
		due.Buyer = new(invoice.Buyer)
		if err := json.Unmarshal([]byte(row.Buyer), due.Buyer); err != nil {
			return due, fmt.Errorf("store: decode buyer of pending invoice %s: %w", row.ID, err)
		}
		return due, nil
	})(q.ListPendingInvoices(ctx, after, int32(limit)))
	if err != nil || len(pending) == 0 {
		return nil, err
	}
	orders, err := wholeOrders[query.ListOrdersOfPendingInvoicesRow](ctx, q)(q.ListOrdersOfPendingInvoices(ctx, after, pending[len(pending)-1].ID))
	for i := range pending {
		if at := slices.IndexFunc(orders, func(o order.Order) bool { return o.ID == pending[i].Order }); at >= 0 {
			pending[i].Sale = &orders[at]
		}
	}
	return pending, err
}

// invoiceJSON is a row of InsertInvoices.
type invoiceJSON struct {
	ID       string       `json:"id"`
	Order    string       `json:"order"`
	Refund   string       `json:"refund"`
	Kind     invoice.Kind `json:"kind"`
	Series   string       `json:"series"`
	Number   int64        `json:"number"`
	Label    string       `json:"label"`
	Net      int64        `json:"net"`
	VAT      int64        `json:"vat"`
	Gross    int64        `json:"gross"`
	IssuedAt int64        `json:"issued_at"`
	Content  string       `json:"content"`
}

// IssueDocuments stores documents with the next numbers of their series. The counter's row is
// locked after those of the pending documents, as the last lock of the transaction.
func (db *DB) IssueDocuments(ctx context.Context, series string, drafts ...invoice.Draft) (issued int, err error) {
	if len(drafts) == 0 {
		return 0, nil
	}
	err = db.write(ctx, func(q *query.Queries) error {
		ids := make([]string, len(drafts))
		for i, draft := range drafts {
			ids[i] = draft.Pending
		}
		deleted, err := q.DeletePendingInvoices(ctx, query.DeletePendingInvoicesParams{First: slices.Min(ids), Last: slices.Max(ids), Ids: jsonText(ids)})
		if err != nil {
			return err
		}
		mine := slices.DeleteFunc(slices.Clone(drafts), func(draft invoice.Draft) bool { return !slices.Contains(deleted, draft.Pending) })
		if issued = len(mine); issued == 0 {
			return nil
		}
		if err := creditRevenue(ctx, q, mine); err != nil {
			return err
		}
		last, err := q.TakeInvoiceNumbers(ctx, series, int64(issued))
		if err != nil {
			return err
		}
		rows := make([]invoiceJSON, issued)
		for i, draft := range mine {
			d := draft.Numbered(last - int64(issued-1-i))
			content, err := json.Marshal(d)
			if err != nil {
				return err
			}
			rows[i] = invoiceJSON{
				ID: d.ID, Order: d.Order, Refund: d.Refund, Kind: d.Kind, Series: d.Series, Number: d.Count, Label: d.Number,
				Net: int64(d.Net), VAT: int64(d.VAT), Gross: int64(d.Gross), IssuedAt: micros(d.IssuedAt), Content: string(content),
			}
		}
		return q.InsertInvoices(ctx, jsonText(rows))
	})
	return issued, err
}

func documentOf(content string) (d invoice.Document, err error) {
	err = json.Unmarshal([]byte(content), &d)
	return d, err
}

// GetInvoice returns the invoice of an order.
func (db *DB) GetInvoice(ctx context.Context, id string) (invoice.Document, bool, error) {
	return decodeRow(documentOf)(db.read().GetInvoiceByOrder(ctx, id))
}

// GetDocumentByNumber returns a document of any customer.
func (db *DB) GetDocumentByNumber(ctx context.Context, number string) (invoice.Document, bool, error) {
	return decodeRow(documentOf)(db.read().GetInvoiceByLabel(ctx, number))
}

// GetDocument returns a document of a customer.
func (db *DB) GetDocument(ctx context.Context, customer, id string) (invoice.Document, bool, error) {
	return decodeRow(documentOf)(db.read().GetCustomerInvoice(ctx, customer, id))
}

// ListDocuments returns a page of a customer's documents, the newest first.
func (db *DB) ListDocuments(ctx context.Context, customer, before string, limit int) ([]invoice.Document, error) {
	if sqldb.IsUnstorable(before) {
		return nil, nil
	}
	return decodeRows(documentOf)(db.read().ListCustomerInvoices(ctx, query.ListCustomerInvoicesParams{
		CustomerID: customer, ID: cmp.Or(before, lastInvoice), Limit: int32(limit),
	}))
}

// ListOrderDocuments returns the documents of an order, the invoice first.
func (db *DB) ListOrderDocuments(ctx context.Context, customer, id string) ([]invoice.Document, error) {
	return decodeRows(documentOf)(db.read().ListOrderInvoices(ctx, id, customer))
}

// ListDocumentsAfter returns a page of all documents, by id.
func (db *DB) ListDocumentsAfter(ctx context.Context, id string, limit int) ([]invoice.Document, error) {
	return decodeRows(documentOf)(db.read().ListInvoices(ctx, id, int32(limit)))
}

var _ invoice.RevenueStore = (*DB)(nil)

// FirstIssueTime returns when the first document was issued.
func (db *DB) FirstIssueTime(ctx context.Context) (time.Time, bool, error) {
	return rowAs(fromMicros)(db.read().GetFirstIssueTime(ctx))
}

// LastRevenueDay returns the last day with stored sums.
func (db *DB) LastRevenueDay(ctx context.Context) (string, bool, error) {
	return foundValue(db.read().GetLastRevenueDay(ctx))
}

// SumDocuments sums the documents issued in a period.
func (db *DB) SumDocuments(ctx context.Context, since, before time.Time) (sales invoice.Sales, err error) {
	rows, err := db.read().SumInvoices(ctx, micros(since), micros(before))
	for _, row := range rows {
		*amountsOf(&sales, row.Kind) = invoice.Amounts{
			Documents: int(row.Documents), Net: registrar.Cents(row.Net), VAT: registrar.Cents(row.Vat), Gross: registrar.Cents(row.Gross),
		}
	}
	return sales, err
}

// amountsOf returns the sums of a kind of document.
func amountsOf(sales *invoice.Sales, kind string) *invoice.Amounts {
	if invoice.Kind(kind) == invoice.Correction {
		return &sales.Corrections
	}
	return &sales.Invoices
}

// AddRevenueDays stores the sums of days that have none.
func (db *DB) AddRevenueDays(ctx context.Context, days []invoice.DaySales) error {
	return db.write(ctx, func(q *query.Queries) error {
		for _, day := range days {
			for _, kind := range []invoice.Kind{invoice.Invoice, invoice.Correction} {
				sums := amountsOf(&day.Sales, string(kind))
				if err := q.InsertRevenueDay(ctx, query.InsertRevenueDayParams{
					Day: day.Day, Kind: string(kind), Documents: int64(sums.Documents), Net: int64(sums.Net), Vat: int64(sums.VAT), Gross: int64(sums.Gross),
				}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// ListRevenueDays returns the stored sums from one day to another.
func (db *DB) ListRevenueDays(ctx context.Context, first, last string) ([]invoice.DaySales, error) {
	rows, err := db.read().ListRevenueDays(ctx, first, last)
	var days []invoice.DaySales
	for _, row := range rows {
		if len(days) == 0 || days[len(days)-1].Day != row.Day {
			days = append(days, invoice.DaySales{Day: row.Day})
		}
		*amountsOf(&days[len(days)-1].Sales, row.Kind) = invoice.Amounts{
			Documents: int(row.Documents), Net: registrar.Cents(row.Net), VAT: registrar.Cents(row.Vat), Gross: registrar.Cents(row.Gross),
		}
	}
	return days, err
}

// ReconciliationDocuments returns all documents. Pending ones are read first, so that one
// issued meanwhile is seen twice rather than not at all.
func (db *DB) ReconciliationDocuments(ctx context.Context) iter.Seq2[reconcile.Document, error] {
	id := func(d reconcile.Document) string { return d.ID }
	owed := pages(ctx, func(ctx context.Context, after string, limit int) ([]reconcile.Document, error) {
		return rowsAs(func(row query.PendingInvoice) reconcile.Document {
			return reconcile.Document{ID: row.ID, Order: row.OrderID, Refund: row.RefundID, Owed: true, At: fromMicros(row.CreatedAt)}
		})(db.read().ListPendingInvoices(ctx, after, int32(limit)))
	}, id)
	issued := pages(ctx, func(ctx context.Context, after string, limit int) ([]reconcile.Document, error) {
		return rowsAs(func(row query.ListInvoicesForReconciliationRow) reconcile.Document {
			return reconcile.Document{
				ID: row.ID, Order: row.OrderID, Refund: row.RefundID, Series: row.Series, Count: row.Number, Number: row.Label,
				Net: registrar.Cents(row.Net), VAT: registrar.Cents(row.Vat), Gross: registrar.Cents(row.Gross), At: fromMicros(row.IssuedAt),
			}
		})(db.read().ListInvoicesForReconciliation(ctx, after, int32(limit)))
	}, id)
	return func(yield func(reconcile.Document, error) bool) {
		for _, part := range []iter.Seq2[reconcile.Document, error]{owed, issued} {
			for one, err := range part {
				if !yield(one, err) || err != nil {
					return
				}
			}
		}
	}
}
