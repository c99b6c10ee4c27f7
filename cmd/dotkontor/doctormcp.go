package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
)

const (
	mcpLoginPath = "/api/mcp/login"
	// mcpRevision is one that every client in use speaks.
	mcpRevision  = "2025-11-25"
	acceptsBoth  = "application/json, text/event-stream"
	noSuchMethod = -32601
)

var mcpChecks = []check{
	{group: "mcp", name: "initialize", run: initialize},
	{group: "mcp", name: "the tools", run: allTools},
	{group: "mcp", name: "input and output schemas", run: toolSchemas},
	{group: "mcp", name: "securitySchemes", run: toolSecurity},
	{group: "mcp", name: "domain_check works", spends: 1, run: toolWorks},
	{group: "mcp", name: "signed-in tools without a token are 401", run: signedInTools},
	{group: "mcp", name: "a wrong token is 401", run: wrongToken},
	{group: "mcp", name: "a token in the address is 401", run: tokenInAddress},
	{group: "mcp", name: "login address is 401 from the start", run: loginAddress},
	{group: "mcp", name: "Accept: application/json is enough", run: acceptsJSON},
	{group: "mcp", name: "GET is a 405", run: mcpGet},
	{group: "mcp", name: "unknown method is -32601", run: unknownMethod},
	{group: "mcp", name: "errors are JSON-RPC, never plain text", run: neverPlain},
	{group: "mcp", name: "foreign Origin", run: foreignOrigin},
	{group: "mcp", name: "CORS, challenge included", run: mcpCORS},
}

// tool is what the contract says about one.
type tool struct {
	name      string
	arguments []string
	signedIn  bool
}

var contractTools = []tool{
	{"domain_check", []string{"domain"}, false},
	{"domain_search", []string{"query"}, false},
	{"whois_lookup", []string{"domain"}, false},
	{"list_tlds", []string{"category", "search", "limit", "offset"}, false},
	{"tld_price", []string{"tld"}, false},
	{"list_my_domains", []string{"search", "expiresBefore", "limit", "offset"}, true},
	{"start_order", []string{"items"}, true},
	{"get_order_status", []string{"orderId"}, true},
	{"list_orders", []string{"status", "limit", "offset"}, true},
	{"cancel_order", []string{"orderId"}, true},
}

func message(method string, params map[string]any) string {
	if params == nil {
		params = map[string]any{}
	}
	return show(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

func callOf(name string, arguments map[string]any) string {
	return message("tools/call", map[string]any{"name": name, "arguments": arguments})
}

var initializeMessage = message("initialize", map[string]any{
	"protocolVersion": mcpRevision,
	"capabilities":    map[string]any{},
	"clientInfo":      map[string]any{"name": "dotkontor-doctor", "version": version},
})

// postMessage sends one message as a usual client would; more replaces its headers.
func (v *visit) postMessage(path, body string, more map[string]string) answer {
	header := map[string]string{"Accept": acceptsBoth}
	if body != initializeMessage {
		header["MCP-Protocol-Version"] = mcpRevision
	}
	maps.Copy(header, more)
	return v.send(http.MethodPost, path, body, header)
}

// reply is the JSON-RPC answer, which may also come as an event stream.
func reply(a answer) map[string]any {
	text := a.body
	if a.err == nil && a.mediaType() == "text/event-stream" {
		for line := range bytes.Lines(a.body) {
			if data, found := bytes.CutPrefix(line, []byte("data:")); found {
				text = data
			}
		}
	}
	object := objectOf(text)
	if object["jsonrpc"] != "2.0" {
		return nil
	}
	return object
}

// resultOf is the result of a call that succeeded on the level of HTTP and
// JSON-RPC, else nil.
func resultOf(a answer) map[string]any {
	if a.err != nil || a.status != http.StatusOK {
		return nil
	}
	result, _ := reply(a)["result"].(map[string]any)
	return result
}

func initialize(v *visit) result {
	a := v.postMessage(mcpPath, initializeMessage, nil)
	got := resultOf(a)
	if got == nil {
		return fail("200 with a JSON-RPC result", a.String())
	}
	var j judge
	revision, _ := got["protocolVersion"].(string)
	j.must(revision == mcpRevision, "protocolVersion "+mcpRevision, show(got["protocolVersion"]))
	server, _ := got["serverInfo"].(map[string]any)
	name, _ := server["name"].(string)
	j.must(name != "", "serverInfo with a name", show(got["serverInfo"]))
	capabilities, _ := got["capabilities"].(map[string]any)
	j.must(capabilities["tools"] != nil, "the capability tools", show(got["capabilities"]))
	return j.verdict(name + ", revision " + revision)
}

// tools lists them once.
func (v *visit) tools() (map[string]map[string]any, answer) {
	if v.listed == nil {
		a := v.postMessage(mcpPath, message("tools/list", nil), nil)
		v.listed = &a
	}
	list, ok := resultOf(*v.listed)["tools"].([]any)
	if !ok {
		return nil, *v.listed
	}
	tools := make(map[string]map[string]any)
	for _, entry := range list {
		described, _ := entry.(map[string]any)
		name, _ := described["name"].(string)
		tools[name] = described
	}
	return tools, *v.listed
}

func allTools(v *visit) result {
	tools, a := v.tools()
	if tools == nil {
		return fail("200 with a list of tools", a.String())
	}
	var want []string
	for _, t := range contractTools {
		want = append(want, t.name)
	}
	slices.Sort(want)
	if got := slices.Sorted(maps.Keys(tools)); !slices.Equal(got, want) {
		return fail(strings.Join(want, " "), strings.Join(got, " "))
	}
	return fine("all of them, without a token")
}

// eachTool judges the tools that are listed; those that are not are another
// check's business.
func eachTool(v *visit, seen string, judged func(j *judge, t tool, described map[string]any)) result {
	tools, _ := v.tools()
	if tools == nil {
		return warn("", "not judged: the tools are not listed")
	}
	var j judge
	for _, t := range contractTools {
		if described, found := tools[t.name]; found {
			judged(&j, t, described)
		}
	}
	return j.verdict(seen)
}

func toolSchemas(v *visit) result {
	return eachTool(v, "each tool has both, with the contract's arguments", func(j *judge, t tool, described map[string]any) {
		for _, kind := range []string{"inputSchema", "outputSchema"} {
			schema, _ := described[kind].(map[string]any)
			j.must(schema["type"] == "object", t.name+" with an "+kind+" of type object", show(described[kind]))
		}
		text, _ := described["description"].(string)
		j.must(text != "", t.name+" with a description", "none")
		schema, _ := described["inputSchema"].(map[string]any)
		properties, _ := schema["properties"].(map[string]any)
		for _, argument := range t.arguments {
			j.must(properties[argument] != nil, t.name+" with the argument "+argument, show(slices.Sorted(maps.Keys(properties))))
		}
	})
}

func toolSecurity(v *visit) result {
	return eachTool(v, "five for everybody, the others with mcp:write", func(j *judge, t tool, described map[string]any) {
		meta, _ := described["_meta"].(map[string]any)
		schemes, _ := meta["securitySchemes"].([]any)
		var kinds []string
		scoped := false
		for _, s := range schemes {
			scheme, _ := s.(map[string]any)
			kind, _ := scheme["type"].(string)
			kinds = append(kinds, kind)
			scoped = scoped || has(scheme["scopes"], "mcp:write")
		}
		if t.signedIn {
			j.must(slices.Equal(kinds, []string{"oauth2"}) && scoped, t.name+" with oauth2 and mcp:write", show(meta["securitySchemes"]))
		} else {
			j.must(slices.Contains(kinds, "noauth"), t.name+" with noauth", show(meta["securitySchemes"]))
		}
	})
}

func toolWorks(v *visit) result {
	v.counted++
	a := v.postMessage(mcpPath, callOf("domain_check", map[string]any{"domain": "google.com"}), nil)
	got := resultOf(a)
	if got == nil {
		return fail("200 with a JSON-RPC result", a.String())
	}
	structured, _ := got["structuredContent"].(map[string]any)
	if got["isError"] == true {
		switch structured["code"] {
		case "rate_limited", "upstream_failed":
			return warn("an answer", show(structured))
		default:
			return fail("an answer", a.String())
		}
	}
	var j judge
	judgeCheckResult(&j, structured, "google.com", false)
	var text string
	content, _ := got["content"].([]any)
	if len(content) > 0 {
		first, _ := content[0].(map[string]any)
		text, _ = first["text"].(string)
	}
	j.must(structured != nil && reflect.DeepEqual(objectOf([]byte(text)), structured), "the same JSON as text", show(text))
	return j.verdict(fmt.Sprintf("google.com, available %v", structured["available"]))
}

func (v *visit) challenge() string {
	return `Bearer resource_metadata="` + v.base + resourcePath + `"`
}

// judgeChallenge wants the contract's header, nothing appended.
func (v *visit) judgeChallenge(j *judge, what string, a answer) {
	j.must(a.err == nil && a.status == http.StatusUnauthorized, what+" to be 401", a.String())
	if a.err == nil && a.status == http.StatusUnauthorized {
		got := a.header.Values("WWW-Authenticate")
		j.must(slices.Equal(got, []string{v.challenge()}), "WWW-Authenticate: "+v.challenge(), strings.Join(got, " | "))
		j.must(a.mediaType() == "application/json", "a JSON body", show(a.header.Get("Content-Type")))
	}
}

func signedInTools(v *visit) result {
	arguments := map[string]map[string]any{
		"list_my_domains":  {},
		"start_order":      {"items": []any{map[string]any{"domain": v.label + ".com", "type": "register"}}},
		"get_order_status": {"orderId": "doctor"},
		"list_orders":      {},
		"cancel_order":     {"orderId": "doctor"},
	}
	var j judge
	for _, t := range contractTools {
		if t.signedIn {
			v.judgeChallenge(&j, t.name, v.postMessage(mcpPath, callOf(t.name, arguments[t.name]), nil))
		}
	}
	return j.verdict(v.challenge())
}

func wrongToken(v *visit) result {
	var j judge
	v.judgeChallenge(&j, "a wrong token", v.postMessage(mcpPath, message("tools/list", nil), map[string]string{
		"Authorization": "Bearer doctor-is-nobody",
	}))
	return j.verdict("401, also for what everybody may ask")
}

func loginAddress(v *visit) result {
	var j judge
	v.judgeChallenge(&j, "initialize", v.postMessage(mcpLoginPath, initializeMessage, nil))
	return j.verdict("401 to initialize")
}

func acceptsJSON(v *visit) result {
	a := v.postMessage(mcpPath, message("tools/list", nil), map[string]string{"Accept": "application/json"})
	if resultOf(a) == nil || !a.isJSON() {
		return fail("200 application/json", a.String())
	}
	return fine("200 application/json")
}

func mcpGet(v *visit) result {
	a := v.send(http.MethodGet, mcpPath, "", map[string]string{"Accept": "text/event-stream"})
	if a.err != nil || a.status != http.StatusMethodNotAllowed || !listsHeader(a.header.Get("Allow"), http.MethodPost) {
		return fail("405 with Allow: POST", a.String())
	}
	if a.mediaType() == "text/plain" {
		return fail("a JSON body", a.String())
	}
	return fine("405")
}

// rpcError is the code of a JSON-RPC error, 0 if the answer is none.
func rpcError(a answer) int64 {
	if !a.isJSON() {
		return 0
	}
	problem, _ := reply(a)["error"].(map[string]any)
	number, _ := problem["code"].(json.Number)
	code, err := number.Int64()
	if err != nil {
		return 0
	}
	return code
}

func unknownMethod(v *visit) result {
	a := v.postMessage(mcpPath, message("doctor/nothing", nil), nil)
	if rpcError(a) != noSuchMethod {
		return fail(fmt.Sprintf("a JSON-RPC error %d", noSuchMethod), a.String())
	}
	return fine(fmt.Sprint(noSuchMethod))
}

func neverPlain(v *visit) result {
	var j judge
	for _, wrong := range []struct {
		what, body string
		header     map[string]string
	}{
		{"broken JSON", `{"jsonrpc":`, nil},
		{"an empty body", "", nil},
		{"a batch", "[" + message("tools/list", nil) + "]", nil},
		{"text/plain", message("tools/list", nil), map[string]string{"Content-Type": "text/plain"}},
	} {
		a := v.postMessage(mcpPath, wrong.body, wrong.header)
		j.must(rpcError(a) != 0, "a JSON-RPC error for "+wrong.what, a.String())
	}
	return j.verdict("four mistakes, four errors")
}

// foreignOrigin: a service on loopback must not serve web pages of strangers,
// who could have it called by a browser; a public one serves everybody.
func foreignOrigin(v *visit) result {
	a := v.postMessage(mcpPath, message("tools/list", nil), map[string]string{"Origin": "https://page.example"})
	address, err := url.Parse(v.base)
	if err == nil && isLoopback(address.Hostname()) {
		if a.err != nil || a.status != http.StatusForbidden || rpcError(a) == 0 {
			return fail("403 with a JSON-RPC error, on loopback", a.String())
		}
		return fine("403, on loopback")
	}
	if resultOf(a) == nil {
		return fail("200, as from everywhere", a.String())
	}
	return fine("200, as from everywhere")
}

func mcpCORS(v *visit) result {
	r := preflight(v, mcpPath, v.base, "Content-Type", "Authorization", "Mcp-Protocol-Version")
	if r.status != statusOK {
		return r
	}
	a := v.postMessage(mcpPath, callOf("list_my_domains", map[string]any{}), map[string]string{"Origin": v.base})
	if exposed := a.header.Get("Access-Control-Expose-Headers"); !listsHeader(exposed, "WWW-Authenticate") {
		return fail("WWW-Authenticate exposed to scripts", show(exposed))
	}
	return r
}
