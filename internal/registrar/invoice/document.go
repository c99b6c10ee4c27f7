package invoice

import (
	"fmt"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Kind is what a document is.
type Kind string

// The kinds.
const (
	Invoice    Kind = "invoice"
	Correction Kind = "correction"
)

// Category is the VAT category of EN 16931.
type Category string

// The categories that a service can have.
const (
	Standard      Category = "S"
	ReverseCharge Category = "AE"
	OutOfScope    Category = "O"
)

// Document is an invoice or a correction. Its JSON is what is stored for ever: a
// field is added, never renamed.
type Document struct {
	ID       string `json:"id"`
	Kind     Kind   `json:"kind"`
	Order    string `json:"order"`
	Refund   string `json:"refund,omitempty"` // of a correction
	Customer string `json:"customer"`

	// Number is Series and Count as people read it: RE-2026-000001.
	Number string `json:"number"`
	Series string `json:"series"`
	Count  int64  `json:"count"`
	// IssuedAt is the moment; Day and SuppliedOn are days in Germany, as 2006-01-02.
	IssuedAt   time.Time `json:"issued_at"`
	Day        string    `json:"day"`
	SuppliedOn string    `json:"supplied_on"`
	// PaidOn is the day of the payment, or of the refund; Payment is ours.
	PaidOn  string `json:"paid_on"`
	Payment string `json:"payment"`
	// Corrects is what a correction is about.
	Corrects *Reference `json:"corrects,omitempty"`

	// Language is the customer's: de, or en for German with English beside it.
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
	// Reason says why no VAT is charged; empty where some is.
	Reason string `json:"reason,omitempty"`
	// Notes are the sentences below the sums.
	Notes []string `json:"notes"`
}

// Reference names another document.
type Reference struct {
	Number string `json:"number"`
	Day    string `json:"day"`
}

// Seller is the operator, as the law wants it on an invoice.
type Seller struct {
	Name       string `json:"name"`
	Street     string `json:"street"`
	PostalCode string `json:"postal_code"`
	City       string `json:"city"`
	// Country is always Germany: package billing sells from there.
	Country string `json:"country"`
	// Register is the commercial register's entry; empty where there is none.
	Register string `json:"register,omitempty"`
	// One of VATID and TaxNumber is there.
	VATID     string `json:"vat_id,omitempty"`
	TaxNumber string `json:"tax_number,omitempty"`
	Email     string `json:"email"`
	Phone     string `json:"phone,omitempty"`
}

// Buyer is the customer when the money came.
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

// DisplayName is who the document is made out to.
func (b Buyer) DisplayName() string {
	if b.Organisation != "" {
		return b.Organisation
	}
	if b.Name != "" {
		return b.Name
	}
	return b.Email // an account that has told nothing, from before this was asked
}

// Line is one item. Its term is in its text, so there is one piece of it.
type Line struct {
	Item  string          `json:"item"`
	Text  string          `json:"text"`
	Net   registrar.Cents `json:"net"`
	VAT   registrar.Cents `json:"vat"`
	Gross registrar.Cents `json:"gross"`
}

// Sale is a paid order, or one refund of it, as far as a document needs it.
type Sale struct {
	Order, Customer string
	PaidAt          time.Time
	// Payment is the one that was kept.
	Payment         string
	Items           []Item
	Net, VAT, Gross registrar.Cents
	RateBasisPoints int
	// Rule is billing's; Country is whose VAT it is, VATID the one that it rests on.
	Rule, Country, VATID string
	Refunds              []Refund
}

// Item is one name of an order.
type Item struct {
	ID, Name, Kind  string
	Years           int
	Net, VAT, Gross registrar.Cents
}

// Refund is money that went back.
type Refund struct {
	ID, Item string
	Amount   registrar.Cents
	MadeAt   time.Time
}

// Numbering is how a series is called.
type Numbering struct{ Invoices, Corrections string }

// series is a prefix and a year.
func (n Numbering) series(kind Kind, day time.Time) string {
	prefix := n.Invoices
	if kind == Correction {
		prefix = n.Corrections
	}
	return fmt.Sprintf("%s-%d", prefix, day.Year())
}

// withNumber gives a document its place in its series.
func (d Document) withNumber(count int64) Document {
	d.Count, d.Number = count, fmt.Sprintf("%s-%06d", d.Series, count)
	return d
}
