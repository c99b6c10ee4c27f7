package web

import (
	"net/http"
	"strings"
	"testing"
)

// Anonymous clients must not be able to fill the log with errors.
func TestRequestLog_UnavailableOAuthIsNotAnError(t *testing.T) {
	handler, log := newTestHandler(t, 1)
	if got := do(handler, "POST", "/oauth/token/", "").Code; got != http.StatusServiceUnavailable {
		t.Errorf("got %d", got)
	}
	if text := log.String(); !strings.Contains(text, `"level":"INFO"`) || strings.Contains(text, `"level":"ERROR"`) {
		t.Errorf("the log says %s", text)
	}
}

func TestRoutes_UncleanPathsAreNotFound(t *testing.T) {
	handler, _ := newTestHandler(t, 1)
	for path, want := range map[string]int{
		"/oauth/token": 503, "/oauth/token/": 503, "/oauth/token//": 404, "/oauth//token/": 404, "/oauth/./token/": 404,
		"/oauth/token/x": 404, "/oauth": 404, "/oauth/": 404, "//": 404, "/api/domain/check/": 404,
	} {
		answer := do(handler, "POST", "http://domains.example"+path, "{}")
		if answer.Code != want || answer.Header().Get("Location") != "" {
			t.Errorf("%s: got %d, want %d", path, answer.Code, want)
		}
	}
}
