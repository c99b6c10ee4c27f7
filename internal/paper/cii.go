package paper

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
)

// What the lists of codes say.
const (
	guideline    = "urn:cen.eu:en16931:2017"
	typeInvoice  = "380" // UNTDID 1001
	typeCredit   = "381"
	onePiece     = "C62" // UN/ECE Recommendation 20
	onlinePaid   = "68"  // UNTDID 4461: online payment service
	basicDay     = "102" // UNTDID 2379: CCYYMMDD
	taxVAT       = "VAT"
	currency     = "EUR"
	schemeVATID  = "VA"
	schemeTaxNo  = "FC"
	schemeEmail  = "EM"
	dayOnXML     = "20060102"
	exemptAE     = "VATEX-EU-AE"
	exemptO      = "VATEX-EU-O"
	hundredParts = 100
)

var exemptions = map[invoice.Category]string{invoice.ReverseCharge: exemptAE, invoice.OutOfScope: exemptO}

// XML is the document as an electronic invoice.
func (*Press) XML(d invoice.Document) ([]byte, error) {
	whole, err := ciiOf(d)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString(xml.Header)
	encoder := xml.NewEncoder(&out)
	encoder.Indent("", "  ")
	if err := encoder.Encode(whole); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func ciiOf(d invoice.Document) (*ciiInvoice, error) {
	issued, err := basic(d.Day)
	if err != nil {
		return nil, err
	}
	supplied, err := basic(d.SuppliedOn)
	if err != nil {
		return nil, err
	}
	kind := typeInvoice
	if d.Kind == invoice.Correction {
		kind = typeCredit
	}
	whole := &ciiInvoice{
		RSM: rsm, RAM: ram, UDT: udt, QDT: qdt,
		Guideline: guideline,
		Head:      ciiHead{Number: d.Number, Type: kind, Issued: issued},
		Seller:    sellerOf(d),
		Buyer:     buyerOf(d),
		Order:     d.Order,
		Supplied:  supplied,
		Settlement: ciiSettlement{
			Reference: d.Payment, Currency: currency,
			Means: ciiMeans{Type: onlinePaid, Information: last(d.Notes)},
			Tax: ciiTax{
				Amount: amount(d.VAT), Type: taxVAT, Reason: d.Reason, Basis: amount(d.Net), Category: string(d.Category),
				ReasonCode: exemptions[d.Category], Rate: rateOf(d),
			},
			Sums: ciiSums{
				Lines: amount(d.Net), Basis: amount(d.Net), VAT: ciiMoney{currency, amount(d.VAT)}, Gross: amount(d.Gross),
				Prepaid: amount(d.Gross), Due: amount(0),
			},
		},
	}
	for _, note := range d.Notes {
		whole.Head.Notes = append(whole.Head.Notes, ciiNote{note})
	}
	for i, line := range d.Lines {
		whole.Lines = append(whole.Lines, ciiLine{
			ID: strconv.Itoa(i + 1), Name: line.Text, Price: amount(line.Net), Quantity: ciiQuantity{onePiece, "1"},
			Tax: ciiLineTax{Type: taxVAT, Category: string(d.Category), Rate: rateOf(d)}, Total: amount(line.Net),
		})
	}
	if d.Corrects != nil {
		at, err := basic(d.Corrects.Day)
		if err != nil {
			return nil, err
		}
		whole.Settlement.Corrects = &ciiReference{Number: d.Corrects.Number, Day: at}
	}
	return whole, nil
}

func sellerOf(d invoice.Document) ciiParty {
	s := d.Seller
	party := ciiParty{
		Name:    s.Name,
		Contact: &ciiContact{Person: s.Name, Phone: some(s.Phone), Email: some(s.Email)},
		Address: ciiAddress{PostalCode: s.PostalCode, Line: s.Street, City: s.City, Country: s.Country},
		Email:   emailOf(s.Email),
	}
	switch {
	case s.Register != "":
		party.Legal = &ciiLegal{s.Register}
	case s.TaxNumber != "":
		party.ID = s.TaxNumber // a seller has an identifier of some kind (BR-CO-26)
	default:
		party.ID = s.VATID
	}
	// What is not subject to VAT must not name VAT ids (BR-O-02).
	if s.VATID != "" && d.Category != invoice.OutOfScope {
		party.Taxes = append(party.Taxes, ciiRegistration{ciiID{schemeVATID, s.VATID}})
	}
	if s.TaxNumber != "" {
		party.Taxes = append(party.Taxes, ciiRegistration{ciiID{schemeTaxNo, s.TaxNumber}})
	}
	return party
}

func buyerOf(d invoice.Document) ciiParty {
	b := d.Buyer
	party := ciiParty{
		Name:    b.Party(),
		Address: ciiAddress{PostalCode: b.PostalCode, Line: b.Street, City: b.City, Country: b.Country, State: b.State},
		Email:   emailOf(b.Email),
	}
	if b.Organisation != "" && b.Name != "" {
		party.Contact = &ciiContact{Person: b.Name}
	}
	if b.VATID != "" && d.Category != invoice.OutOfScope {
		party.Taxes = []ciiRegistration{{ciiID{schemeVATID, b.VATID}}}
	}
	return party
}

func emailOf(address string) *ciiEmail {
	if address == "" {
		return nil
	}
	return &ciiEmail{ciiID{schemeEmail, address}}
}

// rateOf is the rate in percent. What is not subject to VAT has none, which is
// another thing than 0 (BR-O-05).
func rateOf(d invoice.Document) *string {
	if d.Category == invoice.OutOfScope {
		return nil
	}
	text := fmt.Sprintf("%d.%02d", d.RateBasisPoints/hundredParts, d.RateBasisPoints%hundredParts)
	return &text
}

func amount(sum registrar.Cents) string { return sum.String() }

func some(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

func last(notes []string) string {
	if len(notes) == 0 {
		return ""
	}
	return notes[len(notes)-1]
}

// basic is a stored day as the XML writes it.
func basic(day string) (ciiDay, error) {
	at, err := time.Parse(time.DateOnly, strings.TrimSpace(day))
	if err != nil {
		return ciiDay{}, fmt.Errorf("%q is no day", day)
	}
	return ciiDay{basicDay, at.Format(dayOnXML)}, nil
}
