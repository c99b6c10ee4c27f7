// Package orders lets an agent order and a human pay, each over its own socket: the
// agent by the MCP endpoint, the human by the pages of the product and of the
// sandbox's payment provider. The product and its world are two processes.
package orders

import (
	"bytes"
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

	"github.com/dotkontor/dotkontor/test/rig"
)

var binary string

func TestMain(m *testing.M) { os.Exit(rig.Main(m, &binary)) }

// The binary is built by a command, so the go tool has to be told.
func TestAChangeOfTheProductRunsTheseTestsAgain(t *testing.T) {
	t.Parallel()
	seen, err := rig.Sources()
	if err != nil || len(seen) == 0 {
		t.Fatalf("%d sources, %v", len(seen), err)
	}
}

// patience bounds what takes seconds, on a machine that is busy otherwise.
const patience = time.Minute

// The cards of the sandbox.
const (
	pays     = "4242424242424242"
	declined = "4000000000000002"
	asks     = "4000002500003155"
)

// stage is a product with its world.
type stage struct {
	rig.Told
	t            *testing.T
	product      *rig.Product
	base, config string
	world        rig.World
	provider     rig.Provider
	// books proves that everything agrees.
	books func()
}

func open(t *testing.T, settings ...string) *stage {
	t.Helper()
	settings = append([]string{
		"DOTKONTOR_LIMITS_TOKEN_PER_MINUTE=100000", "DOTKONTOR_LIMITS_TOKEN_PER_HOUR=100000",
		"DOTKONTOR_LIMITS_QUOTES_PER_MINUTE=100000", "DOTKONTOR_LIMITS_QUOTES_PER_HOUR=100000",
	}, settings...)
	opened := rig.Open(t, binary, settings...)
	return &stage{
		t: t, Told: opened.Told, product: opened.Product, base: opened.Base, books: func() { t.Helper(); opened.Books(t) },
		config: opened.Config, world: opened.Registry, provider: opened.Provider,
	}
}

// item is one wanted name.
type item struct {
	Domain string `json:"domain"`
	Type   string `json:"type"`
}

// prepared is what start_order answers, and get_order_status.
type prepared struct {
	OrderID         string `json:"orderId"`
	Status          string `json:"status"`
	PaymentURL      string `json:"payment_url"`
	VerificationURL string `json:"verification_url"`
	Totals          struct {
		GrossEUR json.Number `json:"grossEur"`
	} `json:"totals"`
	Items []struct {
		Domain string `json:"domain"`
		Status string `json:"status"`
		Years  int    `json:"years"`
		// Of a rejected item.
		Code    string `json:"code"`
		Message string `json:"message"`
		// Of a failed one.
		Failure *struct{ Code string } `json:"failure"`
		Refund  *struct {
			Status    string      `json:"status"`
			AmountEUR json.Number `json:"amountEur"`
		} `json:"refund"`
	} `json:"items"`
	ExpiresAt    string `json:"expiresAt"`
	Requirements []struct {
		Code   string `json:"code"`
		Domain string `json:"domain"`
		URL    string `json:"url"`
	} `json:"requirements"`
	// Of a failure.
	Code    string `json:"code"`
	Message string `json:"message"`
	Reason  string `json:"reason"`
	URL     string `json:"url"`
}

// call is the agent.
func (s *stage) call(tool string, arguments any) (answer prepared, failed bool) {
	s.t.Helper()
	failed = s.ask(tool, arguments, &answer)
	return answer, failed
}

// ask reads a tool's structured content into answer.
func (s *stage) ask(tool string, arguments, answer any) (failed bool) {
	s.t.Helper()
	message, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.base+"/api/mcp", bytes.NewReader(message))
	if err != nil {
		s.t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set("Authorization", "Bearer "+s.Demo.Token)
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	var body struct {
		Result struct {
			IsError           bool            `json:"isError"`
			StructuredContent json.RawMessage `json:"structuredContent"`
		} `json:"result"`
	}
	if err := json.NewDecoder(response.Body).Decode(&body); err != nil {
		s.t.Fatal(err)
	}
	if err := json.Unmarshal(body.Result.StructuredContent, answer); err != nil {
		s.t.Fatal(err)
	}
	return body.Result.IsError
}

func (s *stage) start(items ...item) prepared {
	s.t.Helper()
	answer, failed := s.call("start_order", map[string]any{"items": items})
	if failed || answer.PaymentURL == "" {
		s.t.Fatalf("start_order: %+v", answer)
	}
	return answer
}

// becomes waits until get_order_status says so.
func (s *stage) becomes(id, status string) prepared {
	s.t.Helper()
	var last prepared
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if last, _ = s.call("get_order_status", map[string]string{"orderId": id}); last.Status == status {
			return last
		}
	}
	s.t.Fatalf("the order is not %s: %+v", status, last)
	return last
}

// human is somebody with a browser, without its redirects.
type human struct {
	*stage
	client *http.Client
}

func (s *stage) stranger() human {
	s.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	return human{s, &http.Client{
		Jar: jar, Timeout: 30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (s *stage) signedIn() human {
	s.t.Helper()
	h := s.stranger()
	if got := h.post(s.base+"/portal/sign-in", "email", s.Demo.Email, "password", s.Demo.Password); got.status != http.StatusSeeOther {
		s.t.Fatalf("the sign-in answered %d", got.status)
	}
	return h
}

// seen is what the browser got.
type seen struct {
	status     int
	next, text string
}

func (h human) get(address string) seen { return h.browse(http.MethodGet, address, nil) }

func (h human) post(address string, fields ...string) seen {
	values := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		values.Set(fields[i], fields[i+1])
	}
	return h.browse(http.MethodPost, address, values)
}

func (h human) browse(method, address string, fields url.Values) seen {
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
	got := seen{status: response.StatusCode, text: string(text), next: response.Header.Get("Location")}
	if strings.HasPrefix(got.next, "/") {
		got.next = request.URL.Scheme + "://" + request.URL.Host + got.next
	}
	return got
}

var (
	grossField   = regexp.MustCompile(`name="gross" value="(\d+)"`)
	consentField = regexp.MustCompile(`name="consent" value="([^"]+)"`)
)

// press opens the page of an order and presses its button: the sum is the one that
// the page shows, and what a consumer must consent to is ticked.
func (h human) press(link string) seen {
	h.t.Helper()
	got := h.pressed(link, h.get(link))
	if got.status != http.StatusSeeOther {
		h.t.Fatalf("the button answered %d:\n%s", got.status, got.text)
	}
	return got
}

// pressed is the answer to the button of a page that was read before.
func (h human) pressed(link string, page seen) seen {
	h.t.Helper()
	gross := grossField.FindStringSubmatch(page.text)
	if gross == nil {
		h.t.Fatalf("the page has no button (%d):\n%s", page.status, page.text)
	}
	told := []string{"gross", gross[1]}
	if consent := consentField.FindStringSubmatch(page.text); consent != nil {
		told = append(told, "consent", consent[1])
	}
	return h.post(link+"/pay", told...)
}

// pay pays an order with a good card and comes back.
func (h human) pay(link string) {
	h.t.Helper()
	back := h.post(h.press(link).next, "cardNumber", pays)
	if back.status != http.StatusSeeOther || !strings.HasPrefix(back.next, link+"/paid") {
		h.t.Fatalf("the card was not taken (%d): %s", back.status, back.next)
	}
	if after := h.get(back.next); after.status >= http.StatusBadRequest {
		h.t.Fatalf("the way back answered %d", after.status)
	}
}
