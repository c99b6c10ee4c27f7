package books

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/test/rig"
)

// stranger is somebody without a cookie or a token.
type stranger struct {
	t       *testing.T
	base    string
	answers map[string]string
}

// ask keeps an answer with its head: a header is public too.
func (s *stranger) ask(method, path string, body any) string {
	s.t.Helper()
	var text []byte
	if body != nil {
		var err error
		text, err = json.Marshal(body)
		check(s.t, err)
	}
	address := path
	if strings.HasPrefix(path, "/") {
		address = s.base + path
	}
	request, err := http.NewRequestWithContext(s.t.Context(), method, address, bytes.NewReader(text))
	check(s.t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream, text/html")
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	check(s.t, err)
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 4<<20))
	check(s.t, err)
	var head strings.Builder
	check(s.t, response.Header.Write(&head))
	where := fmt.Sprintf("%s %s %s", method, strings.TrimPrefix(path, s.base), text)
	s.answers[where] = head.String() + string(answer)
	return string(answer)
}

func (s *stranger) tool(name string, arguments any) string {
	s.t.Helper()
	return s.ask(http.MethodPost, "/api/mcp", map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": name, "arguments": arguments},
	})
}

// personal is what is known of a registrant, in the ways in which it may be written.
func personal(email string, r provision.Holder) []string {
	digits := strings.NewReplacer("+", "", ".", "").Replace(r.Phone)
	return []string{email, r.Name, r.Organisation, r.Street, r.PostalCode, r.Phone, digits, strings.TrimPrefix(digits, "49")}
}

func TestNoPublicAnswerNamesTheRegistrant(t *testing.T) {
	t.Parallel()
	s := open(t)
	bought := s.buy("niemand-genannt.org")
	waiting, err := s.Prepare(t.Context(), "auch-niemand.org")
	check(t, err)
	account, err := s.DB.BuyerOf(t.Context(), s.stored(bought.ID).Customer)
	check(t, err)
	if !account.Told || account.Name == "" || account.Street == "" {
		t.Fatalf("nothing is known of the registrant that could be found: %+v", account)
	}
	holder, told, err := s.DB.HolderOf(t.Context(), account.Customer)
	if err != nil || !told {
		t.Fatalf("registrant: %t, %v", told, err)
	}

	who := &stranger{t: t, base: s.Base, answers: make(map[string]string)}
	for _, name := range []string{"niemand-genannt.org", "auch-niemand.org", "kaffeehaus-elbblick.de"} {
		who.ask(http.MethodPost, "/api/domain/check", map[string]string{"domain": name})
		who.ask(http.MethodPost, "/api/domain/search", map[string]string{"query": name})
		who.tool("domain_check", map[string]string{"domain": name})
		who.tool("whois_lookup", map[string]string{"domain": name})
	}
	for _, tool := range []string{"list_my_domains", "get_order_status", "start_order", "list_orders", "cancel_order"} {
		who.tool(tool, map[string]any{"orderId": bought.ID, "items": []map[string]string{{"domain": "noch-niemand.org", "type": "register"}}})
	}
	who.ask(http.MethodPost, "/api/mcp", map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
	for _, path := range []string{
		"/", "/openapi.json", "/llms.txt", "/robots.txt", "/auth.md", "/.well-known/acp.json", "/.well-known/ai-catalog.json",
		"/.well-known/api-catalog", "/.well-known/mcp/server-card.json", "/.well-known/oauth-authorization-server", "/portal/sign-in",
		"/portal", "/portal/orders", "/portal/orders/" + bought.ID, "/portal/registrant", "/checkout/" + strings.Repeat("a", 52),
	} {
		who.ask(http.MethodGet, path, nil)
	}
	// Whoever has the link of an order, but is not signed in.
	for _, link := range []string{bought.Link, waiting.Link} {
		page := who.ask(http.MethodGet, link, nil)
		if !strings.Contains(page, "niemand") {
			t.Errorf("the page of an order does not say what was ordered, so nothing was looked at: %.300s", page)
		}
		for _, path := range []string{"/pay", "/decline", "/code"} {
			who.ask(http.MethodPost, link+path, nil)
		}
		who.ask(http.MethodGet, link+"/paid", nil)
		who.ask(http.MethodGet, link+"/back", nil)
		if events := who.ask(http.MethodGet, link+"/events", nil); !strings.Contains(events, "event: end") || !strings.Contains(events, "niemand") {
			t.Errorf("the stream of an order does not say what was ordered: %.300s", events)
		}
	}
	for _, found := range rig.Personal(personal(account.Email, holder), who.answers) {
		t.Error(found)
	}
	rig.CheckBooks(t, s.World.Ready)
}
