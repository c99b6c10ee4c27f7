package invoicepdf

import "encoding/xml"

// Namespaces of a Cross Industry Invoice.
const (
	rsm = "urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100"
	ram = "urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100"
	udt = "urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100"
	qdt = "urn:un:unece:uncefact:data:standard:QualifiedDataType:100"
)

// Fields are in schema order, each with its EN 16931 business term.

type ciiInvoice struct {
	XMLName xml.Name `xml:"rsm:CrossIndustryInvoice"`
	RSM     string   `xml:"xmlns:rsm,attr"`
	RAM     string   `xml:"xmlns:ram,attr"`
	UDT     string   `xml:"xmlns:udt,attr"`
	QDT     string   `xml:"xmlns:qdt,attr"`

	Guideline  string        `xml:"rsm:ExchangedDocumentContext>ram:GuidelineSpecifiedDocumentContextParameter>ram:ID"` // BT-24
	Header     ciiHeader     `xml:"rsm:ExchangedDocument"`
	Lines      []ciiLine     `xml:"rsm:SupplyChainTradeTransaction>ram:IncludedSupplyChainTradeLineItem"` // BG-25
	Seller     ciiParty      `xml:"rsm:SupplyChainTradeTransaction>ram:ApplicableHeaderTradeAgreement>ram:SellerTradeParty"`
	Buyer      ciiParty      `xml:"rsm:SupplyChainTradeTransaction>ram:ApplicableHeaderTradeAgreement>ram:BuyerTradeParty"`
	Order      string        `xml:"rsm:SupplyChainTradeTransaction>ram:ApplicableHeaderTradeAgreement>ram:BuyerOrderReferencedDocument>ram:IssuerAssignedID"`                       // BT-13
	Supplied   ciiDay        `xml:"rsm:SupplyChainTradeTransaction>ram:ApplicableHeaderTradeDelivery>ram:ActualDeliverySupplyChainEvent>ram:OccurrenceDateTime>udt:DateTimeString"` // BT-72
	Settlement ciiSettlement `xml:"rsm:SupplyChainTradeTransaction>ram:ApplicableHeaderTradeSettlement"`
}

type ciiHeader struct {
	Number string    `xml:"ram:ID"`                               // BT-1
	Type   string    `xml:"ram:TypeCode"`                         // BT-3
	Issued ciiDay    `xml:"ram:IssueDateTime>udt:DateTimeString"` // BT-2
	Notes  []ciiNote `xml:"ram:IncludedNote"`                     // BT-22
}

type ciiNote struct {
	Text string `xml:"ram:Content"`
}

type ciiDay struct {
	Format string `xml:"format,attr"`
	Day    string `xml:",chardata"`
}

type ciiLine struct {
	ID       string      `xml:"ram:AssociatedDocumentLineDocument>ram:LineID"`                                                          // BT-126
	Name     string      `xml:"ram:SpecifiedTradeProduct>ram:Name"`                                                                     // BT-153
	Price    string      `xml:"ram:SpecifiedLineTradeAgreement>ram:NetPriceProductTradePrice>ram:ChargeAmount"`                         // BT-146
	Quantity ciiQuantity `xml:"ram:SpecifiedLineTradeDelivery>ram:BilledQuantity"`                                                      // BT-129
	Tax      ciiTax      `xml:"ram:SpecifiedLineTradeSettlement>ram:ApplicableTradeTax"`                                                // BG-30
	Total    string      `xml:"ram:SpecifiedLineTradeSettlement>ram:SpecifiedTradeSettlementLineMonetarySummation>ram:LineTotalAmount"` // BT-131
}

type ciiQuantity struct {
	Unit  string `xml:"unitCode,attr"` // BT-130
	Count string `xml:",chardata"`
}

type ciiParty struct {
	ID      string            `xml:"ram:ID,omitempty"`                                  // BT-29
	Name    string            `xml:"ram:Name"`                                          // BT-27, BT-44
	Legal   *string           `xml:"ram:SpecifiedLegalOrganization>ram:ID,omitempty"`   // BT-30
	Contact *ciiContact       `xml:"ram:DefinedTradeContact,omitempty"`                 // BG-6, BG-9
	Address ciiAddress        `xml:"ram:PostalTradeAddress"`                            // BG-5, BG-8
	Email   *ciiID            `xml:"ram:URIUniversalCommunication>ram:URIID,omitempty"` // BT-34, BT-49
	Taxes   []ciiRegistration `xml:"ram:SpecifiedTaxRegistration,omitempty"`            // BT-31, BT-32, BT-48
}

type ciiContact struct {
	Person string  `xml:"ram:PersonName"`
	Phone  *string `xml:"ram:TelephoneUniversalCommunication>ram:CompleteNumber,omitempty"`
	Email  *string `xml:"ram:EmailURIUniversalCommunication>ram:URIID,omitempty"`
}

type ciiAddress struct {
	PostalCode string `xml:"ram:PostcodeCode,omitempty"`
	Line       string `xml:"ram:LineOne,omitempty"`
	City       string `xml:"ram:CityName,omitempty"`
	Country    string `xml:"ram:CountryID,omitempty"` // BT-40, BT-55
	State      string `xml:"ram:CountrySubDivisionName,omitempty"`
}

type ciiID struct {
	Scheme string `xml:"schemeID,attr"`
	ID     string `xml:",chardata"`
}

type ciiRegistration struct {
	ID ciiID `xml:"ram:ID"`
}

type ciiSettlement struct {
	Reference string        `xml:"ram:PaymentReference,omitempty"` // BT-83
	Currency  string        `xml:"ram:InvoiceCurrencyCode"`        // BT-5
	Means     ciiMeans      `xml:"ram:SpecifiedTradeSettlementPaymentMeans"`
	Tax       ciiTax        `xml:"ram:ApplicableTradeTax"` // BG-23
	Totals    ciiTotals     `xml:"ram:SpecifiedTradeSettlementHeaderMonetarySummation"`
	Corrects  *ciiReference `xml:"ram:InvoiceReferencedDocument,omitempty"` // BG-3
}

type ciiMeans struct {
	Type        string `xml:"ram:TypeCode"`              // BT-81
	Information string `xml:"ram:Information,omitempty"` // BT-82
}

// ciiTax is the VAT of the document or, without amounts, of a line.
type ciiTax struct {
	Amount     string `xml:"ram:CalculatedAmount,omitempty"` // BT-117
	Type       string `xml:"ram:TypeCode"`
	Reason     string `xml:"ram:ExemptionReason,omitempty"`       // BT-120
	Basis      string `xml:"ram:BasisAmount,omitempty"`           // BT-116
	Category   string `xml:"ram:CategoryCode"`                    // BT-118, BT-151
	ReasonCode string `xml:"ram:ExemptionReasonCode,omitempty"`   // BT-121
	Rate       string `xml:"ram:RateApplicablePercent,omitempty"` // BT-119, BT-152
}

type ciiTotals struct {
	Lines   string   `xml:"ram:LineTotalAmount"`     // BT-106
	Basis   string   `xml:"ram:TaxBasisTotalAmount"` // BT-109
	VAT     ciiMoney `xml:"ram:TaxTotalAmount"`      // BT-110
	Gross   string   `xml:"ram:GrandTotalAmount"`    // BT-112
	Prepaid string   `xml:"ram:TotalPrepaidAmount"`  // BT-113
	Due     string   `xml:"ram:DuePayableAmount"`    // BT-115
}

type ciiMoney struct {
	Currency string `xml:"currencyID,attr"`
	Amount   string `xml:",chardata"`
}

type ciiReference struct {
	Number string `xml:"ram:IssuerAssignedID"`                          // BT-25
	Day    ciiDay `xml:"ram:FormattedIssueDateTime>qdt:DateTimeString"` // BT-26
}
