package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

const (
	base      = "https://domains.example"
	challenge = `Bearer resource_metadata="https://domains.example/.well-known/oauth-protected-resource/api/mcp"`
)

// fakeServices implements every port of the endpoint; the requested name selects the
// answer.
type fakeServices struct {
	calls   atomic.Int64 // calls of signed-in services
	who     atomic.Value // actor of the last call
	which   atomic.Value // filter of the last domain list
	started chan struct{}
	slow    chan struct{} // closed to answer slow.de
	lookup  *fakeBudget
	whois   *fakeBudget
	token   *fakeBudget
}

func (w *fakeServices) Check(_ context.Context, domain string) (lookup.Answer, error) {
	answer := lookup.Answer{
		Domain: domain, TLD: ".de", Availability: lookup.Available,
		Prices:   &lookup.Prices{Register: 690, Renew: 990, Transfer: 0, Restore: 1790},
		MinYears: 1, Order: lookup.Orderability{Decided: true},
	}
	switch domain {
	case "panic.de":
		panic("quotes " + domain)
	case "slow.de":
		w.started <- struct{}{}
		<-w.slow
	case "foreign.de":
		return answer, errors.New("quotes " + domain)
	case "failing.de":
		return answer, registrar.Fault(registrar.FaultThrottled, "rdap.example", nil)
	case "bad_name.de":
		return answer, &registrar.Error{Kind: registrar.KindInvalid, Code: registrar.NameUnderscore}
	case "Not.Carried":
		return lookup.Answer{TLD: ".carried"}, &registrar.Error{Kind: registrar.KindUnsupported, Code: registrar.ExtensionNotCarried}
	}
	return answer, nil
}

func (w *fakeServices) SearchEach(_ context.Context, query string, found func(lookup.Entry, int, int)) (lookup.Result, error) {
	if query == "bad name" {
		return lookup.Result{}, &registrar.Error{Kind: registrar.KindInvalid, Code: registrar.NameSpace}
	}
	result := lookup.Result{Label: query, Entries: []lookup.Entry{
		{Answer: lookup.Answer{
			Domain: query + ".de", TLD: ".de", Availability: lookup.Taken, Prices: &lookup.Prices{Register: 690, Restore: 1790},
			MinYears: 2, Requires: "eu_presence", Order: lookup.Orderability{Decided: true, Refusal: "no_registry_account"},
		}},
		{Answer: lookup.Answer{Domain: query + ".com", TLD: ".com"}, Err: registrar.Fault(registrar.FaultTimeout, "x", nil)},
	}}
	for i, entry := range result.Entries {
		if found != nil {
			found(entry, i+1, len(result.Entries))
		}
	}
	return result, nil
}

func (w *fakeServices) Whois(_ context.Context, domain string) (lookup.WhoisAnswer, error) {
	answer := lookup.WhoisAnswer{Domain: domain, TLD: ".de"}
	switch domain {
	case "free.de":
		return answer, nil
	case "unclear.de":
		return answer, registrar.Fault(lookup.Undetermined, "no source decides", nil)
	case "not.carried":
		return answer, &registrar.Error{Kind: registrar.KindUnsupported, Code: registrar.ExtensionNotCarried}
	}
	answer.Registered = true
	answer.Record = lookup.Record{
		Status: []string{"active"}, Nameservers: []string{"ns1.example"}, Registrar: "Registrar GmbH",
		Created: time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC),
	}
	return answer, nil
}

func (w *fakeServices) All() []registrar.Extension {
	return []registrar.Extension{
		{TLD: ".at", Register: 1200, Renew: 1300, Transfer: 100},
		{TLD: ".co.uk", Register: 800, Renew: 800, Transfer: 0},
		{
			TLD: ".com", Register: 1100, Renew: 1150, Transfer: 1100, Restore: 4990, MinYears: 2, Popular: true,
			Sale: registrar.Sale{Decided: true},
		},
		{
			TLD: ".de", Register: 690, Renew: 990, Transfer: 0, Restore: 1790, MinYears: 1, Popular: true,
			Requires: "it_tax_id", Sale: registrar.Sale{Decided: true, NoRegistration: "not_eligible", NoTransfer: "not_eligible"},
		},
		{TLD: ".xn--p1acf", Register: 2000, Renew: 2000, Transfer: 2000},
	}
}

func (w *fakeServices) Extension(tld string) (registrar.Extension, bool) {
	for _, ext := range w.All() {
		if ext.TLD == tld {
			return ext, true
		}
	}
	return registrar.Extension{}, false
}

func (w *fakeServices) Verify(_ context.Context, bearer string) (oauth.TokenInfo, error) {
	switch bearer {
	case "good":
		return oauth.TokenInfo{Customer: "c1", TokenID: "t1", Kind: registrar.ActorToken, MayWrite: true}, nil
	case "reader":
		return oauth.TokenInfo{Customer: "c1", TokenID: "t2", Kind: registrar.ActorApplication}, nil
	case "database-down":
		return oauth.TokenInfo{}, errors.New("no connection")
	}
	return oauth.TokenInfo{}, &registrar.Error{Kind: registrar.KindUnauthenticated, Code: oauth.BadToken}
}

func (w *fakeServices) Find(_ context.Context, who registrar.Actor, filter portfolio.Filter, limit, offset int) ([]portfolio.Domain, int, error) {
	w.calls.Add(1)
	w.who.Store(who)
	w.which.Store(domainQuery{filter, limit, offset})
	if filter.Part == "database-down" {
		return nil, 0, errors.New("no connection")
	}
	return []portfolio.Domain{{
		ID: "d1", Name: "of-" + who.Customer + ".de", TLD: ".de", Status: registrar.DomainActive, PaidUntil: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC),
	}}, 1, nil
}

// domainQuery is what list_my_domains asks for.
type domainQuery struct {
	portfolio.Filter
	limit, offset int
}

func (w *fakeServices) Start(_ context.Context, _ registrar.Actor, items []Item, dryRun bool) (Order, error) {
	w.calls.Add(1)
	switch items[0].Domain {
	case "taken.de":
		return Order{}, &NotPayable{Items: []ItemProblem{{
			Domain: "taken.de", Reason: &registrar.Error{Kind: registrar.KindConflict, Code: provision.NameTaken},
		}}}
	case "odd.de":
		return Order{}, &NotPayable{Items: []ItemProblem{{
			Domain: "odd.de", Reason: &registrar.Error{Kind: registrar.KindInvalid, Code: "epp_policy"},
		}}}
	case "busy.de":
		return Order{}, &registrar.Error{Kind: registrar.KindRateLimited, Code: order.OverBudget, RetryAfter: time.Minute}
	case "many.de":
		return Order{}, &registrar.Error{Kind: registrar.KindConflict, Code: order.TooManyOpen}
	case "every-reason.de":
		var problems NotPayable
		for i, reason := range allReasons() {
			problems.Items = append(problems.Items, ItemProblem{Domain: "r" + strconv.Itoa(i) + ".de", Reason: reason})
		}
		return Order{}, &problems
	case "slow-registry.de":
		return Order{}, &NotPayable{Items: []ItemProblem{
			{Domain: "a.de", Reason: registrar.Fault(registrar.FaultTimeout, "epp", nil)},
			{Domain: "b.de", Reason: &registrar.Error{Kind: registrar.KindRateLimited, Code: registrar.FaultThrottled, RetryAfter: 90 * time.Second}},
		}}
	case "half-silent.de":
		return Order{}, &NotPayable{Items: []ItemProblem{
			{Domain: "nic.de", Reason: &registrar.Error{Kind: registrar.KindConflict, Code: registrar.NameReserved}},
			{Domain: "b.de", Reason: registrar.Fault(registrar.FaultTimeout, "epp", nil)},
		}}
	case "incomplete.de":
		o := Order{
			OrderID: "o9", Status: "awaiting_verification",
			Items: []OrderItem{{Domain: items[0].Domain, Type: items[0].Type, Years: 1, NetEUR: 690}}, Totals: httpjson.Totals{NetEUR: 690, VATEUR: 131, GrossEUR: 821, VATRate: 19},
			Payable: Payable{PaymentURL: base + "/pay/o9", VerificationURL: base + "/verify/o9", ExpiresAt: "2027-01-01T00:00:00Z"},
		}
		o.Needs = []Need{
			{What: order.MissingRegistrant},
			{What: order.MissingIdentity},
			{What: order.MissingCode, Domain: "incomplete.de"},
			{What: "eu_presence", Domain: "incomplete.de"},
			{What: "registrant_city_script", Domain: "incomplete.de"},
		}
		if dryRun {
			o.OrderID, o.Status, o.PaymentURL, o.VerificationURL, o.ExpiresAt = "", DryRun, "", "", ""
		}
		return o, nil
	}
	if items[0].Years > 1 {
		return Order{}, &NotPayable{Items: []ItemProblem{{
			Domain: items[0].Domain, Reason: &registrar.Error{Kind: registrar.KindInvalid, Code: provision.TermNotSold},
		}}}
	}
	if dryRun {
		return Order{
			Status: DryRun, Items: []OrderItem{{Domain: items[0].Domain, Type: items[0].Type, Years: 1, NetEUR: 690}},
			Totals: httpjson.Totals{NetEUR: 690, VATEUR: 131, GrossEUR: 821, VATRate: 19},
		}, nil
	}
	return Order{
		OrderID: "o1", Status: "awaiting_payment", Payable: Payable{PaymentURL: base + "/pay/o1", ExpiresAt: "2027-01-01T00:00:00Z"},
		Items:  []OrderItem{{Domain: items[0].Domain, Type: items[0].Type, Years: 1, NetEUR: 690}},
		Totals: httpjson.Totals{NetEUR: 690, VATEUR: 131, GrossEUR: 821, VATRate: 19},
	}, nil
}

func (w *fakeServices) Status(_ context.Context, _ registrar.Actor, id string) (OrderStatus, error) {
	w.calls.Add(1)
	status := OrderStatus{OrderID: id, Status: "completed", CreatedAt: "2026-11-15T00:00:00Z", AmountEUR: 821, Items: []OrderItem{}}
	switch id {
	case "o1":
	case "open":
		status.Status, status.PaymentURL, status.ExpiresAt = "awaiting_payment", base+"/pay/open", "2027-01-01T00:00:00Z"
		status.Needs = []Need{{What: order.MissingRegistrant}}
	case "failed":
		status.Status = "failed"
		status.Items = []OrderItem{
			{Domain: "a.de", Type: "register", Years: 1, NetEUR: 690, Status: "refunded", Failure: newItemIssue(provision.NameTaken), Refund: &Refund{"refunded", 821}},
			{Domain: "b.de", Type: "register", Years: 1, NetEUR: 690, Status: "failed", Failure: newItemIssue("epp_policy"), Refund: &Refund{"pending", 821}},
		}
	default:
		return OrderStatus{}, ErrNotFound
	}
	return status, nil
}

func (w *fakeServices) Page(ctx context.Context, who registrar.Actor, status string, limit, offset int) ([]OrderStatus, int, error) {
	if status == "failed" {
		return []OrderStatus{}, 0, nil
	}
	o, err := w.Status(ctx, who, "open")
	return []OrderStatus{o}, 1, err
}

func (w *fakeServices) Cancel(ctx context.Context, who registrar.Actor, id string) (OrderStatus, error) {
	switch id {
	case "paying", "completed", "expired":
		w.calls.Add(1)
		return OrderStatus{}, &NotCancelable{Status: id, URL: base + "/look/" + id}
	}
	o, err := w.Status(ctx, who, id)
	o.Status = "canceled"
	return o, err
}

// FindByName finds domains by the first word of their names: on renews, busy is being
// charged, gone has expired, ended has an open termination, none is not held.
func (w *fakeServices) FindByName(_ context.Context, _ registrar.Actor, name string) (portfolio.Domain, bool, error) {
	w.calls.Add(1)
	word, tld, _ := strings.Cut(name, ".")
	domain := portfolio.Domain{
		ID: "d-" + word, Name: name, TLD: "." + tld, Status: registrar.DomainActive, PaidUntil: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	switch word {
	case "on", "busy":
		domain.AtTermEnd = registrar.TermEndRenew
	case "gone":
		domain.Status = registrar.DomainExpired
	case "none":
		return portfolio.Domain{}, false, nil
	}
	return domain, true, nil
}

func (w *fakeServices) TurnOff(_ context.Context, _ registrar.Actor, domain string) error {
	w.calls.Add(1)
	if domain == "d-busy" {
		return registrar.Conflict(renewal.InProgress)
	}
	return nil
}

func (w *fakeServices) AgreeURL(_ context.Context, actor registrar.Actor, domain string) (string, error) {
	if domain == "d-ended" && actor.Customer != "" {
		return "", registrar.Conflict(withdrawal.NoticeOpen)
	}
	return base + "/portal/domains/" + domain + "/auto-renew", nil
}

func newServer(t testing.TB, change func(*Config)) (*Server, *fakeServices) {
	t.Helper()
	w := &fakeServices{lookup: &fakeBudget{}, whois: &fakeBudget{}, token: &fakeBudget{}, started: make(chan struct{}), slow: make(chan struct{})}
	w.lookup.left.Store(1 << 40)
	w.whois.left.Store(1 << 40)
	w.token.left.Store(1 << 40)
	cfg := Config{
		BaseURL: base, Version: "test", Limits: Limits{30, 300, 15, 150},
		Lookups: w, Catalog: w, Budget: w.lookup, WhoisBudget: w.whois, Tokens: w, TokenBudget: w.token, Domains: w, Orders: w, Renewals: w, Portal: true,
		Address: func(*http.Request) netip.Addr { return netip.MustParseAddr("192.0.2.1") },
	}
	if change != nil {
		change(&cfg)
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s, w
}

// post sends a message like a careless but honest client; header pairs follow.
func post(handler http.HandlerFunc, body string, header ...string) *httptest.ResponseRecorder {
	return postReader(handler, strings.NewReader(body), header...)
}

func postReader(handler http.HandlerFunc, body io.Reader, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, base+Path, body)
	r.Header.Set("Content-Type", "application/json")
	for pair := range slices.Chunk(header, 2) {
		if pair[1] == "" {
			r.Header.Del(pair[0])
			continue
		}
		r.Header.Add(pair[0], pair[1])
	}
	recorder := httptest.NewRecorder()
	handler(recorder, r)
	return recorder
}

func call(tool, arguments string) string {
	return `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + arguments + `}}`
}

// reply is a JSON-RPC response.
type reply struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Result  struct {
		Content           []struct{ Type, Text string }
		StructuredContent json.RawMessage
		IsError           bool
		ProtocolVersion   string
		Tools             []map[string]json.RawMessage
		Capabilities      map[string]json.RawMessage
		SupportedVersions []string
	}
	Error *struct {
		Code    int
		Message string
	}
}

func read(t *testing.T, got *httptest.ResponseRecorder) reply {
	t.Helper()
	var r reply
	if err := json.Unmarshal(got.Body.Bytes(), &r); err != nil {
		t.Fatalf("%d %q is not JSON: %v", got.Code, got.Body, err)
	}
	if kind := got.Header().Get("Content-Type"); kind != "application/json" {
		t.Errorf("the content type is %q", kind)
	}
	if r.Version != "2.0" {
		t.Errorf("%s is not JSON-RPC", got.Body)
	}
	return r
}

func TestInitialize_NegotiatesEveryRevision(t *testing.T) {
	s, _ := newServer(t, nil)
	for asked, want := range map[string]string{
		"2025-03-26": "2025-03-26", "2025-06-18": "2025-06-18", "2025-11-25": "2025-11-25",
		"2026-07-28": "2025-11-25", "1999-01-01": "2025-11-25",
	} {
		got := post(s.Serve, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+asked+
			`","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
		r := read(t, got)
		if got.Code != http.StatusOK || r.Result.ProtocolVersion != want {
			t.Errorf("%s: got %d %s", asked, got.Code, got.Body)
		}
		if len(r.Result.Capabilities) != 1 || string(r.Result.Capabilities["tools"]) != "{}" {
			t.Errorf("%s: declared %s", asked, r.Result.Capabilities)
		}
		if got.Header().Get("Mcp-Session-Id") != "" {
			t.Error("a session was created")
		}
	}
	for _, version := range []string{"", "2025-03-26", "2025-06-18", "2025-11-25"} {
		got := post(s.Serve, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "Mcp-Protocol-Version", version)
		if r := read(t, got); got.Code != http.StatusOK || len(r.Result.Tools) != 12 {
			t.Errorf("%q: got %d %s", version, got.Code, got.Body)
		}
	}
}

const newMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"}}`

func TestStateless2026_DiscoverAndCall(t *testing.T) {
	s, _ := newServer(t, nil)
	got := post(s.Serve, `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{`+newMeta+`}}`,
		"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "server/discover")
	if r := read(t, got); got.Code != http.StatusOK || !slices.Contains(r.Result.SupportedVersions, "2026-07-28") {
		t.Errorf("got %d %s", got.Code, got.Body)
	}
	head := []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name"}
	message := func(tool string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":{"domain":"a.de"},` + newMeta + `}}`
	}
	if got := post(s.Serve, message("domain_check"), append(head, "domain_check")...); got.Code != http.StatusOK || read(t, got).Result.IsError {
		t.Errorf("got %d %s", got.Code, got.Body)
	}
	if got := post(s.Serve, message("list_my_domains"), append(head, "list_my_domains")...); got.Code != http.StatusUnauthorized || got.Header().Get("WWW-Authenticate") != challenge {
		t.Errorf("got %d %s", got.Code, got.Body)
	}
	if got := post(s.Serve, message("list_my_domains"), append(head, "domain_check")...); got.Code != http.StatusBadRequest {
		t.Errorf("a wrong Mcp-Name got %d %s", got.Code, got.Body)
	}
	for _, method := range []string{"prompts/list", "nonsense", "subscriptions/listen"} {
		got := post(s.Serve, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+newMeta+`}}`,
			"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method)
		if r := read(t, got); got.Code != http.StatusNotFound || r.Error == nil || r.Error.Code != -32601 {
			t.Errorf("%s: got %d %s", method, got.Code, got.Body)
		}
	}
}

func TestToolsList_ListsEveryToolToAnyone(t *testing.T) {
	s, _ := newServer(t, nil)
	tools := read(t, post(s.Serve, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)).Result.Tools
	signedIn := map[string]bool{
		"domain_check": false, "domain_search": false, "whois_lookup": false, "list_tlds": false, "tld_price": false,
		"list_my_domains": true, "start_order": true, "get_order_status": true, "list_orders": true, "cancel_order": true, "set_auto_renew": true, "list_holders": true,
	}
	if len(tools) != len(signedIn) {
		t.Fatalf("%d tools are listed", len(tools))
	}
	for _, tool := range tools {
		var name, title, description string
		var annotations struct{ ReadOnlyHint, DestructiveHint, OpenWorldHint *bool }
		var input, output struct {
			Type  string
			AnyOf []json.RawMessage
		}
		var meta struct{ SecuritySchemes json.RawMessage }
		for key, target := range map[string]any{
			"name": &name, "title": &title, "description": &description, "annotations": &annotations,
			"inputSchema": &input, "outputSchema": &output, "_meta": &meta,
		} {
			if err := json.Unmarshal(tool[key], target); err != nil {
				t.Errorf("%s: %s: %v", name, key, err)
			}
		}
		needs, ok := signedIn[name]
		want := `[{"type":"noauth"}]`
		if needs {
			want = `[{"type":"oauth2","scopes":["mcp:write"]}]`
		}
		if !ok || string(meta.SecuritySchemes) != want {
			t.Errorf("%s: securitySchemes are %s", name, meta.SecuritySchemes)
		}
		if title == "" || len(description) < 100 || strings.ContainsAny(description, "{}") {
			t.Errorf("%s: %q, %q", name, title, description)
		}
		if input.Type != "object" || output.Type != "object" || len(output.AnyOf) < 2 {
			t.Errorf("%s: input is %s, output %s", name, tool["inputSchema"], tool["outputSchema"])
		}
		if annotations.ReadOnlyHint == nil || *annotations.ReadOnlyHint == (name == "start_order" || name == "cancel_order" || name == "set_auto_renew") ||
			annotations.DestructiveHint == nil || *annotations.DestructiveHint != (name == "cancel_order" || name == "set_auto_renew") || annotations.OpenWorldHint == nil {
			t.Errorf("%s: annotations are %s", name, tool["annotations"])
		}
	}
}

func TestSDKClient_ListsAndCalls(t *testing.T) {
	s, _ := newServer(t, func(cfg *Config) { cfg.BaseURL = "http://127.0.0.1:8080" })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			MethodNotAllowed(w, r)
			return
		}
		s.Serve(w, r)
	}))
	defer server.Close()
	client := sdk.NewClient(&sdk.Implementation{Name: "stock", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: server.URL}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = session.Close() }() // there is no session to end
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 12 {
		t.Fatalf("got %v, %v", tools, err)
	}
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "tld_price", Arguments: map[string]any{"tld": ".de"}})
	if err != nil || result.IsError {
		t.Errorf("got %v, %v", result, err)
	}
	if _, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_my_domains"}); err == nil {
		t.Error("a signed-in tool was called without a token")
	}
}
