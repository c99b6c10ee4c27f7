// Package orders tests orders end to end: an agent orders through the MCP endpoint, and
// a human pays on the pages of the product and of the sandbox's payment provider.
// Product and sandbox are two processes.
package orders

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit"
)

var binary string

func TestMain(m *testing.M) { os.Exit(testkit.Main(m, &binary)) }

// The go tool does not see the sources of a binary built by a command, so this test
// reads them.
func TestSources_AreInputsOfTheTestCache(t *testing.T) {
	t.Parallel()
	seen, err := testkit.Sources()
	if err != nil || len(seen) == 0 {
		t.Fatalf("%d sources, %v", len(seen), err)
	}
}

// waitTimeout bounds waits on a busy machine.
const waitTimeout = time.Minute

// The sandbox's cards.
const (
	cardPays     = "4242424242424242"
	cardDeclined = "4000000000000002"
	cardNeeds3DS = "4000002500003155"
)

// env is a product with its sandbox.
type env struct {
	testkit.SandboxInfo
	t            *testing.T
	product      *testkit.Product
	base, config string
	world        testkit.World
	provider     testkit.Provider
	// reconcile checks that orders, charges and domains agree.
	reconcile func()
}

func newEnv(t *testing.T, settings ...string) *env {
	t.Helper()
	return newEnvBehind(t, nil, settings...)
}

// newEnvBehind is newEnv whose product starts with a configuration that between has rewritten.
func newEnvBehind(t *testing.T, between func(string) (string, error), settings ...string) *env {
	t.Helper()
	settings = append([]string{
		"DOTKONTOR_LIMITS_TOKEN_PER_MINUTE=100000", "DOTKONTOR_LIMITS_TOKEN_PER_HOUR=100000",
		"DOTKONTOR_LIMITS_QUOTES_PER_MINUTE=100000", "DOTKONTOR_LIMITS_QUOTES_PER_HOUR=100000",
	}, settings...)
	opened := testkit.NewEnvBehind(t, binary, between, settings...)
	return &env{
		t: t, SandboxInfo: opened.SandboxInfo, product: opened.Product, base: opened.Base, reconcile: func() { t.Helper(); opened.Reconcile(t) },
		config: opened.Config, world: opened.Registry, provider: opened.Provider,
	}
}

// item is one requested name.
type item struct {
	Domain string `json:"domain"`
	Type   string `json:"type"`
}

// orderResult is the result of start_order and get_order_status.
type orderResult struct {
	OrderID         string `json:"orderId"`
	Status          string `json:"status"`
	PaymentURL      string `json:"payment_url"`
	VerificationURL string `json:"verification_url"`
	Totals          struct {
		GrossEUR json.Number `json:"grossEur"`
	} `json:"totals"`
	Items []struct {
		Domain string `json:"domain"`
		Type   string `json:"type"`
		Status string `json:"status"`
		Years  int    `json:"years"`
		// For rejected items.
		Code    string `json:"code"`
		Message string `json:"message"`
		// For failed items.
		Failure *struct{ Code string } `json:"failure"`
		Refund  *struct {
			Status    string      `json:"status"`
			AmountEUR json.Number `json:"amountEur"`
		} `json:"refund"`
	} `json:"items"`
	ExpiresAt    string `json:"expiresAt"`
	Requirements []struct {
		Code    string `json:"code"`
		Domain  string `json:"domain"`
		Rule    string `json:"rule"`
		Message string `json:"message"`
		URL     string `json:"url"`
	} `json:"requirements"`
	// For errors.
	Code    string `json:"code"`
	Message string `json:"message"`
	Reason  string `json:"reason"`
	URL     string `json:"url"`
}

// callOrderTool calls an order tool as the agent.
func (s *env) callOrderTool(tool string, arguments any) (answer orderResult, failed bool) {
	s.t.Helper()
	failed = s.callTool(tool, arguments, &answer)
	return answer, failed
}

// callTool decodes a tool's structured content into answer.
func (s *env) callTool(tool string, arguments, answer any) (failed bool) {
	s.t.Helper()
	failed, err := testkit.MCP{Base: s.base, Token: s.Demo.Token}.Call(s.t.Context(), tool, arguments, answer)
	if err != nil {
		s.t.Fatal(err)
	}
	return failed
}

func (s *env) startOrder(items ...item) orderResult {
	s.t.Helper()
	answer, failed := s.callOrderTool("start_order", map[string]any{"items": items})
	if failed || answer.PaymentURL == "" {
		s.t.Fatalf("start_order: %+v", answer)
	}
	return answer
}

// waitForStatus waits until get_order_status reports a status.
func (s *env) waitForStatus(id, status string) (last orderResult) {
	s.t.Helper()
	testkit.Eventually(s.t, "order with status "+status, func() bool {
		last, _ = s.callOrderTool("get_order_status", map[string]string{"orderId": id})
		return last.Status == status
	})
	return last
}

// browser is an HTTP client with cookies that does not follow redirects.
type browser struct {
	*env
	client *http.Client
}

func (s *env) newBrowser() browser {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return browser{s, &http.Client{
		Jar: jar, Timeout: 30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (s *env) signedInBrowser() browser {
	s.t.Helper()
	h := s.newBrowser()
	if got := h.post(s.base+"/portal/sign-in", "email", s.Demo.Email, "password", s.Demo.Password); got.status != http.StatusSeeOther {
		s.t.Fatalf("sign-in: status %d", got.status)
	}
	return h
}

type pageResponse struct {
	status     int
	next, text string
}

func (h browser) get(address string) pageResponse { return h.do(http.MethodGet, address, nil) }

func (h browser) post(address string, fields ...string) pageResponse {
	values := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		values.Set(fields[i], fields[i+1])
	}
	return h.do(http.MethodPost, address, values)
}

func (h browser) do(method, address string, fields url.Values) pageResponse {
	h.t.Helper()
	request, err := http.NewRequestWithContext(h.t.Context(), method, address, strings.NewReader(fields.Encode()))
	if err != nil {
		h.t.Fatal(err)
	}
	request.Header.Set("Accept-Language", "de")
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	response, err := h.client.Do(request)
	if err != nil {
		h.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		h.t.Fatal(err)
	}
	got := pageResponse{status: response.StatusCode, text: string(text), next: response.Header.Get("Location")}
	if strings.HasPrefix(got.next, "/") {
		got.next = request.URL.Scheme + "://" + request.URL.Host + got.next
	}
	return got
}

var (
	grossField   = regexp.MustCompile(`name="gross" value="(\d+)"`)
	consentField = regexp.MustCompile(`name="consent" value="([^"]+)"`)
)

// submitPayment opens an order's page and submits its form with the amount shown and
// the consumer's consent.
func (h browser) submitPayment(link string) pageResponse {
	h.t.Helper()
	got := h.submitPaymentFrom(link, h.get(link))
	if got.status != http.StatusSeeOther {
		h.t.Fatalf("pay: status %d:\n%s", got.status, got.text)
	}
	return got
}

// submitPaymentFrom submits the form of a page that was loaded before.
func (h browser) submitPaymentFrom(link string, page pageResponse) pageResponse {
	h.t.Helper()
	gross := grossField.FindStringSubmatch(page.text)
	if gross == nil {
		h.t.Fatalf("no pay button (%d):\n%s", page.status, page.text)
	}
	form := []string{"gross", gross[1]}
	if consent := consentField.FindStringSubmatch(page.text); consent != nil {
		form = append(form, "consent", consent[1])
	}
	return h.post(link+"/pay", form...)
}

// pay pays an order with a valid card and returns.
func (h browser) pay(link string) {
	h.t.Helper()
	back := h.post(h.submitPayment(link).next, "cardNumber", cardPays)
	if back.status != http.StatusSeeOther || !strings.HasPrefix(back.next, link+"/paid") {
		h.t.Fatalf("card not accepted (%d): %s", back.status, back.next)
	}
	if after := h.get(back.next); after.status >= http.StatusBadRequest {
		h.t.Fatalf("return: status %d", after.status)
	}
}
