package stripehook

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

// fakeEvents accepts events signed "good".
type fakeEvents struct {
	event   order.Event
	failure error
	payload []byte
	handled []order.Event
	ctx     error
}

func (f *fakeEvents) ParseEvent(payload []byte, signature string) (order.Event, error) {
	if signature != "good" {
		return order.Event{}, &registrar.Error{Kind: registrar.KindInvalid, Code: "bad_message"}
	}
	f.payload = payload
	return f.event, nil
}

func (f *fakeEvents) HandleEvent(ctx context.Context, event order.Event) error {
	f.handled, f.ctx = append(f.handled, event), ctx.Err()
	return f.failure
}

func post(ctx context.Context, f *fakeEvents, signature, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, Path, strings.NewReader(body))
	r.Header.Set("Stripe-Signature", signature)
	w := httptest.NewRecorder()
	New(f)(w, r)
	return w
}

func TestServe_SignedPayloadIsVerifiedUnchanged(t *testing.T) {
	t.Parallel()
	f := &fakeEvents{event: order.Event{Session: "cs_1"}}
	const body = "{ \"id\":\t\"evt_1\" }\r\n"
	if w := post(t.Context(), f, "good", body); w.Code != http.StatusOK {
		t.Errorf("got %d", w.Code)
	}
	if string(f.payload) != body || len(f.handled) != 1 || f.handled[0].Session != "cs_1" {
		t.Errorf("read %q, handled %v", f.payload, f.handled)
	}
}

func TestServe_BadSignatureIs400WithoutBody(t *testing.T) {
	t.Parallel()
	f := &fakeEvents{event: order.Event{Session: "cs_1"}}
	for _, signature := range []string{"", "bad"} {
		if w := post(t.Context(), f, signature, "{}"); w.Code != http.StatusBadRequest || w.Body.Len() != 0 {
			t.Errorf("%q: got %d with %q", signature, w.Code, w.Body)
		}
	}
	if len(f.handled) != 0 {
		t.Errorf("handled %v", f.handled)
	}
}

func TestServe_FailedHandlingIs500(t *testing.T) {
	t.Parallel()
	for _, failure := range []error{
		registrar.Fault(registrar.FaultTimeout, "provider", nil), &registrar.Error{Kind: registrar.KindInvalid}, errors.New("database"),
	} {
		f := &fakeEvents{event: order.Event{Intent: "pi_1"}, failure: failure}
		if w := post(t.Context(), f, "good", "{}"); w.Code != http.StatusInternalServerError || w.Body.Len() != 0 {
			t.Errorf("%v: got %d with %q", failure, w.Code, w.Body)
		}
	}
}

func TestServe_UnrelatedEventIsAccepted(t *testing.T) {
	t.Parallel()
	f := &fakeEvents{}
	if w := post(t.Context(), f, "good", "{}"); w.Code != http.StatusOK || len(f.handled) != 0 {
		t.Errorf("got %d, handled %v", w.Code, f.handled)
	}
}

func TestServe_PayloadLimitIs256KiB(t *testing.T) {
	t.Parallel()
	f := &fakeEvents{event: order.Event{Session: "cs_1"}}
	if w := post(t.Context(), f, "good", strings.Repeat("x", maxPayloadBytes)); w.Code != http.StatusOK {
		t.Errorf("256 KiB: got %d", w.Code)
	}
	if w := post(t.Context(), f, "good", strings.Repeat("x", maxPayloadBytes+1)); w.Code != http.StatusRequestEntityTooLarge || len(f.handled) != 1 {
		t.Errorf("one byte more: got %d, handled %v", w.Code, f.handled)
	}
}

func TestServe_TruncatedBodyIsNotHandled(t *testing.T) {
	t.Parallel()
	f := &fakeEvents{event: order.Event{Session: "cs_1"}}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, Path, &brokenReader{bytes.NewReader([]byte("{}"))})
	r.Header.Set("Stripe-Signature", "good")
	w := httptest.NewRecorder()
	New(f)(w, r)
	if w.Code != http.StatusBadRequest || len(f.handled) != 0 {
		t.Errorf("got %d, handled %v", w.Code, f.handled)
	}
}

// brokenReader fails in the middle of the body.
type brokenReader struct{ *bytes.Reader }

func (c *brokenReader) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	if err != nil {
		return n, errors.New("connection reset")
	}
	return n, nil
}

func TestServe_ClientDisconnectDoesNotCancelHandling(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := &fakeEvents{event: order.Event{Session: "cs_1"}}
	post(ctx, f, "good", "{}")
	if len(f.handled) != 1 || f.ctx != nil {
		t.Errorf("handled %v with context error %v", f.handled, f.ctx)
	}
}
