package web

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/ui"
)

type noSessions struct{}

func (noSessions) Visitor(context.Context, string) (account.Visitor, error) {
	return account.Visitor{}, &registrar.Error{Kind: registrar.KindUnauthenticated}
}

const (
	browserAccepts = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	curlAccepts    = "*/*"
)

func getAs(handler http.Handler, method, path, accept string) *httptest.ResponseRecorder {
	w, r := httptest.NewRecorder(), httptest.NewRequest(method, path, http.NoBody)
	r.Header.Set("Accept", accept)
	handler.ServeHTTP(w, r)
	return w
}

func TestNotFound_HTMLForBrowsersOnly(t *testing.T) {
	t.Parallel()
	frame, err := ui.New(ui.Config{
		BaseURL: "https://domains.example", Sessions: noSessions{}, Address: func(*http.Request) netip.Addr { return netip.Addr{} }, PublicLinks: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		method, path, accept string
		page                 bool
	}{
		{"GET", "/nowhere", browserAccepts, true},
		{"HEAD", "/nowhere", browserAccepts, true},
		{"GET", "/nowhere", curlAccepts, false},
		{"GET", "/nowhere", "application/json", false},
		{"POST", "/nowhere", browserAccepts, false},
		{"GET", "/.well-known/openid-configuration", browserAccepts, false},
		{"GET", "/api/nowhere", browserAccepts, false},
		{"GET", "/oauth/nowhere", browserAccepts, false},
	} {
		got := getAs(notFoundHandler(frame), test.method, test.path, test.accept)
		isPage := strings.HasPrefix(got.Header().Get("Content-Type"), "text/html")
		if got.Code != http.StatusNotFound || isPage != test.page {
			t.Errorf("%s %s for %s: %d %s", test.method, test.path, test.accept, got.Code, got.Header().Get("Content-Type"))
		}
	}
	if got := getAs(notFoundHandler(nil), "GET", "/nowhere", browserAccepts); !strings.Contains(got.Body.String(), `"error":`) {
		t.Errorf("without pages: %s", got.Body)
	}
}

func TestRoot_HTMLForBrowsersTextForPrograms(t *testing.T) {
	t.Parallel()
	says := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
	}
	resources, err := newResources([]httpjson.Route{
		{Method: "GET", Path: "/x", Handler: says("x")},
		{Method: "GET", Path: "/{$}", Handler: says("text")},
		{Method: "POST", Path: "/{$}", Handler: says("search")},
		{Method: "GET", Path: "/{$}", Handler: says("page")},
	})
	if err != nil || len(resources) != 2 || resources["/{$}"].allow != "GET, HEAD, OPTIONS, POST" {
		t.Fatalf("the resources are %v, %v", resources, err)
	}
	for accept, want := range map[string]string{browserAccepts: "page", curlAccepts: "text", "": "text"} {
		got := getAs(resources["/{$}"], "GET", "/", accept)
		if got.Body.String() != want || got.Header().Get("Vary") != "Accept" {
			t.Errorf("%q gets %q, Vary %q", accept, got.Body, got.Header().Get("Vary"))
		}
	}
	alone, err := newResources([]httpjson.Route{{Method: "GET", Path: "/{$}", Handler: says("text")}})
	if err != nil || getAs(alone["/{$}"], "GET", "/", browserAccepts).Body.String() != "text" {
		t.Error("without a start page every client gets text")
	}
}

func TestRoutes_NoneIsRegisteredTwice(t *testing.T) {
	t.Parallel()
	for _, twice := range []httpjson.Route{{Method: "GET", Path: "/x"}, {Method: "POST", Path: "/{$}"}} {
		twice.Handler = func(http.ResponseWriter, *http.Request) {}
		if _, err := newResources([]httpjson.Route{twice, twice}); err == nil {
			t.Errorf("%s %s was accepted twice", twice.Method, twice.Path)
		}
	}
}
