package invoicepdf

import (
	"encoding/xml"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
)

// node is any XML, parsed without the types that wrote it.
type node struct {
	XMLName xml.Name
	Attrs   []xml.Attr `xml:",any,attr"`
	Text    string     `xml:",chardata"`
	Nodes   []node     `xml:",any"`
}

// all returns the nodes at a path of local names.
func (n node) all(path string) []node {
	found := []node{n}
	for step := range strings.SplitSeq(path, "/") {
		var next []node
		for _, one := range found {
			for _, child := range one.Nodes {
				if child.XMLName.Local == step {
					next = append(next, child)
				}
			}
		}
		found = next
	}
	return found
}

func (n node) text(path string) string {
	for _, one := range n.all(path) {
		return strings.TrimSpace(one.Text)
	}
	return ""
}

func (n node) attr(name string) string {
	for _, one := range n.Attrs {
		if one.Name.Local == name {
			return one.Value
		}
	}
	return ""
}

func (n node) number(t *testing.T, path string) float64 {
	t.Helper()
	value, err := strconv.ParseFloat(n.text(path), 64)
	if err != nil {
		t.Errorf("%s is %q", path, n.text(path))
	}
	return value
}

// taxID returns a party's registration of one scheme.
func (n node) taxID(scheme string) string {
	for _, one := range n.all("SpecifiedTaxRegistration/ID") {
		if one.attr("schemeID") == scheme {
			return one.Text
		}
	}
	return ""
}

const (
	transactionPath = "SupplyChainTradeTransaction"
	agreementPath   = transactionPath + "/ApplicableHeaderTradeAgreement"
	settlementPath  = transactionPath + "/ApplicableHeaderTradeSettlement"
	totalsPath      = settlementPath + "/SpecifiedTradeSettlementHeaderMonetarySummation"
)

// businessRules are business rules of EN 16931.
var businessRules = map[string]func(t *testing.T, n node) bool{
	"BR-01 specification": func(_ *testing.T, n node) bool {
		return n.text("ExchangedDocumentContext/GuidelineSpecifiedDocumentContextParameter/ID") == "urn:cen.eu:en16931:2017"
	},
	"BR-02 number": func(_ *testing.T, n node) bool { return n.text("ExchangedDocument/ID") != "" },
	"BR-03 day": func(_ *testing.T, n node) bool {
		day := n.all("ExchangedDocument/IssueDateTime/DateTimeString")
		return len(day) == 1 && day[0].attr("format") == "102" && len(day[0].Text) == 8
	},
	"BR-04 type": func(_ *testing.T, n node) bool {
		kind := n.text("ExchangedDocument/TypeCode")
		return kind == "380" || kind == "381"
	},
	"BR-05 currency": func(_ *testing.T, n node) bool { return n.text(settlementPath+"/InvoiceCurrencyCode") == "EUR" },
	"BR-06 seller":   func(_ *testing.T, n node) bool { return n.text(agreementPath+"/SellerTradeParty/Name") != "" },
	"BR-07 buyer":    func(_ *testing.T, n node) bool { return n.text(agreementPath+"/BuyerTradeParty/Name") != "" },
	"BR-09 seller's country": func(_ *testing.T, n node) bool {
		return n.text(agreementPath+"/SellerTradeParty/PostalTradeAddress/CountryID") == "DE"
	},
	"BR-11 buyer's country": func(_ *testing.T, n node) bool {
		return len(n.text(agreementPath+"/BuyerTradeParty/PostalTradeAddress/CountryID")) == 2
	},
	"BR-16 lines": func(_ *testing.T, n node) bool {
		return len(n.all(transactionPath+"/IncludedSupplyChainTradeLineItem")) > 0
	},
	"BR-21 to BR-27 a line is whole": func(t *testing.T, n node) bool {
		seen := map[string]bool{}
		for _, line := range n.all(transactionPath + "/IncludedSupplyChainTradeLineItem") {
			id := line.text("AssociatedDocumentLineDocument/LineID")
			quantity := line.all("SpecifiedLineTradeDelivery/BilledQuantity")
			price := line.number(t, "SpecifiedLineTradeAgreement/NetPriceProductTradePrice/ChargeAmount")
			total := line.number(t, "SpecifiedLineTradeSettlement/SpecifiedTradeSettlementLineMonetarySummation/LineTotalAmount")
			if id == "" || seen[id] || len(quantity) != 1 || quantity[0].Text != "1" || quantity[0].attr("unitCode") != "C62" || price < 0 || !almostEqual(price, total) ||
				line.text("SpecifiedTradeProduct/Name") == "" {
				return false
			}
			seen[id] = true
		}
		return true
	},
	"BR-CO-04 a line has a category": func(_ *testing.T, n node) bool {
		for _, tax := range n.all(transactionPath + "/IncludedSupplyChainTradeLineItem/SpecifiedLineTradeSettlement/ApplicableTradeTax") {
			if tax.text("TypeCode") != "VAT" || tax.text("CategoryCode") != n.text(settlementPath+"/ApplicableTradeTax/CategoryCode") {
				return false
			}
		}
		return true
	},
	"BR-CO-09 VAT ids begin with a country": func(_ *testing.T, n node) bool {
		for _, party := range append(n.all(agreementPath+"/SellerTradeParty"), n.all(agreementPath+"/BuyerTradeParty")...) {
			if id := party.taxID("VA"); id != "" && (len(id) < 4 || strings.ToUpper(id[:2]) != id[:2] || strings.ContainsAny(id[:2], "0123456789")) {
				return false
			}
		}
		return true
	},
	"BR-CO-10 the lines add up": func(t *testing.T, n node) bool {
		total := 0.0
		for _, line := range n.all(transactionPath + "/IncludedSupplyChainTradeLineItem/SpecifiedLineTradeSettlement/SpecifiedTradeSettlementLineMonetarySummation") {
			total += line.number(t, "LineTotalAmount")
		}
		return almostEqual(total, n.number(t, totalsPath+"/LineTotalAmount"))
	},
	"BR-CO-13 net is the lines": func(t *testing.T, n node) bool {
		return almostEqual(n.number(t, totalsPath+"/LineTotalAmount"), n.number(t, totalsPath+"/TaxBasisTotalAmount"))
	},
	"BR-CO-14 VAT is that of the categories": func(t *testing.T, n node) bool {
		return almostEqual(n.number(t, totalsPath+"/TaxTotalAmount"), n.number(t, settlementPath+"/ApplicableTradeTax/CalculatedAmount")) &&
			n.all(totalsPath + "/TaxTotalAmount")[0].attr("currencyID") == "EUR"
	},
	"BR-CO-15 gross is net and VAT": func(t *testing.T, n node) bool {
		return almostEqual(n.number(t, totalsPath+"/GrandTotalAmount"), n.number(t, totalsPath+"/TaxBasisTotalAmount")+n.number(t, totalsPath+"/TaxTotalAmount"))
	},
	"BR-CO-16 nothing is due": func(t *testing.T, n node) bool {
		due := n.number(t, totalsPath+"/DuePayableAmount")
		return almostEqual(due, n.number(t, totalsPath+"/GrandTotalAmount")-n.number(t, totalsPath+"/TotalPrepaidAmount")) && almostEqual(due, 0)
	},
	"BR-CO-17 VAT is that of the rate": func(t *testing.T, n node) bool {
		tax := n.all(settlementPath + "/ApplicableTradeTax")[0]
		if tax.text("CategoryCode") == "O" {
			return true
		}
		exact := tax.number(t, "BasisAmount") * tax.number(t, "RateApplicablePercent") / 100
		return math.Abs(exact-tax.number(t, "CalculatedAmount")) < 0.01
	},
	"BR-CO-18 one breakdown of the whole": func(t *testing.T, n node) bool {
		return len(n.all(settlementPath+"/ApplicableTradeTax")) == 1 && almostEqual(n.number(t, settlementPath+"/ApplicableTradeTax/BasisAmount"), n.number(t, totalsPath+"/TaxBasisTotalAmount"))
	},
	"BR-CO-26 the seller has an identifier": func(_ *testing.T, n node) bool {
		seller := n.all(agreementPath + "/SellerTradeParty")[0]
		return seller.text("ID") != "" || seller.text("SpecifiedLegalOrganization/ID") != "" || seller.taxID("VA") != ""
	},
	"BR-49 means of payment": func(_ *testing.T, n node) bool {
		return n.text(settlementPath+"/SpecifiedTradeSettlementPaymentMeans/TypeCode") == "68"
	},
	"BR-55 a credit note names its invoice": func(_ *testing.T, n node) bool {
		named := n.text(settlementPath+"/InvoiceReferencedDocument/IssuerAssignedID") != ""
		return named == (n.text("ExchangedDocument/TypeCode") == "381")
	},
	"BR-62, BR-63 an electronic address has a scheme": func(_ *testing.T, n node) bool {
		for _, party := range []string{"SellerTradeParty", "BuyerTradeParty"} {
			for _, one := range n.all(agreementPath + "/" + party + "/URIUniversalCommunication/URIID") {
				if one.attr("schemeID") != "EM" {
					return false
				}
			}
		}
		return true
	},
	"BR-DEC two decimals": func(_ *testing.T, n node) bool {
		for _, path := range []string{totalsPath + "/LineTotalAmount", totalsPath + "/TaxTotalAmount", totalsPath + "/GrandTotalAmount", settlementPath + "/ApplicableTradeTax/BasisAmount"} {
			if _, decimals, found := strings.Cut(n.text(path), "."); !found || len(decimals) != 2 {
				return false
			}
		}
		return true
	},
	"BR-S, BR-AE, BR-O the category is whole": checkVATCategory,
}

func almostEqual(a, b float64) bool { return math.Abs(a-b) < 0.001 }

// checkVATCategory checks what each VAT category requires of the parties and its breakdown.
func checkVATCategory(t *testing.T, n node) bool {
	t.Helper()
	tax := n.all(settlementPath + "/ApplicableTradeTax")[0]
	lineTax := n.all(transactionPath + "/IncludedSupplyChainTradeLineItem/SpecifiedLineTradeSettlement/ApplicableTradeTax")[0]
	seller, buyer := n.all(agreementPath + "/SellerTradeParty")[0], n.all(agreementPath + "/BuyerTradeParty")[0]
	sellerKnown := seller.taxID("VA") != "" || seller.taxID("FC") != ""
	reason, code := tax.text("ExemptionReason"), tax.text("ExemptionReasonCode")
	switch tax.text("CategoryCode") {
	case "S":
		return sellerKnown && tax.number(t, "RateApplicablePercent") > 0 && reason == "" && code == "" && lineTax.number(t, "RateApplicablePercent") > 0
	case "AE":
		return sellerKnown && buyer.taxID("VA") != "" && almostEqual(tax.number(t, "RateApplicablePercent"), 0) && almostEqual(tax.number(t, "CalculatedAmount"), 0) &&
			strings.Contains(reason, "Reverse charge") && code == "VATEX-EU-AE" && almostEqual(lineTax.number(t, "RateApplicablePercent"), 0)
	case "O":
		return seller.taxID("VA") == "" && buyer.taxID("VA") == "" && len(tax.all("RateApplicablePercent")) == 0 && len(lineTax.all("RateApplicablePercent")) == 0 &&
			almostEqual(tax.number(t, "CalculatedAmount"), 0) && reason != "" && code == "VATEX-EU-O"
	default:
		return false
	}
}

func parseXML(t *testing.T, content []byte) node {
	t.Helper()
	var n node
	if err := xml.Unmarshal(content, &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestXML_SamplesSatisfyEN16931Rules(t *testing.T) {
	t.Parallel()
	_, xmls := renderedSamples(t)
	categories := map[string]bool{}
	for name, content := range xmls {
		n := parseXML(t, content)
		categories[n.text(settlementPath+"/ApplicableTradeTax/CategoryCode")] = true
		for rule, holds := range businessRules {
			if !holds(t, n) {
				t.Errorf("%s breaks %s:\n%s", name, rule, content)
			}
		}
	}
	if len(categories) != 3 {
		t.Errorf("only categories %v were checked", categories)
	}
}

// Each rule must be able to fail.
func TestBusinessRules_DetectBrokenDocuments(t *testing.T) {
	t.Parallel()
	for rule, corrupt := range map[string]func(*invoice.Document){
		"BR-02 number":                            func(d *invoice.Document) { d.Number = "" },
		"BR-07 buyer":                             func(d *invoice.Document) { d.Buyer = invoice.Buyer{Country: "DE"} },
		"BR-11 buyer's country":                   func(d *invoice.Document) { d.Buyer.Country = "" },
		"BR-16 lines":                             func(d *invoice.Document) { d.Lines = nil },
		"BR-CO-10 the lines add up":               func(d *invoice.Document) { d.Lines[0].Net++ },
		"BR-CO-15 gross is net and VAT":           func(d *invoice.Document) { d.Gross++ },
		"BR-CO-17 VAT is that of the rate":        func(d *invoice.Document) { d.VAT += 2 },
		"BR-S, BR-AE, BR-O the category is whole": func(d *invoice.Document) { d.Category = invoice.ReverseCharge },
		"BR-55 a credit note names its invoice":   func(d *invoice.Document) { d.Kind = invoice.Correction },
		"BR-CO-26 the seller has an identifier": func(d *invoice.Document) {
			d.Seller.Register, d.Seller.TaxNumber, d.Seller.VATID = "", "", ""
		},
	} {
		d := sampleInvoice(2)
		corrupt(&d)
		content, err := newRenderer(t).XML(d)
		if err != nil {
			t.Fatal(err)
		}
		if holds, known := businessRules[rule]; !known || holds(t, parseXML(t, content)) {
			t.Errorf("violation of %s not detected", rule)
		}
	}
}

func TestXML_ContainsDocumentData(t *testing.T) {
	t.Parallel()
	n := parseXML(t, func() []byte {
		content, err := newRenderer(t).XML(samples()["reverse"])
		if err != nil {
			t.Fatal(err)
		}
		return content
	}())
	d := samples()["reverse"]
	buyer := n.all(agreementPath + "/BuyerTradeParty")[0]
	for path, want := range map[string]string{
		"Name": d.Buyer.Organisation, "DefinedTradeContact/PersonName": d.Buyer.Name, "PostalTradeAddress/LineOne": d.Buyer.Street,
		"PostalTradeAddress/PostcodeCode": d.Buyer.PostalCode, "PostalTradeAddress/CityName": d.Buyer.City, "PostalTradeAddress/CountryID": "GR",
	} {
		if got := buyer.text(path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	if buyer.taxID("VA") != "EL123456789" || n.text(totalsPath+"/GrandTotalAmount") != d.Gross.String() || n.text("ExchangedDocument/ID") != d.Number ||
		n.text(agreementPath+"/BuyerOrderReferencedDocument/IssuerAssignedID") != d.Order || n.text(settlementPath+"/PaymentReference") != d.Payment {
		t.Errorf("got %+v", n)
	}
	if got := n.text(transactionPath + "/ApplicableHeaderTradeDelivery/ActualDeliverySupplyChainEvent/OccurrenceDateTime/DateTimeString"); got != "20261115" {
		t.Errorf("supply date = %q", got)
	}
	d.Day = "gestern"
	if _, err := newRenderer(t).XML(d); err == nil {
		t.Error("invalid day accepted")
	}
}
