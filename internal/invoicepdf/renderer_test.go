package invoicepdf

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
)

// outputDirVariable names a directory to which the files are written for inspection.
const outputDirVariable = "DOTKONTOR_TEST_PAPERS"

var testSeller = invoice.Seller{
	Name: "Domainkontor Hafenstraße GmbH", Street: "Am Sandtorkai 1", PostalCode: "20457", City: "Hamburg", Country: "DE",
	Register: "Amtsgericht Hamburg, HRB 123456", VATID: "DE123456789", TaxNumber: "27/123/45678", Email: "rechnung@domains.example", Phone: "+49 40 123456",
}

// sampleInvoice returns an invoice with the given number of lines at 19 %.
func sampleInvoice(lines int) invoice.Document {
	d := invoice.Document{
		ID: "inv_1", Kind: invoice.Invoice, Order: "ord_01kaxe4cc8f3v5q2y7m1n8p9rs", Customer: "cus_1", Number: "RE-2026-000042", Series: "RE-2026", Count: 42,
		IssuedAt: time.Date(2026, 11, 15, 11, 0, 0, 0, time.UTC), Day: "2026-11-15", SuppliedOn: "2026-11-15", PaidOn: "2026-11-15", Payment: "pay_01kaxe4cc8f3v5q2y7m1n8p9rt",
		Language: "de", Seller: testSeller, RateBasisPoints: 1900, Rule: "domestic", Category: invoice.Standard,
		Buyer: invoice.Buyer{
			Name: "Erika Mustermann", Street: "Königsallee 12 a", PostalCode: "40212", City: "Düsseldorf", Country: "DE",
			Email: "erika@example.org", Language: "de",
		},
		Notes: []string{"Der Betrag ist am 15.11.2026 vollständig bezahlt worden. Bitte überweisen Sie nichts."},
	}
	for i := range lines {
		net := registrar.Cents(1000 + 137*i)
		vat := net * 19 / 100
		d.Lines = append(d.Lines, invoice.Line{Item: fmt.Sprint("itm_", i), Text: fmt.Sprintf("beispiel-%d.de: Registrierung, 1 Jahr", i), Net: net, VAT: vat, Gross: net + vat})
		d.Net += net
	}
	d.VAT = (d.Net*19 + 50) / 100
	d.Lines[0].VAT += d.VAT - sumVAT(d.Lines)
	d.Lines[0].Gross = d.Lines[0].Net + d.Lines[0].VAT
	d.Gross = d.Net + d.VAT
	return d
}

func sumVAT(lines []invoice.Line) (sum registrar.Cents) {
	for _, line := range lines {
		sum += line.VAT
	}
	return sum
}

// withoutVAT removes the VAT.
func withoutVAT(d invoice.Document, rule string, category invoice.Category, reason string) invoice.Document {
	d.Rule, d.Category, d.Reason, d.RateBasisPoints, d.VAT, d.Gross = rule, category, reason, 0, 0, d.Net
	for i := range d.Lines {
		d.Lines[i].VAT, d.Lines[i].Gross = 0, d.Lines[i].Net
	}
	d.Notes = append([]string{reason + "."}, d.Notes...)
	return d
}

// samples returns one document of each kind.
func samples() map[string]invoice.Document {
	all := map[string]invoice.Document{"domestic": sampleInvoice(3), "one": sampleInvoice(1), "many": sampleInvoice(40)}
	oss := sampleInvoice(2)
	oss.Rule, oss.Buyer.Country, oss.Buyer.City, oss.Buyer.PostalCode = "eu_consumer_oss", "AT", "Wien", "1010"
	all["oss"] = oss
	reverse := withoutVAT(sampleInvoice(2), "reverse_charge", invoice.ReverseCharge,
		"Steuerschuldnerschaft des Leistungsempfängers (Art. 196 MwStSystRL) / Reverse charge: the recipient of the service owes the VAT")
	reverse.Language = "en"
	reverse.Buyer = invoice.Buyer{
		Name: "Ελένη Παπαδοπούλου", Organisation: "Καφές & Σία Ο.Ε.", Street: "Οδός Ερμού 5", PostalCode: "105 63", City: "Αθήνα", Country: "GR",
		VATID: "EL123456789", Email: "eleni@example.gr", Language: "en",
	}
	all["reverse"] = reverse
	outside := withoutVAT(sampleInvoice(2), "outside_eu", invoice.OutOfScope,
		"Nicht im Inland steuerbare Leistung (§ 3a UStG) / Not subject to German VAT: the place of supply is outside the EU")
	outside.Language = "en"
	outside.Buyer = invoice.Buyer{
		Name: "王小明 <&>", Organisation: "深圳 Trading Co. 😀", Street: "Science Park Rd. 8", PostalCode: "518057", City: "Shenzhen", State: "Guangdong", Country: "CN",
		VATID: "CN-1", Email: "wang@example.cn", Language: "en",
	}
	outside.Lines[0].Text = strings.Repeat("sehr-langer-name-", 12) + ".international: Registrierung, 10 Jahre / registration, 10 years"
	all["outside"] = outside
	odd := sampleInvoice(1)
	odd.Buyer.Organisation, odd.Buyer.Street = "{nb} ) Tj ET\nendobj", "Seite {nb} \\("
	all["odd"] = odd
	back := sampleInvoice(1)
	back.Kind, back.Number, back.Refund, back.Corrects = invoice.Correction, "RK-2026-000007", "ref_1", &invoice.Reference{Number: "RE-2026-000042", Day: "2026-11-15"}
	back.Notes = []string{
		"Diese Rechnungskorrektur gehört zur Rechnung RE-2026-000042 vom 15.11.2026: Die Leistung konnte nicht erbracht werden.",
		"Wir haben den Betrag am 15.11.2026 auf demselben Weg erstattet, auf dem er bezahlt wurde.",
	}
	all["correction"] = back
	sole := sampleInvoice(1)
	sole.Seller.Register, sole.Seller.VATID, sole.Seller.Phone = "", "", ""
	all["sole trader"] = sole
	soleOutside := withoutVAT(sampleInvoice(1), "outside_eu", invoice.OutOfScope, "Nicht im Inland steuerbare Leistung (§ 3a UStG)")
	soleOutside.Seller.Register, soleOutside.Seller.TaxNumber, soleOutside.Buyer.Country = "", "", "CH"
	all["sole trader outside"] = soleOutside
	return all
}

func newRenderer(t *testing.T) *Renderer {
	t.Helper()
	p, err := New()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// renderedFiles holds the output for each sample, by name.
type renderedFiles struct{ pdfs, xmls map[string][]byte }

func renderAll() (renderedFiles, error) {
	all := renderedFiles{make(map[string][]byte), make(map[string][]byte)}
	p, err := New()
	if err != nil {
		return all, err
	}
	for name, d := range samples() {
		pdf, pdfErr := p.PDF(d)
		data, xmlErr := p.XML(d)
		if err := errors.Join(pdfErr, xmlErr); err != nil {
			return all, fmt.Errorf("%s: %w", name, err)
		}
		all.pdfs[name], all.xmls[name] = pdf, data
	}
	return all, nil
}

// renderOnce is shared by all tests: rendering is slow under the race detector.
var renderOnce = sync.OnceValues(renderAll)

// renderedSamples returns the PDF and the XML of each sample, by name.
func renderedSamples(t *testing.T) (pdfs, xmls map[string][]byte) {
	t.Helper()
	all, err := renderOnce()
	if err != nil {
		t.Fatal(err)
	}
	return all.pdfs, all.xmls
}

func TestRenderer_OutputIsDeterministic(t *testing.T) {
	t.Parallel()
	pdfs, xmls := renderedSamples(t)
	again, err := renderAll()
	if err != nil {
		t.Fatal(err)
	}
	folder := os.Getenv(outputDirVariable)
	for name := range pdfs {
		if !bytes.Equal(pdfs[name], again.pdfs[name]) || !bytes.Equal(xmls[name], again.xmls[name]) {
			t.Errorf("%s differs", name)
		}
		if folder == "" {
			continue
		}
		for ending, content := range map[string][]byte{".pdf": pdfs[name], ".xml": xmls[name]} {
			if err := os.WriteFile(filepath.Join(folder, strings.ReplaceAll(name, " ", "-")+ending), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}
