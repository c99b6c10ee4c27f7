package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/store"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// Both sides of the comparison must reject invalid tokens.
func TestReferenceBearer_RefusesWhatTheProductRefuses(t *testing.T) {
	t.Parallel()
	opts := store.Options{Data: t.TempDir()}
	token, err := seedToken(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	hash, _ := registrar.HashSecret(registrar.PersonalToken, token)
	settings, err := json.Marshal(bearerSettings{Database: opts, Hash: string(hash)})
	if err != nil {
		t.Fatal(err)
	}
	unknown, _ := registrar.NewSecret(registrar.PersonalToken)
	for name, want := range map[string]map[string]int{
		refBearer: {token: http.StatusOK, unknown: http.StatusUnauthorized, "nonsense": http.StatusUnauthorized},
		refSelect: {token: http.StatusOK},
	} {
		handler, err := references[name](settings)
		if err != nil {
			t.Fatal(err)
		}
		for bearer, status := range want {
			request := httptest.NewRequest(http.MethodPost, bearerRoute, http.NoBody)
			request.Header.Set("Authorization", "Bearer "+bearer)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, request)
			if w.Code != status || status == http.StatusOK && w.Body.String() != bearerAnswer {
				t.Errorf("%s: %d %s, want %d", name, w.Code, w.Body, status)
			}
		}
	}
}

func TestSignInBurst_RetriesUntilSignedIn(t *testing.T) {
	t.Parallel()
	refusals := make(chan struct{}, 1)
	refusals <- struct{}{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-refusals:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		default:
			if r.FormValue("email") != accountEmail(0) || r.FormValue("password") != signInPassword {
				w.WriteHeader(http.StatusUnprocessableEntity)
				return
			}
			w.WriteHeader(http.StatusSeeOther)
		}
	}))
	defer server.Close()
	c := &signInBurst{address: strings.TrimPrefix(server.URL, "http://"), accounts: 1}
	c.signIn(t.Context())
	if len(c.failures) != 0 || c.retries != 1 || c.took < time.Second {
		t.Errorf("got %+v", c.failures)
	}
}

func TestSignInBurst_FailedSignInFailsTheRun(t *testing.T) {
	t.Parallel()
	c := &signInBurst{accounts: 2, failures: []string{"status 500"}}
	if lines, err := c.measurements(latencyWindows{{1}}, latencyWindows{{1}}, testkit.Memory{}, testkit.Memory{}); err == nil {
		t.Errorf("got %+v", lines)
	}
}

func TestSignInBurst_JudgedByMemoryAndLookupLatency(t *testing.T) {
	t.Parallel()
	c := &signInBurst{accounts: 1000, took: time.Minute}
	during := latencyWindows{{1, 3}, {1, 40}, {1, 2}} // 40: the machine was taken away
	lines, err := c.measurements(latencyWindows{{1, 1}}, during, testkit.Memory{RSS: 10 << 20}, testkit.Memory{Peak: 300 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if lines[0].Measured != 290 || lines[0].OK || lines[1].Measured != 3 || lines[1].OK {
		t.Errorf("got %+v", lines[:2])
	}
	if !slices.ContainsFunc(lines, func(l measurement) bool { return l.Unit == perSecond && l.Measured > 16 }) {
		t.Errorf("no rate in %+v", lines)
	}
}
