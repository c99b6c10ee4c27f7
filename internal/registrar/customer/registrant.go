package customer

import "time"

// RegistrantKind says who holds domains: a person or a company.
type RegistrantKind string

// The kinds of registrants.
const (
	Person  RegistrantKind = "person"
	Company RegistrantKind = "company"
)

// Registrant is whom domains are registered for.
type Registrant struct {
	Kind RegistrantKind
	Name string
	// Organisation is required for a company.
	Organisation string
	Street       string
	PostalCode   string
	City         string
	// State is required where addresses have one, such as in the USA.
	State string
	// Country is the ISO 3166 code in two capital letters.
	Country string
	// Phone is stored in EPP's form, +49.30123456.
	Phone string
	// VATID is optional.
	VATID     string
	UpdatedAt time.Time
}
