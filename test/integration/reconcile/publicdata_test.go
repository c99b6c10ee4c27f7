package reconcile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// anonymousClient is a client without cookies or tokens.
type anonymousClient struct {
	t         *testing.T
	base      string
	responses map[string]string
}

// request records the response with its headers, which are public, too.
func (s *anonymousClient) request(method, path string, body any) string {
	s.t.Helper()
	var text []byte
	if body != nil {
		var err error
		text, err = json.Marshal(body)
		must(s.t, err)
	}
	address := path
	if strings.HasPrefix(path, "/") {
		address = s.base + path
	}
	request, err := http.NewRequestWithContext(s.t.Context(), method, address, bytes.NewReader(text))
	must(s.t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream, text/html")
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	must(s.t, err)
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 4<<20))
	must(s.t, err)
	var head strings.Builder
	must(s.t, response.Header.Write(&head))
	where := fmt.Sprintf("%s %s %s", method, strings.TrimPrefix(path, s.base), text)
	s.responses[where] = head.String() + string(answer)
	return string(answer)
}

func (s *anonymousClient) callTool(name string, arguments any) string {
	s.t.Helper()
	return s.request(http.MethodPost, "/api/mcp", map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": name, "arguments": arguments},
	})
}

// personalData lists a registrant's data in the forms in which it may appear.
func personalData(email string, r registrar.Registrant) []string {
	digits := strings.NewReplacer("+", "", ".", "").Replace(r.Phone)
	return []string{email, r.Name, r.Organisation, r.Street, r.PostalCode, r.Phone, digits, strings.TrimPrefix(digits, "49")}
}

func TestPublicResponses_ContainNoRegistrantData(t *testing.T) {
	t.Parallel()
	s := newEnv(t)
	bought := s.purchase("niemand-genannt.org")
	waiting, err := s.StartOrder(t.Context(), "auch-niemand.org")
	must(t, err)
	account, err := s.DB.GetBuyer(t.Context(), s.order(bought.ID).Customer)
	must(t, err)
	if !account.HasRegistrant || account.Name == "" || account.Street == "" {
		t.Fatalf("the registrant has no data to search for: %+v", account)
	}
	holder, hasRegistrant, err := s.DB.GetRegistrant(t.Context(), account.Customer)
	if err != nil || !hasRegistrant {
		t.Fatalf("registrant: %t, %v", hasRegistrant, err)
	}

	client := &anonymousClient{t: t, base: s.Base, responses: make(map[string]string)}
	for _, name := range []string{"niemand-genannt.org", "auch-niemand.org", "kaffeehaus-elbblick.de"} {
		client.request(http.MethodPost, "/api/domain/check", map[string]string{"domain": name})
		client.request(http.MethodPost, "/api/domain/search", map[string]string{"query": name})
		client.callTool("domain_check", map[string]string{"domain": name})
		client.callTool("whois_lookup", map[string]string{"domain": name})
	}
	for _, tool := range []string{"list_my_domains", "get_order_status", "start_order", "list_orders", "cancel_order", "set_auto_renew", "list_holders"} {
		client.callTool(tool, map[string]any{"orderId": bought.ID, "items": []map[string]string{{"domain": "noch-niemand.org", "type": "register"}}})
	}
	client.request(http.MethodPost, "/api/mcp", map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
	for _, path := range []string{
		"/", "/openapi.json", "/llms.txt", "/robots.txt", "/auth.md", "/.well-known/acp.json", "/.well-known/ai-catalog.json",
		"/.well-known/api-catalog", "/.well-known/mcp/server-card.json", "/.well-known/oauth-authorization-server", "/portal/sign-in",
		"/portal", "/portal/orders", "/portal/orders/" + bought.ID, "/portal/registrant", "/checkout/" + strings.Repeat("a", 52),
	} {
		client.request(http.MethodGet, path, nil)
	}
	// With the order's link, but not signed in.
	for _, link := range []string{bought.PaymentURL, waiting.PaymentURL} {
		page := client.request(http.MethodGet, link, nil)
		if !strings.Contains(page, "niemand") {
			t.Errorf("the order's page does not name the item: %.300s", page)
		}
		for _, path := range []string{"/pay", "/decline", "/code"} {
			client.request(http.MethodPost, link+path, nil)
		}
		client.request(http.MethodGet, link+"/paid", nil)
		client.request(http.MethodGet, link+"/back", nil)
		if events := client.request(http.MethodGet, link+"/events", nil); !strings.Contains(events, "event: end") || !strings.Contains(events, "niemand") {
			t.Errorf("the order's event stream does not name the item: %.300s", events)
		}
	}
	for _, found := range testkit.FindPersonalData(personalData(account.Email, holder), client.responses) {
		t.Error(found)
	}
	testkit.Reconcile(t, s.World.Ready)
}
