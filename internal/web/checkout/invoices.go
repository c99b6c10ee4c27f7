package checkout

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

// Invoices decides who may see a document; it is invoice.Service.
type Invoices interface {
	Get(ctx context.Context, actor registrar.Actor, id string) (invoice.Document, error)
	List(ctx context.Context, actor registrar.Actor, before string, limit int) ([]invoice.Document, error)
	ListByOrder(ctx context.Context, actor registrar.Actor, order string) ([]invoice.Document, error)
}

// InvoiceRenderer renders documents as files.
type InvoiceRenderer interface {
	PDF(d invoice.Document) ([]byte, error)
	XML(d invoice.Document) ([]byte, error)
}

const (
	invoicesPath = ui.InvoicesPath
	// invoicesPageSize is the number of documents per page.
	invoicesPageSize = 25
)

type invoiceRow struct {
	invoice.Document
	KindKey string
	On      time.Time       // its date, which is one in Germany
	Path    string          // the prefix of its files
	First   string          // the first domain on it
	More    int             // the number of others
	Amount  registrar.Cents // gross; negative for a correction, which returns it
}

func newInvoiceRows(all []invoice.Document) []invoiceRow {
	rows := make([]invoiceRow, 0, len(all))
	for _, d := range all {
		key := "invoice.kind"
		if d.Kind == invoice.Correction {
			key = "invoice.correction"
		}
		on, err := time.Parse(time.DateOnly, d.Day)
		if err != nil {
			on = d.IssuedAt
		}
		row := invoiceRow{Document: d, KindKey: key, On: on, Path: invoicesPath + "/" + d.ID, More: len(d.Lines) - 1, Amount: d.Booked().Gross}
		if len(d.Lines) > 0 {
			row.First = d.Lines[0].Domain()
		}
		rows = append(rows, row)
	}
	return rows
}

func (h *Handler) listInvoices(req *ui.Request) error {
	all, err := h.Invoices.List(req.R.Context(), req.Actor(), req.Query("before"), invoicesPageSize+1)
	if err != nil {
		return err
	}
	older := ""
	if len(all) > invoicesPageSize {
		all = all[:invoicesPageSize]
		older = invoicesPath + "?before=" + url.QueryEscape(all[invoicesPageSize-1].ID)
	}
	return h.templates.Render(req, ui.View{Name: "invoices", Title: "invoices.title", Section: ui.InvoicesPath, Data: struct {
		Documents []invoiceRow
		Older     string
		Later     bool
		// Orders adds links to the orders.
		Orders bool
	}{newInvoiceRows(all), older, req.Query("before") != "", true}})
}

// hasInvoice reports whether an order has an invoice or will have one shortly.
func hasInvoice(o order.Order) bool { return !o.PaidAt.IsZero() && o.Totals.Gross > 0 }

// invoicesOf returns the documents of an order, and whether its invoice is still being
// issued.
func (h *Handler) invoicesOf(req *ui.Request, o order.Order) (rows []invoiceRow, waiting bool, err error) {
	if !hasInvoice(o) {
		return nil, false, nil
	}
	all, err := h.Invoices.ListByOrder(req.R.Context(), req.Actor(), o.ID)
	return newInvoiceRows(all), len(all) == 0, err
}

func (h *Handler) invoiceFile(render func(invoice.Document) ([]byte, error), contentType, ending string) ui.PageFunc {
	return func(req *ui.Request) error {
		d, err := h.Invoices.Get(req.R.Context(), req.Actor(), req.R.PathValue("id"))
		if err != nil {
			return err
		}
		content, err := render(d)
		if err != nil {
			return &registrar.Error{Kind: registrar.KindInternal, Code: "invoice_pdf_failed", Err: err}
		}
		// Numbers are ours: letters, digits and hyphens.
		req.W.Header().Set("Content-Disposition", `attachment; filename="`+d.Number+ending+`"`)
		httpjson.WriteBytes(req.W, http.StatusOK, []string{contentType}, content)
		return nil
	}
}
