package later

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/signing"
)

func TestWhatIsNotInServiceSaysSoInTheFormOfItsProtocol(t *testing.T) {
	t.Parallel()
	handler := New(time.Now)
	for name, test := range map[string]struct {
		serve         http.HandlerFunc
		field, want   string
		readByPersons string
	}{
		"oauth":    {handler.OAuth, "error", "temporarily_unavailable", "error_description"},
		"checkout": {handler.Checkout, "type", "service_unavailable", "message"},
	} {
		answer := httptest.NewRecorder()
		test.serve(answer, httptest.NewRequest(http.MethodPost, "/", nil))
		var body map[string]string
		if err := json.Unmarshal(answer.Body.Bytes(), &body); err != nil {
			t.Fatal(err)
		}
		if answer.Code != http.StatusServiceUnavailable || body[test.field] != test.want || body[test.readByPersons] == "" {
			t.Errorf("%s: got %d %v", name, answer.Code, body)
		}
		if answer.Header().Get("Retry-After") != "3600" || answer.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s: headers %v", name, answer.Header())
		}
	}
}

func TestCompletionVerifiesTheSignature(t *testing.T) {
	t.Parallel()
	const body = `{"payment_data":{"token":"spt_123","provider":"stripe"}}`
	now := time.Date(2026, 11, 15, 0, 0, 0, 0, time.UTC)
	fresh, old := now.Format(time.RFC3339), now.Add(-time.Hour).Format(time.RFC3339)
	good := func(timestamp string) string { return signing.Compute("key", timestamp, []byte(body)) }
	large := strings.Repeat(" ", largestCheckout+1)
	for _, test := range []struct {
		name                       string
		secrets                    []string
		timestamp, signature, body string
		status                     int
		code                       string
	}{
		{"unsigned", nil, "", "", body, 401, "signature_required"},
		{"no time", nil, "", good(fresh), body, 401, "signature_required"},
		{"no live key", nil, fresh, good(fresh), body, 401, "invalid_signature"},
		{"old", []string{"key"}, old, good(old), body, 401, "stale_timestamp"},
		{"another body", []string{"key"}, fresh, good(fresh), "{}", 401, "invalid_signature"},
		{"too large", []string{"key"}, fresh, good(fresh), large, 400, "body_unreadable"},
		{"signed", []string{"key"}, fresh, good(fresh), body, 503, "service_unavailable"},
	} {
		handler := &Handler{now: func() time.Time { return now }, secrets: test.secrets}
		request := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(test.body))
		request.Header.Set("Timestamp", test.timestamp)
		request.Header.Set("Signature", test.signature)
		answer := httptest.NewRecorder()
		handler.Complete(answer, request)
		var got checkoutError
		if err := json.Unmarshal(answer.Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if answer.Code != test.status || got.Code != test.code || got.Message == "" || got.Type == "" {
			t.Errorf("%s: got %d %+v", test.name, answer.Code, got)
		}
	}
}
