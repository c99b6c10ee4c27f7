package mcpclients

import (
	"context"
	"database/sql"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// consentBot is the demo customer with a minimal browser: it submits the portal's forms
// and stores cookies.
type consentBot struct {
	env
	mu      sync.Mutex // one window at a time
	browser *http.Client
	// consents counts authorization requests.
	consents int
}

func newConsentBot(t *testing.T, s env) *consentBot {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &consentBot{env: s, browser: &http.Client{
		Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

var consentSecret = regexp.MustCompile(`name="consent" value="([^"]+)"`)

// decide opens an authorization URL, signs in if necessary, submits the consent page and
// returns the redirect.
func (r *consentBot) decide(ctx context.Context, address, decision string) (*url.URL, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.consents++
	page, next, err := r.send(ctx, http.MethodGet, address, nil)
	if err == nil && next != nil && next.Path == "/portal/sign-in" {
		_, next, err = r.send(ctx, http.MethodPost, r.base+"/portal/sign-in", url.Values{
			"email": {r.email}, "password": {r.password}, "next": {next.Query().Get("next")},
		})
		if err == nil && next != nil {
			page, next, err = r.send(ctx, http.MethodGet, r.base+next.RequestURI(), nil)
		}
	}
	if err != nil {
		return nil, err
	}
	secret := consentSecret.FindStringSubmatch(page)
	if secret == nil {
		return nil, fmt.Errorf("no consent page: redirect to %v, page %q", next, page)
	}
	page, next, err = r.send(ctx, http.MethodPost, r.base+"/oauth/authorize/", url.Values{
		"consent": {html.UnescapeString(secret[1])}, "decision": {decision},
	})
	if err == nil && next == nil {
		err = fmt.Errorf("no redirect after consent: %s", page)
	}
	return next, err
}

func (r *consentBot) send(ctx context.Context, method, address string, form url.Values) (page string, next *url.URL, err error) {
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(form.Encode()))
	if err != nil {
		return "", nil, err
	}
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	response, err := r.browser.Do(request)
	if err != nil {
		return "", nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode == http.StatusSeeOther {
		next, err = response.Location()
	}
	return string(text), next, err
}

// expireAccessTokens expires every access token in the database, because the clock of the
// process can't be moved.
func (r *consentBot) expireAccessTokens(ctx context.Context) error {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(r.data, "dotkontor.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		return err
	}
	defer db.Close()
	done, err := db.ExecContext(ctx, "UPDATE access_tokens SET expires_at = 1")
	if err != nil {
		return err
	}
	if changed, err := done.RowsAffected(); err != nil || changed == 0 {
		return fmt.Errorf("no access token to expire (%w)", err)
	}
	return nil
}

// serve exposes the bot to scripts: /approve?url=… and /deny?url=… return the redirect,
// /expire an empty body.
func (r *consentBot) serve(t *testing.T) string {
	t.Helper()
	answer := func(w http.ResponseWriter, text string, err error) {
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = io.WriteString(w, text)
	}
	mux := http.NewServeMux()
	for _, decision := range []string{"approve", "deny"} {
		mux.HandleFunc("/"+decision, func(w http.ResponseWriter, request *http.Request) {
			next, err := r.decide(request.Context(), request.FormValue("url"), decision)
			answer(w, fmt.Sprint(next), err)
		})
	}
	mux.HandleFunc("/expire", func(w http.ResponseWriter, request *http.Request) {
		answer(w, "", r.expireAccessTokens(request.Context()))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func (r *consentBot) consentCount() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.consents
}
