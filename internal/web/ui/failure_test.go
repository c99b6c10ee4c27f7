package ui

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Only a form that a page has begun to handle may have changed something.
func TestFailure_DatabaseOutageSaysWhetherAnythingChanged(t *testing.T) {
	t.Parallel()
	frame, err := New(Config{
		BaseURL: "http://domains.example", Sessions: &fakeSessions{}, Address: func(*http.Request) netip.Addr { return netip.Addr{} },
	})
	if err != nil {
		t.Fatal(err)
	}
	const nothing, unsure = "Nothing was changed", "check whether your change went through"
	for _, test := range []struct {
		method, class string
		outage        bool
		want          string
	}{
		{http.MethodGet, "connection_refused", true, nothing},
		{http.MethodPost, "connection_refused", true, unsure},
		{http.MethodPost, "disk_full", true, nothing},
		{http.MethodPost, "read_only", true, nothing},
		{http.MethodGet, "sqlite_error", false, "Something went wrong"},
	} {
		page := frame.Page(func(*Request) error {
			return &registrar.Cause{Part: registrar.PartDatabase, Operation: "GetOrder", Class: test.class, Outage: test.outage}
		})
		r := httptest.NewRequest(test.method, "/portal", nil)
		r.Header.Set("Accept-Language", "en")
		answer := httptest.NewRecorder()
		page(answer, r)
		if answer.Code != http.StatusInternalServerError || !strings.Contains(answer.Body.String(), test.want) {
			t.Errorf("%s %s: %d, no %q: %s", test.method, test.class, answer.Code, test.want, answer.Body)
		}
	}
}
