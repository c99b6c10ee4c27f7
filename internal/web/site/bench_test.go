package site

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
)

// discard is a response writer that discards the page.
type discard struct{ header http.Header }

func (d discard) Header() http.Header       { return d.header }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}

func BenchmarkPages(b *testing.B) {
	if _, err := catalog.Shipped(); err != nil {
		b.Fatal(err)
	}
	s := newEnv(b)
	for _, path := range []string{"/", "/preise", "/preise?q=shop", "/preise.csv", "/assistent"} {
		b.Run(path, func(b *testing.B) {
			r := httptest.NewRequest(http.MethodGet, path, http.NoBody)
			b.ReportAllocs()
			for b.Loop() {
				s.mux.ServeHTTP(discard{make(http.Header)}, r)
			}
		})
	}
}
