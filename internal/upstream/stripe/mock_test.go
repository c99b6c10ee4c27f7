package stripe

import (
	"bufio"
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	api "github.com/stripe/stripe-go/v85"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
)

// startMock runs Stripe's own stripe-mock, which validates each request against
// Stripe's OpenAPI description, and returns its address. It is built from
// tools.mod.
func startMock(t *testing.T, flags ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds and runs stripe-mock")
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "stripe-mock")
	build := exec.CommandContext(t.Context(), "go", "build", "-modfile=tools.mod", "-buildvcs=false", "-o", program, "github.com/stripe/stripe-mock")
	build.Dir = root
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("stripe-mock can't be built: %v\n%s", err, text)
	}
	// Without both flags it also opens a random public port.
	flags = append([]string{"-http-addr", "127.0.0.1:0", "-https-addr", "127.0.0.1:0"}, flags...)
	mock := exec.CommandContext(t.Context(), program, flags...)
	output, err := mock.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	mock.Stderr = os.Stderr
	if err := mock.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = mock.Process.Kill()
		_ = mock.Wait()
	})
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		if _, address, found := strings.Cut(lines.Text(), "Listening for HTTP at address: "); found {
			go func() {
				for lines.Scan() { // drain the output so that the process never blocks
				}
			}()
			return "http://" + address
		}
	}
	t.Fatal("stripe-mock does not listen")
	return ""
}

// recordedRequest is a request with the status of its response.
type recordedRequest struct {
	method, path, key, version string
	status                     int
	body                       string
}

// recordRequests starts a proxy that records the requests.
func recordRequests(t *testing.T, address string) (front string, requests func() []recordedRequest) {
	t.Helper()
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	var mu sync.Mutex
	var list []recordedRequest
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := httptest.NewRecorder()
		proxy.ServeHTTP(rec, r)
		mu.Lock()
		list = append(list, recordedRequest{
			r.Method, r.URL.Path, r.Header.Get("Idempotency-Key"), r.Header.Get("Stripe-Version"), rec.Code, rec.Body.String(),
		})
		mu.Unlock()
		for name, values := range rec.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
	}))
	t.Cleanup(server.Close)
	return server.URL, func() []recordedRequest {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(list)
	}
}

// samplePage sets every field of a page.
func samplePage() order.PaymentPage {
	return order.PaymentPage{
		ID: "pay_0123456789", Order: "ord_0123456789",
		Items:  []order.Item{{Name: "example.de, 1 Jahr", Gross: 1190}, {Name: "frei.example, Umzug", Gross: 0}},
		Amount: 1190, Customer: "cus_of_ours", Email: "person@example.org", Language: "de",
		PaidURL: "https://domains.example/checkout/secret/paid", BackURL: "https://domains.example/checkout/secret/back",
		EndsAt: time.Now().Add(time.Hour),
	}
}

// makeEveryCall makes every call of the Client in every variant. Responses are
// ignored: stripe-mock is stateless.
func makeEveryCall(ctx context.Context, c *Client) {
	page := samplePage()
	_, _ = c.OpenPage(ctx, page)
	page.SaveMethod, page.Language = true, "en"
	_, _ = c.OpenPage(ctx, page)
	page.ProviderCustomer = "cus_1"
	_, _ = c.OpenPage(ctx, page)
	_, _ = c.FetchPage(ctx, "cs_test_1")
	_, _ = c.ClosePage(ctx, "cs_test_1")
	for _, asked := range []bool{false, true} {
		_, _ = c.Refund(ctx, order.RefundRequest{ID: "ref_1", Order: "ord_1", Intent: "pi_1", Amount: 1190, Reason: "failed_item"}, asked)
	}
	_, _, _ = c.OpenVerification(ctx, "ver_1", "cus_of_ours", "person@example.org", "de", "https://domains.example/checkout/verify/secret")
	_, _ = c.FetchVerification(ctx, "vs_1")
	saved := order.Charge{ID: "pay_2", Order: "ord_2", Amount: 1190, Method: order.PaymentMethod{ProviderCustomer: "cus_1", ID: "pm_1"}}
	_, _ = c.PrepareCharge(ctx, saved)
	saved.Intent = "pi_1"
	_, _ = c.Charge(ctx, saved)
	setup := renewal.SetupPage{
		ID: "set_1", Customer: "cus_of_ours", SetupCustomer: renewal.SetupCustomer{Email: "person@example.org", Language: "de"},
		DoneURL: "https://domains.example/portal/payment-methods/saved?session=" + renewal.SessionPlaceholder, BackURL: "https://domains.example/portal/payment-methods",
	}
	_, _ = c.OpenSetupPage(ctx, setup)
	setup.ProviderCustomer = "cus_1"
	_, _ = c.OpenSetupPage(ctx, setup)
	_, _ = c.FetchSetupPage(ctx, "cs_test_1")
	_ = c.ForgetMethod(ctx, "pm_1")
	_, _ = c.FetchDispute(ctx, "dp_1")
	_, _ = c.ListDisputeIDs(ctx, time.Unix(1_700_000_000, 0), 10)
	for range c.Disputes(ctx) {
		break
	}
	for range c.Charges(ctx) {
		break
	}
	for range c.Refunds(ctx) {
		break
	}
}

// makeEveryTokenCall makes the token calls, which only the preview of Stripe's
// description contains.
func makeEveryTokenCall(ctx context.Context, c *Client) {
	charge := order.Charge{ID: "pay_1", Order: "ord_1", Amount: 1190}
	_ = c.CheckToken(ctx, "spt_123", 1190, time.Now())
	_, _ = c.PrepareCharge(ctx, charge)
	charge.Intent, charge.Token = "pi_1", "spt_123"
	_, _ = c.Charge(ctx, charge)
	_, _ = c.FetchCharge(ctx, "pi_1")
	_, _ = c.CancelCharge(ctx, "pi_1")
}

func TestClient_EveryCallMatchesStripeOpenAPI(t *testing.T) {
	t.Parallel()
	address := startMock(t)
	t.Run("and a wrong one would be found", func(t *testing.T) { checkMockRejectsBadCall(t, address) })
	var mu sync.Mutex
	called := make(map[string]bool)
	observe := func(call, _ string, _ time.Duration) {
		mu.Lock()
		called[call] = true
		mu.Unlock()
	}
	for _, one := range []struct {
		address, version string
		calls            func(context.Context, *Client)
	}{
		{address, api.APIVersion, makeEveryCall},
		{startMock(t, "-beta"), tokenVersion, makeEveryTokenCall},
	} {
		front, asked := recordRequests(t, one.address)
		one.calls(t.Context(), New(Options{
			Key: "sk_test_0123456789", URL: front, Methods: []string{"card", "paypal", "ideal"}, Observe: observe,
			// The preview's description requires a type and does not know every
			// token's.
			Token: TokenRequestFormat{Method: "link"},
		}))
		if len(asked()) < 5 {
			t.Errorf("only %d calls were made", len(asked()))
		}
		for _, request := range asked() {
			if request.status != http.StatusOK {
				t.Errorf("%s %s: %d %s", request.method, request.path, request.status, request.body)
			}
			if request.version != one.version {
				t.Errorf("%s %s has version %q", request.method, request.path, request.version)
			}
			if (request.method == http.MethodPost) != (request.key != "") {
				t.Errorf("%s %s has the idempotency key %q", request.method, request.path, request.key)
			}
		}
	}
	for _, name := range callsInSource(t) {
		if !called[name] {
			t.Errorf("the call %s is missing here: add it to makeEveryCall", name)
		}
	}
}

// callsInSource returns the call names in the package's source.
func callsInSource(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	pattern := regexp.MustCompile(`\b(?:c\.call\(ctx|(?:pages|create|onObject|(?:post|retrieve)\[\w+\])\(ctx, c), "([a-z_]+)"`)
	var calls []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range pattern.FindAllStringSubmatch(string(text), -1) {
			calls = append(calls, match[1])
		}
	}
	if len(calls) < 8 {
		t.Fatalf("found only %v", calls)
	}
	return calls
}

func checkMockRejectsBadCall(t *testing.T, address string) {
	front, asked := recordRequests(t, address)
	c := New(Options{Key: "sk_test_0123456789", URL: front, Methods: []string{"no_such_method"}})
	if _, err := c.OpenPage(t.Context(), samplePage()); err == nil {
		t.Error("a page with an unknown payment method was created")
	}
	if list := asked(); len(list) != 1 || list[0].status != http.StatusBadRequest {
		t.Errorf("got %+v", list)
	}
}
