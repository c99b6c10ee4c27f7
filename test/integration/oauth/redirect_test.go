package oauth

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// wantPage checks that the browser is not redirected.
func (s *env) wantPage(got httpResponse, what string) {
	s.t.Helper()
	if got.status != http.StatusBadRequest || got.header.Get("Location") != "" ||
		!strings.HasPrefix(got.header.Get("Content-Type"), "text/html") || strings.Contains(got.text, "//evil") {
		s.t.Errorf("%s: %d, Location %q, %s", what, got.status, got.header.Get("Location"), got.text)
	}
}

func TestRedirectURI_OnlyRegisteredOneIsUsed(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	for registered, variants := range map[string][]string{
		"https://app.example/callback": {
			"https://app.example@evil.example/callback", "https://app.example:443@evil.example/callback", "https://app.example.evil.example/callback",
			"https://evil.example/callback", "https://evilapp.example/callback", "https://app.example/callback/evil", "https://app.example/callback/",
			"https://app.example/callback?evil=1", "https://app.example/callback#evil", "https://app.example/callback#", "https://app.example/callback/../evil",
			"https://app.example/x/../callback", "https://app.example/./callback", "https://app.example/%2e%2e/callback", "https://app.example/callbac%6b",
			"http://app.example/callback", "HTTPS://app.example/callback", "https://APP.example/callback", "https://app.example/Callback",
			"https://app.example:8443/callback", "https://app.example:443/callback", "https://app.example./callback", `https://app.example\@evil.example/callback`,
			"https:app.example/callback", "https:///app.example/callback", "//app.example/callback", "/callback", "javascript:evil()", "data:text/html,evil",
			"https://app.example/callback ", "https://app.example/call\nback", "https://app.example/callback,https://evil.example/",
		},
		"http://127.0.0.1:7777/callback": {
			"http://localhost:7777/callback", "http://[::1]:7777/callback", "http://127.0.0.1.evil.example/callback", "http://127.0.0.1@evil.example/callback",
			"http://127.0.0.1:7777@evil.example/callback", "http://127.0.0.1:evil/callback", "http://127.0.0.1:/callback", "http://127.0.0.2:7777/callback",
			"http://127.0.0.1:7777/other", "http://127.0.0.1:7777/callback?evil", "https://127.0.0.1:7777/callback", "http://127.1:7777/callback",
			"http://2130706433:7777/callback", "HTTP://127.0.0.1:7777/callback", "http://127.0.0.1:7777/x/../callback",
		},
		"http://localhost:7777/callback":                 {"http://127.0.0.1:7777/callback", "http://LOCALHOST:7777/callback", "http://localhost.evil.example:7777/callback"},
		"cursor://anysphere.cursor-mcp/oauth/callback":   {"cursor://evil/oauth/callback", "CURSOR://anysphere.cursor-mcp/oauth/callback", "cursor://anysphere.cursor-mcp/oauth/callback?evil"},
		"com.example.app:/callback":                      {"com.example.app:/evil", "com.example.app:callback", "com.example.evil:/callback"},
		"https://app.example/callback?tenant=1&region=2": {"https://app.example/callback?region=2&tenant=1", "https://app.example/callback", "https://app.example/callback?tenant=1&region=2&evil=1"},
	} {
		a := s.newApp("none", registered)
		for _, variant := range variants {
			for _, who := range []string{"", session} {
				s.wantPage(s.authorize(who, withChanges(s.authorizationRequest(a), "redirect_uri", variant)), variant)
			}
		}
		got := s.decide(session, s.consentSecret(s.authorize(session, s.authorizationRequest(a))), "approve")
		if location := got.header.Get("Location"); !strings.HasPrefix(location, registered) {
			t.Errorf("%s: the response goes to %s", registered, location)
		}
	}
}

func TestRedirectURI_LoopbackAcceptsAnyPort(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	for registered, used := range map[string]string{
		"http://127.0.0.1:7777/callback": "http://127.0.0.1:50123/callback", "http://127.0.0.1/": "http://127.0.0.1:33418/",
		"http://localhost:1/callback": "http://localhost/callback", "http://[::1]/cb?x=1": "http://[::1]:9/cb?x=1", "http://127.0.0.1:33418": "http://127.0.0.1:5/",
	} {
		a := s.newApp("none", registered)
		got := s.decide(session, s.consentSecret(s.authorize(session, withChanges(s.authorizationRequest(a), "redirect_uri", used))), "approve")
		if !strings.HasPrefix(got.header.Get("Location"), used) {
			t.Errorf("%s: %d %s", used, got.status, got.header.Get("Location"))
		}
		_, query := got.location()
		if strings.Contains(used, "?") { // the query of the URI is preserved
			if !strings.Contains(got.header.Get("Location"), "?x=1&") {
				t.Errorf("%s: %s", used, got.header.Get("Location"))
			}
			continue
		}
		a.redirect = used
		if got := s.tokenRequest(a.codeRequest(query.Get("code"))); got.status != 200 {
			t.Errorf("%s: %d %s", used, got.status, got.text)
		}
	}
}

func TestAuthorize_UnknownClientGetsPageWithoutRedirect(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	a := s.newApp("none", callback)
	for _, who := range []string{"", session} {
		for _, id := range []string{"", "client_unknown", "evil", "http://evil.example/client", "javascript:evil"} {
			s.wantPage(s.authorize(who, withChanges(s.authorizationRequest(a), "client_id", id)), "client "+id)
		}
		// Metadata documents are not fetched if they are disabled.
		if who != "" {
			s.wantPage(s.authorize(who, withChanges(s.authorizationRequest(a), "client_id", "https://evil.example/client")), "a document")
		}
		for _, name := range []string{"client_id", "redirect_uri"} {
			query := s.authorizationRequest(a)
			query.Add(name, query.Get(name))
			s.wantPage(s.authorize(who, query), "two of "+name)
		}
		s.wantPage(s.authorize(who, withChanges(s.authorizationRequest(a), "state", strings.Repeat("x", 5000))), "too long")
	}
}

func TestAuthorize_ErrorsRedirectOnlyAfterSignIn(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	a := s.newApp("none", callback)
	for name, test := range map[string]struct {
		changes []string
		want    string
	}{
		"token":        {[]string{"response_type", "token"}, "unsupported_response_type"},
		"code token":   {[]string{"response_type", "code token"}, "unsupported_response_type"},
		"id_token":     {[]string{"response_type", "id_token"}, "unsupported_response_type"},
		"no type":      {[]string{"response_type", ""}, "unsupported_response_type"},
		"request":      {[]string{"request", "eyJ"}, "request_not_supported"},
		"request_uri":  {[]string{"request_uri", "https://evil.example"}, "request_uri_not_supported"},
		"form_post":    {[]string{"response_mode", "form_post"}, "invalid_request"},
		"fragment":     {[]string{"response_mode", "fragment"}, "invalid_request"},
		"foreign":      {[]string{"resource", "https://other.example/api/mcp"}, "invalid_target"},
		"other path":   {[]string{"resource", s.base + "/api/other"}, "invalid_target"},
		"other scheme": {[]string{"resource", "https" + strings.TrimPrefix(s.base, "http") + "/api/mcp"}, "invalid_target"},
		"a fragment":   {[]string{"resource", s.base + "/api/mcp#x"}, "invalid_target"},
		"plain":        {[]string{"code_challenge_method", "plain"}, "invalid_request"},
	} {
		query := withChanges(s.authorizationRequest(a), test.changes...)
		visitor := s.authorize("", query)
		place, _ := visitor.location()
		if visitor.status != 303 || place != "/portal/sign-in" {
			t.Errorf("%s: an anonymous visitor is redirected to %s", name, visitor.header.Get("Location"))
		}
		got := s.authorize(session, query)
		place, answered := got.location()
		if got.status != 303 || place != callback || answered.Get("error") != test.want || answered.Get("state") != "a state & more" ||
			answered.Get("iss") != s.base || answered.Get("error_description") == "" {
			t.Errorf("%s: %d %s", name, got.status, got.header.Get("Location"))
		}
	}
	for _, name := range []string{"state", "scope", "code_challenge", "response_type", "unknown"} {
		query := s.authorizationRequest(a)
		query[name] = []string{"x", "x"}
		if _, answered := s.authorize(session, query).location(); answered.Get("error") != "invalid_request" {
			t.Errorf("two of %s: %v", name, answered)
		}
	}
}

func TestResource_EquivalentSpellingsAreAccepted(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	a := s.newApp("none", callback)
	for _, resource := range []string{"", s.base + "/api/mcp", s.base + "/api/mcp/", s.base + "/api/mcp?x=1", s.base + "/api/mcp/login", strings.ToUpper(s.base[:4]) + s.base[4:] + "/api/mcp"} {
		accessToken, _ := s.connect(session, a, "resource", resource)
		s.wantToolStatus(accessToken, 200)
	}
}

func TestScope_UnknownAreDroppedAndGrantedReturned(t *testing.T) {
	s := newSQLiteEnv(t)
	session, _ := s.newAccount("anna@example.org")
	a := s.newApp("none", callback)
	for asked, want := range map[string]string{
		"": "mcp:write", "mcp:write": "mcp:write", "mcp:read": "mcp:read", "mcp:read mcp:write": "mcp:read mcp:write", "mcp:write mcp:read": "mcp:read mcp:write",
		"openid offline_access": "mcp:write", "openid mcp:read": "mcp:read", "MCP:WRITE": "mcp:write", "mcp:read mcp:read": "mcp:read",
	} {
		got := s.tokenRequest(a.codeRequest(s.authorizationCode(session, a, "scope", asked)))
		if got.field("scope") != want {
			t.Errorf("%q: %s", asked, got.text)
		}
		status := 200
		if want == "mcp:read" {
			status = 403
		}
		s.wantToolStatus(got.field("access_token"), status)
	}
}

func TestRegister_RealClientsSucceed(t *testing.T) {
	s := newSQLiteEnv(t)
	for name, body := range map[string]string{
		"Claude":         `{"client_name":"Claude","grant_types":["authorization_code","refresh_token"],"response_types":["code"],"token_endpoint_auth_method":"client_secret_post","scope":"mcp:read mcp:write","redirect_uris":["https://claude.ai/api/mcp/auth_callback"]}`,
		"Claude Code":    `{"client_name":"Claude Code (dotkontor)","redirect_uris":["http://localhost:54212/callback"],"grant_types":["authorization_code","refresh_token"],"response_types":["code"],"token_endpoint_auth_method":"none"}`,
		"ChatGPT":        `{"client_name":"ChatGPT","redirect_uris":["https://chatgpt.com/connector/oauth/abc123"],"grant_types":["authorization_code","refresh_token"],"response_types":["code"],"token_endpoint_auth_method":"none"}`,
		"VS Code":        `{"client_name":"Visual Studio Code","client_uri":"https://code.visualstudio.com","grant_types":["authorization_code","refresh_token","urn:ietf:params:oauth:grant-type:device_code"],"response_types":["code"],"redirect_uris":["https://insiders.vscode.dev/redirect","https://vscode.dev/redirect","http://127.0.0.1/","http://127.0.0.1:33418/"],"token_endpoint_auth_method":"none","application_type":"native"}`,
		"Cursor":         `{"client_name":"Cursor","redirect_uris":["cursor://anysphere.cursor-mcp/oauth/callback","https://www.cursor.com/agents/mcp/oauth/callback","http://localhost:8787/callback"],"token_endpoint_auth_method":"none","grant_types":["authorization_code","refresh_token"],"response_types":["code"]}`,
		"mcp-remote":     `{"client_name":"MCP CLI Proxy","client_uri":"https://github.com/modelcontextprotocol/mcp-cli","redirect_uris":["http://localhost:3334/oauth/callback"],"token_endpoint_auth_method":"none","grant_types":["authorization_code","refresh_token"],"response_types":["code"],"software_id":"x","software_version":"1"}`,
		"basic":          `{"redirect_uris":["https://app.example/cb"],"token_endpoint_auth_method":"client_secret_basic"}`,
		"defaults":       `{"redirect_uris":["https://app.example/cb"]}`,
		"nulls":          `{"redirect_uris":["https://app.example/cb"],"client_name":null,"grant_types":null,"scope":null}`,
		"VS Code scheme": `{"redirect_uris":["vscode://x.y/cb","vscode-insiders://x.y/cb","com.example.app:/cb"]}`,
	} {
		got := s.register(body)
		var asked map[string]any
		if err := json.Unmarshal([]byte(body), &asked); err != nil {
			t.Fatal(err)
		}
		method := map[any]string{"client_secret_post": "client_secret_post", "client_secret_basic": "client_secret_post"}[asked["token_endpoint_auth_method"]]
		if method == "" {
			method = "none"
		}
		secret, has := got.body["client_secret"]
		uris, _ := got.body["redirect_uris"].([]any)
		wanted, _ := asked["redirect_uris"].([]any)
		if got.status != 201 || got.field("client_id") == "" || got.field("token_endpoint_auth_method") != method || has != (method != "none") || secret == "" ||
			len(uris) != len(wanted) || got.header.Get("Cache-Control") != "no-store" || got.field("scope") == "" || strings.Contains(got.text, "null") {
			t.Errorf("%s: %d %s", name, got.status, got.text)
		}
		if _, expires := got.body["client_secret_expires_at"]; expires != has {
			t.Errorf("%s: client_secret_expires_at goes with a secret: %s", name, got.text)
		}
		for _, list := range []string{"grant_types", "response_types"} {
			if values, _ := got.body[list].([]any); len(values) == 0 {
				t.Errorf("%s: %s is %v", name, list, got.body[list])
			}
		}
	}
}

func TestRegister_InvalidRedirectURIsAreRefused(t *testing.T) {
	s := newSQLiteEnv(t)
	for _, uri := range []string{
		"javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "http://app.example/cb", "http://10.0.0.1/cb", "ftp://app.example/cb", "myapp://cb",
		"https://app.example/cb#x", "https://app.example/cb#", "https://user@app.example/cb", "https:///cb", "https://", "", "cb", "/cb", "https://app.example/a/../cb",
		"https://app.example\\@evil", "http://127.0.0.1.evil.example/cb", "http://localhost:x/cb", "JAVASCRIPT:alert(1)", " https://app.example/cb", "https://app.example/\u202e",
		"about:blank", "blob:https://app.example/x", "chrome://settings", "intent://x", "Com.Example:/cb", "https://app.example:/cb",
		"https://app.example/" + strings.Repeat("a", 2048), "vbscript:x", "mailto:a@b.example", "view-source:https://app.example",
	} {
		body, _ := json.Marshal(map[string]any{"redirect_uris": []string{uri}})
		s.wantError(s.register(string(body)), 400, "invalid_redirect_uri")
	}
	s.wantError(s.register(`{"redirect_uris":[]}`), 400, "invalid_redirect_uri")
	s.wantError(s.register(`{}`), 400, "invalid_redirect_uri")
}

func TestRegister_SizeLimits(t *testing.T) {
	s := newSQLiteEnv(t)
	good := `"redirect_uris":["https://app.example/cb"]`
	s.wantError(s.register(`{`+good+`,"x":"`+strings.Repeat("x", 17000)+`"}`), 413, "invalid_request")
	s.wantError(s.register(`{"redirect_uris":[`+strings.Repeat(`"https://app.example/cb",`, 10)+`"https://app.example/cb"]}`), 400, "invalid_redirect_uri")
	for _, body := range []string{
		`{` + good + `,"client_name":"` + strings.Repeat("x", 201) + `"}`, `{` + good + `,"client_name":"a\u0007b"}`, `{` + good + `,"client_name":"a\u202eb"}`,
		`{` + good + `,"token_endpoint_auth_method":"private_key_jwt"}`, `{` + good + `,"grant_types":["client_credentials"]}`,
		`{` + good + `,"response_types":["token"]}`, `{"redirect_uris":"https://app.example/cb"}`, `{"redirect_uris":[1]}`, `[]`, `null`, ``, `{`, `{` + good + `} x`,
	} {
		s.wantError(s.register(body), 400, "invalid_client_metadata")
	}
	if got := s.register(`{` + good + `,"client_name":"` + strings.Repeat("ü", 200) + `"}`); got.status != 201 {
		t.Errorf("200 characters: %d %s", got.status, got.text)
	}
}

func TestRegister_LimitedPerAddress(t *testing.T) {
	s := newSQLiteEnv(t)
	for i := range 60 {
		if got := s.register(`{"redirect_uris":["https://claude.ai/api/mcp/auth_callback"]}`); got.status != 201 {
			t.Fatalf("registration %d: %d %s", i+1, got.status, got.text)
		}
	}
	got := s.register(`{"redirect_uris":["https://claude.ai/api/mcp/auth_callback"]}`)
	s.wantError(got, 429, "temporarily_unavailable")
	if got.header.Get("Retry-After") == "" {
		t.Error("Retry-After is missing")
	}
}
