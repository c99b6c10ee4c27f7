package orders

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

// eventStream reads a page's event stream.
type eventStream struct {
	t      *testing.T
	reader *bufio.Reader
}

// openEventStream opens the event stream of an order's page.
func (h browser) openEventStream(link string) eventStream {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), waitTimeout)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, link+"/events", http.NoBody)
	if err != nil {
		h.t.Fatal(err)
	}
	client := *h.client
	client.Timeout = 0 // the context bounds it
	response, err := client.Do(request)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() {
		cancel()
		_ = response.Body.Close()
	})
	if kind := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || kind != "text/event-stream" {
		h.t.Fatalf("no event stream: %d, %s", response.StatusCode, kind)
	}
	return eventStream{h.t, bufio.NewReader(response.Body)}
}

// next returns the next event; empty once the stream has ended cleanly.
func (f eventStream) next() (name, data string) {
	f.t.Helper()
	for {
		line, err := f.reader.ReadString('\n')
		switch {
		case errors.Is(err, io.EOF):
			return "", ""
		case err != nil:
			f.t.Fatal(err)
		}
		if rest, found := strings.CutPrefix(line, "event: "); found {
			name = strings.TrimSpace(rest)
		}
		if rest, found := strings.CutPrefix(line, "data: "); found {
			return name, rest
		}
	}
}

// startSlowTransfer creates an order whose transfer takes five days.
func (s *env) startSlowTransfer(label string) (browser, orderResult) {
	s.t.Helper()
	made := s.startOrder(item{label + ".at", "transfer"})
	anna := s.signedInBrowser()
	anna.enterAuthCode(made.PaymentURL, "auth-"+label)
	anna.submitPayment(made.PaymentURL)
	s.waitForStatus(made.OrderID, "provisioning")
	return anna, made
}

func TestEventStream_FollowsOrderUntilCompleted(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	anna, made := s.startSlowTransfer("transfer-livestrom")
	stream, portal := anna.openEventStream(made.PaymentURL), anna.openEventStream(s.base+"/portal/orders/"+made.OrderID)
	for _, one := range []eventStream{stream, portal} {
		if name, data := one.next(); name != "part" || !strings.Contains(data, "Umzug läuft") {
			t.Fatalf("%s: %s", name, data)
		}
	}
	metrics, err := s.product.Metrics(t.Context())
	if err != nil || metrics.Sample("dotkontor_http_streams") != 2 || metrics.Sample("dotkontor_http_requests_in_flight") != 0 {
		t.Errorf("%v streams and %v requests, %v", metrics.Sample("dotkontor_http_streams"), metrics.Sample("dotkontor_http_requests_in_flight"), err)
	}
	s.waitForTransfer(made.OrderID)
	for _, one := range []eventStream{stream, portal} {
		last := ""
		for name, data := one.next(); name != "end"; name, data = one.next() {
			if name != "part" {
				t.Fatalf("%q after %s", name, last)
			}
			last = data
		}
		if !strings.Contains(last, "umgezogen") {
			t.Errorf("at the end: %s", last)
		}
		if name, data := one.next(); name != "" {
			t.Errorf("%s after the end: %s", name, data)
		}
	}
	metrics, err = s.product.Metrics(t.Context())
	if err != nil || metrics.Sample("dotkontor_http_streams") != 0 {
		t.Errorf("%v streams, %v", metrics.Sample("dotkontor_http_streams"), err)
	}
	s.reconcile()
}

// Open streams must not delay shutdown, and each is logged once.
func TestEventStream_EndsAtShutdown(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	anna, made := s.startSlowTransfer("transfer-feierabend")
	stream := anna.openEventStream(made.PaymentURL)
	if name, _ := stream.next(); name != "part" {
		t.Fatalf("first event %q", name)
	}
	if err := s.product.Server.Stop(); err != nil {
		t.Error(err)
	}
	s.product.Server = nil
	if name, data := stream.next(); name != "" {
		t.Errorf("at shutdown: %s: %s", name, data)
	}
	log, err := os.ReadFile(s.product.Log.Name())
	if err != nil {
		t.Fatal(err)
	}
	records := 0
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, `"route":"/checkout/{link}/{step}"`) && strings.Contains(line, `"status":200`) {
			records++
		}
	}
	if records != 1 || strings.Contains(string(log), "did not finish") {
		t.Errorf("%d records of one stream:\n%s", records, log)
	}
}
