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
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
	"github.com/dotkontor/dotkontor/internal/web/page"
)

type noSessions struct{}

func (noSessions) Visitor(context.Context, string) (customer.Visitor, error) {
	return customer.Visitor{}, &registrar.Error{Kind: registrar.KindUnauthenticated}
}

const (
	browserAccepts = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	curlAccepts    = "*/*"
)

func ask(handler http.Handler, method, path, accept string) *httptest.ResponseRecorder {
	w, r := httptest.NewRecorder(), httptest.NewRequest(method, path, http.NoBody)
	r.Header.Set("Accept", accept)
	handler.ServeHTTP(w, r)
	return w
}

func TestAPathThatDoesNotExistIsAPageToBrowsersAlone(t *testing.T) {
	t.Parallel()
	frame, err := page.New(page.Config{
		BaseURL: "https://domains.example", Sessions: noSessions{}, Address: func(*http.Request) netip.Addr { return netip.Addr{} }, Places: true,
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
		got := ask(noPage(frame), test.method, test.path, test.accept)
		isPage := strings.HasPrefix(got.Header().Get("Content-Type"), "text/html")
		if got.Code != http.StatusNotFound || isPage != test.page {
			t.Errorf("%s %s for %s: %d %s", test.method, test.path, test.accept, got.Code, got.Header().Get("Content-Type"))
		}
	}
	if got := ask(noPage(nil), "GET", "/nowhere", browserAccepts); !strings.Contains(got.Body.String(), `"error":`) {
		t.Errorf("without pages: %s", got.Body)
	}
}

func TestTheRootIsAPageToBrowsersAndATextToPrograms(t *testing.T) {
	t.Parallel()
	says := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
	}
	list := mergeRoot([]route{
		{method: "GET", path: "/x", handler: says("x")},
		{method: "GET", path: "/{$}", handler: says("text")},
		{method: "POST", path: "/{$}", handler: says("search")},
		{method: "GET", path: "/{$}", handler: says("page")},
	})
	if len(list) != 3 {
		t.Fatalf("%d routes are left", len(list))
	}
	for accept, want := range map[string]string{browserAccepts: "page", curlAccepts: "text", "": "text"} {
		got := ask(list[1].handler, "GET", "/", accept)
		if got.Body.String() != want || got.Header().Get("Vary") != "Accept" {
			t.Errorf("%q gets %q, Vary %q", accept, got.Body, got.Header().Get("Vary"))
		}
	}
	if alone := mergeRoot([]route{{method: "GET", path: "/{$}", handler: says("text")}}); ask(alone[0].handler, "GET", "/", browserAccepts).Body.String() != "text" {
		t.Error("without a start page the text is for everybody")
	}
}
