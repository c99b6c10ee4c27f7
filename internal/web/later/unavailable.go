// Package later answers for endpoints that the documents name but that are not in
// service where nobody can sign in: those of OAuth.
//
// A client that follows a document must never meet a 404 there, which it would
// read as a mistake of its own. It gets 503, a sentence in the form that its
// protocol expects, and Retry-After.
package later

import (
	"net/http"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

const unavailableRetryAfter = time.Hour

// UnavailableHandler serves the endpoints.
type UnavailableHandler struct{}

// NewUnavailable returns a Handler.
func NewUnavailable() *UnavailableHandler { return &UnavailableHandler{} }

// unavailableBody is RFC 6749, 5.2; registration has the same form (RFC 7591, 3.2.2).
type unavailableBody struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

// Serve is every OAuth endpoint.
func (h *UnavailableHandler) Serve(w http.ResponseWriter, _ *http.Request) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Retry-After", strconv.Itoa(int(unavailableRetryAfter.Seconds())))
	httpjson.WriteJSON(w, http.StatusServiceUnavailable, unavailableBody{
		Error: "temporarily_unavailable",
		Description: "Signing in is not in service here yet. " +
			"The lookup tools and the REST lookups need no token.",
	})
}
