package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"
)

// What the scanner accepts, encoding/json reads in the same way.
func FuzzScanner(f *testing.F) {
	for _, seed := range []string{
		`{"domain":"google.com"}`, ` { "a" : [1, -0.5e+3, true, null] , "c":{"d":"\u00fc\n"} } `, `{"a":"b","a":"c"}`, `{"a":"b"}x`, `{"a":"b",}`,
		`{,"a":"b"}`, `{"a":"b" "c":"d"}`, `[1,]`, `[,1]`, `01`, `1.`, `.5`, `+1`, `1e`, `-`, `"\x"`, `"\u12"`, `"`, "\"\n\"", `tru`, `nul`, ``, ` `, `[[[]]]`, "\"\xff\"", "0\x00",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s := scanner{text: text}
		_, err := s.value()
		if err == nil && (s.peek() != 0 || s.at != len(text)) {
			err = errNotJSON
		}
		if valid := json.Valid(text); (err == nil) != valid && !errors.Is(err, errDuplicateKey) && !errors.Is(err, errTooDeep) && !errors.Is(err, errTooManyKeys) {
			t.Fatalf("%q: %v, but valid is %t", text, err, valid)
		}
		if err != nil || !utf8.Valid(text) || !isObject(bytes.TrimLeft(text, " \t\r\n")) {
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		got, err := readArguments(bytes.TrimSpace(text))
		if err != nil || len(got) != len(want) {
			t.Fatalf("%q: %v, want %v (%v)", text, got, want, err)
		}
		for key, value := range want {
			if !bytes.Equal(got[key], value) {
				t.Errorf("%q: %q is %q, want %q", text, key, got[key], value)
			}
		}
	})
}

func TestMessage_IDsAreReturnedVerbatim(t *testing.T) {
	s, _ := newServer(t, nil)
	for _, id := range []string{`1`, `-0`, `9007199254740993`, `1.50`, `1E2`, `"x"`, `"\u0041<"`, `"` + strings.Repeat("i", 5000) + `"`} {
		for _, method := range []string{"ping", "nonsense"} {
			got := post(s.Serve, `{"jsonrpc":"2.0","id": `+id+` ,"method":"`+method+`"}`)
			if !strings.HasPrefix(got.Body.String(), `{"jsonrpc":"2.0","id":`+id+`,`) {
				t.Errorf("%s: got %s", id, got.Body)
			}
		}
	}
	for _, id := range []string{"null", "true", "{}", "[]"} {
		got := post(s.Serve, `{"jsonrpc":"2.0","id":`+id+`,"method":"ping"}`)
		if r := read(t, got); got.Code != http.StatusBadRequest || r.Error == nil || r.Error.Code != codeInvalidRequest {
			t.Errorf("%s: got %d %s", id, got.Code, got.Body)
		}
	}
}

func TestMessage_ComplexityIsBounded(t *testing.T) {
	s, _ := newServer(t, nil)
	keys := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(`,"k` + strings.Repeat("x", i) + `":0`)
		}
		return b.String()
	}
	for text, want := range map[string]int{
		`{"jsonrpc":"2.0","id":1,"method":"ping"` + keys(100) + `}`:                                                              http.StatusOK,
		`{"jsonrpc":"2.0","id":1,"method":"ping"` + keys(200) + `}`:                                                              http.StatusBadRequest,
		`{"jsonrpc":"2.0","id":1,"method":"ping","x":` + strings.Repeat("[", 30) + strings.Repeat("]", 30) + `}`:                 http.StatusOK,
		`{"jsonrpc":"2.0","id":1,"method":"ping","x":` + strings.Repeat("[", 32) + strings.Repeat("]", 32) + `}`:                 http.StatusBadRequest,
		`{"jsonrpc":"2.0","id":1,"method":"ping","x":` + strings.Repeat("[", maxBody/2):                                          http.StatusBadRequest,
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":{"a":1,"a":2}}}`:                                                  http.StatusBadRequest,
		`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":[{"a":1},{"a":2}]}}`:                                              http.StatusOK,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"x\":\"\xff\"}":                                                      http.StatusBadRequest,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tld_price","arguments":{"tld":".de","tld":".com"}}}`:    http.StatusBadRequest,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tld_price","arguments":{"tld":".de","t\u006cd":".x"}}}`: http.StatusBadRequest,
	} {
		if got := post(s.Serve, text); got.Code != want {
			t.Errorf("%.80s: got %d %s, want %d", text, got.Code, got.Body, want)
		}
	}
}

func TestProgress_ReportsEachExtension(t *testing.T) {
	s, _ := newServer(t, nil)
	message := func(tool, token string) string {
		return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + tool + `","arguments":{"query":"a"},"_meta":{"progressToken":` + token + `}}}`
	}
	for _, token := range []string{`"t"`, `12345678901234567890`} {
		got := post(s.Serve, message("domain_search", token), "Accept", "application/json, text/event-stream")
		events := strings.Split(strings.TrimSuffix(got.Body.String(), "\n\n"), "\n\n")
		if got.Code != http.StatusOK || got.Header().Get("Content-Type") != "text/event-stream" || len(events) != 3 || !got.Flushed {
			t.Fatalf("got %d %q", got.Code, got.Body)
		}
		want := `event: message` + "\n" + `data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,"progress":1,"total":2,"message":"a.de: not available"}}`
		if events[0] != want {
			t.Errorf("got %q, want %q", events[0], want)
		}
		if !strings.Contains(events[1], `"message":"a.com: unknown"`) || !strings.Contains(events[2], `data: {"jsonrpc":"2.0","id":7,"result":{"content"`) {
			t.Errorf("got %q", events[1:])
		}
	}
	for rule, got := range map[string]struct {
		body   string
		header []string
		status int
	}{
		"not accepted":      {message("domain_search", "1"), []string{"Accept", "application/json"}, 200},
		"not named":         {message("domain_search", "1"), []string{"Accept", "*/*"}, 200},
		"an invalid token":  {message("domain_search", "{}"), []string{"Accept", "text/event-stream"}, 200},
		"nothing to report": {message("list_tlds", "1"), []string{"Accept", "text/event-stream"}, 200},
		"not signed in":     {message("list_my_domains", "1"), []string{"Accept", "text/event-stream"}, 401},
		"without scope":     {message("list_my_domains", "1"), []string{"Accept", "text/event-stream", "Authorization", "Bearer reader"}, 403},
		"an invalid query":  {strings.Replace(message("domain_search", "1"), `"a"`, `"bad name"`, 1), []string{"Accept", "text/event-stream"}, 200},
	} {
		if answer := post(s.Serve, got.body, got.header...); answer.Code != got.status || answer.Header().Get("Content-Type") != "application/json" {
			t.Errorf("%s: got %d %s", rule, answer.Code, answer.Body)
		}
	}
}
