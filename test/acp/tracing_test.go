package acp

import (
	"bytes"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/dotkontor/dotkontor/test/testkit"
)

// collector receives OTLP over HTTP.
type collector struct {
	mu    sync.Mutex
	spans []*tracepb.Span
	raw   []byte // everything received
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var data tracepb.TracesData
	if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" || proto.Unmarshal(body, &data) != nil {
		http.Error(w, "not OTLP", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.raw = append(c.raw, body...)
	for _, resource := range data.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			c.spans = append(c.spans, scope.GetSpans()...)
		}
	}
}

// find returns the spans with a name, in a trace unless it is empty.
func (c *collector) find(name, trace string) (found []*tracepb.Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, span := range c.spans {
		if span.GetName() == name && (trace == "" || hex.EncodeToString(span.GetTraceId()) == trace) {
			found = append(found, span)
		}
	}
	return found
}

func (c *collector) parent(of *tracepb.Span) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, span := range c.spans {
		if bytes.Equal(span.GetSpanId(), of.GetParentSpanId()) && bytes.Equal(span.GetTraceId(), of.GetTraceId()) {
			return span.GetName()
		}
	}
	return ""
}

func (c *collector) names() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []string
	for _, span := range c.spans {
		all = append(all, span.GetName())
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func attribute(span *tracepb.Span, key string) string {
	for _, one := range span.GetAttributes() {
		if one.GetKey() == key {
			return one.GetValue().String()
		}
	}
	return ""
}

func TestTracing_PurchaseHasSpansOfEachKindAndNoPersonalData(t *testing.T) {
	t.Parallel()
	traces := &collector{}
	server := httptest.NewServer(traces)
	t.Cleanup(server.Close)
	s := newEnv(t, "DOTKONTOR_TRACING_ENDPOINT="+server.URL, "DOTKONTOR_TRACING_SAMPLE_PERCENT=100")
	const (
		label, address                = "kanarienvogel-laden", "203.0.113.77"
		checked, completed, looked    = "0af7651916cd43dd8448eb211c80319c", "1bf7651916cd43dd8448eb211c80319c", "2cf7651916cd43dd8448eb211c80319c"
		completeRoute, checkoutTarget = "POST /api/acp/checkout_sessions/{id}/complete", "register:" + label + ".de"
	)
	header := func(trace string) map[string]string {
		return map[string]string{"Traceparent": "00-" + trace + "-b7ad6b7169203331-01", "Tracestate": "canary=tracestate-text", "X-Forwarded-For": address}
	}
	s.post("/api/domain/check", `{"domain":"`+label+`.de"}`, header(checked))
	s.post("/api/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whois_lookup","arguments":{"domain":"google.com"}}}`, header(looked))
	made := s.createSession(checkoutTarget)
	paid := s.doRequest(acpRequest{path: sessionsPath + "/" + made.body.ID + "/complete", body: payWith("spt_ok_1"), header: header(completed)})
	if paid.status != http.StatusOK || s.waitForOrder(made.body.ID) != "completed" {
		t.Fatalf("complete: %d %s", paid.status, paid.text)
	}
	refund := exec.CommandContext(t.Context(), binary, "orders", "refund", made.body.ID, "--reason", "goodwill", "--note", "x", "--amount", "1.00", "--yes", "--config", s.config)
	refund.Env = append(testkit.Environment(), s.settings...)
	if out, err := refund.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// Each span with its parent, in one trace: the client's, or a job's.
	for _, want := range []struct{ name, parent, trace string }{
		{"POST /api/domain/check", "", checked},
		{"lookup check", "POST /api/domain/check", checked},
		{"source epp", "lookup check", checked},
		{"epp check", "source epp", checked},
		{"POST /api/mcp", "", looked},
		{"lookup whois", "POST /api/mcp", looked},
		{"source rdap", "lookup whois", looked},
		{"rdap get", "source rdap", looked},
		{completeRoute, "", completed},
		{"order complete", completeRoute, completed},
		{"order quote", "order complete", completed},
		{"epp check", "order quote", completed},
		{"job order items", "", ""},
		{"epp create", "job order items", ""},
		{"job orders", "", ""},
		{"order refund", "job orders", ""},
		{"job mail", "", ""},
		{"job invoices", "", ""},
	} {
		testkit.Eventually(t, want.name+" below "+want.parent+"; there are "+strings.Join(traces.names(), ", "), func() bool {
			return slices.ContainsFunc(traces.find(want.name, want.trace), func(span *tracepb.Span) bool { return traces.parent(span) == want.parent })
		})
	}
	traces.checkAttributes(t, completed)
	traces.mu.Lock()
	defer traces.mu.Unlock()
	for _, canary := range []string{label, "google", address, "127.0.0.1", "kundin.example", "Mustermann", "Musterweg", s.token, s.linked.Key, made.body.ID, "spt_ok", "tracestate-text", "cs_", s.base} {
		if bytes.Contains(traces.raw, []byte(canary)) {
			t.Errorf("spans contain %q", canary)
		}
	}
}

// checkAttributes checks some spans, and that the provider was called in the purchase's trace.
func (c *collector) checkAttributes(t *testing.T, purchase string) {
	t.Helper()
	provider := 0
	for _, name := range c.names() {
		if strings.HasPrefix(name, "stripe ") {
			for _, span := range c.find(name, purchase) {
				provider++
				if attribute(span, "stripe.call") == "" || !strings.Contains(attribute(span, "dotkontor.outcome"), "ok") {
					t.Errorf("%s: %v", name, span.GetAttributes())
				}
			}
		}
	}
	if provider < 2 {
		t.Errorf("%d calls to the provider in the purchase's trace", provider)
	}
	for name, attributes := range map[string]map[string]string{
		"POST /api/domain/check": {"http.route": "/api/domain/check", "http.response.status_code": "200", "dotkontor.request_id": ""},
		"POST /api/mcp":          {"dotkontor.mcp_tool": "whois_lookup"},
		"epp create":             {"dotkontor.account": "sandbox", "epp.command": "create", "epp.result_code": "100"},
		"source epp":             {"dotkontor.source": "epp", "dotkontor.extension": ".de", "dotkontor.outcome": "ok"},
		"job order items":        {"dotkontor.job": "order items", "dotkontor.attempts": "", "dotkontor.outcome": ""},
	} {
		for key, want := range attributes {
			if got := attribute(c.find(name, "")[0], key); got == "" || !strings.Contains(got, want) {
				t.Errorf("%s: %s is %q, want %q", name, key, got, want)
			}
		}
	}
}

// post sends JSON and wants status 200.
func (s *env) post(path, body string, header map[string]string) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.base+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range header {
		request.Header.Set(name, value)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %d %s %v", path, response.StatusCode, text, err)
	}
}

// A collector that accepts connections and never answers.
func TestTracing_HangingCollectorChangesNoResponse(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-done }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(done) })
	s := newEnv(t, "DOTKONTOR_TRACING_ENDPOINT="+server.URL, "DOTKONTOR_TRACING_SAMPLE_PERCENT=100")
	made := s.createSession("register:ohne-sammler.de")
	if paid := s.completeSession(made.body.ID, payWith("spt_ok_1")); paid.status != http.StatusOK || s.waitForOrder(made.body.ID) != "completed" {
		t.Errorf("complete: %d %s", paid.status, paid.text)
	}
	s.reconcile()
}
