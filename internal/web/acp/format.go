package acp

import (
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// shape is one format of requests and responses.
type shape struct {
	version     string                          // its API-Version; empty is our own
	keyRequired bool                            // every POST needs an Idempotency-Key
	readers     map[string]func(object) request // parse the body of an operation; errors are kept in the object's state
	// items is the name of the item list, addressPath the path of the address.
	items, addressPath string
	contentType        string                            // that of messages
	linksInMessages    bool                              // a session has no field for a link
	payLinkText        string                            // names where a session has the payment link
	returnsLinkType    string                            // the type of the link to the withdrawal page
	write              func(v view, completing bool) any // returns the body of a response
}

// versions are the supported versions, newest first.
var versions = []string{v2026.version, v2025.version}

func shapeOf(version string) (*shape, bool) {
	for _, s := range []*shape{own, v2025, v2026} {
		if s.version == version {
			return s, true
		}
	}
	return nil, false
}

// read parses the body of an operation in this shape.
func (s *shape) read(operation string, fields map[string]any) (r request, err error) {
	err = s.check(fields, func(top object) { r = s.readers[operation](top) })
	return r, err
}

// checkAfterItems checks what matters only once the items are known to exist.
func (s *shape) checkAfterItems(fields map[string]any) error {
	return s.check(fields, func(top object) {
		readQuantities(top, s.items)
		if s == own {
			readQuantities(top, "line_items")
		}
		if sent := top.text("currency"); sent != "" && !strings.EqualFold(sent, currency) {
			top.form.fail(codeCurrency, "All prices are in euros: the currency must be "+currency+".", "$.currency")
		}
	})
}

// check returns the first error that read finds in a body.
func (s *shape) check(fields map[string]any, read func(top object)) error {
	f := &readState{strict: s.version != ""}
	read(object{form: f, path: "$", fields: fields})
	if f.problem != nil {
		return f.problem
	}
	return nil
}

type address struct {
	Name       string `json:"name"`
	LineOne    string `json:"line_one"`
	LineTwo    string `json:"line_two,omitempty"`
	City       string `json:"city"`
	State      string `json:"state"` // required by the schemas, even if there is none
	Country    string `json:"country"`
	PostalCode string `json:"postal_code"`
}

func newAddress(c order.Contact) *address {
	if c.Street == "" {
		return nil
	}
	return &address{
		Name: strings.TrimSpace(c.FirstName + " " + c.LastName), LineOne: c.Street, LineTwo: c.Street2,
		City: c.City, State: c.State, Country: c.Country, PostalCode: c.PostalCode,
	}
}

func newBuyer2026(c order.Contact) *buyer2026 {
	if c.Email == "" {
		return nil
	}
	who := &buyer2026{FirstName: c.FirstName, LastName: c.LastName, Email: c.Email, Phone: c.Phone}
	if c.Organisation != "" {
		who.Company = &company{Name: c.Organisation, TaxID: c.VATID}
	}
	return who
}

// parseLanguage returns de or en from a locale or an Accept-Language header; empty if
// it is neither.
func parseLanguage(tags string) string {
	for tag := range strings.SplitSeq(tags, ",") {
		tag, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(tag)), ";")
		main, _, _ := strings.Cut(strings.ReplaceAll(tag, "_", "-"), "-")
		if main == "de" || main == "en" {
			return main
		}
	}
	return ""
}
