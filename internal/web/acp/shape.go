package acp

import (
	"strings"
)

// shape is one format of requests and responses.
type shape struct {
	// version is its API-Version; empty is our own.
	version string
	// keyRequired means that every POST needs an Idempotency-Key.
	keyRequired bool
	// create, update, complete and cancel parse a body; errors are kept in the object's
	// state.
	create, update, complete, cancel func(object) request
	// items is the name of the item list, addressPath the path of the address.
	items, addressPath string
	// linksInMessages means that a session has no field for a link.
	linksInMessages bool
	// payLinkText names where a session has the payment link.
	payLinkText string
	// returnsLinkType is the type of the link to the withdrawal page.
	returnsLinkType string
	// write returns the body of a response.
	write func(v view, completing bool) any
}

// versions are the supported versions, newest first.
var versions = []string{v2026.version, v2025.version}

// shapeOf finds the shape of an API-Version.
func shapeOf(version string) (*shape, bool) {
	for _, s := range []*shape{own, v2025, v2026} {
		if s.version == version {
			return s, true
		}
	}
	return nil, false
}

// read parses a body in this shape.
func (s *shape) read(reader func(object) request, fields map[string]any) (request, error) {
	f := &readState{strict: s.version != ""}
	top := object{form: f, path: "$", fields: fields}
	r := reader(top)
	if f.problem != nil {
		return request{}, f.problem
	}
	return r, nil
}

// checkAfterItems checks what matters only once the items are known to exist.
func (s *shape) checkAfterItems(fields map[string]any) error {
	f := &readState{strict: s.version != ""}
	top := object{form: f, path: "$", fields: fields}
	readQuantities(top, s.items)
	if s == own {
		readQuantities(top, "line_items")
	}
	if sent := top.text("currency"); sent != "" && !strings.EqualFold(sent, currency) {
		f.fail(codeCurrency, "Everything here costs euros: the currency is "+currency+".", "$.currency")
	}
	if f.problem != nil {
		return f.problem
	}
	return nil
}

// total, message and address are the same in all shapes that have them.
type total struct {
	Type   string `json:"type"`
	Text   string `json:"display_text"`
	Amount int64  `json:"amount"`
}

type message struct {
	Type        string `json:"type"`
	Code        string `json:"code,omitempty"`
	Param       string `json:"param,omitempty"`
	Resolution  string `json:"resolution,omitempty"`
	ContentType string `json:"content_type"`
	Content     string `json:"content"`
}

func newMessages(v view, resolutions bool) []message {
	list := []message{}
	for _, n := range v.notices {
		m := message{Type: n.kind, Code: n.code, Param: n.param, ContentType: "plain", Content: n.text}
		if resolutions {
			m.Resolution = n.resolution
		}
		list = append(list, m)
	}
	return list
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

func newAddress(v view) *address {
	c := v.contact
	if c.Street == "" {
		return nil
	}
	return &address{
		Name: strings.TrimSpace(c.FirstName + " " + c.LastName), LineOne: c.Street, LineTwo: c.Street2,
		City: c.City, State: c.State, Country: c.Country, PostalCode: c.PostalCode,
	}
}

func newBuyer2026(v view) *buyer2026 {
	c := v.contact
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
