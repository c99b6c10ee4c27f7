package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// newReference is the official SDK with our tools and without our authorization.
func newReference(t *testing.T, s *Server) http.Handler {
	t.Helper()
	server := sdk.NewServer(
		&sdk.Implementation{Name: "dotkontor", Title: "dotkontor domains", Version: s.cfg.Version, WebsiteURL: s.cfg.BaseURL},
		&sdk.ServerOptions{
			Instructions: instructions, SupportedProtocolVersions: versions,
			Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
			SetCacheable: func(_ context.Context, _ sdk.Request, hints *sdk.Cacheable) {
				hints.TTLMs, hints.CacheScope = int(listTTL.Milliseconds()), "public"
			},
		})
	listed, err := readListing(s.cfg.Limits)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range listed {
		d, err := entry.describe()
		if err != nil {
			t.Fatal(err)
		}
		a := d.Annotations
		server.AddTool(&sdk.Tool{
			Name: d.Name, Title: d.Title, Description: d.Description, InputSchema: d.InputSchema, OutputSchema: d.OutputSchema,
			Annotations: &sdk.ToolAnnotations{
				Title: a.Title, ReadOnlyHint: a.ReadOnly, DestructiveHint: &a.Destructive, IdempotentHint: a.Idempotent, OpenWorldHint: &a.OpenWorld,
			},
			Meta: sdk.Meta{"securitySchemes": d.Meta.SecuritySchemes},
		}, func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			x := &exchange{
				server: s, state: &requestState{caller: &registrar.Actor{Customer: "c1"}, mayWrite: true},
				r: httptest.NewRequest(http.MethodPost, base+Path, http.NoBody), message: message{arguments: r.Params.Arguments},
			}
			body, err := s.tools[d.Name].run(x)
			failed := err != nil
			if failed {
				body = s.failureFor(x.state, err)
			}
			text, err := json.Marshal(body)
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}, StructuredContent: json.RawMessage(text), IsError: failed}, err
		})
	}
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server },
		&sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: true, DisableLocalhostProtection: true, MaxRequestBodyBytes: maxBody})
}

// referenceMessages are sent in each revision. %META% is what revision 2026-07-28
// requires in each call.
var referenceMessages = map[string]string{
	"initialize":                   `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}%META%}}`,
	"initialize, unknown revision": `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"1999-01-01","capabilities":{},"clientInfo":{"name":"x","version":"1"}%META%}}`,
	"initialize without params":    `{"jsonrpc":"2.0","id":1,"method":"initialize"}`,
	"initialized":                  `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
	"canceled":                     `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
	"a notification with an id":    `{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}`,
	"ping":                         `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1%META%}}`,
	"ping without params":          `{"jsonrpc":"2.0","id":1,"method":"ping"}`,
	"ping without an id":           `{"jsonrpc":"2.0","method":"ping"}`,
	"discover":                     `{"jsonrpc":"2.0","id":"d","method":"server/discover","params":{"x":1%META%}}`,
	"list":                         `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":1%META%}}`,
	"list with an empty cursor":    `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":""%META%}}`,
	"call with null members":       `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"tld_price","arguments":{"tld":".de"},"requestState":null,"inputResponses":null%META%}}`,
	"null meta":                    `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"tld_price","arguments":{"tld":".de"},"_meta":null}}`,
	"list with a cursor":           `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"%META%}}`,
	"call":                         `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"domain_check","arguments":{"domain":"a.de"}%META%}}`,
	"call without arguments":       `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"domain_check"%META%}}`,
	"call with null arguments":     `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"domain_check","arguments":null%META%}}`,
	"call with wrong arguments":    `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"domain_check","arguments":{"domain":5}%META%}}`,
	"call with a list":             `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"domain_check","arguments":["a.de"]%META%}}`,
	"call that fails":              `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"domain_check","arguments":{"domain":"failing.de"}%META%}}`,
	"call of a search":             `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"domain_search","arguments":{"query":"a"}%META%}}`,
	"call of a price":              `{"jsonrpc":"2.0","id":"näme","method":"tools/call","params":{"arguments":{"tld":".de"},"name":"tld_price"%META%}}`,
	"call of an unknown tool":      `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"nonsense"%META%}}`,
	"call without a name":          `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"x":1%META%}}`,
	"call with a number as name":   `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":5%META%}}`,
	"call without params":          `{"jsonrpc":"2.0","id":7,"method":"tools/call"}`,
	"call with null params":        `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":null}`,
	"call with a list as params":   `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1]}`,
	"call without an id":           `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"tld_price"%META%}}`,
	"a wrong state":                `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"tld_price","requestState":1%META%}}`,
	"wrong meta":                   `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"tld_price","_meta":1}}`,
	"meta without capabilities":    `{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"%VERSION%"}}}`,
	"unknown method":               `{"jsonrpc":"2.0","id":7,"method":"nonsense","params":{"x":1%META%}}`,
	"prompts":                      `{"jsonrpc":"2.0","id":7,"method":"prompts/list","params":{"x":1%META%}}`,
	"unknown notification":         `{"jsonrpc":"2.0","method":"notifications/nonsense"}`,
	"a response":                   `{"jsonrpc":"2.0","id":1,"result":{}}`,
	"an error":                     `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`,
	"an id of null":                `{"jsonrpc":"2.0","id":null,"method":"tools/list"}`,
	"a large id":                   `{"jsonrpc":"2.0","id":9007199254740993,"method":"tools/list","params":{"x":1%META%}}`,
	"a fractional id":              `{"jsonrpc":"2.0","id":1.5,"method":"tools/list","params":{"x":1%META%}}`,
	"an id that is an object":      `{"jsonrpc":"2.0","id":{},"method":"tools/list"}`,
	"another JSON-RPC":             `{"jsonrpc":"1.0","id":1,"method":"tools/list"}`,
	"no JSON-RPC":                  `{"id":1,"method":"tools/list"}`,
	"a batch":                      `[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]`,
	"an empty batch":               `[]`,
	"a key twice":                  `{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/list","params":{"x":1%META%}}`,
	"a key in another case":        `{"jsonrpc":"2.0","id":1,"method":"tools/list","Method":"ping","params":{"x":1%META%}}`,
	"trailing data":                `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":1%META%}}}`,
	"broken":                       `{"jsonrpc":"2.0",`,
	"empty":                        ``,
	"deep":                         `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `%META%}}`,
}

// difference is what we answer to a message, by revision, where the SDK answers otherwise.
type difference struct {
	why  string
	ours map[string]string // as answer prints it
}

// in returns our answer for each of the revisions.
func in(answer string, revisions ...string) map[string]string {
	all := make(map[string]string)
	for _, revision := range revisions {
		all[revision] = answer
	}
	return all
}

// with adds the answer of another revision.
func with(all map[string]string, answer string, revisions ...string) map[string]string {
	maps.Copy(all, in(answer, revisions...))
	return all
}

var (
	sessions = []string{"", "2025-03-26", "2025-06-18", "2025-11-25"} // those of initialize
	present  = append(slices.Clone(sessions), "2026-07-28", "2027-01-01")
)

// referenceDifferences are the messages for which we answer otherwise than the SDK, with
// the reason. docs/gaps.md lists the same.
var referenceDifferences = map[string]difference{
	"a batch": {
		"batches are refused in every revision, also in the only one that had them",
		in("400 null -32600", "", "2025-03-26"),
	},
	"a key twice": {
		"a duplicate key is refused, because parsers disagree about which one counts",
		in("400 null -32600", present...),
	},
	"a key in another case": {
		"refused, because some parsers take it for the same key",
		in("400 null -32600", present...),
	},
	"trailing data": {
		"refused; the SDK reads the first JSON text and ignores the rest",
		in("400 null -32700", present...),
	},
	"deep": {"nested deeper than 32 levels", in("400 null -32600", present...)},
	"a large id": {
		"the id is returned as it was sent; the SDK rounds it",
		with(in("200 9007199254740993 result", present...), "400 9007199254740993 -32022", "2027-01-01"),
	},
	"a fractional id":      {"as a large id", with(in("200 1.5 result", present...), "400 1.5 -32022", "2027-01-01")},
	"unknown notification": {"accepted, as JSON-RPC demands for notifications; the SDK answers 400", in("202", present...)},
	"unknown method": {
		"a JSON-RPC error; before 2026-07-28 the SDK answers 400 in plain text",
		in("200 7 -32601", sessions...),
	},
	"prompts": {
		"not in the declared capabilities; the SDK returns an empty list",
		with(in("200 7 -32601", sessions...), "404 7 -32601", "2026-07-28", "2027-01-01"),
	},
	"call with null params": {"-32602 for invalid parameters; the SDK says -32600", in("200 7 -32602", sessions...)},
	"a wrong state": {
		"-32602 for invalid parameters; since 2026-07-28 the SDK takes it for a header mismatch",
		with(in("400 7 -32602", "2026-07-28"), "400 7 -32022", "2027-01-01"),
	},
}

// answer is a response in short: status, id, and the error's code or "result".
func answer(got *httptest.ResponseRecorder) string {
	if got.Body.Len() == 0 {
		return strconv.Itoa(got.Code)
	}
	var body struct {
		ID    json.RawMessage
		Error *struct{ Code int }
	}
	if err := json.Unmarshal(got.Body.Bytes(), &body); err != nil {
		return err.Error()
	}
	outcome := "result"
	if body.Error != nil {
		outcome = strconv.Itoa(body.Error.Code)
	}
	return fmt.Sprintf("%d %s %s", got.Code, body.ID, outcome)
}

func TestReference_SameAnswersAsSDK(t *testing.T) {
	s, _ := newServer(t, nil)
	reference := newReference(t, s)
	sent := 0
	for _, version := range []string{"", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "2024-11-05", "2027-01-01"} {
		for _, label := range slices.Sorted(maps.Keys(referenceMessages)) {
			body := referenceMessages[label]
			meta := ""
			if version >= stateless {
				meta = `,"_meta":{"io.modelcontextprotocol/protocolVersion":"` + version + `","io.modelcontextprotocol/clientCapabilities":{}}`
			}
			body = strings.NewReplacer("%META%", meta, "%VERSION%", version).Replace(body)
			header := []string{"Accept", "application/json, text/event-stream"}
			if version != "" {
				header = append(header, "Mcp-Protocol-Version", version)
			}
			var m struct {
				Method string
				Params struct{ Name string }
			}
			if json.Unmarshal([]byte(body), &m) == nil && version >= stateless {
				header = append(header, "Mcp-Method", m.Method, "Mcp-Name", m.Params.Name)
			}
			sent++
			ours, theirs := post(s.Serve, body, header...), post(reference.ServeHTTP, body, header...)
			same, why := sameAnswer(ours, theirs)
			want, differs := referenceDifferences[label].ours[version]
			switch {
			case same && differs:
				t.Errorf("%s in %q is answered alike: take it out of the differences", label, version)
			case !same && !differs:
				t.Errorf("%s in %q: %s\nours:   %d %.300s\ntheirs: %d %.300s", label, version, why, ours.Code, ours.Body, theirs.Code, theirs.Body)
			case differs && answer(ours) != want:
				t.Errorf("%s in %q: %s, want %s", label, version, answer(ours), want)
			}
		}
	}
	if sent < 200 {
		t.Errorf("%d requests were compared", sent)
	}
}

// sameAnswer compares status and body. The text of an error may differ, and plain text of
// the SDK counts as an error.
func sameAnswer(ours, theirs *httptest.ResponseRecorder) (same bool, why string) {
	if ours.Code != theirs.Code {
		return false, "status"
	}
	if strings.HasPrefix(theirs.Header().Get("Content-Type"), "text/plain") {
		return strings.Contains(ours.Body.String(), `"error"`), "plain text"
	}
	if ours.Body.Len() == 0 || theirs.Body.Len() == 0 {
		return ours.Body.Len() == theirs.Body.Len(), "body"
	}
	var a, b struct {
		ID     json.RawMessage
		Result any
		Error  *struct{ Code int }
	}
	if json.Unmarshal(ours.Body.Bytes(), &a) != nil || json.Unmarshal(theirs.Body.Bytes(), &b) != nil {
		return false, "not JSON"
	}
	sortTools(a.Result)
	sortTools(b.Result)
	return reflect.DeepEqual(a, b), "content"
}

// sortTools sorts a list of tools by name, as the SDK does; we list lookups first, since
// some clients try the first tool they see.
func sortTools(result any) {
	object, _ := result.(map[string]any)
	tools, _ := object["tools"].([]any)
	slices.SortFunc(tools, func(a, b any) int {
		return strings.Compare(a.(map[string]any)["name"].(string), b.(map[string]any)["name"].(string))
	})
}
