package mcp

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/holder"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// allReasons returns one error for each reason an item can be refused.
func allReasons() []error {
	reasons := []error{
		&registrar.Error{Kind: registrar.KindInvalid, Code: registrar.NameUnderscore},
		&registrar.Error{Kind: registrar.KindInvalid, Code: "epp_policy"},
		&registrar.Error{Kind: registrar.KindUnsupported, Code: "something_new"},
		registrar.Fault(registrar.FaultTimeout, "epp", nil),
		&registrar.Error{Kind: registrar.KindInternal},
		http.ErrBodyNotAllowed, // not a registrar.Error
	}
	for _, code := range []registrar.Code{
		registrar.ExtensionNotCarried, registrar.NoRegistryAccount, provision.NoRegistrant, provision.NameTaken, registrar.NameReserved, provision.Undecided, registrar.NamePremium, registrar.NameHeld,
		provision.NotEligible, provision.NoInboundTransfer, order.NoPrice, provision.NotRegistered, provision.Locked, provision.WrongCode, provision.NotYours, provision.NotRenewable, provision.NotRestorable,
		provision.BadTerm, provision.TermNotSold, provision.CodeMissing, registrar.RegistryDenied, registrar.TransferRejected, registrar.RegistryNotFound, registrar.OtherRegistrar, domainchange.DomainRestricted,
		order.RenewalInProgress, holder.NoSuchHolder, registrar.IdentityRequired,
	} {
		reasons = append(reasons, &registrar.Error{Kind: registrar.KindConflict, Code: code})
	}
	return reasons
}

// publishedCodes returns the item codes in the schema.
func publishedCodes(t *testing.T) []string {
	t.Helper()
	var definitions struct {
		ItemCode struct{ Enum []string } `json:"itemCode"`
	}
	if err := json.Unmarshal(definitionsText, &definitions); err != nil {
		t.Fatal(err)
	}
	slices.Sort(definitions.ItemCode.Enum)
	return definitions.ItemCode.Enum
}

func TestStartOrder_EveryReasonHasAPublishedCode(t *testing.T) {
	s, _ := newServer(t, nil)
	got := post(s.Serve, call("start_order", `{"items":[{"domain":"every-reason.de","type":"register"}]}`), "Authorization", "Bearer good")
	f := readFailure(t, got)
	if f.Code != invalidInput || f.Reason != "items_rejected" || len(f.Items) != len(allReasons()) { // years_not_sold is among them
		t.Fatalf("got %+v", f)
	}
	seen := make(map[string]bool)
	tools := []string{"domain_search", "domain_check", "list_tlds", "tld_price", "list_my_domains", "list_holders"}
	for i, item := range f.Items {
		seen[item.Code] = true
		if item.Domain == "" || item.Message == "" || item.Retryable != (item.Code == itemUpstreamFailed || item.Code == itemUndecided) || item.Retryable != (item.RetryAfter > 0) {
			t.Errorf("%v: got %+v", allReasons()[i], item)
		}
		if item.Alternative != nil && (!slices.Contains(tools, item.Alternative.Tool) || item.Alternative.Tool != "list_holders" && len(item.Alternative.Arguments) == 0) {
			t.Errorf("%s: the alternative is %+v", item.Code, item.Alternative)
		}
		if (item.Code == "registrant_missing") != (item.URL == base+"/portal/profile/registrant") {
			t.Errorf("%s: the URL is %q", item.Code, item.URL)
		}
	}
	if codes := slices.Sorted(maps.Keys(seen)); !slices.Equal(codes, publishedCodes(t)) {
		t.Errorf("the codes are %v, published are %v", codes, publishedCodes(t))
	}
	// A call is retryable only if each item is.
	if f.Retryable || f.RetryAfter != 0 {
		t.Errorf("retryable after %d", f.RetryAfter)
	}
	var body any
	if err := json.Unmarshal(read(t, got).Result.StructuredContent, &body); err != nil {
		t.Fatal(err)
	}
	if err := schemas(t, s)["start_order"].Validate(body); err != nil {
		t.Error(err)
	}
}

// The suggested calls succeed.
func TestStartOrder_AlternativesAreValidCalls(t *testing.T) {
	s, _ := newServer(t, nil)
	for code, rule := range itemRules {
		suggested := suggest(rule.tool, "name.de")
		if suggested == nil {
			continue
		}
		arguments, err := json.Marshal(suggested.Arguments)
		if err != nil {
			t.Fatal(err)
		}
		got := post(s.Serve, call(suggested.Tool, string(arguments)), "Authorization", "Bearer good")
		if r := read(t, got); got.Code != http.StatusOK || r.Result.IsError {
			t.Errorf("%s: %s %s returns %s", code, suggested.Tool, arguments, got.Body)
		}
	}
}

var codeRow = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|")

func TestItemCodes_AllListedInGuide(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "agents.md"))
	if err != nil {
		t.Fatal(err)
	}
	for heading, want := range map[string][]string{
		"#### Codes of items": publishedCodes(t),
		"## When something goes wrong": {
			internalFailure, invalidInput, notCancelable, notFound, notPayable, rateLimited, unsupportedExtension, upstreamFailed,
		},
	} {
		_, section, found := strings.Cut(string(text), "\n"+heading+"\n")
		section, _, _ = strings.Cut(section, "\n#")
		var listed []string
		for _, row := range codeRow.FindAllStringSubmatch(section, -1) {
			listed = append(listed, row[1])
		}
		slices.Sort(listed)
		slices.Sort(want)
		if !found || !slices.Equal(listed, want) {
			t.Errorf("%s: the guide lists %v, want %v", heading, listed, want)
		}
	}
}

func TestStartOrder_TooManyOpenLinksOrdersPage(t *testing.T) {
	s, _ := newServer(t, nil)
	f := readFailure(t, post(s.Serve, call("start_order", `{"items":[{"domain":"many.de","type":"register"}]}`), "Authorization", "Bearer good"))
	if f.Code != notPayable || f.Reason != "too_many_open_orders" || f.URL != base+"/portal/orders" {
		t.Errorf("got %+v", f)
	}
	without, _ := newServer(t, func(cfg *Config) { cfg.Portal = false })
	f = readFailure(t, post(without.Serve, call("start_order", `{"items":[{"domain":"many.de","type":"register"}]}`), "Authorization", "Bearer good"))
	if f.URL != "" {
		t.Errorf("without a portal it links to %s", f.URL)
	}
}

// Each signed-in tool has the same authorization, and the refusal names a page for
// people next to the contract's header.
func TestSignedInTools_RefusalNamesTokensPage(t *testing.T) {
	s, w := newServer(t, nil)
	type refusal struct {
		Error struct {
			Message string
			Data    struct {
				Code, Scope, URL string
				Guide            string `json:"documentation_url"`
			}
		}
	}
	signedIn := 0
	for name, tool := range s.tools {
		if !tool.signedIn {
			continue
		}
		signedIn++
		for token, want := range map[string]struct {
			status            int
			challenge, reason string
		}{
			"":              {http.StatusUnauthorized, challenge, "sign_in_required"},
			"Bearer wrong":  {http.StatusUnauthorized, challenge, "sign_in_required"},
			"Bearer reader": {http.StatusForbidden, `Bearer error="insufficient_scope", scope="mcp:write", ` + strings.TrimPrefix(challenge, "Bearer "), "insufficient_scope"},
		} {
			got := post(s.Serve, call(name, `{"orderId":"o1","items":[{"domain":"a.de","type":"register"}]}`), "Authorization", token)
			if header := got.Header().Values("WWW-Authenticate"); got.Code != want.status || len(header) != 1 || header[0] != want.challenge {
				t.Errorf("%s with %q: got %d %q", name, token, got.Code, header)
			}
			var said refusal
			if err := json.Unmarshal(got.Body.Bytes(), &said); err != nil {
				t.Fatal(err)
			}
			if data := said.Error.Data; data.Code != want.reason || data.Scope != "mcp:write" || data.URL != base+"/portal/tokens" || data.Guide != base+"/auth.md" {
				t.Errorf("%s with %q: the error is %s", name, token, got.Body)
			}
		}
	}
	if signedIn != 7 || w.calls.Load() != 0 {
		t.Errorf("%d signed-in tools, %d calls were executed", signedIn, w.calls.Load())
	}
}

func TestListMyDomains_PassesItsFilter(t *testing.T) {
	s, w := newServer(t, nil)
	for arguments, want := range map[string]domainQuery{
		`{}`:                              {limit: 100},
		`{"limit":null,"search":null}`:    {limit: 100},
		`{"limit":1,"offset":2147483647}`: {limit: 1, offset: 2147483647},
		`{"search":"a","expiresBefore":"2027-01-31"}`: {portfolio.Filter{Part: "a", PaidBefore: time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC)}, 100, 0},
		`{"expiresBefore":"2027-01-31T12:00:00Z"}`:    {portfolio.Filter{PaidBefore: time.Date(2027, 1, 31, 12, 0, 0, 0, time.UTC)}, 100, 0},
	} {
		if r := read(t, post(s.Serve, call("list_my_domains", arguments), "Authorization", "Bearer good")); r.Result.IsError {
			t.Errorf("%s: %s", arguments, r.Result.StructuredContent)
		}
		if got := w.which.Load(); got != want {
			t.Errorf("%s: got %+v, want %+v", arguments, got, want)
		}
	}
}

func TestListMyDomains_DatabaseErrorIsRetryable(t *testing.T) {
	s, _ := newServer(t, nil)
	f := readFailure(t, post(s.Serve, call("list_my_domains", `{"search":"database-down"}`), "Authorization", "Bearer good"))
	if f.Code != internalFailure || !f.Retryable {
		t.Errorf("got %+v", f)
	}
}

func TestToolsList_IsIdenticalAndCacheable(t *testing.T) {
	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	first, _ := newServer(t, nil)
	second, _ := newServer(t, nil)
	want := post(first.Serve, list).Body.String()
	for name, got := range map[string]string{
		"again":          post(first.Serve, list).Body.String(),
		"with a token":   post(first.Serve, list, "Authorization", "Bearer good").Body.String(),
		"with mcp:read":  post(first.Serve, list, "Authorization", "Bearer reader").Body.String(),
		"another server": post(second.Serve, list).Body.String(),
		"at login":       post(first.ServeLogin, list, "Authorization", "Bearer good").Body.String(),
	} {
		if got != want {
			t.Errorf("%s: the bytes differ", name)
		}
	}
	for method, name := range map[string]string{"tools/list": "", "server/discover": ""} {
		got := post(first.Serve, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+newMeta+`}}`,
			"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", name)
		var said struct {
			Result struct {
				TTLMs      int64  `json:"ttlMs"`
				CacheScope string `json:"cacheScope"`
				ResultType string `json:"resultType"`
			}
		}
		if err := json.Unmarshal(got.Body.Bytes(), &said); err != nil {
			t.Fatal(err)
		}
		if r := said.Result; r.TTLMs != listTTL.Milliseconds() || r.CacheScope != "public" || r.ResultType != "complete" {
			t.Errorf("%s: the hints are %+v", method, r)
		}
	}
}

// Some clients and checkers try the first tool they see, without a token.
func TestToolsList_AnonymousToolsComeFirst(t *testing.T) {
	s, _ := newServer(t, nil)
	listing, err := readListing(Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range read(t, post(s.Serve, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)).Result.Tools {
		names = append(names, strings.Trim(string(tool["name"]), `"`))
	}
	signedIn := false
	for i, entry := range listing {
		if names[i] != entry.Name {
			t.Errorf("%d is %s, want %s", i, names[i], entry.Name)
		}
		if signedIn = signedIn || entry.SignedIn; signedIn != entry.SignedIn {
			t.Errorf("%s comes after a tool that needs sign-in", entry.Name)
		}
	}
}

func TestToolsList_DefinesFailureOncePerSchema(t *testing.T) {
	list, err := readListing(Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var shared string
	for _, entry := range list {
		text, err := entry.output()
		if err != nil {
			t.Fatal(err)
		}
		var schema struct {
			AnyOf []json.RawMessage          `json:"anyOf"`
			Defs  map[string]json.RawMessage `json:"$defs"`
		}
		if err := json.Unmarshal(text, &schema); err != nil {
			t.Fatal(err)
		}
		if shared == "" {
			shared = string(schema.Defs["failure"])
		}
		if string(schema.Defs["failure"]) != shared || strings.Count(string(text), `"title":"Failure"`) != 1 {
			t.Errorf("%s defines the failure schema differently", entry.Name)
		}
		if last := string(schema.AnyOf[len(schema.AnyOf)-1]); last != `{"$ref":"#/$defs/failure"}` {
			t.Errorf("%s: the last shape is %s", entry.Name, last)
		}
		for name := range schema.Defs {
			if !strings.Contains(string(text), `"#/$defs/`+name+`"`) {
				t.Errorf("%s has %s but does not use it", entry.Name, name)
			}
		}
	}
}
