package oauth

import (
	"encoding/json"
	"html"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
)

// httpResponse is a response with its complete body.
type httpResponse struct {
	status int
	header http.Header
	text   string
	// body is the text as a JSON object, if it is one.
	body map[string]any
}

func (a httpResponse) field(name string) string {
	text, _ := a.body[name].(string)
	return text
}

// location parses the Location header and its query.
func (a httpResponse) location() (string, url.Values) {
	place, query, _ := strings.Cut(a.header.Get("Location"), "?")
	values, _ := url.ParseQuery(query)
	return place, values
}

func (s *env) doRequest(method, path, session, contentType, body string, headers ...string) httpResponse {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, s.base+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	if session != "" {
		request.AddCookie(&http.Cookie{Name: "dotkontor", Value: session})
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := noRedirects.Do(request)
	if err != nil {
		s.t.Error(err)
		return httpResponse{}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Error(err)
	}
	got := httpResponse{status: response.StatusCode, header: response.Header, text: string(text)}
	_ = json.Unmarshal(text, &got.body)
	return got
}

const formType = "application/x-www-form-urlencoded"

// formValues builds a form from names and values.
func formValues(pairs ...string) url.Values {
	form := make(url.Values)
	for i := 0; i+1 < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
	return form
}

// withChanges returns form with some values replaced; empty ones are removed.
func withChanges(form url.Values, pairs ...string) url.Values {
	changed := maps.Clone(form)
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			changed.Del(pairs[i])
			continue
		}
		changed[pairs[i]] = []string{pairs[i+1]}
	}
	return changed
}

func (s *env) post(path string, form url.Values) httpResponse {
	s.t.Helper()
	return s.doRequest(http.MethodPost, path, "", formType, form.Encode())
}

func (s *env) register(body string) httpResponse {
	s.t.Helper()
	return s.doRequest(http.MethodPost, "/oauth/register/", "", "application/json", body)
}

// app is a registered application.
type app struct{ id, secret, redirect string }

const callback = "https://app.example/callback"

// newApp registers one with a method and a redirect URI.
func (s *env) newApp(method, redirect string) app {
	s.t.Helper()
	body, err := json.Marshal(map[string]any{
		"client_name": "Test App", "redirect_uris": []string{redirect}, "token_endpoint_auth_method": method,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	got := s.register(string(body))
	if got.status != http.StatusCreated {
		s.t.Fatalf("registration: %d %s", got.status, got.text)
	}
	return app{id: got.field("client_id"), secret: got.field("client_secret"), redirect: redirect}
}

// authorizationRequest is a valid authorization request of the application.
func (s *env) authorizationRequest(a app) url.Values {
	return formValues("response_type", "code", "client_id", a.id, "redirect_uri", a.redirect, "code_challenge", challenge(),
		"code_challenge_method", "S256", "scope", "mcp:write", "state", "a state & more", "resource", s.base+"/api/mcp")
}

func (s *env) authorize(session string, query url.Values) httpResponse {
	s.t.Helper()
	return s.doRequest(http.MethodGet, "/oauth/authorize/?"+query.Encode(), session, "", "")
}

var consentField = regexp.MustCompile(`name="consent" value="([^"]+)"`)

// consentSecret returns the secret in the form of a consent page.
func (s *env) consentSecret(page httpResponse) string {
	s.t.Helper()
	found := consentField.FindStringSubmatch(page.text)
	if page.status != http.StatusOK || found == nil {
		s.t.Fatalf("no consent page: %d %s %s", page.status, page.header.Get("Location"), page.text)
	}
	return html.UnescapeString(found[1])
}

func (s *env) decide(session, question, decision string, headers ...string) httpResponse {
	s.t.Helper()
	return s.doRequest(http.MethodPost, "/oauth/authorize/", session, formType,
		formValues("consent", question, "decision", decision).Encode(), headers...)
}

// authorizationCode completes sign-in and consent.
func (s *env) authorizationCode(session string, a app, changes ...string) string {
	s.t.Helper()
	s.renewSignIn(session)
	got := s.decide(session, s.consentSecret(s.authorize(session, withChanges(s.authorizationRequest(a), changes...))), "approve")
	_, query := got.location()
	if got.status != http.StatusSeeOther || query.Get("code") == "" {
		s.t.Fatalf("no code: %d %s %s", got.status, got.header.Get("Location"), got.text)
	}
	return query.Get("code")
}

// codeRequest is a valid token request with a code.
func (a app) codeRequest(code string) url.Values {
	form := formValues("grant_type", "authorization_code", "client_id", a.id, "code", code, "redirect_uri", a.redirect, "code_verifier", verifier)
	if a.secret != "" {
		form.Set("client_secret", a.secret)
	}
	return form
}

// refreshRequest is a valid refresh request.
func (a app) refreshRequest(refresh string) url.Values {
	form := formValues("grant_type", "refresh_token", "client_id", a.id, "refresh_token", refresh)
	if a.secret != "" {
		form.Set("client_secret", a.secret)
	}
	return form
}

func (s *env) tokenRequest(form url.Values) httpResponse {
	s.t.Helper()
	return s.post("/oauth/token/", form)
}

// connect obtains a token pair.
func (s *env) connect(session string, a app, changes ...string) (accessToken, refreshToken string) {
	s.t.Helper()
	got := s.tokenRequest(a.codeRequest(s.authorizationCode(session, a, changes...)))
	if got.status != http.StatusOK {
		s.t.Fatalf("no tokens: %d %s", got.status, got.text)
	}
	return got.field("access_token"), got.field("refresh_token")
}

// callTool calls a tool that requires authentication.
func (s *env) callTool(token string) httpResponse {
	s.t.Helper()
	return s.doRequest(http.MethodPost, "/api/mcp", "", "application/json",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_my_domains","arguments":{}}}`,
		"Authorization", "Bearer "+token, "Accept", "application/json, text/event-stream", "Mcp-Protocol-Version", "2025-06-18")
}

func (s *env) wantToolStatus(token string, want int) {
	s.t.Helper()
	if got := s.callTool(token); got.status != want {
		s.t.Errorf("the token gets %d, want %d: %s", got.status, want, got.text)
	}
}

func (s *env) wantError(got httpResponse, status int, name string) {
	s.t.Helper()
	if got.status != status || got.field("error") != name || got.field("error_description") == "" {
		s.t.Errorf("got %d %s, want %d %s", got.status, got.text, status, name)
	}
	if got.header.Get("Cache-Control") != "no-store" {
		s.t.Errorf("Cache-Control is %q", got.header.Get("Cache-Control"))
	}
}

// inParallel runs a function many times concurrently.
func inParallel(times int, do func(i int) httpResponse) []httpResponse {
	answers := make([]httpResponse, times)
	var start, done sync.WaitGroup
	start.Add(1)
	for i := range times {
		done.Go(func() {
			start.Wait()
			answers[i] = do(i)
		})
	}
	start.Done()
	done.Wait()
	return answers
}
