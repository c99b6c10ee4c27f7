// Package later answers for the endpoints that the documents name already but
// that are not in service yet: OAuth and agentic checkout.
//
// A client that follows a document must never meet a 404 there, which it would
// read as a mistake of its own. It gets 503, a sentence in the form that its
// protocol expects, and Retry-After.
//
// Completing a checkout verifies the signature first, as it always will. No
// agent has a secret here, so every signature is refused; nothing is paid.
package later

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/signing"
	"github.com/dotkontor/dotkontor/internal/web/wire"
)

const (
	retryAfter = time.Hour
	// largestCheckout bounds the body of a checkout request.
	largestCheckout = 64 << 10
)

// Handler serves the endpoints.
type Handler struct {
	now func() time.Time
	// secrets may sign completions.
	secrets []string
}

// New returns a Handler. now is wall time: signatures do not follow the time of
// a sandbox.
func New(now func() time.Time) *Handler { return &Handler{now: now} }

// oauthError is RFC 6749, 5.2; registration has the same form (RFC 7591, 3.2.2).
type oauthError struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

// OAuth is every OAuth endpoint.
func (h *Handler) OAuth(w http.ResponseWriter, _ *http.Request) {
	unavailable(w, oauthError{
		Error: "temporarily_unavailable",
		Description: "Signing in is not in service here yet. " +
			"The lookup tools and the REST lookups need no token.",
	})
}

// checkoutError is the Error of the Agentic Commerce Protocol.
type checkoutError struct {
	Type    string `json:"type"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Checkout is every operation on checkout sessions but the completion.
func (h *Handler) Checkout(w http.ResponseWriter, _ *http.Request) {
	unavailable(w, checkoutError{
		Type: "service_unavailable", Code: "service_unavailable",
		Message: "Agentic checkout is not in service here yet. No session was created or changed.",
	})
}

// messages are what an agent reads about its signature.
var messages = map[error]string{
	signing.ErrMissing: "The request is not signed. Send the headers Timestamp and Signature as /.well-known/acp.json describes.",
	signing.ErrInvalid: "The signature does not match the timestamp and the raw body, or its key is not known here.",
	signing.ErrStale:   "The timestamp is more than 300 seconds away from our clock. Sign the request anew.",
}

// Complete is POST /api/acp/checkout_sessions/{id}/complete.
func (h *Handler) Complete(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	err := h.verify(w, r)
	var known *registrar.Error
	switch {
	case err == nil:
		h.Checkout(w, r)
	case errors.As(err, &known):
		wire.Annotate(w, err)
		wire.WriteJSON(w, http.StatusUnauthorized, checkoutError{
			Type: "invalid_request", Code: string(known.Code), Message: messages[err],
		})
	default: // too large, or broken off: a body that is not whole can't be verified
		wire.Annotate(w, &registrar.Error{Kind: registrar.KindInvalid, Code: "body_unreadable"})
		wire.WriteJSON(w, http.StatusBadRequest, checkoutError{
			Type: "invalid_request", Code: "body_unreadable",
			Message: "The body did not arrive whole, or it is larger than 64 KiB.",
		})
	}
}

func (h *Handler) verify(w http.ResponseWriter, r *http.Request) error {
	timestamp, signature := r.Header.Get(signing.TimestampHeader), r.Header.Get(signing.SignatureHeader)
	if timestamp == "" || signature == "" {
		return signing.ErrMissing // without waiting for a body
	}
	if len(r.Header.Values(signing.TimestampHeader)) > 1 || len(r.Header.Values(signing.SignatureHeader)) > 1 {
		return signing.ErrInvalid // two headers are meant for two readers
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largestCheckout))
	if err != nil {
		return err
	}
	_, err = signing.Verify(h.now(), h.secrets, timestamp, signature, body)
	return err
}

func unavailable(w http.ResponseWriter, body any) {
	header := w.Header()
	header.Set("Cache-Control", "no-store")
	header.Set("Retry-After", strconv.Itoa(int(retryAfter.Seconds())))
	wire.WriteJSON(w, http.StatusServiceUnavailable, body)
}
