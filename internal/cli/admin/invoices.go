package admin

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/invoicepdf"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
)

type InvoicesCommand struct {
	List   invoicesListCommand   `cmd:"" help:"List invoices and credit notes, all or those of one customer."`
	Show   invoicesShowCommand   `cmd:"" help:"Show one document."`
	Export invoicesExportCommand `cmd:"" help:"Export documents to a folder as PDF and XML, for your tax adviser."`
}

type invoiceFilter struct {
	cli.ServiceFlags
	Customer string `help:"Only documents of the customer with this email address." placeholder:"EMAIL"`
	From     string `help:"Only documents of this day or later." placeholder:"2026-11-01"`
	Until    string `help:"Only documents before this day." placeholder:"2026-12-01"`
}

// each calls use for every selected document: all oldest first, a customer's newest first.
func (c invoiceFilter) each(d cli.Session, use func(invoice.Document) error) error {
	for _, day := range []string{c.From, c.Until} {
		if _, err := time.Parse(time.DateOnly, day); day != "" && err != nil {
			return cli.UsageError(fmt.Sprintf("%q is not a day like 2026-11-01", day))
		}
	}
	customer, err := d.CustomerID(c.Customer)
	if err != nil {
		return err
	}
	next := func(last string, limit int) ([]invoice.Document, error) {
		if customer != "" {
			return d.Services.DB.ListDocuments(d.Ctx, customer, last, limit)
		}
		return d.Services.DB.ListDocumentsAfter(d.Ctx, last, limit)
	}
	return eachRow(next, func(document invoice.Document) string { return document.ID }, func(document invoice.Document) error {
		if c.From != "" && document.Day < c.From || c.Until != "" && document.Day >= c.Until {
			return nil
		}
		return use(document)
	})
}

type invoicesListCommand struct {
	invoiceFilter
	JSON bool `name:"json" help:"Print one JSON array."`
}

func (c invoicesListCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		list := newList(t, c.JSON, "%-18s  %-10s  %10s  %10s  %10s  %-4s  %-30s  %s",
			"Number", "Date", "Net", "VAT", "Gross", "", "Order", "Customer")
		return list.end(c.each(d, func(document invoice.Document) error {
			list.addDocument(document)
			return nil
		}))
	})
}

func (l *list) addDocument(d invoice.Document) {
	corrects := ""
	if d.Corrects != nil {
		corrects = d.Corrects.Number
	}
	l.add(struct {
		Number   string           `json:"number"`
		Kind     invoice.Kind     `json:"kind"`
		Day      string           `json:"day"`
		Corrects string           `json:"corrects,omitempty"`
		Order    string           `json:"order"`
		Customer string           `json:"customer"`
		Buyer    string           `json:"buyer"`
		Country  string           `json:"country"`
		Net      registrar.Cents  `json:"net"`
		VAT      registrar.Cents  `json:"vat"`
		Gross    registrar.Cents  `json:"gross"`
		Rate     int              `json:"vat_rate_basis_points"`
		Rule     string           `json:"vat_rule"`
		Category invoice.Category `json:"vat_category"`
	}{
		d.Number, d.Kind, d.Day, corrects, d.Order, d.Customer, d.Buyer.DisplayName(), d.Buyer.Country,
		d.Net, d.VAT, d.Gross, d.RateBasisPoints, d.Rule, d.Category,
	}, d.Number, d.Day, d.Net, d.VAT, d.Gross, d.Category, d.Order, cli.Printable(d.Buyer.DisplayName()))
}

type invoicesShowCommand struct {
	cli.ServiceFlags
	Number string `arg:"" help:"The document's number (RE-2026-000001)."`
}

func (c invoicesShowCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		document, found, err := d.Services.DB.GetDocumentByNumber(d.Ctx, c.Number)
		if err != nil {
			return err
		}
		if !found {
			return errors.New("no such document")
		}
		printDocument(d.Out, document)
		return nil
	})
}

func printDocument(out io.Writer, document invoice.Document) {
	row := func(word, value string) { fmt.Fprintf(out, "  %-30s  %s\n", word, cli.Printable(value)) }
	fmt.Fprintf(out, "%s  %s\n", document.Number, document.Kind)
	row("date", document.Day)
	row("supply date", document.SuppliedOn)
	if document.Corrects != nil {
		row("corrects invoice", document.Corrects.Number+" "+document.Corrects.Day)
	}
	row("order", document.Order)
	row("customer", document.Customer)
	b := document.Buyer
	row("billed to", strings.Join(strings.Fields(strings.Join([]string{b.Organisation, b.Name, b.Street, b.PostalCode, b.City, b.State, b.Country}, " ")), " "))
	row("VAT ID", orDash(b.VATID))
	row("VAT", fmt.Sprintf("%s %s %d.%02d %%", document.Rule, document.Category, document.RateBasisPoints/100, document.RateBasisPoints%100))
	row("net + VAT = gross (EUR)", fmt.Sprintf("%s + %s = %s", document.Net, document.VAT, document.Gross))
	for _, line := range document.Lines {
		fmt.Fprintf(out, "  %10s  %10s  %10s  %s\n", line.Net, line.VAT, line.Gross, cli.Printable(line.Text))
	}
	for _, note := range document.Notes {
		fmt.Fprintf(out, "  %s\n", cli.Printable(note))
	}
}

type invoicesExportCommand struct {
	invoiceFilter
	Folder string `arg:"" help:"Target folder; created if missing. Existing files are overwritten."`
}

// Run writes two files per document. They are reproducible, so an interrupted export
// can be repeated.
func (c invoicesExportCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		renderer, err := invoicepdf.New()
		if err != nil {
			return err
		}
		if err := os.MkdirAll(c.Folder, 0o700); err != nil {
			return err
		}
		count := 0
		if err := c.each(d, func(document invoice.Document) error {
			count++
			return writeDocumentFiles(renderer, document, c.Folder)
		}); err != nil {
			return err
		}
		return d.Println("%d documents written", count)
	})
}

func writeDocumentFiles(renderer *invoicepdf.Renderer, document invoice.Document, folder string) error {
	for ending, render := range map[string]func(invoice.Document) ([]byte, error){".pdf": renderer.PDF, ".xml": renderer.XML} {
		content, err := render(document)
		if err != nil {
			return err
		}
		// Numbers consist of letters, digits and hyphens only.
		if err := os.WriteFile(filepath.Join(folder, document.Number+ending), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}
