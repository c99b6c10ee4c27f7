package contract

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

// browser does not follow redirects, so that tests see each one.
type browser struct {
	t      *testing.T
	base   string
	client *http.Client
}

func newBrowser(t *testing.T, on *target) *browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableKeepAlives = true
	return &browser{t, on.base, &http.Client{
		Transport: transport, Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// send returns status, redirect and body.
func (v *browser) send(method, address, contentType, body, bearer string) (status int, location *url.URL, text string) {
	v.t.Helper()
	if strings.HasPrefix(address, "/") {
		address = v.base + address
	}
	r, err := http.NewRequestWithContext(v.t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		v.t.Fatal(err)
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
		r.Header.Set("Accept", "application/json, text/event-stream")
	}
	response, err := v.client.Do(r)
	if err != nil {
		v.t.Fatal(err)
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	location, err = url.Parse(response.Header.Get("Location"))
	if err != nil {
		v.t.Fatal(err)
	}
	return response.StatusCode, location, string(read)
}

func (v *browser) postForm(address string, pairs ...string) (int, *url.URL, string) {
	v.t.Helper()
	values := make(url.Values)
	for i := 0; i+1 < len(pairs); i += 2 {
		values.Set(pairs[i], pairs[i+1])
	}
	return v.send(http.MethodPost, address, "application/x-www-form-urlencoded", values.Encode(), "")
}

func (v *browser) listDomains(token string) (int, string) {
	v.t.Helper()
	status, _, text := v.send(http.MethodPost, "/api/mcp", "application/json",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_my_domains","arguments":{}}}`, token)
	return status, text
}

var consentSecret = regexp.MustCompile(`name="consent" value="([^"]+)"`)

// The flow of an application that knows only the base URL: metadata, registration,
// sign-in, consent, tokens, the customer's domains, refresh, revocation.
func TestOAuth_ApplicationListsDomains(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		v := newBrowser(t, on)
		var server struct {
			Issuer    string `json:"issuer"`
			Authorize string `json:"authorization_endpoint"`
			Token     string `json:"token_endpoint"`
			Register  string `json:"registration_endpoint"`
			Revoke    string `json:"revocation_endpoint"`
			Documents bool   `json:"client_id_metadata_document_supported"`
		}
		_, _, text := v.send(http.MethodGet, "/.well-known/oauth-authorization-server", "", "", "")
		if err := json.Unmarshal([]byte(text), &server); err != nil || server.Documents {
			t.Fatalf("%v, %s", err, text)
		}
		const callback = "http://localhost:43117/callback"
		status, _, text := v.send(http.MethodPost, server.Register, "application/json",
			`{"client_name":"Contract","redirect_uris":["`+callback+`"],"token_endpoint_auth_method":"none","grant_types":["authorization_code","refresh_token"],"response_types":["code"]}`, "")
		var client struct {
			ID string `json:"client_id"`
		}
		if err := json.Unmarshal([]byte(text), &client); err != nil || status != http.StatusCreated {
			t.Fatalf("registration: %d %s", status, text)
		}
		verifier := strings.Repeat("v", 50)
		sum := sha256.Sum256([]byte(verifier))
		ask := server.Authorize + "?" + url.Values{
			"response_type": {"code"}, "client_id": {client.ID}, "redirect_uri": {callback}, "state": {"s"}, "resource": {on.base + "/api/mcp"},
			"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
		}.Encode()
		status, location, text := v.send(http.MethodGet, ask, "", "", "")
		if status != http.StatusSeeOther || location.Path != "/portal/sign-in" {
			t.Fatalf("not signed in: %d %s %s", status, location, text)
		}
		next := location.Query().Get("next")
		status, location, text = v.postForm("/portal/sign-in", "email", on.demo.Email, "password", on.demo.Password, "next", next)
		for range 5 { // a machine that is too busy to hash a password says so
			if status != http.StatusServiceUnavailable && status != http.StatusTooManyRequests {
				break
			}
			time.Sleep(3 * time.Second)
			status, location, text = v.postForm("/portal/sign-in", "email", on.demo.Email, "password", on.demo.Password, "next", next)
		}
		if status != http.StatusSeeOther || location.Path != "/oauth/authorize/" {
			t.Fatalf("sign-in: %d %s %s", status, location, text)
		}
		_, _, text = v.send(http.MethodGet, location.String(), "", "", "")
		secret := consentSecret.FindStringSubmatch(text)
		if secret == nil {
			t.Fatalf("no consent page: %s", text)
		}
		status, location, text = v.postForm("/oauth/authorize/", "consent", html.UnescapeString(secret[1]), "decision", "approve")
		answered := location.Query()
		if status != http.StatusSeeOther || !strings.HasPrefix(location.String(), callback) || answered.Get("iss") != server.Issuer || answered.Get("state") != "s" {
			t.Fatalf("consent: %d %s %s", status, location, text)
		}
		exchange := func(pairs ...string) (access, refresh string) {
			t.Helper()
			status, _, text := v.postForm(server.Token, append(pairs, "client_id", client.ID)...)
			var tokens struct {
				Access  string `json:"access_token"`
				Refresh string `json:"refresh_token"`
				Scope   string `json:"scope"`
			}
			if err := json.Unmarshal([]byte(text), &tokens); err != nil || status != http.StatusOK || tokens.Scope != "mcp:write" {
				t.Fatalf("tokens: %d %s", status, text)
			}
			return tokens.Access, tokens.Refresh
		}
		access, refresh := exchange("grant_type", "authorization_code", "code", answered.Get("code"), "redirect_uri", callback, "code_verifier", verifier)
		if status, text := v.listDomains(access); status != http.StatusOK || !strings.Contains(text, `"autoRenew"`) {
			t.Errorf("the domains: %d %s", status, text)
		}
		access, _ = exchange("grant_type", "refresh_token", "refresh_token", refresh)
		if status, text := v.listDomains(access); status != http.StatusOK {
			t.Errorf("after a refresh: %d %s", status, text)
		}
		if status, _, text := v.postForm(strings.TrimSuffix(server.Revoke, "/"), "token", access, "client_id", client.ID); status != http.StatusOK {
			t.Errorf("revocation: %d %s", status, text)
		}
		if status, text := v.listDomains(access); status != http.StatusUnauthorized {
			t.Errorf("after the revocation: %d %s", status, text)
		}
	})
}

func TestOAuth_EndpointsAcceptTrailingSlash(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		for _, test := range []struct {
			path, body, want string
			status           int
		}{
			{"/oauth/register", `{}`, "invalid_redirect_uri", http.StatusBadRequest},
			{"/oauth/token", "grant_type=authorization_code&code=x&code_verifier=x&client_id=x", "invalid_client", http.StatusUnauthorized},
			{"/oauth/revoke", "token=x&client_id=x", "invalid_client", http.StatusUnauthorized},
		} {
			for _, path := range []string{test.path, test.path + "/"} {
				kind := "application/x-www-form-urlencoded"
				if strings.HasPrefix(test.body, "{") {
					kind = "application/json"
				}
				status, _, text := newBrowser(t, on).send(http.MethodPost, path, kind, test.body, "")
				if status != test.status || !strings.Contains(text, `"error":"`+test.want+`"`) {
					t.Errorf("%s: %d %s", path, status, text)
				}
			}
		}
		for _, path := range []string{"/oauth/authorize?client_id=x", "/oauth/authorize/?client_id=x"} {
			status, location, text := newBrowser(t, on).send(http.MethodGet, path, "", "", "")
			if status != http.StatusBadRequest || location.String() != "" || !strings.Contains(text, "<h1>") {
				t.Errorf("%s: %d %s %s", path, status, location, text)
			}
		}
	})
}
