package portal

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
)

// connectApp connects an application to an account, as its browser would, and returns
// its id.
func (s *env) connectApp(customer string) string {
	s.t.Helper()
	ctx, actor := s.t.Context(), registrar.Actor{Kind: registrar.ActorPerson, Customer: customer, Through: "ses_test"}
	client, _, err := s.apps.Register(ctx, oauth.ClientMetadata{Name: "<b>App</b>", RedirectURIs: []string{"https://app.example/cb"}})
	must(s.t, err)
	verifier := strings.Repeat("v", 43)
	sum := sha256.Sum256([]byte(verifier))
	ask, err := s.apps.ParseRequest(ctx, oauth.AuthorizationRequest{
		ClientID: client.ID, ResponseType: "code", Challenge: base64.RawURLEncoding.EncodeToString(sum[:]), ChallengeMethod: "S256",
	})
	must(s.t, err)
	question, err := s.apps.CreateConsent(ctx, actor, ask)
	must(s.t, err)
	reply, err := s.apps.Decide(ctx, actor, question, true)
	must(s.t, err)
	_, err = s.apps.Redeem(ctx, oauth.CodeRequest{ClientCredentials: oauth.ClientCredentials{ClientID: client.ID}, Code: reply.Code, Verifier: verifier})
	must(s.t, err)
	apps, err := s.apps.ListConnectedApps(ctx, actor)
	must(s.t, err)
	return apps[0].ID
}

// appsPage is the page with one application.
func (s *env) appsPage(b *browser, customer string) pageResponse {
	s.t.Helper()
	s.connectApp(customer)
	return b.get("/portal/apps")
}

func TestApps_ListAndDisconnect(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	member := s.newMember("erika@example.org")
	b := s.signedInBrowser("erika@example.org")
	if got := b.get("/portal/apps"); got.status != http.StatusOK || !strings.Contains(got.body, "keine Anwendung") {
		t.Errorf("nothing is connected: %d %s", got.status, got.body)
	}
	id := s.connectApp(member.ID)
	got := b.get("/portal/apps")
	for _, want := range []string{"&lt;b&gt;App&lt;/b&gt;", "app.example", "Bestellungen vorbereiten", "/portal/apps/" + id + "/disconnect"} {
		if !strings.Contains(got.body, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if got := b.get("/portal/activity"); !strings.Contains(got.body, "Anwendung verbunden") || !strings.Contains(got.body, "(app.example)") {
		t.Errorf("audit log: %s", got.body)
	}
	if got := b.post("/portal/apps/"+id+"/disconnect", nil); got.location() != "/portal/apps" {
		t.Errorf("disconnecting: %d %s", got.status, got.location())
	}
	if got := b.get("/portal/apps"); !strings.Contains(got.body, "keine Anwendung") || !strings.Contains(got.body, "ist getrennt") {
		t.Errorf("afterwards: %s", got.body)
	}
}

// An application may have opened the window and wait for its response; and a sign-in
// may end in a redirect to the application, to which Chrome applies the policy of the
// page with the form.
func TestSignInPage_PolicyRelaxedOnlyForConsent(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	s.newMember("erika@example.org")
	for _, path := range []string{"/portal/sign-in", "/portal/sign-in/code", "/portal/sign-in-again"} {
		for next, opens := range map[string]bool{
			"/oauth/authorize/?client_id=x": true, "/portal/domains": false, "": false,
			"https://evil.example/oauth/": false, "//evil.example/oauth/": false, "/oauth/../portal/domains": false,
		} {
			b := s.newBrowser()
			if path == "/portal/sign-in-again" {
				b = s.signedInBrowser("erika@example.org")
			}
			got := b.get(path + "?next=" + url.QueryEscape(next))
			leaves := !strings.Contains(got.header.Get("Content-Security-Policy"), "form-action 'self'")
			listens := got.header.Get("Cross-Origin-Opener-Policy") == "unsafe-none"
			if leaves != opens || listens != opens {
				t.Errorf("%s to %q (%d): forms may leave: %t, the opener is notified: %t", path, next, got.status, leaves, listens)
			}
			if !strings.Contains(got.header.Get("Content-Security-Policy"), "frame-ancestors 'none'") {
				t.Errorf("%s to %q can be framed", path, next)
			}
		}
	}
}
