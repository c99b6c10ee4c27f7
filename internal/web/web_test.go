package web

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/registrar/ratelimit"
	"github.com/dotkontor/dotkontor/internal/web/discovery"
	"github.com/dotkontor/dotkontor/internal/web/mcp"
)

// lookups answers by the requested name.
type lookups struct{}

func (lookups) Check(_ context.Context, domain string) (lookup.Answer, error) {
	answer := lookup.Answer{Domain: domain, TLD: ".de", Availability: lookup.Available}
	switch domain {
	case "panic.de":
		panic("a panic that quotes " + domain)
	case "abort.de":
		panic(http.ErrAbortHandler)
	case "foreign.de":
		return answer, errors.New("a foreign error that quotes " + domain)
	case "stored.de":
		return answer, fmt.Errorf("reading %s: %w", domain, &registrar.Cause{
			Part: registrar.PartDatabase, Operation: "GetOrder", Class: "disk_full", Code: "SQLite 13", Err: errors.New("quotes " + domain),
		})
	case "gone.de":
		return answer, fmt.Errorf("reading %s: %w", domain, context.Canceled)
	case "failing.de":
		return answer, registrar.Fault(registrar.FaultThrottled, "rdap.example", errors.New("quotes "+domain))
	}
	return answer, nil
}

func (lookups) Whois(context.Context, string) (lookup.WhoisAnswer, error) {
	return lookup.WhoisAnswer{}, nil
}

func (lookups) Search(context.Context, string) (lookup.Result, error) { return lookup.Result{}, nil }

func (lookups) SearchEach(context.Context, string, func(lookup.Entry, int, int)) (lookup.Result, error) {
	return lookup.Result{}, nil
}

// noTokens rejects every token.
type noTokens struct{}

func (noTokens) Verify(context.Context, string) (oauth.TokenInfo, error) {
	return oauth.TokenInfo{}, &registrar.Error{Kind: registrar.KindUnauthenticated}
}

// testMCPConfig has the required fields of the MCP endpoint.
func testMCPConfig() mcp.Config {
	return mcp.Config{Lookups: lookups{}, Catalog: catalog.NewLive(nil), WhoisBudget: &budget{}, Tokens: noTokens{}, TokenBudget: &budget{}}
}

type budget struct{ left int }

func (b *budget) SpendToken(addr netip.Addr, _ string) (ratelimit.Decision, []ratelimit.Window) {
	return b.Spend(addr)
}

func (b *budget) Allow(ratelimit.Key) ratelimit.Decision { return ratelimit.Decision{Allowed: true} }

func (b *budget) Spend(netip.Addr) (ratelimit.Decision, []ratelimit.Window) {
	windows := []ratelimit.Window{{Limit: 30, Per: time.Minute}, {Limit: 300, Per: 6 * time.Hour}}
	if b.left == 0 {
		return ratelimit.Decision{RetryAfter: 4200 * time.Millisecond, Reset: 4200 * time.Millisecond}, windows
	}
	b.left--
	return ratelimit.Decision{Allowed: true, Remaining: b.left, Reset: time.Minute}, windows
}

func newTestHandler(t *testing.T, left int) (http.Handler, *bytes.Buffer) {
	t.Helper()
	log := &bytes.Buffer{}
	handler, err := New(Config{
		Facts: discovery.Facts{BaseURL: "https://domains.example"}, Lookups: lookups{}, Budget: &budget{left: left}, MCP: testMCPConfig(),
		Ready: func() bool { return left > 0 }, Logger: slog.New(slog.NewJSONHandler(log, nil)), Registry: prometheus.NewRegistry(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return handler, log
}

func do(handler http.Handler, method, path, body string) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(method, path, strings.NewReader(body)))
	return recorder
}

func TestPanic_EndsOneRequestAndLogsNoInput(t *testing.T) {
	handler, log := newTestHandler(t, 10)
	answer := do(handler, "POST", "/api/domain/check", `{"domain":"panic.de"}`)
	if answer.Code != http.StatusInternalServerError || !strings.Contains(answer.Body.String(), `"error":`) {
		t.Errorf("got %d %s", answer.Code, answer.Body)
	}
	if strings.Contains(log.String(), "panic.de") || !strings.Contains(log.String(), "panic recovered") {
		t.Errorf("the log says %s", log)
	}
	if again := do(handler, "POST", "/api/domain/check", `{"domain":"good.de"}`); again.Code != http.StatusOK {
		t.Errorf("the next request got %d", again.Code)
	}
}

func TestAbortHandler_DropsConnectionAndIsLogged(t *testing.T) {
	handler, log := newTestHandler(t, 10)
	defer func() {
		if recovered := recover(); recovered != http.ErrAbortHandler { //nolint:errorlint // exactly this value
			t.Errorf("recovered %v", recovered)
		}
		if !strings.Contains(log.String(), `"msg":"request"`) {
			t.Error("the request has no record")
		}
	}()
	do(handler, "POST", "/api/domain/check", `{"domain":"abort.de"}`)
	t.Error("the handler returned")
}

func TestUnclassifiedError_Is500WithoutItsText(t *testing.T) {
	handler, log := newTestHandler(t, 10)
	answer := do(handler, "POST", "/api/domain/check", `{"domain":"foreign.de"}`)
	if answer.Code != http.StatusInternalServerError || strings.Contains(answer.Body.String(), "quotes") {
		t.Errorf("got %d %s", answer.Code, answer.Body)
	}
	if strings.Contains(log.String(), "foreign.de") {
		t.Errorf("the log says %s", log)
	}
}

func TestRequestLog_NamesFailedUpstreamNotQuery(t *testing.T) {
	handler, log := newTestHandler(t, 10)
	answer := do(handler, "POST", "/api/domain/check", `{"domain":"failing.de"}`)
	var record struct{ ID, Method, Route, Error, Code, Detail, Level string }
	if err := json.Unmarshal(log.Bytes(), &record); err != nil {
		t.Fatal(err)
	}
	if record.Error != "upstream" || record.Code != "throttled" || record.Detail != "rdap.example" ||
		record.Route != "/api/domain/check" || record.Method != http.MethodPost || record.Level != "INFO" ||
		record.ID != answer.Header().Get("X-Request-Id") {
		t.Errorf("the record is %+v", record)
	}
	if strings.Contains(log.String(), "failing.de") {
		t.Errorf("the log says %s", log)
	}
}

func TestRequestLog_FaultHasCauseAndRequestID(t *testing.T) {
	for domain, want := range map[string]struct{ level, cause string }{
		"stored.de":  {"ERROR", "database: GetOrder: disk_full (SQLite 13)"},
		"foreign.de": {"ERROR", "unclassified: *errors.errorString"},
		"gone.de":    {"INFO", "canceled"},
	} {
		handler, log := newTestHandler(t, 10)
		answer := do(handler, "POST", "/api/domain/check", `{"domain":"`+domain+`"}`)
		var record struct{ ID, Level, Cause string }
		if err := json.Unmarshal(log.Bytes(), &record); err != nil {
			t.Fatal(err)
		}
		if answer.Code != http.StatusInternalServerError || record.Level != want.level || record.Cause != want.cause || record.ID != answer.Header().Get("X-Request-Id") {
			t.Errorf("%s: %d, the record is %+v", domain, answer.Code, record)
		}
		if strings.Contains(log.String(), domain) {
			t.Errorf("the log says %s", log)
		}
	}
}

// A tool failure has status 200, but is still an internal error.
func TestRequestLog_InternalToolFailureIsErrorAndCounted(t *testing.T) {
	for domain, want := range map[string]struct{ level, outcome string }{
		"stored.de": {"ERROR", "internal"}, "panic.de": {"ERROR", "internal"}, "failing.de": {"INFO", "upstream_failed"}, "good.de": {"INFO", "ok"},
	} {
		log, registry := &bytes.Buffer{}, prometheus.NewRegistry()
		handler, err := New(Config{
			Facts: discovery.Facts{BaseURL: "http://127.0.0.1"}, Lookups: lookups{}, Budget: &budget{left: 10}, MCP: testMCPConfig(),
			Ready: func() bool { return true }, Logger: slog.New(slog.NewJSONHandler(log, nil)), Registry: registry,
		})
		if err != nil {
			t.Fatal(err)
		}
		request := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/api/mcp", strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"domain_check","arguments":{"domain":"`+domain+`"}}}`))
		request.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		id := answer.Header().Get("X-Request-Id")
		if shown := strings.Contains(answer.Body.String(), "Request ID: "+id); answer.Code != http.StatusOK || shown != (want.outcome == "internal") {
			t.Errorf("%s: %d %s", domain, answer.Code, answer.Body)
		}
		for line := range strings.Lines(log.String()) {
			if !strings.Contains(line, `"level":"`+want.level+`"`) || !strings.Contains(line, `"id":"`+id+`"`) || strings.Contains(line, domain) {
				t.Errorf("%s: the log says %s", domain, line)
			}
		}
		if got := countedOutcomes(t, registry, "domain_check"); got != want.outcome {
			t.Errorf("%s: counted %s", domain, got)
		}
	}
}

// countedOutcomes returns the only outcome that was counted for a tool.
func countedOutcomes(t *testing.T, registry *prometheus.Registry, tool string) (outcomes string) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != "dotkontor_mcp_tool_calls_total" {
			continue
		}
		for _, series := range family.GetMetric() {
			if labels := series.GetLabel(); series.GetCounter().GetValue() == 1 && labels[1].GetValue() == tool {
				outcomes += labels[0].GetValue()
			}
		}
	}
	return outcomes
}

func TestReadyz_DegradedPartsKeepStatus200(t *testing.T) {
	for name, test := range map[string]struct {
		degraded []Degraded
		want     string
	}{
		"well": {nil, "ready\n"},
		"full": {
			[]Degraded{{"database", "disk_full", time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}},
			"ready\ndegraded database disk_full since 2026-01-02T03:04:05Z\n",
		},
	} {
		answer := httptest.NewRecorder()
		readyz(func() bool { return true }, func() []Degraded { return test.degraded })(answer, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		if answer.Code != http.StatusOK || answer.Body.String() != test.want {
			t.Errorf("%s: %d %q", name, answer.Code, answer.Body)
		}
	}
}

func TestRequestLog_UnusualMethodIsOther(t *testing.T) {
	handler, log := newTestHandler(t, 10)
	if answer := do(handler, "CANARY", "/api/domain/check", ""); answer.Code != http.StatusMethodNotAllowed {
		t.Errorf("got %d", answer.Code)
	}
	if strings.Contains(log.String(), "CANARY") || !strings.Contains(log.String(), `"method":"other"`) {
		t.Errorf("the log says %s", log)
	}
}

func TestReadyz_FollowsReadyFunc(t *testing.T) {
	for left, want := range map[int]int{0: http.StatusServiceUnavailable, 1: http.StatusOK} {
		handler, _ := newTestHandler(t, left)
		if got := do(handler, "GET", "/readyz", "").Code; got != want {
			t.Errorf("readyz answers %d, want %d", got, want)
		}
		if got := do(handler, "GET", "/healthz", "").Code; got != http.StatusOK {
			t.Errorf("healthz answers %d", got)
		}
	}
}

func TestRateLimit_HeadersShowBudget(t *testing.T) {
	handler, _ := newTestHandler(t, 1)
	header := do(handler, "POST", "/api/domain/check", `{"domain":"good.de"}`).Header()
	if got := header.Get("RateLimit-Policy"); got != `"60s";q=30;w=60, "21600s";q=300;w=21600` {
		t.Errorf("RateLimit-Policy: %s", got)
	}
	if got := header.Get("RateLimit"); got != `"60s";r=0;t=60` {
		t.Errorf("RateLimit: %s", got)
	}
	if header.Get("Retry-After") != "" {
		t.Error("an accepted request has Retry-After")
	}
	refused := do(handler, "POST", "/api/domain/check", `{"domain":"good.de"}`)
	if refused.Code != http.StatusTooManyRequests || refused.Header().Get("Retry-After") != "5" {
		t.Errorf("got %d with Retry-After %s", refused.Code, refused.Header().Get("Retry-After"))
	}
}

func TestNew_IncompleteConfigIsRejected(t *testing.T) {
	if _, err := New(Config{}); err == nil {
		t.Error("an empty configuration was accepted")
	}
	registry := prometheus.NewRegistry()
	cfg := Config{
		Facts: discovery.Facts{BaseURL: "https://domains.example"}, Budget: &budget{}, MCP: testMCPConfig(),
		Logger: slog.New(slog.DiscardHandler), Registry: registry, Ready: func() bool { return true },
	}
	if _, err := New(cfg); err != nil {
		t.Fatal(err)
	}
	if _, err := New(cfg); err == nil {
		t.Error("the same metrics were registered twice")
	}
}
