package stripe

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A scriptedResponse is one response of the scripted Stripe.
type scriptedResponse struct {
	status int
	header map[string]string
	body   string
	// noResponse never responds; connectionError cuts the connection.
	noResponse, connectionError bool
}

func ok(body string) scriptedResponse { return scriptedResponse{status: http.StatusOK, body: body} }

func errorResponse(status int, kind, code string) scriptedResponse {
	return scriptedResponse{status: status, body: `{"error":{"type":"` + kind + `","code":"` + code + `","message":"person@example.org is wrong","param":"line_items"}}`}
}

// sentRequest is a request received by the scripted Stripe.
type sentRequest struct {
	method, path, key, authorization string
	form                             url.Values
}

// scriptedTransport returns its responses in order and then repeats the last one.
type scriptedTransport struct {
	steps []scriptedResponse
	sent  []sentRequest
}

func (s *scriptedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	var form url.Values
	if r.Body != nil {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if form, err = url.ParseQuery(string(raw)); err != nil {
			return nil, err
		}
	}
	if r.Method == http.MethodGet {
		form = r.URL.Query()
	}
	now := s.steps[min(len(s.sent), len(s.steps)-1)]
	s.sent = append(s.sent, sentRequest{r.Method, r.URL.Path, r.Header.Get("Idempotency-Key"), r.Header.Get("Authorization"), form})
	if now.noResponse {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	if now.connectionError {
		return nil, errors.New("read tcp: connection reset by peer, person@example.org")
	}
	header := make(http.Header)
	header.Set("Request-Id", "req_123")
	for name, value := range now.header {
		header.Set(name, value)
	}
	return &http.Response{
		StatusCode: now.status, Header: header, Request: r, Body: io.NopCloser(strings.NewReader(now.body)),
	}, nil
}

const secretKey = "sk_test_SECRETSECRET"

// withScript runs test in a synctest bubble against a Stripe with scripted
// responses.
func withScript(t *testing.T, test func(t *testing.T, c *Client, s *scriptedTransport), steps ...scriptedResponse) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &scriptedTransport{steps: steps}
		test(t, newClient(Options{
			Key: secretKey, Methods: []string{"card", "ideal"}, Secrets: []string{"whsec_old_secret", "whsec_new_secret"},
		}, s), s)
	})
}

func sessionJSON(status, intent string) string {
	return `{"id":"cs_1","object":"checkout.session","status":"` + status + `","url":"https://checkout.stripe.com/c/pay/cs_1","expires_at":1800000000,
		"amount_total":1190,"currency":"eur","metadata":{"order":"ord_1","payment":"pay_1"},"payment_intent":` + intent + `}`
}

func TestCall_RetriesWithSameIdempotencyKey(t *testing.T) {
	t.Parallel()
	failures := map[string]scriptedResponse{
		"error 500":            errorResponse(http.StatusInternalServerError, "api_error", ""),
		"a page of HTML":       {status: http.StatusBadGateway, body: "<html>Bad Gateway</html>"},
		"a cut connection":     {connectionError: true},
		"no response":          {noResponse: true},
		"still in progress":    errorResponse(http.StatusConflict, "idempotency_error", "idempotency_key_in_use"),
		"object locked":        errorResponse(http.StatusTooManyRequests, "invalid_request_error", "lock_timeout"),
		"truncated response":   ok(`{"id":"cs_`),
		"asked to try again":   {status: http.StatusBadRequest, header: map[string]string{"Stripe-Should-Retry": "true"}, body: `{"error":{"type":"api_error"}}`},
		"an error without one": {status: http.StatusInternalServerError, body: `{}`},
	}
	for name, failure := range failures {
		t.Run(name, func(t *testing.T) {
			withScript(t, func(t *testing.T, c *Client, s *scriptedTransport) {
				opened, err := c.OpenPage(t.Context(), samplePage())
				if err != nil || opened.Session != "cs_1" {
					t.Fatalf("got %+v, %v", opened, err)
				}
				if len(s.sent) != 2 || s.sent[0].key != samplePage().ID || s.sent[1].key != samplePage().ID || s.sent[0].form.Encode() != s.sent[1].form.Encode() {
					t.Errorf("sent %+v", s.sent)
				}
			}, failure, ok(sessionJSON("open", "null")))
		})
	}
}

func TestCall_DurationAndAttemptsAreBounded(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]scriptedResponse{
		"silence": {noResponse: true}, "cuts": {connectionError: true}, "faults": errorResponse(http.StatusServiceUnavailable, "api_error", ""),
		"nonsense": ok("nonsense"), "an endless response": ok(strings.Repeat(" ", maxResponseBytes+1)),
	} {
		t.Run(name, func(t *testing.T) {
			withScript(t, func(t *testing.T, c *Client, s *scriptedTransport) {
				began := time.Now()
				_, err := c.FetchPage(t.Context(), "cs_1")
				if err == nil || time.Since(began) > callTimeout {
					t.Errorf("got %v after %s", err, time.Since(began))
				}
				if len(s.sent) > maxAttempts {
					t.Errorf("%d requests", len(s.sent))
				}
			}, failure)
		})
	}
}

func TestErrors_LeakNeitherKeyNorStripeText(t *testing.T) {
	t.Parallel()
	for _, failure := range []scriptedResponse{
		errorResponse(http.StatusBadRequest, "invalid_request_error", "email_invalid"), errorResponse(http.StatusUnauthorized, "invalid_request_error", ""),
		{connectionError: true},
		{status: http.StatusBadGateway, body: "person@example.org"},
		{status: http.StatusInternalServerError, body: `{"x":"person@example.org"}`},
		{status: http.StatusBadRequest, body: `{"error":{"type":"x","code":"person@example.org","param":"person@example.org","message":"person@example.org"}}`},
	} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			c := newClient(Options{Key: secretKey, Methods: []string{"card"}, Logger: slog.New(slog.NewTextHandler(&log, nil))}, &scriptedTransport{steps: []scriptedResponse{failure}})
			_, err := c.OpenPage(t.Context(), samplePage())
			if err == nil {
				t.Fatal("no error")
			}
			for _, text := range []string{err.Error(), log.String()} {
				if strings.Contains(text, "SECRET") || strings.Contains(text, "person@") {
					t.Errorf("logged: %s", text)
				}
			}
		})
	}
}

func TestCall_StatesLengthOfItsBody(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(*Client) error{
		"with a body": func(c *Client) error { _, err := c.OpenPage(t.Context(), samplePage()); return err },
		"without one": func(c *Client) error { _, err := c.FetchPage(t.Context(), "cs_1"); return err },
	} {
		var received, stated int64
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			stated = r.ContentLength // -1 if it is sent in chunks
			received, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(w, sessionJSON("open", "null"))
		}))
		err := call(New(Options{Key: secretKey, URL: server.URL}))
		server.Close()
		if err != nil || received != stated || (received > 0) != (name == "with a body") {
			t.Errorf("%s: %d octets instead of %d, %v", name, received, stated, err)
		}
	}
}

func TestCall_RedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	withScript(t, func(t *testing.T, c *Client, s *scriptedTransport) {
		if _, err := c.FetchPage(t.Context(), "cs_1"); err == nil {
			t.Error("no error")
		}
		for _, request := range s.sent {
			if request.path != "/v1/checkout/sessions/cs_1" {
				t.Errorf("went to %s", request.path)
			}
		}
	}, scriptedResponse{status: http.StatusFound, header: map[string]string{"Location": "https://evil.example/v1/x"}, body: "moved"})
}
