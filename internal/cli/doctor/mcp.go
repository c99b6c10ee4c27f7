package doctor

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
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	mcpLoginPath = "/api/mcp/login"
	// mcpProtocolVersion is supported by all current clients.
	mcpProtocolVersion = "2025-11-25"
	acceptJSONAndSSE   = "application/json, text/event-stream"
	methodNotFound     = -32601
)

var mcpChecks = []check{
	{group: "mcp", name: "initialize", run: initialize},
	{group: "mcp", name: "the tools", run: toolNames},
	{group: "mcp", name: "input and output schemas", run: toolSchemas},
	{group: "mcp", name: "securitySchemes", run: toolSecurity},
	{group: "mcp", name: "domain_check works", cost: 1, run: toolCallSucceeds},
	{group: "mcp", name: "signed-in tools without a token are 401", run: protectedTools},
	{group: "mcp", name: "a wrong token is 401", run: challenged("a wrong token", mcpPath, listTools,
		map[string]string{"Authorization": "Bearer invalid-token-of-doctor"}, "401, also for public methods")},
	// An invalid token, because a real one must not appear in logs.
	{group: "mcp", name: "a token in the address is 401", run: challenged("a token in the address",
		mcpPath+"?access_token=invalid-token-of-doctor", listTools, nil, "401, also for public methods")},
	{group: "mcp", name: "login address is 401 from the start", run: challenged("initialize", mcpLoginPath, initializeMessage, nil, "401 to initialize")},
	{group: "mcp", name: "Accept: application/json is enough", run: acceptsJSON},
	{group: "mcp", name: "GET is a 405", run: mcpGet},
	{group: "mcp", name: "unknown method is -32601", run: unknownMethod},
	{group: "mcp", name: "errors are JSON-RPC, never plain text", run: errorsAreJSONRPC},
	{group: "mcp", name: "foreign Origin", run: foreignOrigin},
	{group: "mcp", name: "CORS, challenge included", run: mcpCORS},
}

type tool struct {
	name      string
	arguments []string
	protected bool
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
	{"set_auto_renew", []string{"domain", "enabled"}, true},
	{"list_holders", nil, true},
}

func rpcMessage(method string, params map[string]any) string {
	if params == nil {
		params = map[string]any{}
	}
	return toJSON(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

func toolCall(name string, arguments map[string]any) string {
	return rpcMessage("tools/call", map[string]any{"name": name, "arguments": arguments})
}

var (
	initializeMessage = rpcMessage("initialize", map[string]any{
		"protocolVersion": mcpProtocolVersion,
		"capabilities":    map[string]any{},
		"clientInfo":      map[string]any{"name": "dotkontor-doctor", "version": app.Version},
	})
	listTools = rpcMessage("tools/list", nil)
)

// postMessage sends one message with the usual headers; more overrides them.
func (v *prober) postMessage(path, body string, more map[string]string) answer {
	header := map[string]string{"Accept": acceptJSONAndSSE}
	if body != initializeMessage {
		header["MCP-Protocol-Version"] = mcpProtocolVersion
	}
	maps.Copy(header, more)
	return v.send(http.MethodPost, path, body, header)
}

// rpcReply returns the JSON-RPC response, which may also be an event stream.
func rpcReply(a answer) map[string]any {
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

// rpcResult returns the result of a call that succeeded in HTTP and JSON-RPC, else nil.
func rpcResult(a answer) map[string]any {
	if a.err != nil || a.status != http.StatusOK {
		return nil
	}
	result, _ := rpcReply(a)["result"].(map[string]any)
	return result
}

func initialize(v *prober) result {
	a := v.postMessage(mcpPath, initializeMessage, nil)
	got := rpcResult(a)
	if got == nil {
		return fail("200 with a JSON-RPC result", a.String())
	}
	var j assertions
	revision, _ := got["protocolVersion"].(string)
	j.must(revision == mcpProtocolVersion, "protocolVersion "+mcpProtocolVersion, toJSON(got["protocolVersion"]))
	server, _ := got["serverInfo"].(map[string]any)
	name, _ := server["name"].(string)
	j.must(name != "", "serverInfo with a name", toJSON(got["serverInfo"]))
	capabilities, _ := got["capabilities"].(map[string]any)
	j.must(capabilities["tools"] != nil, "the capability tools", toJSON(got["capabilities"]))
	return j.verdict(name + ", revision " + revision)
}

// tools returns the tools by name. They are listed only once.
func (v *prober) tools() (map[string]map[string]any, answer) {
	if v.toolList == nil {
		a := v.postMessage(mcpPath, listTools, nil)
		v.toolList = &a
	}
	list := rpcResult(*v.toolList)["tools"]
	if _, ok := list.([]any); !ok {
		return nil, *v.toolList
	}
	tools := make(map[string]map[string]any)
	for _, described := range objects(list) {
		name, _ := described["name"].(string)
		tools[name] = described
	}
	return tools, *v.toolList
}

func toolNames(v *prober) result {
	tools, a := v.tools()
	if tools == nil {
		return fail("200 with a list of tools", a.String())
	}
	var want []string
	for _, t := range contractTools {
		want = append(want, t.name)
	}
	slices.Sort(want)
	got := slices.Sorted(maps.Keys(tools))
	return expect(slices.Equal(got, want), strings.Join(want, " "), strings.Join(got, " "), "all of them, without a token")
}

// eachTool checks each listed tool. Missing tools are reported by another check.
func eachTool(v *prober, seen string, judged func(j *assertions, t tool, described map[string]any)) result {
	tools, _ := v.tools()
	if tools == nil {
		return warn("", "not checked: the tools are not listed")
	}
	var j assertions
	for _, t := range contractTools {
		if described, found := tools[t.name]; found {
			judged(&j, t, described)
		}
	}
	return j.verdict(seen)
}

func toolSchemas(v *prober) result {
	return eachTool(v, "each tool has both, with the contract's arguments", func(j *assertions, t tool, described map[string]any) {
		for _, kind := range []string{"inputSchema", "outputSchema"} {
			schema, _ := described[kind].(map[string]any)
			j.must(schema["type"] == "object", t.name+" with an "+kind+" of type object", toJSON(described[kind]))
		}
		text, _ := described["description"].(string)
		j.must(text != "", t.name+" with a description", "none")
		schema, _ := described["inputSchema"].(map[string]any)
		properties, _ := schema["properties"].(map[string]any)
		for _, argument := range t.arguments {
			j.must(properties[argument] != nil, t.name+" with the argument "+argument, toJSON(slices.Sorted(maps.Keys(properties))))
		}
	})
}

func toolSecurity(v *prober) result {
	return eachTool(v, "five without a token, the others with mcp:write", func(j *assertions, t tool, described map[string]any) {
		meta, _ := described["_meta"].(map[string]any)
		var kinds []string
		scoped := false
		for _, scheme := range objects(meta["securitySchemes"]) {
			kind, _ := scheme["type"].(string)
			kinds = append(kinds, kind)
			scoped = scoped || containsAll(scheme["scopes"], "mcp:write")
		}
		if t.protected {
			j.must(slices.Equal(kinds, []string{"oauth2"}) && scoped, t.name+" with oauth2 and mcp:write", toJSON(meta["securitySchemes"]))
		} else {
			j.must(slices.Contains(kinds, "noauth"), t.name+" with noauth", toJSON(meta["securitySchemes"]))
		}
	})
}

func toolCallSucceeds(v *prober) result {
	v.limited++
	a := v.postMessage(mcpPath, toolCall("domain_check", map[string]any{"domain": "google.com"}), nil)
	got := rpcResult(a)
	if got == nil {
		return fail("200 with a JSON-RPC result", a.String())
	}
	structured, _ := got["structuredContent"].(map[string]any)
	if got["isError"] == true {
		switch structured["code"] {
		case "rate_limited", "upstream_failed":
			return warn("a result", toJSON(structured))
		default:
			return fail("a response", a.String())
		}
	}
	var j assertions
	assertCheckResult(&j, structured, "google.com", false)
	content := append(objects(got["content"]), nil)
	text, _ := content[0]["text"].(string)
	j.must(structured != nil && reflect.DeepEqual(objectOf([]byte(text)), structured), "the same JSON as text", toJSON(text))
	return j.verdict(fmt.Sprintf("google.com, available %v", structured["available"]))
}

func (v *prober) challenge() string {
	return `Bearer resource_metadata="` + v.base + resourcePath + `"`
}

// assertChallenge expects a 401 with exactly the contract's header.
func (v *prober) assertChallenge(j *assertions, what string, a answer) {
	j.must(a.err == nil && a.status == http.StatusUnauthorized, what+" to be 401", a.String())
	if a.err == nil && a.status == http.StatusUnauthorized {
		got := a.header.Values("WWW-Authenticate")
		j.must(slices.Equal(got, []string{v.challenge()}), "WWW-Authenticate: "+v.challenge(), strings.Join(got, " | "))
		j.must(a.mediaType() == "application/json", "a JSON body", toJSON(a.header.Get("Content-Type")))
	}
}

func protectedTools(v *prober) result {
	arguments := map[string]map[string]any{
		"list_my_domains":  {},
		"start_order":      {"items": []any{map[string]any{"domain": v.label + ".com", "type": "register"}}},
		"get_order_status": {"orderId": "doctor"},
		"list_orders":      {},
		"cancel_order":     {"orderId": "doctor"},
		"set_auto_renew":   {"domain": v.label + ".com", "enabled": false},
		"list_holders":     {},
	}
	var j assertions
	for _, t := range contractTools {
		if t.protected {
			v.assertChallenge(&j, t.name, v.postMessage(mcpPath, toolCall(t.name, arguments[t.name]), nil))
		}
	}
	return j.verdict(v.challenge())
}

// challenged expects assertChallenge's response to a message.
func challenged(what, path, message string, header map[string]string, seen string) func(*prober) result {
	return func(v *prober) result {
		var j assertions
		v.assertChallenge(&j, what, v.postMessage(path, message, header))
		return j.verdict(seen)
	}
}

func acceptsJSON(v *prober) result {
	a := v.postMessage(mcpPath, listTools, map[string]string{"Accept": "application/json"})
	return expect(rpcResult(a) != nil && a.isJSON(), "200 application/json", a.String(), "200 application/json")
}

func mcpGet(v *prober) result {
	a := v.send(http.MethodGet, mcpPath, "", map[string]string{"Accept": "text/event-stream"})
	if a.err != nil || a.status != http.StatusMethodNotAllowed || !listsHeader(a.header.Get("Allow"), http.MethodPost) {
		return fail("405 with Allow: POST", a.String())
	}
	return expect(a.mediaType() != "text/plain", "a JSON body", a.String(), "405")
}

// rpcError returns the code of a JSON-RPC error, 0 if the response is not an error.
func rpcError(a answer) int64 {
	if !a.isJSON() {
		return 0
	}
	problem, _ := rpcReply(a)["error"].(map[string]any)
	number, _ := problem["code"].(json.Number)
	code, _ := number.Int64()
	return code
}

func unknownMethod(v *prober) result {
	a := v.postMessage(mcpPath, rpcMessage("doctor/nothing", nil), nil)
	return expect(rpcError(a) == methodNotFound, fmt.Sprintf("a JSON-RPC error %d", methodNotFound), a.String(), fmt.Sprint(methodNotFound))
}

func errorsAreJSONRPC(v *prober) result {
	var j assertions
	for _, wrong := range []struct {
		what, body string
		header     map[string]string
	}{
		{"broken JSON", `{"jsonrpc":`, nil},
		{"an empty body", "", nil},
		{"a batch", "[" + listTools + "]", nil},
		{"text/plain", listTools, map[string]string{"Content-Type": "text/plain"}},
	} {
		a := v.postMessage(mcpPath, wrong.body, wrong.header)
		j.must(rpcError(a) != 0, "a JSON-RPC error for "+wrong.what, a.String())
	}
	return j.verdict("four mistakes, four errors")
}

// foreignOrigin checks that a service on loopback rejects other origins, whose pages could
// call it through the user's browser, and that a public one accepts all of them.
func foreignOrigin(v *prober) result {
	a := v.postMessage(mcpPath, listTools, map[string]string{"Origin": "https://page.example"})
	address, err := url.Parse(v.base)
	if err == nil && registrar.IsLoopbackHost(address.Hostname()) {
		return expect(a.err == nil && a.status == http.StatusForbidden && rpcError(a) != 0,
			"403 with a JSON-RPC error, on loopback", a.String(), "403, on loopback")
	}
	return expect(rpcResult(a) != nil, "200, as for every origin", a.String(), "200, as for every origin")
}

func mcpCORS(v *prober) result {
	r := preflight(v, mcpPath, v.base, "Content-Type", "Authorization", "Mcp-Protocol-Version")
	if r.status != cli.StatusOK {
		return r
	}
	a := v.postMessage(mcpPath, toolCall("list_my_domains", map[string]any{}), map[string]string{"Origin": v.base})
	if exposed := a.header.Get("Access-Control-Expose-Headers"); !listsHeader(exposed, "WWW-Authenticate") {
		return fail("WWW-Authenticate exposed to scripts", toJSON(exposed))
	}
	return r
}

// checkTokenTransport refuses to send a token over an unencrypted connection.
func checkTokenTransport(base string) error {
	address, err := url.Parse(base)
	if err != nil {
		return err
	}
	if address.Scheme != "https" && !registrar.IsLoopbackHost(address.Hostname()) {
		return cli.UsageError("a token is not sent over http:// to another machine; use https://")
	}
	return nil
}

func tokenChecks(token string) []check {
	bearer := map[string]string{"Authorization": "Bearer " + token}
	return []check{
		{group: "token", name: "list_my_domains works", run: checkList("list_my_domains", "domains", bearer, assertDomain)},
		{group: "token", name: "list_orders works", run: checkList("list_orders", "orders", bearer, assertOrder)},
		{group: "token", name: "login address opens", run: func(v *prober) result {
			a := v.postMessage(mcpLoginPath, initializeMessage, bearer)
			return expect(rpcResult(a) != nil, "200 with a JSON-RPC result", a.String(), "200 to initialize")
		}},
	}
}

var domainStatuses = []string{"active", "pending", "expired", "redemption", "transit", "transferred_out"}

// checkList calls a tool that lists something of the customer's and checks each entry. It
// prints only their number, because its output may end up in a monitoring system.
func checkList(tool, field string, bearer map[string]string, assertEntry func(*assertions, map[string]any)) func(*prober) result {
	return func(v *prober) result {
		a := v.postMessage(mcpPath, toolCall(tool, map[string]any{}), bearer)
		got := rpcResult(a)
		if got == nil {
			return fail("200 with a JSON-RPC result", a.String())
		}
		page, _ := got["structuredContent"].(map[string]any)
		switch {
		case got["isError"] == true && page["retryable"] == true:
			return warn("the list", toJSON(page))
		case got["isError"] == true:
			return fail("the list", toJSON(page))
		}
		list, ok := page[field].([]any)
		if !ok {
			return fail("a list named "+field, "none")
		}
		var j assertions
		assertPage(&j, page, len(list))
		for _, entry := range objects(list) {
			assertEntry(&j, entry)
		}
		return j.verdict(toJSON(page["total"]) + " " + field)
	}
}

func assertPage(j *assertions, page map[string]any, length int) {
	whole := func(field string) int64 {
		number, _ := page[field].(json.Number)
		value, err := number.Int64()
		if err != nil {
			return -1
		}
		return value
	}
	total, limit := whole("total"), whole("limit")
	j.must(whole("offset") == 0 && limit >= 1 && int64(length) == min(total, limit), "total, limit and offset that fit the list",
		toJSON([]any{page["total"], page["limit"], page["offset"], length}))
}

func assertOrder(j *assertions, order map[string]any) {
	id, _ := order["orderId"].(string)
	items, _ := order["items"].([]any)
	j.must(id != "" && len(items) > 0, "orders with orderId and items", "others")
}

func assertDomain(j *assertions, domain map[string]any) {
	name, _ := domain["domain"].(string)
	tld, _ := domain["tld"].(string)
	j.must(len(tld) > 1 && strings.HasPrefix(tld, ".") && strings.HasSuffix(name, tld), "domain and tld that fit", "others")
	status, _ := domain["status"].(string)
	j.must(slices.Contains(domainStatuses, status), "status "+strings.Join(domainStatuses, ", "), toJSON(domain["status"]))
	until, given := domain["expiresAt"]
	if text, isText := until.(string); isText {
		_, err := time.Parse(time.RFC3339, text)
		j.must(err == nil, "expiresAt as in RFC 3339", toJSON(until))
	} else {
		j.must(given && until == nil, "expiresAt or null", toJSON(until))
	}
	_, isBool := domain["autoRenew"].(bool)
	j.must(isBool, "autoRenew true or false", toJSON(domain["autoRenew"]))
	manage, _ := domain["manageUrl"].(string)
	j.must(manage != "", "manageUrl", "none")
}
