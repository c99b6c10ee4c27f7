package invoicepdf

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
)

// Values from the code lists.
const (
	guideline          = "urn:cen.eu:en16931:2017"
	typeInvoice        = "380" // UNTDID 1001
	typeCredit         = "381"
	unitPiece          = "C62" // UN/ECE Recommendation 20
	meansOnlinePayment = "68"  // UNTDID 4461: online payment service
	dateFormatCode     = "102" // UNTDID 2379: CCYYMMDD
	taxVAT             = "VAT"
	currency           = "EUR"
	schemeVATID        = "VA"
	schemeTaxNo        = "FC"
	schemeEmail        = "EM"
	dateLayout         = "20060102"
)

var exemptionCodes = map[invoice.Category]string{invoice.ReverseCharge: "VATEX-EU-AE", invoice.OutOfScope: "VATEX-EU-O"}

// XML renders the document as an electronic invoice.
func (*Renderer) XML(d invoice.Document) ([]byte, error) {
	doc, err := newCIIInvoice(d)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString(xml.Header)
	encoder := xml.NewEncoder(&out)
	encoder.Indent("", "  ")
	if err := encoder.Encode(doc); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func newCIIInvoice(d invoice.Document) (*ciiInvoice, error) {
	issued, err := newCIIDay(d.Day)
	supplied, suppliedErr := newCIIDay(d.SuppliedOn)
	if err := errors.Join(err, suppliedErr); err != nil {
		return nil, err
	}
	kind := typeInvoice
	if d.Kind == invoice.Correction {
		kind = typeCredit
	}
	doc := &ciiInvoice{
		RSM: rsm, RAM: ram, UDT: udt, QDT: qdt,
		Guideline: guideline,
		Header:    ciiHeader{Number: d.Number, Type: kind, Issued: issued},
		Seller:    ciiSeller(d),
		Buyer:     ciiBuyer(d),
		Order:     d.Order,
		Supplied:  supplied,
		Settlement: ciiSettlement{
			Reference: d.Payment, Currency: currency,
			Means: ciiMeans{Type: meansOnlinePayment},
			Tax: ciiTax{
				Amount: d.VAT.String(), Type: taxVAT, Reason: d.Reason, Basis: d.Net.String(), Category: string(d.Category),
				ReasonCode: exemptionCodes[d.Category], Rate: ciiRate(d),
			},
			Totals: ciiTotals{
				Lines: d.Net.String(), Basis: d.Net.String(), VAT: ciiMoney{currency, d.VAT.String()}, Gross: d.Gross.String(),
				Prepaid: d.Gross.String(), Due: registrar.Cents(0).String(),
			},
		},
	}
	for _, note := range d.Notes {
		doc.Header.Notes = append(doc.Header.Notes, ciiNote{note})
		doc.Settlement.Means.Information = note // the last one is about the payment
	}
	for i, line := range d.Lines {
		doc.Lines = append(doc.Lines, ciiLine{
			ID: strconv.Itoa(i + 1), Name: line.Text, Price: line.Net.String(), Quantity: ciiQuantity{unitPiece, "1"},
			Tax: ciiTax{Type: taxVAT, Category: string(d.Category), Rate: ciiRate(d)}, Total: line.Net.String(),
		})
	}
	if d.Corrects != nil {
		at, err := newCIIDay(d.Corrects.Day)
		if err != nil {
			return nil, err
		}
		doc.Settlement.Corrects = &ciiReference{Number: d.Corrects.Number, Day: at}
	}
	return doc, nil
}

func ciiSeller(d invoice.Document) ciiParty {
	s := d.Seller
	party := ciiParty{
		Name:    s.Name,
		Contact: &ciiContact{Person: s.Name, Phone: optional(s.Phone), Email: optional(s.Email)},
		Address: ciiAddress{PostalCode: s.PostalCode, Line: s.Street, City: s.City, Country: s.Country},
		Email:   newCIIEmail(s.Email),
	}
	if party.Legal = optional(s.Register); party.Legal == nil {
		party.ID = cmp.Or(s.TaxNumber, s.VATID) // a seller needs an identifier (BR-CO-26)
	}
	// A document not subject to VAT must not contain VAT IDs (BR-O-02).
	if s.VATID != "" && d.Category != invoice.OutOfScope {
		party.Taxes = append(party.Taxes, ciiRegistration{ciiID{schemeVATID, s.VATID}})
	}
	if s.TaxNumber != "" {
		party.Taxes = append(party.Taxes, ciiRegistration{ciiID{schemeTaxNo, s.TaxNumber}})
	}
	return party
}

func ciiBuyer(d invoice.Document) ciiParty {
	b := d.Buyer
	party := ciiParty{
		Name:    b.DisplayName(),
		Address: ciiAddress{PostalCode: b.PostalCode, Line: b.Street, City: b.City, Country: b.Country, State: b.State},
		Email:   newCIIEmail(b.Email),
	}
	if b.Organisation != "" && b.Name != "" {
		party.Contact = &ciiContact{Person: b.Name}
	}
	if b.VATID != "" && d.Category != invoice.OutOfScope {
		party.Taxes = []ciiRegistration{{ciiID{schemeVATID, b.VATID}}}
	}
	return party
}

func newCIIEmail(address string) *ciiID {
	if address == "" {
		return nil
	}
	return &ciiID{schemeEmail, address}
}

// ciiRate is the rate in percent; a document not subject to VAT has none, not 0 (BR-O-05).
func ciiRate(d invoice.Document) string {
	if d.Category == invoice.OutOfScope {
		return ""
	}
	return registrar.Cents(d.RateBasisPoints).String()
}

// optional returns nil for an empty text, so that its parent elements are omitted, too.
func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func newCIIDay(day string) (ciiDay, error) {
	at, err := time.Parse(time.DateOnly, strings.TrimSpace(day))
	if err != nil {
		return ciiDay{}, fmt.Errorf("invoicepdf: invalid day %q", day)
	}
	return ciiDay{dateFormatCode, at.Format(dateLayout)}, nil
}
