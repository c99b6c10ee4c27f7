package contract

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestUnknownPath_Is404AndNeverRedirects(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		for _, path := range []string{
			"/api", "/api/", "/api/domain", "/api/domain/", "/api/nothing", "/api/Domain/Check",
			"/api/domain/check/", "/api/domain/search/", "/api/domain/check/x", "/api/domain/checks",
			"/api//domain/check", "//api/domain/check", "/api/domain//check",
			"/api/domain/../domain/check", "/api/./domain/check", "/x/../api/domain/check",
			"/api/domain/%2e%2e/domain/check", "/api%2Fdomain%2Fcheck", "/api/domain/check%00", "/api/domain/check%20",
			"/openapi.json/", "/nothing",
		} {
			for _, method := range []string{http.MethodPost, http.MethodGet} {
				got := newCaller(t, on).send(request{method: method, path: path, body: object("domain", "google.de"), invalid: true})
				wantErrorResponse(t, method+" "+path, got, http.StatusNotFound)
				if where := got.header.Get("Location"); where != "" {
					t.Errorf("%s %s redirects to %s", method, path, where)
				}
			}
		}
	})
}

func TestCheck_IgnoresQueryString(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		got := newCaller(t, on).send(request{path: checkPath + "?domain=other.zz", body: object("domain", "google.de")})
		wantResponse(t, "check with a query", got, http.StatusOK, wantFields{"domain": `"google.de"`})
	})
}

func TestMethods_UnsupportedIs405WithAllow(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		for _, end := range endpoints {
			for _, method := range []string{
				http.MethodGet, http.MethodHead, http.MethodPut, http.MethodPatch, http.MethodDelete, "TRACE", "BREW", "post",
			} {
				got := newCaller(t, on).send(request{method: method, path: end.path})
				label := method + " " + end.path
				if method == http.MethodHead {
					if got.status != http.StatusMethodNotAllowed || len(got.body) != 0 {
						t.Errorf("%s: got %s", label, got)
					}
				} else {
					wantErrorResponse(t, label, got, http.StatusMethodNotAllowed)
				}
				if allow := got.header.Get("Allow"); allow != "OPTIONS, POST" {
					t.Errorf("%s: Allow is %q", label, allow)
				}
			}
		}
		got := newCaller(t, on).send(request{path: openAPIPath, body: "{}"})
		wantErrorResponse(t, "POST "+openAPIPath, got, http.StatusMethodNotAllowed)
		if allow := got.header.Get("Allow"); allow != "GET, HEAD, OPTIONS" {
			t.Errorf("%s: Allow is %q", openAPIPath, allow)
		}
	})
}

func TestCORS_PreflightAllowsEveryOriginToPostJSON(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		for _, end := range endpoints {
			got := newCaller(t, on).send(request{method: http.MethodOptions, path: end.path, header: map[string]string{
				"Origin":                         "https://page.example",
				"Access-Control-Request-Method":  "POST",
				"Access-Control-Request-Headers": "content-type",
			}})
			if got.status != http.StatusNoContent || len(got.body) != 0 {
				t.Errorf("%s: got %s", end.path, got)
			}
			for key, want := range map[string]string{
				"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Methods": "POST", "Access-Control-Allow-Headers": "Content-Type",
			} {
				if value := got.header.Get(key); !strings.Contains(value, want) {
					t.Errorf("%s: %s is %q, want %q in it", end.path, key, value, want)
				}
			}
		}
	})
}

// The rows of the contract's error table for check and search. The client checks CORS
// for each of them.
func TestErrors_EveryRowOfTheContract(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		origin := map[string]string{"Origin": "https://page.example", "Cookie": "session=" + marker}
		spent := newCaller(t, on)
		for range perMinute {
			spent.check("a.zz")
		}
		for _, test := range []struct {
			row, path, body string
			status          int
			client          *caller
		}{
			{"check: no error", checkPath, object("domain", "google.de"), http.StatusOK, newCaller(t, on)},
			{"check: invalid request", checkPath, `{}`, http.StatusBadRequest, newCaller(t, on)},
			{"check: invalid name", checkPath, object("domain", "-a.de"), http.StatusBadRequest, newCaller(t, on)},
			{"check: rate limit", checkPath, object("domain", "google.de"), http.StatusTooManyRequests, spent},
			{"check: upstream", checkPath, object("domain", "refused-"+marker+".gr"), http.StatusBadGateway, newCaller(t, on)},
			{"search: no error", searchPath, object("query", "google"), http.StatusOK, newCaller(t, on)},
			{"search: empty", searchPath, object("query", ""), http.StatusBadRequest, newCaller(t, on)},
			{"search: invalid request", searchPath, `{"query":7}`, http.StatusBadRequest, newCaller(t, on)},
			{"search: rate limit", searchPath, object("query", "google"), http.StatusTooManyRequests, spent},
			{"search: upstream", searchPath, object("query", "refused-"+marker+".gr"), http.StatusOK, newCaller(t, on)},
		} {
			got := test.client.send(request{path: test.path, body: test.body, header: origin, invalid: test.status == http.StatusBadRequest})
			if test.status == http.StatusOK {
				wantResponse(t, test.row, got, test.status, nil)
			} else {
				wantErrorResponse(t, test.row, got, test.status)
			}
			if value := got.header.Get("Access-Control-Allow-Origin"); value != "*" {
				t.Errorf("%s: Access-Control-Allow-Origin is %q", test.row, value)
			}
			if exposed := got.header.Get("Access-Control-Expose-Headers"); !strings.Contains(exposed, "Retry-After") {
				t.Errorf("%s: a page can't read Retry-After (%q)", test.row, exposed)
			}
			if date, err := http.ParseTime(got.header.Get("Date")); err != nil || time.Since(date).Abs() > time.Minute {
				t.Errorf("%s: Date is %q", test.row, got.header.Get("Date"))
			}
			if cache := got.header.Get("Cache-Control"); cache != "no-store" {
				t.Errorf("%s: Cache-Control is %q", test.row, cache)
			}
			if cookies := got.header.Values("Set-Cookie"); len(cookies) != 0 {
				t.Errorf("%s: sets cookies", test.row)
			}
		}
	})
}
