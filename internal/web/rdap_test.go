package web

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/publicrecord"
	"github.com/dotkontor/dotkontor/internal/web/discovery"
	"github.com/dotkontor/dotkontor/internal/web/rdap"
)

// publicRecords knows one domain.
type publicRecords struct{}

func (publicRecords) Domain(_ context.Context, name string) (publicrecord.Record, error) {
	switch name {
	case "known.com":
		return publicrecord.Record{Name: name, TLD: ".com", Handle: "h", Statuses: []string{"active"}}, nil
	case "panic.com":
		panic("a panic that quotes " + name)
	}
	return publicrecord.Record{}, registrar.NotFound(publicrecord.NotFound)
}

func (publicRecords) Registrant(context.Context, string) (publicrecord.Record, error) {
	return publicrecord.Record{}, registrar.NotFound(publicrecord.NotFound)
}

func newRDAPServer(t *testing.T) (http.Handler, *bytes.Buffer) {
	t.Helper()
	log := &bytes.Buffer{}
	handler, err := New(Config{
		Facts: discovery.Facts{BaseURL: "https://domains.example"}, Lookups: lookups{}, Budget: &budget{}, MCP: testMCPConfig(),
		RDAP:  rdap.Config{Records: publicRecords{}, Budget: &budget{}},
		Ready: func() bool { return true }, Logger: slog.New(slog.NewJSONHandler(log, nil)), Registry: prometheus.NewRegistry(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return handler, log
}

func TestRDAP_MethodsAndPathsThatAreNoQuery(t *testing.T) {
	handler, _ := newRDAPServer(t)
	for _, test := range []struct {
		method, path string
		status       int
	}{
		{"GET", "/rdap/domain/known.com", 200},
		{"HEAD", "/rdap/domain/known.com", 200},
		{"GET", "/rdap/help", 200},
		{"GET", "/rdap/domain/other.com", 404},
		{"GET", "/rdap", 400},
		{"GET", "/rdap/", 400},
		{"GET", "/rdap/domain/", 400},
		{"GET", "/rdap/x/y/z", 400},
		{"GET", "/rdap//domain/known.com", 400},
		{"GET", "/rdap/domain/../help", 400},
		{"GET", "/rdap/domain/%2e%2e/help", 400},
		{"GET", "/rdap/domain/a%2F%2Fb", 400},
		{"POST", "/rdap/domain/known.com", 405},
		{"PUT", "/rdap/help", 405},
		{"DELETE", "/rdap/x", 405},
		{"POST", "/rdap", 405},
		{"GET", "/rdap/domains?name=a*", 501},
		{"GET", "/rdap/nameserver/ns1.known.com", 501},
		{"GET", "/rdap/domain/panic.com", 500},
	} {
		answer := do(handler, test.method, test.path, "")
		header := answer.Header()
		if answer.Code != test.status || header.Get("Content-Type") != "application/rdap+json" || header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s %s: %d %v", test.method, test.path, answer.Code, header)
		}
		if test.status != 200 && !strings.Contains(answer.Body.String(), `"errorCode":`) {
			t.Errorf("%s %s: %s", test.method, test.path, answer.Body)
		}
		if test.status == 405 && header.Get("Allow") != "GET, HEAD, OPTIONS" {
			t.Errorf("%s %s: Allow %q", test.method, test.path, header.Get("Allow"))
		}
	}
	preflight := do(handler, "OPTIONS", "/rdap/domain/known.com", "")
	if preflight.Code != http.StatusNoContent || preflight.Header().Get("Access-Control-Allow-Methods") != "GET, HEAD, OPTIONS" {
		t.Errorf("preflight: %d %v", preflight.Code, preflight.Header())
	}
}

func TestRDAP_NameIsNotLogged(t *testing.T) {
	handler, log := newRDAPServer(t)
	for _, path := range []string{"/rdap/domain/known.com", "/rdap/domain/other.com", "/rdap/domain/kno%20wn.com", "/rdap/entity/known", "/rdap/nameserver/ns.known.com", "/rdap//known.com", "/rdap/domain/panic.com"} {
		do(handler, "GET", path, "")
	}
	text := log.String()
	for _, word := range []string{"known", "other.com", "kno", "panic.com"} {
		if strings.Contains(text, word) {
			t.Errorf("the log contains %q:\n%s", word, text)
		}
	}
	if !strings.Contains(text, `"route":"/rdap/domain/{name}"`) {
		t.Errorf("the log has no route:\n%s", text)
	}
}

// A query that is not offered is no fault of the service.
func TestRDAP_NotOfferedIsNoError(t *testing.T) {
	handler, log := newRDAPServer(t)
	do(handler, "GET", "/rdap/domains?name=a*", "")
	if text := log.String(); strings.Contains(text, `"level":"ERROR"`) || !strings.Contains(text, `"status":501`) {
		t.Errorf("logged %s", text)
	}
}
