package site

import (
	"net/url"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Without script, the page of a search has an address, so that browsers go back and forward
// to it. The search is sealed in it: the address is in access logs and in the Referer, and the
// searched name is in neither. Nothing is stored, so every node can open it.
//
// Each GET is a search and spends the budget of the address that sends it, like a POST, so a
// crawler that follows a shared link uses up only its own. robots.txt excludes these addresses,
// and the results of a search tell crawlers not to index or follow them.

const (
	searchParameter = "search"
	searchLinkTTL   = 24 * time.Hour
	// maxSearchQuery is what the search field accepts, in bytes. A longer query is sealed as
	// it was understood, which is a name.
	maxSearchQuery    = 260
	maxSealedSearch   = 2000
	searchTimeField   = "at"
	maxSearchClockLag = time.Hour // between nodes
)

// Seal is registrar.Seal.
type Seal interface {
	Seal(purpose, secret string) string
	Open(purpose, sealed string) (string, error)
}

// sealSearch returns the value of searchParameter for a valid search.
func (h *Handler) sealSearch(field func(name string) string, planned plan, at time.Time) string {
	fields := url.Values{searchTimeField: {strconv.FormatInt(at.Unix(), 10)}, "q": {field("q")}, "from": {strconv.Itoa(planned.From)}, "kind": {planned.Kind}}
	if len(field("q")) > maxSearchQuery {
		fields.Set("q", planned.Query)
	}
	if planned.Category != "" {
		fields.Set("category", string(planned.Category))
	}
	if planned.MaxPrice > 0 {
		fields.Set("max", strconv.Itoa(planned.MaxPrice))
	}
	return h.Seal.Seal(registrar.SearchPurpose, fields.Encode())
}

// openSearch returns the fields of a sealed search; false if it has expired or is invalid.
func (h *Handler) openSearch(sealed string, now time.Time) (url.Values, bool) {
	if len(sealed) > maxSealedSearch {
		return nil, false
	}
	text, err := h.Seal.Open(registrar.SearchPurpose, sealed)
	if err != nil {
		return nil, false
	}
	fields, err := url.ParseQuery(text)
	if err != nil {
		return nil, false
	}
	at, err := strconv.ParseInt(fields.Get(searchTimeField), 10, 64)
	age := now.Sub(time.Unix(at, 0))
	return fields, err == nil && age <= searchLinkTTL && age >= -maxSearchClockLag
}
