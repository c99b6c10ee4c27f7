package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestCardNumber_HasLuhnCheckDigit(t *testing.T) {
	t.Parallel()
	if got := cardNumber(424242424); got != "4242424242424242" {
		t.Errorf("got %s", got)
	}
	if cardNumber(1) == cardNumber(2) {
		t.Error("two buyers share a card")
	}
}

// scriptedServer answers with its responses in turn, and with the last one from then on.
type scriptedServer struct {
	answers []http.Response
	bodies  []string // of the requests
}

func (s *scriptedServer) RoundTrip(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	s.bodies = append(s.bodies, string(body))
	answer := s.answers[min(len(s.bodies), len(s.answers))-1]
	if answer.Body == nil {
		answer.Body = http.NoBody
	}
	return &answer, err
}

func toolAnswer(text string) http.Response {
	return http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`{"result":` + text + `}`))}
}

func TestShopClient_RepeatsWhatABusyServerAsksFor(t *testing.T) {
	t.Parallel()
	busy := http.Response{StatusCode: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"3"}}}
	const failed, final = `{"isError":true,"structuredContent":{"retryable":true}}`, `{"isError":true,"structuredContent":{"retryable":false}}`
	done := func() http.Response { return toolAnswer(`{"structuredContent":{"orderId":"ord_1"}}`) }
	for name, test := range map[string]struct {
		answers []http.Response
		tries   int
		wait    time.Duration
		ok      bool
	}{
		"busy twice":            {[]http.Response{busy, busy, done()}, 3, 6 * time.Second, true},
		"always busy":           {[]http.Response{busy}, maxTries, 15 * time.Second, false},
		"down":                  {[]http.Response{{StatusCode: http.StatusServiceUnavailable}}, 1, 0, false},
		"two retryable errors":  {[]http.Response{toolAnswer(failed), toolAnswer(failed), done()}, 3, 3 * time.Second, true},
		"one that is not":       {[]http.Response{toolAnswer(final)}, 1, 0, false},
		"busy, then an error":   {[]http.Response{busy, toolAnswer(failed), done()}, 3, 4 * time.Second, true},
		"a limit, not a repeat": {[]http.Response{{StatusCode: http.StatusTooManyRequests, Header: busy.Header}}, 1, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				server := &scriptedServer{answers: test.answers}
				shop := &shopClient{address: "http://shop.example", http: &http.Client{Transport: server}}
				began := time.Now()
				var order struct{ OrderID string }
				err := shop.callTool(t.Context(), buyer{}, startOrder, nil, &order, func(string, time.Duration) {})
				if ok := err == nil && order.OrderID == "ord_1"; ok != test.ok || len(server.bodies) != test.tries || time.Since(began) != test.wait {
					t.Errorf("%+v, %v after %d requests and %s", order, err, len(server.bodies), time.Since(began))
				}
				for _, body := range server.bodies {
					if body != server.bodies[0] || body == "" {
						t.Errorf("bodies %q", server.bodies)
					}
				}
			})
		})
	}
}
