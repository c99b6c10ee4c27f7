package cluster

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// runCLI runs an operator command, which has to succeed.
func (p testDB) runCLI(t *testing.T, args ...string) string {
	t.Helper()
	out, err := p.tryCLI(t, args...)
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return out
}

// tryCLI runs an operator command that may fail.
func (p testDB) tryCLI(t *testing.T, args ...string) (out string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, suite.binary, append(args, "--config", suite.config)...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + suite.folder}, p.settings...)
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// browser is an HTTP client with cookies. Cookies apply to a host regardless of the
// port, so the nodes are one site to it, as behind a load balancer.
type browser struct {
	t      *testing.T
	client *http.Client
}

func newBrowser(t *testing.T) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &browser{t, &http.Client{Jar: jar, Timeout: waitTimeout, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}}
}

// setCookie sets a cookie.
func (b *browser) setCookie(on *node, cookie *http.Cookie) {
	b.t.Helper()
	base, err := url.Parse(on.base)
	if err != nil {
		b.t.Fatal(err)
	}
	b.client.Jar.SetCookies(base, []*http.Cookie{cookie})
}

// get requests a page, submit posts a form. Both return the body and fail the test for
// another status.
func (b *browser) get(on *node, path string, want int) string {
	b.t.Helper()
	return b.request(http.MethodGet, on.base+path, nil, want)
}

func (b *browser) postForm(on *node, path string, form url.Values, want int) string {
	b.t.Helper()
	return b.request(http.MethodPost, on.base+path, form, want)
}

func (b *browser) request(method, address string, form url.Values, want int) string {
	b.t.Helper()
	request, err := http.NewRequestWithContext(b.t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := b.client.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != want {
		path, _, _ := strings.Cut(address, "?")
		b.t.Fatalf("%s %s: got %d, want %d (%v)\n%s", method, path, answer.StatusCode, want, err, text)
	}
	return string(text)
}

var (
	linkText   = regexp.MustCompile(`dotkontor_link_\w+`)
	tokenText  = regexp.MustCompile(`dotkontor_live_\w+`)
	revokePath = regexp.MustCompile(`/portal/tokens/\w+/revoke`)
)

func TestPortal_ChangesAtOneNodeApplyAtTheOther(t *testing.T) {
	eachEngine(t, func(t *testing.T, db testDB) {
		const email, password = "erika@kundin.example", "eine Brise weht am Elbstrand"
		first, second := db.startNode(t), db.startNode(t)
		link := linkText.FindString(db.runCLI(t, "customers", "add", email))
		erika := newBrowser(t)
		erika.postForm(first, "/portal/reset/new", url.Values{"link": {link}, "password": {password}}, http.StatusSeeOther)
		erika.postForm(second, "/portal/sign-in", url.Values{"email": {email}, "password": {password}}, http.StatusSeeOther)

		// Signed in at the second node, she creates a token at the first.
		secret := tokenText.FindString(erika.postForm(first, "/portal/tokens", url.Values{"name": {"laptop"}, "life": {"never"}}, http.StatusOK))
		for _, server := range []*node{first, second} {
			if got := server.listDomains(secret); got.code() != "ok" {
				t.Errorf("with the new token: got %d %v", got.status, got.content)
			}
		}
		page := erika.get(second, "/portal/tokens", http.StatusOK)
		if strings.Contains(page, secret) || !strings.Contains(page, "laptop") {
			t.Error("the list contains the secret or lacks the name")
		}
		erika.postForm(first, revokePath.FindString(page), url.Values{}, http.StatusSeeOther)
		second.mustBe401("revoked at the first, used at the second", second.listDomains(secret))
		first.mustBe401("revoked at the first, used there", first.listDomains(secret))

		// A disabled account is rejected by every node.
		secret = tokenText.FindString(erika.postForm(second, "/portal/tokens", url.Values{"name": {"phone"}, "life": {"never"}}, http.StatusOK))
		if got := first.listDomains(secret); got.code() != "ok" {
			t.Errorf("with another token: got %d %v", got.status, got.content)
		}
		db.runCLI(t, "customers", "disable", email)
		for _, server := range []*node{first, second} {
			server.mustBe401("of a disabled account", server.listDomains(secret))
			erika.get(server, "/portal/tokens", http.StatusSeeOther) // redirect to sign-in
		}
	})
}
