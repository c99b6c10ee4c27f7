// Package hooks is where the payment provider calls us.
//
// A message is checked byte by byte against its signature before anything in it is
// read, and then it is only believed to say which payment or verification to look
// at. The work is done before the answer: 200 means that what the message is about
// is as it should be here, 500 that the provider shall send it again. It does so for
// days, and beside it our own clock asks, so no answer of ours can lose a payment.
//
// The endpoint is between the provider and us. That is why it is in no document for
// clients, not even in the description of the interface: whoever is not the provider
// has nothing to do here and gets 400, without a word about what was wrong.
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

// Path is where the provider sends its messages.
const Path = "/api/stripe/webhook"

const (
	// maxPayloadBytes bounds a message; the provider's are a few KiB.
	maxPayloadBytes = 256 << 10
	// handleTimeout bounds the work on a message. It ends before the server's own patience
	// with an answer does.
	handleTimeout = 15 * time.Second
)

// Events reads what the provider sends, and hears of what it is about.
type Events interface {
	// ParseEvent returns an error for everything that the provider has not signed.
	ParseEvent(payload []byte, signature string) (order.Event, error)
	// HandleEvent looks at what the message is about. An error means that it must be sent
	// again.
	HandleEvent(ctx context.Context, event order.Event) error
}

// Handler serves the endpoint.
type Handler struct{ events Events }

// New returns a Handler.
func New(events Events) *Handler { return &Handler{events} }

// Serve is POST /api/stripe/webhook.
func (h *Handler) Serve(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	payload, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxPayloadBytes))
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	event, err := h.events.ParseEvent(payload, r.Header.Get("Stripe-Signature"))
	if err != nil {
		httpjson.RecordError(w, err)
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if event == (order.Event{}) {
		w.WriteHeader(http.StatusOK)
		return
	}
	// A provider that hangs up shall not stop work that it has caused.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), handleTimeout)
	defer cancel()
	if err := h.events.HandleEvent(ctx, event); err != nil {
		httpjson.RecordError(w, err)
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	w.WriteHeader(http.StatusOK)
}
