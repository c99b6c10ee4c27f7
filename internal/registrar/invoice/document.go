package invoice

import (
	"cmp"
	"fmt"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Kind is the kind of a document.
type Kind string

// Kinds of documents.
const (
	Invoice    Kind = "invoice"
	Correction Kind = "correction"
)

// Category is the VAT category of EN 16931.
type Category string

// Categories that a service can have.
const (
	Standard      Category = "S"
	ReverseCharge Category = "AE"
	OutOfScope    Category = "O"
)

// Document is an invoice or a correction. Its JSON is stored: fields are never renamed.
type Document struct {
	ID       string `json:"id"`
	Kind     Kind   `json:"kind"`
	Order    string `json:"order"`
	Refund   string `json:"refund,omitempty"` // of a correction
	Customer string `json:"customer"`

	// Number is Series and Count formatted: RE-2026-000001.
	Number string `json:"number"`
	Series string `json:"series"`
	Count  int64  `json:"count"`
	// Day and SuppliedOn are days in Germany, as 2006-01-02.
	IssuedAt   time.Time `json:"issued_at"`
	Day        string    `json:"day"`
	SuppliedOn string    `json:"supplied_on"`
	// PaidOn is the day of the payment or refund; Payment is our payment id.
	PaidOn  string `json:"paid_on"`
	Payment string `json:"payment"`
	// Corrects is the invoice that a correction refers to.
	Corrects *Reference `json:"corrects,omitempty"`

	// Language is the customer's: de, or en for German followed by English.
	Language string `json:"language"`
	Seller   Seller `json:"seller"`
	Buyer    Buyer  `json:"buyer"`
	Lines    []Line `json:"lines"`

	Net   registrar.Cents `json:"net"`
	VAT   registrar.Cents `json:"vat"`
	Gross registrar.Cents `json:"gross"`
	// RateBasisPoints is the VAT rate in hundredths of a percent.
	RateBasisPoints int      `json:"rate_basis_points"`
	Rule            string   `json:"rule"`
	Category        Category `json:"category"`
	// Reason says why no VAT is charged; empty if it is.
	Reason string `json:"reason,omitempty"`
	// Notes are the texts below the totals.
	Notes []string `json:"notes"`
}

// Booked returns the amounts as they change the revenue: below zero for a correction, on which they
// are positive.
func (d Document) Booked() Amounts {
	amounts := Amounts{Documents: 1, Net: d.Net, VAT: d.VAT, Gross: d.Gross}
	if d.Kind == Correction {
		amounts.Net, amounts.VAT, amounts.Gross = -d.Net, -d.VAT, -d.Gross
	}
	return amounts
}

// Reference identifies another document.
type Reference struct {
	Number string `json:"number"`
	Day    string `json:"day"`
}

// Seller is the operator, with the data that the law requires on an invoice.
type Seller struct {
	Name       string `json:"name"`
	Street     string `json:"street"`
	PostalCode string `json:"postal_code"`
	City       string `json:"city"`
	// Country is always Germany, which package billing assumes.
	Country string `json:"country"`
	// Register is the entry in the commercial register; empty if there is none.
	Register string `json:"register,omitempty"`
	// At least one of VATID and TaxNumber is set.
	VATID     string `json:"vat_id,omitempty"`
	TaxNumber string `json:"tax_number,omitempty"`
	Email     string `json:"email"`
	Phone     string `json:"phone,omitempty"`
}

// Buyer is the customer at the time of payment.
type Buyer struct {
	Name         string `json:"name"`
	Organisation string `json:"organisation,omitempty"`
	Street       string `json:"street"`
	PostalCode   string `json:"postal_code,omitempty"`
	City         string `json:"city"`
	State        string `json:"state,omitempty"`
	Country      string `json:"country"`
	VATID        string `json:"vat_id,omitempty"`
	Email        string `json:"email"`
	Language     string `json:"language"`
}

// DisplayName is the addressee of the document.
func (b Buyer) DisplayName() string {
	return cmp.Or(b.Organisation, b.Name, b.Email) // old accounts may have no name
}

// Line is one item. The text contains its term, so the quantity is 1.
type Line struct {
	Item  string          `json:"item"`
	Text  string          `json:"text"`
	Net   registrar.Cents `json:"net"`
	VAT   registrar.Cents `json:"vat"`
	Gross registrar.Cents `json:"gross"`
}

// Numbering holds the prefixes of the number series.
type Numbering struct{ Invoices, Corrections string }

func (n Numbering) series(kind Kind, day time.Time) string {
	prefix := n.Invoices
	if kind == Correction {
		prefix = n.Corrections
	}
	return fmt.Sprintf("%s-%d", prefix, day.Year())
}

func (d Document) withNumber(count int64) Document {
	d.Count, d.Number = count, fmt.Sprintf("%s-%06d", d.Series, count)
	return d
}
