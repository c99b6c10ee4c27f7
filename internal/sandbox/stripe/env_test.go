package stripe_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	stripego "github.com/stripe/stripe-go/v85"
	"github.com/stripe/stripe-go/v85/webhook"

	"github.com/dotkontor/dotkontor/internal/sandbox/stripe"
)

// clock is the sandbox clock, which tests advance.
type clock struct{ offset atomic.Int64 }

func (c *clock) now() time.Time               { return time.Now().Add(time.Duration(c.offset.Load())) }
func (c *clock) advance(by time.Duration)     { c.offset.Add(int64(by)) }
func (c *clock) in(span time.Duration) *int64 { return stripego.Int64(c.now().Add(span).Unix()) }

// testEnv is a provider, Stripe's own client, a shop that receives webhooks, and a
// browser without redirects.
type testEnv struct {
	*testing.T
	server   *stripe.Server
	client   *stripego.Client
	clock    *clock
	receiver *webhookReceiver
	browser  *http.Client
}

type webhookReceiver struct {
	*httptest.Server
	mu            sync.Mutex
	events        []stripego.Event
	badSignatures int
	// refusals is how many deliveries get a 500.
	refusals int
	secret   func() string
}

func (s *webhookReceiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refusals > 0 {
		s.refusals--
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	event, err := webhook.ConstructEvent(body, r.Header.Get("Stripe-Signature"), s.secret())
	if err != nil {
		s.badSignatures++
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.events = append(s.events, event)
}

func (s *webhookReceiver) eventTypes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, event := range s.events {
		all = append(all, string(event.Type))
	}
	return all
}

func newEnv(t *testing.T, opts stripe.Options) *testEnv {
	t.Helper()
	s := &testEnv{T: t, clock: &clock{}, receiver: &webhookReceiver{}}
	if opts.Now == nil {
		opts.Now = s.clock.now
	}
	// It starts when it knows the secret: the port may have been that of an earlier test,
	// whose provider still delivers to it.
	s.receiver.Server = httptest.NewUnstartedServer(s.receiver)
	t.Cleanup(func() { s.receiver.Close() })
	opts.Endpoint = "http://" + s.receiver.Listener.Addr().String() + "/api/stripe/webhook"
	server, err := stripe.Start(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	s.server, s.receiver.secret = server, server.WebhookSecret
	s.receiver.Start()
	s.client = newClient(server, server.SecretKey())
	s.browser = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(s.browser.CloseIdleConnections)
	return s
}

func newClient(server *stripe.Server, key string) *stripego.Client {
	backend := stripego.GetBackendWithConfig(stripego.APIBackend, &stripego.BackendConfig{
		URL: stripego.String(server.API()), MaxNetworkRetries: stripego.Int64(0), LeveledLogger: &stripego.LeveledLogger{Level: stripego.LevelNull},
		HTTPClient: &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	})
	return stripego.NewClient(key, stripego.WithBackends(&stripego.Backends{API: backend}))
}

// sessionParams are similar to the product's.
func (s *testEnv) sessionParams(key string, cents int64) *stripego.CheckoutSessionCreateParams {
	p := &stripego.CheckoutSessionCreateParams{
		Mode: stripego.String("payment"), PaymentMethodTypes: stripego.StringSlice([]string{"card"}),
		ClientReferenceID: stripego.String("order-1"), CustomerEmail: stripego.String("a@example.com"),
		CustomerCreation: stripego.String("always"), Locale: stripego.String("de"), ExpiresAt: s.clock.in(time.Hour),
		SuccessURL: stripego.String("http://shop.example/paid"), CancelURL: stripego.String("http://shop.example/back"),
		Metadata: map[string]string{"order": "order-1", "payment": key},
		LineItems: []*stripego.CheckoutSessionCreateLineItemParams{{
			Quantity: stripego.Int64(1),
			PriceData: &stripego.CheckoutSessionCreateLineItemPriceDataParams{
				Currency: stripego.String("eur"), UnitAmount: stripego.Int64(cents),
				ProductData: &stripego.CheckoutSessionCreateLineItemPriceDataProductDataParams{Name: stripego.String("example.de, 1 Jahr")},
			},
		}},
		PaymentIntentData: &stripego.CheckoutSessionCreatePaymentIntentDataParams{
			Metadata: map[string]string{"order": "order-1", "payment": key}, SetupFutureUsage: stripego.String("off_session"),
		},
	}
	p.SetIdempotencyKey(key)
	return p
}

func (s *testEnv) createSession(key string, cents int64) *stripego.CheckoutSession {
	s.Helper()
	made, err := s.client.V1CheckoutSessions.Create(s.Context(), s.sessionParams(key, cents))
	if err != nil {
		s.Fatal(err)
	}
	return made
}

// getSession fetches a session with the product's expansions.
func (s *testEnv) getSession(id string) *stripego.CheckoutSession {
	s.Helper()
	p := &stripego.CheckoutSessionRetrieveParams{}
	p.AddExpand("payment_intent.latest_charge")
	p.AddExpand("payment_intent.payment_method")
	got, err := s.client.V1CheckoutSessions.Retrieve(s.Context(), id, p)
	if err != nil {
		s.Fatal(err)
	}
	return got
}

// postForm posts a form like a browser and returns status, location and body.
func (s *testEnv) postForm(page string, form url.Values) (int, string, string) {
	s.Helper()
	request, err := http.NewRequestWithContext(s.Context(), http.MethodPost, page, strings.NewReader(form.Encode()))
	if err != nil {
		s.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := s.browser.Do(request)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.Fatal(err)
	}
	return response.StatusCode, response.Header.Get("Location"), string(text)
}

func (s *testEnv) payWithCard(page, number string) (int, string, string) {
	s.Helper()
	return s.postForm(page, url.Values{"cardNumber": {number}, "billingName": {"Ada Beispiel"}})
}

// waitFor waits for other goroutines.
func (s *testEnv) waitFor(what string, done func() bool) {
	s.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if done() {
			return
		}
	}
	s.Fatalf("timed out waiting for: %s", what)
}

// stripeErrorOf returns Stripe's error object of an error.
func stripeErrorOf(t *testing.T, err error) *stripego.Error {
	t.Helper()
	var wrong *stripego.Error
	if !errors.As(err, &wrong) {
		t.Fatalf("not an error of Stripe's: %v", err)
	}
	return wrong
}
