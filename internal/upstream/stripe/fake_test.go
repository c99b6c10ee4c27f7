package stripe

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A step is one answer of the scripted Stripe.
type step struct {
	status int
	header map[string]string
	body   string
	// silent never answers; broken cuts the connection.
	silent, broken bool
}

func ok(body string) step { return step{status: http.StatusOK, body: body} }

func refuse(status int, kind, code string) step {
	return step{status: status, body: `{"error":{"type":"` + kind + `","code":"` + code + `","message":"person@example.org is wrong","param":"line_items"}}`}
}

// sent is a request that the scripted Stripe got.
type sent struct {
	method, path, key, authorization string
	form                             url.Values
}

// script answers with one step after the other, and then with the last one.
type script struct {
	steps []step
	sent  []sent
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
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
	s.sent = append(s.sent, sent{r.Method, r.URL.Path, r.Header.Get("Idempotency-Key"), r.Header.Get("Authorization"), form})
	if now.silent {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	if now.broken {
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

// with runs test in a bubble of time, against a Stripe that answers with steps.
func with(t *testing.T, test func(t *testing.T, c *Client, s *script), steps ...step) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := &script{steps: steps}
		test(t, newClient(Options{
			Key: secretKey, Methods: []string{"card", "ideal"}, Secrets: []string{"whsec_old_secret", "whsec_new_secret"},
		}, s), s)
	})
}

func aSession(status, intent string) string {
	return `{"id":"cs_1","object":"checkout.session","status":"` + status + `","url":"https://checkout.stripe.com/c/pay/cs_1","expires_at":1800000000,
		"amount_total":1190,"currency":"eur","metadata":{"order":"ord_1","payment":"pay_1"},"payment_intent":` + intent + `}`
}

func TestALostAnswerIsAskedForAgainUnderTheSameKey(t *testing.T) {
	t.Parallel()
	failures := map[string]step{
		"error 500":            refuse(http.StatusInternalServerError, "api_error", ""),
		"a page of HTML":       {status: http.StatusBadGateway, body: "<html>Bad Gateway</html>"},
		"a cut connection":     {broken: true},
		"no answer":            {silent: true},
		"still under way":      refuse(http.StatusConflict, "idempotency_error", "idempotency_key_in_use"),
		"somebody had it":      refuse(http.StatusTooManyRequests, "invalid_request_error", "lock_timeout"),
		"half of an answer":    ok(`{"id":"cs_`),
		"asked to try again":   {status: http.StatusBadRequest, header: map[string]string{"Stripe-Should-Retry": "true"}, body: `{"error":{"type":"api_error"}}`},
		"an error without one": {status: http.StatusInternalServerError, body: `{}`},
	}
	for name, failure := range failures {
		t.Run(name, func(t *testing.T) {
			with(t, func(t *testing.T, c *Client, s *script) {
				opened, err := c.OpenPage(t.Context(), aPage())
				if err != nil || opened.Session != "cs_1" {
					t.Fatalf("got %+v, %v", opened, err)
				}
				if len(s.sent) != 2 || s.sent[0].key != aPage().ID || s.sent[1].key != aPage().ID || s.sent[0].form.Encode() != s.sent[1].form.Encode() {
					t.Errorf("sent %+v", s.sent)
				}
			}, failure, ok(aSession("open", "null")))
		})
	}
}

func TestACallEndsWhateverHappens(t *testing.T) {
	t.Parallel()
	for name, failure := range map[string]step{
		"silence": {silent: true}, "cuts": {broken: true}, "faults": refuse(http.StatusServiceUnavailable, "api_error", ""),
		"nonsense": ok("nonsense"), "an endless answer": ok(strings.Repeat(" ", largest+1)),
	} {
		t.Run(name, func(t *testing.T) {
			with(t, func(t *testing.T, c *Client, s *script) {
				began := time.Now()
				_, err := c.Look(t.Context(), "cs_1")
				if err == nil || time.Since(began) > callWithin {
					t.Errorf("got %v after %s", err, time.Since(began))
				}
				if len(s.sent) > attempts {
					t.Errorf("asked %d times", len(s.sent))
				}
			}, failure)
		})
	}
}

func TestNeitherTheKeyNorWhatStripeQuotesLeaves(t *testing.T) {
	t.Parallel()
	for _, failure := range []step{
		refuse(http.StatusBadRequest, "invalid_request_error", "email_invalid"), refuse(http.StatusUnauthorized, "invalid_request_error", ""),
		{broken: true},
		{status: http.StatusBadGateway, body: "person@example.org"},
		{status: http.StatusInternalServerError, body: `{"x":"person@example.org"}`},
		{status: http.StatusBadRequest, body: `{"error":{"type":"x","code":"person@example.org","param":"person@example.org","message":"person@example.org"}}`},
	} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			c := newClient(Options{Key: secretKey, Methods: []string{"card"}, Logger: slog.New(slog.NewTextHandler(&log, nil))}, &script{steps: []step{failure}})
			_, err := c.OpenPage(t.Context(), aPage())
			if err == nil {
				t.Fatal("no error")
			}
			for _, text := range []string{err.Error(), log.String()} {
				if strings.Contains(text, "SECRET") || strings.Contains(text, "person@") {
					t.Errorf("told: %s", text)
				}
			}
		})
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	with(t, func(t *testing.T, c *Client, s *script) {
		if _, err := c.Look(t.Context(), "cs_1"); err == nil {
			t.Error("no error")
		}
		for _, request := range s.sent {
			if request.path != "/v1/checkout/sessions/cs_1" {
				t.Errorf("went to %s", request.path)
			}
		}
	}, step{status: http.StatusFound, header: map[string]string{"Location": "https://evil.example/v1/x"}, body: "moved"})
}
