package app

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/config"
)

func TestLogLevel_ChangesAtRuntimeAndIsLogged(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	logger, flush := NewLogger(config.Log{Format: "json", Level: "info"}, &out)
	logger = countLogRecords(logger, prometheus.NewRegistry())
	part := logger.With("part", "lookup") // derived before the change
	mux := http.NewServeMux()
	addDebugRoutes(mux, logLevelOf(logger), logger)
	do := func(method, body string) *httptest.ResponseRecorder {
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), method, "/debug/log-level", strings.NewReader(body)))
		return answer
	}
	if answer := do(http.MethodGet, ""); answer.Body.String() != "info\n" {
		t.Errorf("at the start: %d %s", answer.Code, answer.Body)
	}
	part.Debug("too early")
	for _, bad := range []string{"", "loud", "INFO+3", "-4", "debug info", strings.Repeat("debug", 1000)} {
		if answer := do(http.MethodPut, bad); answer.Code != http.StatusBadRequest {
			t.Errorf("%.20q: %d", bad, answer.Code)
		}
	}
	part.Debug("still too early")
	if answer := do(http.MethodPut, "debug\n"); answer.Code != http.StatusOK || answer.Body.String() != "debug\n" {
		t.Errorf("debug: %d %s", answer.Code, answer.Body)
	}
	part.Debug("in time")
	if answer := do(http.MethodPut, "error"); answer.Code != http.StatusOK {
		t.Errorf("error: %d", answer.Code)
	}
	part.Warn("below the level")
	if answer := do(http.MethodPost, "info"); answer.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", answer.Code)
	}
	flush()
	log := out.String()
	for text, want := range map[string]int{
		"too early": 0, "in time": 1, "below the level": 0, `"msg":"log level changed","from":"info","to":"debug"`: 1, `"msg":"log level changed","from":"debug","to":"error"`: 1,
	} {
		if got := strings.Count(log, text); got != want {
			t.Errorf("%q is logged %d times, want %d: %s", text, got, want, log)
		}
	}
}

func TestPrivatePort_ServesProfiles(t *testing.T) {
	t.Parallel()
	mux := http.NewServeMux()
	addDebugRoutes(mux, nil, nil)
	for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap?debug=1", "/debug/pprof/goroutine?debug=1"} {
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody))
		if answer.Code != http.StatusOK || answer.Body.Len() == 0 {
			t.Errorf("%s: %d", path, answer.Code)
		}
	}
}
