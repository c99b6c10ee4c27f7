package hooks

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

// fake takes messages that are signed "good".
type fake struct {
	event   order.Event
	failure error
	payload []byte
	heard   []order.Event
	ctx     error
}

func (f *fake) Read(payload []byte, signature string) (order.Event, error) {
	if signature != "good" {
		return order.Event{}, &registrar.Error{Kind: registrar.KindInvalid, Code: "bad_message"}
	}
	f.payload = payload
	return f.event, nil
}

func (f *fake) Heard(ctx context.Context, event order.Event) error {
	f.heard, f.ctx = append(f.heard, event), ctx.Err()
	return f.failure
}

func post(ctx context.Context, f *fake, signature, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, Path, strings.NewReader(body))
	r.Header.Set("Stripe-Signature", signature)
	w := httptest.NewRecorder()
	New(f).Serve(w, r)
	return w
}

func TestASignedMessageIsHeardByteByByteAndThenAnswered(t *testing.T) {
	t.Parallel()
	f := &fake{event: order.Event{Session: "cs_1"}}
	const body = "{ \"id\":\t\"evt_1\" }\r\n"
	if w := post(t.Context(), f, "good", body); w.Code != http.StatusOK {
		t.Errorf("got %d", w.Code)
	}
	if string(f.payload) != body || len(f.heard) != 1 || f.heard[0].Session != "cs_1" {
		t.Errorf("read %q, heard %v", f.payload, f.heard)
	}
}

func TestABadSignatureIs400WithoutAWord(t *testing.T) {
	t.Parallel()
	f := &fake{event: order.Event{Session: "cs_1"}}
	for _, signature := range []string{"", "bad"} {
		if w := post(t.Context(), f, signature, "{}"); w.Code != http.StatusBadRequest || w.Body.Len() != 0 {
			t.Errorf("%q: got %d with %q", signature, w.Code, w.Body)
		}
	}
	if len(f.heard) != 0 {
		t.Errorf("heard %v", f.heard)
	}
}

func TestWhatCouldNotBeDoneIsSentAgain(t *testing.T) {
	t.Parallel()
	for _, failure := range []error{
		registrar.Fault(registrar.FaultTimeout, "provider", nil), &registrar.Error{Kind: registrar.KindInvalid}, errors.New("database"),
	} {
		f := &fake{event: order.Event{Intent: "pi_1"}, failure: failure}
		if w := post(t.Context(), f, "good", "{}"); w.Code != http.StatusInternalServerError || w.Body.Len() != 0 {
			t.Errorf("%v: got %d with %q", failure, w.Code, w.Body)
		}
	}
}

func TestAMessageAboutNothingOfOursIsTaken(t *testing.T) {
	t.Parallel()
	f := &fake{}
	if w := post(t.Context(), f, "good", "{}"); w.Code != http.StatusOK || len(f.heard) != 0 {
		t.Errorf("got %d, heard %v", w.Code, f.heard)
	}
}

func TestAMessageMayHave256KiBAndNoMore(t *testing.T) {
	t.Parallel()
	f := &fake{event: order.Event{Session: "cs_1"}}
	if w := post(t.Context(), f, "good", strings.Repeat("x", largest)); w.Code != http.StatusOK {
		t.Errorf("256 KiB: got %d", w.Code)
	}
	if w := post(t.Context(), f, "good", strings.Repeat("x", largest+1)); w.Code != http.StatusRequestEntityTooLarge || len(f.heard) != 1 {
		t.Errorf("one byte more: got %d, heard %v", w.Code, f.heard)
	}
}

func TestAnAbortedBodyIsNotHeard(t *testing.T) {
	t.Parallel()
	f := &fake{event: order.Event{Session: "cs_1"}}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, Path, &cut{bytes.NewReader([]byte("{}"))})
	r.Header.Set("Stripe-Signature", "good")
	w := httptest.NewRecorder()
	New(f).Serve(w, r)
	if w.Code != http.StatusBadRequest || len(f.heard) != 0 {
		t.Errorf("got %d, heard %v", w.Code, f.heard)
	}
}

// cut ends in the middle.
type cut struct{ *bytes.Reader }

func (c *cut) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	if err != nil {
		return n, errors.New("connection reset")
	}
	return n, nil
}

func TestAProviderThatHangsUpDoesNotStopTheWork(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := &fake{event: order.Event{Session: "cs_1"}}
	post(ctx, f, "good", "{}")
	if len(f.heard) != 1 || f.ctx != nil {
		t.Errorf("heard %v with a context that says %v", f.heard, f.ctx)
	}
}
