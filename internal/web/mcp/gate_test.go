package mcp

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"
)

func want401(t *testing.T, label string, got *httptest.ResponseRecorder) {
	t.Helper()
	if values := got.Header()["Www-Authenticate"]; got.Code != http.StatusUnauthorized || len(values) != 1 || values[0] != challenge {
		t.Errorf("%s: got %d with %q: %s", label, got.Code, values, got.Body)
		return
	}
	if r := read(t, got); r.Error == nil || r.Error.Code != codeNoAccess {
		t.Errorf("%s: the body is %s", label, got.Body)
	}
}

func TestSignedInTools_WithoutValidTokenIs401(t *testing.T) {
	s, w := newServer(t, nil)
	for _, tool := range []string{"list_my_domains", "start_order", "get_order_status"} {
		message := call(tool, `{"items":[{"domain":"a.de","type":"register"}],"orderId":"o1"}`)
		want401(t, tool, post(s.Serve, message))
		for _, header := range []string{"Bearer wrong", "bearer wrong", "Bearer", "Bearer ", "Basic Z29vZDpnb29k", "good"} {
			want401(t, tool+" "+header, post(s.Serve, message, "Authorization", header))
		}
		want401(t, "two headers", post(s.Serve, message, "Authorization", "Bearer good", "Authorization", "Bearer good"))
	}
	if n := w.calls.Load(); n != 0 {
		t.Errorf("%d calls were executed", n)
	}
}

func TestBearer_InvalidTokenIs401ForEveryMethod(t *testing.T) {
	s, _ := newServer(t, nil)
	for _, message := range []string{
		call("domain_check", `{"domain":"a.de"}`), `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "nonsense",
	} {
		want401(t, message, post(s.Serve, message, "Authorization", "Bearer expired"))
		for _, odd := range []string{"Bearer\tgood", "Bearer=good", "Basic Zm9v, Bearer good"} {
			want401(t, message+" "+odd, post(s.Serve, message, "Authorization", odd))
		}
	}
	got := post(s.Serve, call("domain_check", `{"domain":"a.de"}`), "Authorization", "Basic Zm9v")
	if got.Code != http.StatusOK {
		t.Errorf("another scheme was treated as a token: %d", got.Code)
	}
}

func TestCallTool_InvalidParamsAreNotEchoed(t *testing.T) {
	s, w := newServer(t, nil)
	for _, params := range []string{
		`{"name":"list_my_domains","requestState":1,"arguments":{"domain":"geheimwort.de"}}`,
		`{"name":"domain_check","_meta":1.5,"arguments":{"domain":"geheimwort.de"}}`,
	} {
		got := post(s.Serve, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":`+params+`}`)
		r := read(t, got)
		if r.Error == nil || r.Error.Code != -32602 || !strings.Contains(got.Body.String(), `"id":7`) ||
			strings.Contains(got.Body.String(), "geheimwort") || strings.Contains(got.Body.String(), "Params") {
			t.Errorf("%s: got %d %s", params, got.Code, got.Body)
		}
	}
	if n := w.calls.Load(); n != 0 {
		t.Errorf("%d calls were executed", n)
	}
}

func TestSignedInTools_MissingScopeIs403(t *testing.T) {
	s, w := newServer(t, nil)
	got := post(s.Serve, call("list_my_domains", "{}"), "Authorization", "Bearer reader")
	want := `Bearer error="insufficient_scope", scope="mcp:write", resource_metadata="https://domains.example/.well-known/oauth-protected-resource/api/mcp"`
	if got.Code != http.StatusForbidden || got.Header().Get("WWW-Authenticate") != want || w.calls.Load() != 0 {
		t.Errorf("got %d with %q", got.Code, got.Header().Get("WWW-Authenticate"))
	}
	if got := post(s.Serve, call("domain_check", `{"domain":"a.de"}`), "Authorization", "Bearer reader"); got.Code != http.StatusOK {
		t.Errorf("got %d %s", got.Code, got.Body)
	}
}

func TestLoginPath_NeedsTokenForEveryMessage(t *testing.T) {
	s, _ := newServer(t, nil)
	for _, message := range []string{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, call("domain_check", `{"domain":"a.de"}`), "", "[]"} {
		want401(t, message, post(s.ServeLogin, message))
	}
	for _, token := range []string{"good", "reader"} {
		if got := post(s.ServeLogin, call("domain_check", `{"domain":"a.de"}`), "Authorization", "Bearer "+token); got.Code != http.StatusOK {
			t.Errorf("got %d %s", got.Code, got.Body)
		}
	}
}

// A trick is a message that two parsers could read differently. It must get a 401 or an
// error without a call; a message that the SDK reads as an anonymous tool gets no 401.
func TestGate_AmbiguousMessagesDoNotBypass(t *testing.T) {
	s, w := newServer(t, nil)
	const mine, anyones = "list_my_domains", "tld_price"
	long := strings.Repeat(" ", maxBody)
	for _, test := range []struct {
		rule, body string
		header     []string
		status     int
	}{
		{"plain", call(mine, "{}"), nil, 401},
		{"case twin of method", `{"jsonrpc":"2.0","id":1,"Method":"ping","method":"tools/call","params":{"name":"list_my_domains"}}`, nil, 400},
		{"case twin of method alone", `{"jsonrpc":"2.0","id":1,"Method":"tools/call","params":{"name":"list_my_domains"}}`, nil, 400},
		{"case twin of name first", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"Name":"tld_price","name":"list_my_domains"}}`, nil, 400},
		{"case twin of name last", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_my_domains","Name":"tld_price"}}`, nil, 400},
		{"case twin of name, harmless", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tld_price","NAME":"list_my_domains"}}`, nil, 400},
		{"case twin of params", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_my_domains"},"Params":{"name":"tld_price"}}`, nil, 400},
		{"name in another case", call("List_My_Domains", "{}"), nil, 200},
		{"name with a space", call(" list_my_domains", "{}"), nil, 200},
		{"name with a zero", call(`list_my_domains\u0000`, "{}"), nil, 200},
		{"escapes in the name", call(`\u006cist_my_domains`, "{}"), nil, 401},
		{"escapes in the method", `{"jsonrpc":"2.0","id":1,"method":"tools\/call","params":{"name":"list\u005fmy_domains"}}`, nil, 401},
		{"escapes in the keys", `{"jsonrpc":"2.0","id":1,"m\u0065thod":"tools/call","params":{"n\u0061me":"list_my_domains"}}`, nil, 401},
		{"name twice, mine last", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tld_price","name":"list_my_domains"}}`, nil, 400},
		{"name twice, mine first", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_my_domains","name":"tld_price"}}`, nil, 400},
		{"method twice", `{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call","params":{"name":"list_my_domains"}}`, nil, 400},
		{"params twice", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tld_price"},"params":{"name":"list_my_domains"}}`, nil, 400},
		{"byte order mark", "\ufeff" + call(mine, "{}"), nil, 400},
		{"trailing message", `{"jsonrpc":"2.0","id":1,"method":"ping"}` + call(mine, "{}"), nil, 400},
		{"trailing brace", call(mine, "{}") + "}", nil, 400},
		{"white space around", "\r\n\t " + call(mine, "{}") + "\n", nil, 401},
		{"batch of one", "[" + call(mine, "{}") + "]", nil, 400},
		{"batch of one in the revision with batches", "[" + call(mine, "{}") + "]", []string{"Mcp-Protocol-Version", "2025-03-26"}, 400},
		{"batch of one in a later revision", "[" + call(mine, "{}") + "]", []string{"Mcp-Protocol-Version", "2025-11-25"}, 400},
		{"batch of one in the newest revision", "[" + call(mine, "{}") + "]", []string{"Mcp-Protocol-Version", "2026-07-28"}, 400},
		{"batch of two", "[" + `{"jsonrpc":"2.0","id":1,"method":"ping"},` + call(mine, "{}") + "]", nil, 400},
		{"batch of lookups", "[" + call(anyones, `{"tld":".de"}`) + "]", nil, 400},
		{"empty batch", "[]", nil, 400},
		{"batch in a batch", "[[" + call(mine, "{}") + "]]", nil, 400},
		{"a call without an id", `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"list_my_domains"}}`, nil, 400},
		{"an id of null", `{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"list_my_domains"}}`, nil, 400},
		{"no params", `{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, nil, 400},
		{"params of null", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":null}`, nil, 200},
		{"params that are a list", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":["list_my_domains"]}`, nil, 200},
		{"a wrong Mcp-Name", call(mine, "{}"), []string{"Mcp-Name", anyones, "Mcp-Method", "tools/call"}, 401},
		{"a wrong Mcp-Method", call(mine, "{}"), []string{"Mcp-Method", "ping"}, 401},
		{"Mcp-Name of a signed-in tool", call(anyones, `{"tld":".de"}`), []string{"Mcp-Name", mine, "Mcp-Method", "tools/call"}, 200},
		{"an unknown old revision", call(mine, "{}"), []string{"Mcp-Protocol-Version", "2024-11-05"}, 400},
		{"text", call(mine, "{}"), []string{"Content-Type", "", "Content-Type", "text/plain"}, 415},
		{"a form", call(mine, "{}"), []string{"Content-Type", "", "Content-Type", "application/x-www-form-urlencoded"}, 415},
		{"no content type", call(mine, "{}"), []string{"Content-Type", ""}, 401},
		{"JSON in a charset", call(mine, "{}"), []string{"Content-Type", "", "Content-Type", "application/json; charset=utf-8"}, 401},
		{"accepts JSON alone", call(mine, "{}"), []string{"Accept", "application/json"}, 401},
		{"accepts streams alone", call(mine, "{}"), []string{"Accept", "text/event-stream"}, 401},
		{"an event to resume from", call(mine, "{}"), []string{"Last-Event-ID", "1"}, 401},
		{"a session", call(mine, "{}"), []string{"Mcp-Session-Id", "x"}, 401},
		{"an empty body", "", nil, 400},
		{"null", "null", nil, 400},
		{"a string", `"tools/call"`, nil, 400},
		{"a response", `{"jsonrpc":"2.0","id":1,"result":{}}`, nil, 202},
		{"a huge body", long + call(mine, "{}"), nil, 413},
	} {
		t.Run(test.rule, func(t *testing.T) {
			for _, body := range []io.Reader{strings.NewReader(test.body), iotest.OneByteReader(strings.NewReader(test.body))} {
				got := postReader(s.Serve, body, test.header...)
				switch {
				case test.status == http.StatusUnauthorized:
					want401(t, test.rule, got)
				case got.Code != test.status:
					t.Errorf("got %d %s, want %d", got.Code, got.Body, test.status)
				case got.Code != http.StatusAccepted:
					if r := read(t, got); got.Code != http.StatusOK && r.Error == nil {
						t.Errorf("got %s", got.Body)
					}
				}
			}
		})
	}
	if n := w.calls.Load(); n != 0 {
		t.Errorf("%d calls were executed", n)
	}
}

// A call that bypasses the dispatcher is still stopped by the tool.
func TestSignedInTools_CheckCallerThemselves(t *testing.T) {
	s, w := newServer(t, nil)
	x := &exchange{server: s, state: &requestState{}, r: httptest.NewRequest(http.MethodPost, base+Path, http.NoBody)}
	if body, err := s.tools["list_my_domains"].run(x); err == nil || w.calls.Load() != 0 {
		t.Errorf("got %v", body)
	}
}

func TestUnknownMethod_ErrorHasRequestID(t *testing.T) {
	s, _ := newServer(t, nil)
	for _, method := range []string{
		"nonsense", "prompts/list", "prompts/get", "resources/list", "resources/read", "resources/templates/list",
		"completion/complete", "logging/setLevel", "resources/subscribe", "server/discover", "tasks/list", "subscriptions/listen",
	} {
		got := post(s.Serve, `{"jsonrpc":"2.0","id":"seven","method":"`+method+`","params":{"level":"info"}}`)
		if r := read(t, got); got.Code != http.StatusOK || r.Error == nil || r.Error.Code != -32601 || string(r.ID) != `"seven"` {
			t.Errorf("%s: got %d %s", method, got.Code, got.Body)
		}
	}
	for _, message := range []string{`{"jsonrpc":"2.0","method":"notifications/whatever"}`, `{"jsonrpc":"2.0","method":"notifications/initialized"}`} {
		if got := post(s.Serve, message); got.Code != http.StatusAccepted || got.Body.Len() != 0 || got.Header().Get("Content-Type") != "" {
			t.Errorf("%s: got %d %s", message, got.Code, got.Body)
		}
	}
	if got := post(s.Serve, call("no_such_tool", "{}")); read(t, got).Error == nil {
		t.Errorf("got %s", got.Body)
	}
}

func TestHostPolicy_HostAndOrigin(t *testing.T) {
	for _, test := range []struct {
		rule, base, host, origin string
		want                     bool
	}{
		{"its own host", base, "domains.example", "", true},
		{"its own host with a port", base, "Domains.Example.:443", "", true},
		{"another host", base, "evil.example", "", false},
		{"an address", base, "127.0.0.1", "", false},
		{"no name", base, "", "", false},
		{"any origin", base, "domains.example", "https://evil.example", true},
		{"loopback", "http://127.0.0.1:8080", "127.0.0.1:8080", "", true},
		{"loopback by another name", "http://127.0.0.1:8080", "localhost:8080", "http://localhost:3000", true},
		{"loopback in IPv6", "http://localhost:8080", "[::1]:8080", "http://[::1]:3000", true},
		{"the unspecified address", "http://0.0.0.0:8080", "127.0.0.1:8080", "", true},
		{"a page elsewhere and the unspecified address", "http://0.0.0.0:8080", "0.0.0.0:8080", "https://evil.example", false},
		{"rebinding", "http://127.0.0.1:8080", "evil.example:8080", "", false},
		{"a similar host", "http://127.0.0.1:8080", "localhost.evil.example", "", false},
		{"a page elsewhere", "http://127.0.0.1:8080", "127.0.0.1:8080", "https://evil.example", false},
		{"a page without an origin", "http://127.0.0.1:8080", "127.0.0.1:8080", "null", false},
		{"a page of an extension", "http://127.0.0.1:8080", "127.0.0.1:8080", "chrome-extension://abc", false},
		{"an allowed page", "http://127.0.0.1:8080", "127.0.0.1:8080", "https://app.example", true},
		{"an allowed host", "http://127.0.0.1:8080", "app.example", "https://app.example", true},
		{"an allowed page on another port", "http://127.0.0.1:8080", "127.0.0.1:8080", "https://app.example:8443", false},
	} {
		t.Run(test.rule, func(t *testing.T) {
			s, _ := newServer(t, func(cfg *Config) { cfg.BaseURL, cfg.AllowedOrigins = test.base, []string{"https://app.example"} })
			r := httptest.NewRequest(http.MethodPost, test.base+Path, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
			r.Host = test.host
			if test.origin != "" {
				r.Header.Set("Origin", test.origin)
			}
			got := httptest.NewRecorder()
			s.Serve(got, r)
			if read(t, got); (got.Code == http.StatusOK) != test.want || !test.want && got.Code != http.StatusForbidden {
				t.Errorf("got %d %s", got.Code, got.Body)
			}
		})
	}
	for _, wrong := range []func(*Config){
		func(cfg *Config) { cfg.BaseURL = "" }, func(cfg *Config) { cfg.Tokens = nil },
		func(cfg *Config) { cfg.AllowedOrigins = []string{"app"} },
	} {
		cfg := Config{
			BaseURL: base, Lookups: &fakeServices{}, Catalog: &fakeServices{}, Budget: &fakeBudget{}, WhoisBudget: &fakeBudget{}, Tokens: &fakeServices{}, TokenBudget: &fakeBudget{},
			Address: func(*http.Request) netip.Addr { return netip.Addr{} },
		}
		wrong(&cfg)
		if _, err := New(cfg); err == nil {
			t.Error("a wrong configuration was accepted")
		}
	}
}

func TestGate_ConcurrentRequestsGetOwnStatus(t *testing.T) {
	s, w := newServer(t, nil)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = "domains.example"
		s.Serve(w, r)
	}))
	defer server.Close()
	kinds := []struct {
		body, token string
		status      int
	}{
		{call("list_my_domains", "{}"), "", 401},
		{call("tld_price", `{"tld":".de"}`), "", 200},
		{call("get_order_status", `{"orderId":"o1"}`), "good", 200},
		{call("start_order", "{}"), "reader", 403},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "", 200},
		{call("domain_check", `{"domain":"panic.de"}`), "", 200},
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "stale", 401},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "", 202},
	}
	var all sync.WaitGroup
	problems := make(chan string, 1000)
	for worker := range 16 {
		all.Go(func() {
			for i := range 40 {
				kind := kinds[(worker+i)%len(kinds)]
				if err := postOnce(t.Context(), server, kind.body, kind.token, kind.status); err != nil {
					problems <- err.Error()
				}
			}
		})
	}
	all.Wait()
	close(problems)
	for problem := range problems {
		t.Error(problem)
	}
	if n := w.calls.Load(); n != 16*40/int64(len(kinds)) {
		t.Errorf("%d signed-in calls were made", n)
	}
}

// A tool call outlives a disconnected client. It must end without touching the request.
func TestCallTool_ClientDisconnectLeaksNoGoroutines(t *testing.T) {
	s, w := newServer(t, nil)
	before := runtime.NumGoroutine()
	const clients = 20
	var all sync.WaitGroup
	for range clients {
		ctx, leave := context.WithCancel(t.Context())
		all.Go(func() {
			r := httptest.NewRequestWithContext(ctx, http.MethodPost, base+Path, strings.NewReader(call("domain_check", `{"domain":"slow.de"}`)))
			s.Serve(httptest.NewRecorder(), r)
		})
		<-w.started
		leave()
	}
	close(w.slow)
	all.Wait()
	for end := time.Now().Add(20 * time.Second); runtime.NumGoroutine() > before+2; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
	}
}

func postOnce(ctx context.Context, server *httptest.Server, body, token string, status int) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+Path, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	got, err := server.Client().Do(r)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(got.Body)
	if err != nil {
		return err
	}
	if got.StatusCode != status {
		return fmt.Errorf("%s with %q: got %d %s", body, token, got.StatusCode, text)
	}
	return got.Body.Close()
}
