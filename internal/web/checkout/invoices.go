package checkout

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/page"
	"github.com/dotkontor/dotkontor/internal/web/wire"
)

// Invoices decides who sees which document; it is invoice.Service.
type Invoices interface {
	Get(ctx context.Context, actor registrar.Actor, id string) (invoice.Document, error)
	List(ctx context.Context, actor registrar.Actor, before string, limit int) ([]invoice.Document, error)
	OfOrder(ctx context.Context, actor registrar.Actor, order string) ([]invoice.Document, error)
}

var _ Invoices = (*invoice.Service)(nil)

// Papers makes documents into files.
type Papers interface {
	PDF(d invoice.Document) ([]byte, error)
	XML(d invoice.Document) ([]byte, error)
}

const (
	invoicesPath = "/portal/invoices"
	// invoicesPage is how many documents one page of the list has.
	invoicesPage = 25
)

// invoiceRoutes are there where invoices are.
func (h *Handler) invoiceRoutes() []page.Route {
	if h.invoices == nil {
		return nil
	}
	members := h.frame.Members
	return []page.Route{
		{Method: http.MethodGet, Path: invoicesPath, Handler: members(invoicesPath, h.listInvoices)},
		{Method: http.MethodGet, Path: invoicesPath + "/{id}/pdf", Handler: members(invoicesPath, h.file(h.papers.PDF, "application/pdf", ".pdf"))},
		{Method: http.MethodGet, Path: invoicesPath + "/{id}/xml", Handler: members(invoicesPath, h.file(h.papers.XML, "application/xml", ".xml"))},
	}
}

// document is one row of a list.
type document struct {
	invoice.Document
	KindKey string
	// On is its day, which is one in Germany.
	On time.Time
	// Path begins the addresses of its files.
	Path string
}

func shownDocuments(all []invoice.Document) []document {
	rows := make([]document, 0, len(all))
	for _, d := range all {
		key := "invoice.kind"
		if d.Kind == invoice.Correction {
			key = "invoice.correction"
		}
		on, err := time.Parse(time.DateOnly, d.Day)
		if err != nil {
			on = d.IssuedAt
		}
		rows = append(rows, document{Document: d, KindKey: key, On: on, Path: invoicesPath + "/" + d.ID})
	}
	return rows
}

// listInvoices is what the customer was sent, the newest first.
func (h *Handler) listInvoices(v *page.Visit) error {
	all, err := h.invoices.List(v.R.Context(), v.Actor(), v.Query("before"), invoicesPage+1)
	if err != nil {
		return err
	}
	older := ""
	if len(all) > invoicesPage {
		all = all[:invoicesPage]
		older = invoicesPath + "?before=" + url.QueryEscape(all[invoicesPage-1].ID)
	}
	return h.views.Render(v, page.View{Name: "invoices", Title: "invoices.title", Section: page.OrdersPath, Data: struct {
		Documents []document
		Older     string
		Later     bool
		// Orders says that each row names its order.
		Orders bool
	}{shownDocuments(all), older, v.Query("before") != "", true}})
}

// invoiced says that an order has an invoice, or will in a moment.
func (h *Handler) invoiced(o order.Order) bool {
	return h.invoices != nil && !o.PaidAt.IsZero() && o.Totals.Gross > 0
}

// documentsOf are those of an order, and whether its invoice is still being issued.
func (h *Handler) documentsOf(v *page.Visit, o order.Order) (rows []document, waiting bool, err error) {
	if !h.invoiced(o) {
		return nil, false, nil
	}
	all, err := h.invoices.OfOrder(v.R.Context(), v.Actor(), o.ID)
	return shownDocuments(all), len(all) == 0, err
}

// file sends a document in one of its forms.
func (h *Handler) file(set func(invoice.Document) ([]byte, error), contentType, ending string) page.Func {
	return func(v *page.Visit) error {
		d, err := h.invoices.Get(v.R.Context(), v.Actor(), v.R.PathValue("id"))
		if err != nil {
			return err
		}
		content, err := set(d)
		if err != nil {
			return &registrar.Error{Kind: registrar.KindInternal, Code: "paper", Err: err}
		}
		// Numbers are ours: letters, digits and hyphens.
		v.W.Header().Set("Content-Disposition", `attachment; filename="`+d.Number+ending+`"`)
		wire.WriteBytes(v.W, http.StatusOK, []string{contentType}, content)
		return nil
	}
}
