// Package stripehook serves the payment provider's webhook.
//
// An event's signature is verified over its raw bytes before anything in it is parsed,
// and the event is only used to learn which payment, refund, dispute or verification to
// fetch. The work
// is done before the response: 200 means that the payment's state is up to date here,
// 500 asks the provider to send the event again. The provider retries for days, and
// payments are also polled, so no response can lose a payment.
//
// The endpoint is internal to the provider and us, so no discovery document lists it.
// Other clients get a plain 400.
package stripehook

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// Path is where the provider sends its events.
const Path = "/api/stripe/webhook"

const (
	maxPayloadBytes = 256 << 10 // limits an event; the provider's are a few KiB
	// handleTimeout bounds the handling of an event. It is shorter than the server's
	// write timeout.
	handleTimeout = 15 * time.Second
)

// Events verifies and handles the provider's events.
type Events interface {
	// ParseEvent returns an error for anything that the provider has not signed.
	ParseEvent(payload []byte, signature string) (order.Event, error)
	// HandleEvent fetches and applies what the event is about. On an error the provider
	// sends it again.
	HandleEvent(ctx context.Context, event order.Event) error
}

// New returns the handler of POST /api/stripe/webhook.
func New(events Events) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(serve(w, r, events)) }
}

func serve(w http.ResponseWriter, r *http.Request, events Events) int {
	w.Header().Set("Cache-Control", "no-store")
	payload, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPayloadBytes))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return http.StatusRequestEntityTooLarge
	}
	if err != nil {
		return http.StatusBadRequest
	}
	event, err := events.ParseEvent(payload, r.Header.Get("Stripe-Signature"))
	if err != nil {
		httpjson.RecordError(w, err)
		return http.StatusBadRequest
	}
	if event == (order.Event{}) {
		return http.StatusOK
	}
	// A closed connection must not cancel work that the event has caused.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), handleTimeout)
	defer cancel()
	if err := events.HandleEvent(ctx, event); err != nil {
		httpjson.RecordError(w, err)
		return http.StatusInternalServerError
	}
	return http.StatusOK
}
