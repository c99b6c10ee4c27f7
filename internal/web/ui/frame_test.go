package ui

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/test/testkit/textcheck"
)

func TestLocalPath_AcceptsOnlyOwnPages(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		"/portal", "/portal/tokens", "/portal/activity?before=act_1", "/oauth/authorize?client_id=a&redirect_uri=https%3A%2F%2Fb.example%2Fc",
		"/oauth/authorize/?state=x", "/portal?x=//evil.example", "/checkout/dotkontor_pay_x", "/", "/preise?sort=price", "/prices", "/assistent", "/assistant",
	} {
		if got := LocalPath(good, "fallback"); got != good {
			t.Errorf("%q was refused", good)
		}
	}
	for _, link := range slices.Concat(publicLinks, legalLinks) {
		for _, path := range []string{link.german, link.english} {
			if got := LocalPath(path, "fallback"); got != path {
				t.Errorf("the page %s of the menu was refused", path)
			}
		}
	}
	for _, bad := range []string{
		"", "portal", "/preisex", "/preise/x", "https://evil.example/portal", "//evil.example/portal", "/\\evil.example", "\\/evil.example",
		"/portal/\\evil.example", "///evil.example", "/portal//evil.example", "http:/portal", "javascript:alert(1)",
		"/portal/../api/mcp", "/portal/..", "/portal/./x", "/%2e%2e/x", "/portal/%2e%2e/x", "/portal/%5Cevil.example", "/portal/%2F/evil.example",
		"/\tportal", "/portal\r\nSet-Cookie: a=b", "/portal\x00", " /portal", "/portal x", "/portal#//evil.example",
		"/api/mcp", "/portalx", "/oauth", "/oauthx/y", "/checkout", "/checkoutx", "/PORTAL", "@evil.example/portal", "/@evil.example", ".evil.example",
		"/portal/\xff", "/portal?x=\x7f", "/portal/" + strings.Repeat("a", 5000),
	} {
		if got := LocalPath(bad, "fallback"); got != "fallback" {
			t.Errorf("%q led to %q", bad, got)
		}
	}
}

func TestTexts_SamePlaceholdersInBothLanguages(t *testing.T) {
	t.Parallel()
	textcheck.CheckTranslations(t, textcheck.Merge(t, frameTexts, eppStatusTexts))
}

// sessions knows one secret.
type sessions struct{ err error }

func (s sessions) Visitor(_ context.Context, secret string) (account.Visitor, error) {
	if s.err != nil {
		return account.Visitor{}, s.err
	}
	if secret != "good" {
		return account.Visitor{}, &registrar.Error{Kind: registrar.KindUnauthenticated}
	}
	return account.Visitor{
		Customer: account.Customer{ID: "cus_1", Email: "erika@example.org", Language: German},
		Session:  account.Session{ID: "ses_1", AuthenticatedAt: time.Unix(1000, 0)},
	}, nil
}

func newFrame(t *testing.T, base string, s Sessions) *Frame {
	t.Helper()
	frame, err := New(Config{
		BaseURL: base, Sessions: s, Address: func(*http.Request) netip.Addr { return netip.Addr{} },
		Now: func() time.Time { return time.Unix(1000, 0) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return frame
}

func TestCookies_HostPrefixOverTLS(t *testing.T) {
	t.Parallel()
	for base, want := range map[string]string{
		"https://domains.example": "__Host-dotkontor=s; Path=/; Max-Age=7776000; HttpOnly; Secure; SameSite=Lax",
		"http://127.0.0.1:8080":   "dotkontor=s; Path=/; Max-Age=7776000; HttpOnly; SameSite=Lax",
	} {
		frame, w := newFrame(t, base, sessions{}), httptest.NewRecorder()
		frame.Page(func(req *Request) error { req.SetSession("s"); return req.SeeOther("/portal") })(w, httptest.NewRequest(http.MethodGet, "/portal", nil))
		if got := w.Header().Get("Set-Cookie"); got != want {
			t.Errorf("%s: %s", base, got)
		}
		if got := w.Header().Get("Strict-Transport-Security") != ""; got != strings.HasPrefix(base, "https") {
			t.Errorf("%s: HSTS is %t", base, got)
		}
	}
	// A cookie without the prefix is ignored.
	r := httptest.NewRequest(http.MethodGet, "/portal", nil)
	r.Header.Set("Cookie", "dotkontor=good")
	if _, err := newFrame(t, "https://domains.example", sessions{}).Visitor(r); registrar.KindOf(err) != registrar.KindUnauthenticated {
		t.Errorf("a planted cookie was accepted: %v", err)
	}
}

func TestPage_CrossSitePostIsRefused(t *testing.T) {
	t.Parallel()
	frame := newFrame(t, "https://domains.example", sessions{})
	ran := false
	handlers := map[string]http.HandlerFunc{
		"page":   frame.SignedInPage("/portal", func(req *Request) error { ran = true; return req.SeeOther("/portal") }),
		"script": frame.Script("/portal", true, func(*Request, []byte) (any, error) { ran = true; return 1, nil }),
	}
	for name, handler := range handlers {
		for _, header := range []http.Header{
			{"Sec-Fetch-Site": {"cross-site"}, "Origin": {"https://evil.example"}},
			{"Sec-Fetch-Site": {"same-site"}, "Origin": {"https://other.domains.example"}},
			{"Origin": {"https://evil.example"}},
			{"Origin": {"null"}},
		} {
			r := httptest.NewRequest(http.MethodPost, "https://domains.example/portal/x", strings.NewReader("{}"))
			r.Header = header
			r.Header.Set("Cookie", "__Host-dotkontor=good")
			w := httptest.NewRecorder()
			handler(w, r)
			if w.Code != http.StatusForbidden || ran {
				t.Errorf("%s with %v: %d, ran: %t", name, header, w.Code, ran)
			}
		}
		r := httptest.NewRequest(http.MethodPost, "https://domains.example/portal/x", strings.NewReader("{}"))
		r.Header = http.Header{"Sec-Fetch-Site": {"same-origin"}, "Cookie": {"__Host-dotkontor=good"}}
		handler(httptest.NewRecorder(), r)
		if !ran {
			t.Errorf("%s: our own form was refused", name)
		}
		ran = false
	}
}

func TestPage_SessionStoreErrorKeepsCookie(t *testing.T) {
	t.Parallel()
	frame := newFrame(t, "http://127.0.0.1", sessions{err: &registrar.Error{Kind: registrar.KindInternal, Detail: "canary"}})
	r := httptest.NewRequest(http.MethodGet, "/portal", nil)
	r.Header.Set("Cookie", "dotkontor=good")
	w := httptest.NewRecorder()
	frame.SignedInPage("/portal", func(*Request) error { t.Error("the page ran"); return nil })(w, r)
	if w.Code != http.StatusInternalServerError || w.Header().Get("Set-Cookie") != "" || strings.Contains(w.Body.String(), "canary") {
		t.Errorf("got %d %v %s", w.Code, w.Header(), w.Body)
	}
}

func TestPage_HangingDatabaseTimesOut(t *testing.T) {
	silent := func(ctx context.Context) error { <-ctx.Done(); return fmt.Errorf("the driver says: %w", ctx.Err()) }
	page := func(req *Request) error { return silent(req.R.Context()) }
	script := func(req *Request, _ []byte) (any, error) { return nil, silent(req.R.Context()) }
	for name, serve := range map[string]func(*Frame) http.HandlerFunc{
		"a page":           func(f *Frame) http.HandlerFunc { return f.Page(page) },
		"a script's":       func(f *Frame) http.HandlerFunc { return f.Script("/portal", false, script) },
		"a page's session": func(f *Frame) http.HandlerFunc { f.cfg.Sessions = hangingSessions{}; return f.NotFound },
	} {
		synctest.Test(t, func(t *testing.T) {
			frame := newFrame(t, "http://127.0.0.1", sessions{})
			w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/portal", nil)
			r.Header.Set("Cookie", "dotkontor=good")
			start := time.Now()
			serve(frame)(w, r)
			if took := time.Since(start); took != requestTimeout || w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "antwortet nicht") {
				t.Errorf("%s: %d after %s: %s", name, w.Code, took, w.Body)
			}
		})
	}
}

// hangingSessions never returns.
type hangingSessions struct{}

func (hangingSessions) Visitor(ctx context.Context, _ string) (account.Visitor, error) {
	<-ctx.Done()
	return account.Visitor{}, ctx.Err()
}

func TestPage_OversizedBodyIsRefused(t *testing.T) {
	t.Parallel()
	frame := newFrame(t, "http://127.0.0.1", sessions{})
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodPost, "/portal", strings.NewReader("a="+strings.Repeat("x", maxFormBytes)))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	frame.Page(func(*Request) error { t.Error("the page ran"); return nil })(w, r)
	if w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("got %d", w.Code)
	}
	w = httptest.NewRecorder()
	r = httptest.NewRequest(http.MethodPost, "/portal", strings.NewReader(`"`+strings.Repeat("x", maxScriptBytes)+`"`))
	frame.Script("/portal", false, func(*Request, []byte) (any, error) { t.Error("the endpoint ran"); return nil, nil })(w, r)
	if w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("the script's body: got %d", w.Code)
	}
}

func TestRateLimitedPage_ShowsRetryAfter(t *testing.T) {
	t.Parallel()
	frame := newFrame(t, "http://127.0.0.1", sessions{})
	w := httptest.NewRecorder()
	frame.Page(func(*Request) error {
		return &registrar.Error{Kind: registrar.KindRateLimited, RetryAfter: 601 * time.Second}
	})(w, httptest.NewRequest(http.MethodGet, "/portal", nil))
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "601" || !strings.Contains(w.Body.String(), "in 11 Minuten") {
		t.Errorf("got %d %v %s", w.Code, w.Header(), w.Body)
	}
}

func TestFlash_ShownOnceAndOnlyKnownKeys(t *testing.T) {
	t.Parallel()
	frame := newFrame(t, "http://127.0.0.1", sessions{})
	templates, err := frame.LoadTemplates(templateFS, Texts{"note.done": {"Erledigt."}})
	if err != nil {
		t.Fatal(err)
	}
	for cookie, want := range map[string]bool{"done": true, "frame.menu": false, "<b>": false} {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/portal", nil)
		r.Header.Set("Cookie", "dotkontor_note="+cookie)
		frame.Page(func(req *Request) error {
			return templates.Render(req, View{Name: "failure", Title: "failure.home", Data: struct {
				Status         int
				Text, Wait, ID string
			}{400, "failure.invalid", "", ""}})
		})(w, r)
		if got := strings.Contains(w.Body.String(), "Erledigt."); got != want {
			t.Errorf("%s: shown: %t", cookie, got)
		}
		if !strings.Contains(w.Header().Get("Set-Cookie"), "Max-Age=0") {
			t.Errorf("%s is not deleted: %v", cookie, w.Header())
		}
	}
}

func TestPage_InvalidTextInURLIsNotPassed(t *testing.T) {
	t.Parallel()
	frame := newFrame(t, "http://127.0.0.1:8080", sessions{})
	for target, want := range map[string]string{
		"/portal/tokens/%00/revoke": "", "/portal/tokens/%ff/revoke": "", "/portal/activity?before=%00": "seen ",
		"/portal/activity?before=%ff": "seen ", "/portal/activity?before=%C3%A4": "seen ä",
	} {
		got := ""
		w := httptest.NewRecorder()
		frame.Page(func(req *Request) error {
			got = "seen " + req.Query("before")
			return nil
		})(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, http.NoBody))
		if got != want || want == "" && w.Code != http.StatusNotFound {
			t.Errorf("%s: the page got %q, want %q; status %d", target, got, want, w.Code)
		}
	}
}

func TestServeError_PanicPageHasRequestID(t *testing.T) {
	t.Parallel()
	frame := newFrame(t, "http://127.0.0.1", sessions{})
	w := httptest.NewRecorder()
	w.Header().Set("X-Request-Id", "abc123")
	frame.ServeError(w, httptest.NewRequest(http.MethodGet, "/portal", nil), &registrar.Error{Kind: registrar.KindInternal, Code: "panic"})
	if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "nennen Sie bitte diese Anfrage-ID: abc123") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

// The other statuses of records are words of a registry.
func TestTexts_EveryEPPStatusHasText(t *testing.T) {
	t.Parallel()
	found := 0
	textcheck.EachMatch(t, "../../registrar/lookup/status.go", regexp.MustCompile("const eppStatuses = `([^`]+)`"), func(list string) {
		for status := range strings.FieldsSeq(list) {
			found++
			if eppStatusTexts["epp_status."+status][0] == "" {
				t.Errorf("there is no text for %s", status)
			}
		}
	})
	if found < 20 {
		t.Errorf("only %d statuses were found", found)
	}
}
