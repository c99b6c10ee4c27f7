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

// clock is the sandbox's clock, which a test moves.
type clock struct{ offset atomic.Int64 }

func (c *clock) now() time.Time               { return time.Now().Add(time.Duration(c.offset.Load())) }
func (c *clock) advance(by time.Duration)     { c.offset.Add(int64(by)) }
func (c *clock) in(span time.Duration) *int64 { return stripego.Int64(c.now().Add(span).Unix()) }

// stage is a provider, Stripe's own client, a shop that hears webhooks, and a
// browser that does not follow.
type stage struct {
	*testing.T
	server *stripe.Server
	client *stripego.Client
	clock  *clock
	shop   *shop
	human  *http.Client
}

type shop struct {
	*httptest.Server
	mu     sync.Mutex
	events []stripego.Event
	bad    int
	// refuse is how many deliveries are answered with 500.
	refuse int
	secret func() string
}

func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse > 0 {
		s.refuse--
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	event, err := webhook.ConstructEvent(body, r.Header.Get("Stripe-Signature"), s.secret())
	if err != nil {
		s.bad++
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	s.events = append(s.events, event)
}

func (s *shop) heard() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, event := range s.events {
		all = append(all, string(event.Type))
	}
	return all
}

func open(t *testing.T, opts stripe.Options) *stage {
	t.Helper()
	s := &stage{T: t, clock: &clock{}, shop: &shop{}}
	if opts.Now == nil {
		opts.Now = s.clock.now
	}
	s.shop.Server = httptest.NewServer(s.shop)
	t.Cleanup(s.shop.Close)
	opts.Endpoint = s.shop.URL + "/api/stripe/webhook"
	server, err := stripe.Start(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	s.server, s.shop.secret = server, server.WebhookSecret
	s.client = clientOf(server, server.SecretKey())
	s.human = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(s.human.CloseIdleConnections)
	return s
}

func clientOf(server *stripe.Server, key string) *stripego.Client {
	backend := stripego.GetBackendWithConfig(stripego.APIBackend, &stripego.BackendConfig{
		URL: stripego.String(server.API()), MaxNetworkRetries: stripego.Int64(0), LeveledLogger: &stripego.LeveledLogger{Level: stripego.LevelNull},
		HTTPClient: &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
	})
	return stripego.NewClient(key, stripego.WithBackends(&stripego.Backends{API: backend}))
}

// session is what the product asks for, more or less.
func (s *stage) session(key string, cents int64) *stripego.CheckoutSessionCreateParams {
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

func (s *stage) create(key string, cents int64) *stripego.CheckoutSession {
	s.Helper()
	made, err := s.client.V1CheckoutSessions.Create(s.Context(), s.session(key, cents))
	if err != nil {
		s.Fatal(err)
	}
	return made
}

// look reads a page with everything that the product wants to know.
func (s *stage) look(id string) *stripego.CheckoutSession {
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

// click posts a form as a human does, and returns status and where it leads.
func (s *stage) click(page string, form url.Values) (int, string, string) {
	s.Helper()
	request, err := http.NewRequestWithContext(s.Context(), http.MethodPost, page, strings.NewReader(form.Encode()))
	if err != nil {
		s.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := s.human.Do(request)
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

func (s *stage) pay(page, number string) (int, string, string) {
	s.Helper()
	return s.click(page, url.Values{"cardNumber": {number}, "billingName": {"Ada Beispiel"}})
}

// until waits for what other goroutines do.
func (s *stage) until(what string, done func() bool) {
	s.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if done() {
			return
		}
	}
	s.Fatalf("waited in vain: %s", what)
}

// refused is Stripe's error object behind an error.
func refused(t *testing.T, err error) *stripego.Error {
	t.Helper()
	var wrong *stripego.Error
	if !errors.As(err, &wrong) {
		t.Fatalf("no error of Stripe's: %v", err)
	}
	return wrong
}
