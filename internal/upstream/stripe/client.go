package stripe

import (
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	api "github.com/stripe/stripe-go/v85"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

const (
	// attemptTimeout bounds one attempt and callWithin a call with its repetitions. A
	// human waits for some of them, and the server gives an answer 20 seconds.
	attemptTimeout = 7 * time.Second
	callTimeout    = 16 * time.Second
	// maxAttempts is how often a call is sent at most, firstPause how long the first
	// pause between two of them is; the next one is twice as long.
	maxAttempts     = 3
	firstRetryDelay = 250 * time.Millisecond
	// maxResponseBytes bounds an answer.
	maxResponseBytes = 4 << 20
	// maxConcurrent bounds the connections.
	maxConcurrent = 64
)

var (
	_ order.Payments   = (*Client)(nil)
	_ order.Identities = (*Client)(nil)
	_ order.Tokens     = (*Client)(nil)
)

// Options are what a Client needs.
type Options struct {
	// Key is the secret key.
	Key string
	// URL is where the interface is reached; empty means Stripe's own.
	URL string
	// Methods are the means of payment on the page, in Stripe's words.
	Methods []string
	// Secrets sign what Stripe sends; any of them counts.
	Secrets []string
	// Token is how payments by token are asked for.
	Token TokenRequestFormat
	// Logger hears of what an operator must mend; nil means nobody does.
	Logger *slog.Logger
	// Observe hears of every call: its name, how it ended (ok, or the code of the
	// error), and how long it took with its repetitions. It may be nil.
	Observe func(call, outcome string, took time.Duration)
}

// Client speaks to Stripe. It is safe for concurrent use.
type Client struct {
	api *api.Client
	// raw is for what the library has no types for; key is what it asks for.
	raw     api.RawRequestBackend
	key     string
	token   TokenRequestFormat
	host    string
	methods []string
	// reusableMethods are those of methods that can be kept for later.
	reusableMethods []string
	secrets         []string
	logger          *slog.Logger
	observe         func(call, outcome string, took time.Duration)
}

// New returns a Client. Nothing is called yet.
func New(o Options) *Client { return newClient(o, newTransport()) }

func newClient(o Options, transport http.RoundTripper) *Client {
	if o.URL == "" {
		o.URL = api.APIURL
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Observe == nil {
		o.Observe = func(string, string, time.Duration) {}
	}
	host := "stripe"
	if address, err := url.Parse(o.URL); err == nil && address.Host != "" {
		host = address.Host
	}
	backend := api.GetBackendWithConfig(api.APIBackend, &api.BackendConfig{
		URL: api.String(o.URL), HTTPClient: newHTTPClient(transport),
		MaxNetworkRetries: api.Int64(0), EnableTelemetry: api.Bool(false),
		// The library's log quotes what was sent and what came back.
		LeveledLogger: &api.LeveledLogger{Level: api.LevelNull},
	})
	// Nothing else than the interface itself is ever called.
	client := api.NewClient(o.Key, api.WithBackends(&api.Backends{
		API: backend, Connect: backend, Uploads: backend, MeterEvents: backend,
	}))
	raw, _ := backend.(api.RawRequestBackend) // which the library's own is
	return &Client{
		api: client, raw: raw, key: o.Key, token: o.Token.withDefaults(), host: host, methods: o.Methods, reusableMethods: filterReusable(o.Methods),
		secrets: o.Secrets, logger: o.Logger, observe: o.Observe,
	}
}

func newTransport() *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true,
		MaxConnsPerHost: maxConcurrent, MaxIdleConnsPerHost: maxConcurrent, IdleConnTimeout: time.Minute,
		TLSHandshakeTimeout: attemptTimeout, MaxResponseHeaderBytes: 64 << 10,
	}
}

func newHTTPClient(transport http.RoundTripper) *http.Client {
	return &http.Client{
		Transport:     limitedTransport{transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       attemptTimeout,
	}
}

// limitedTransport cuts answers that are too large; what is left can't be read as JSON.
type limitedTransport struct{ transport http.RoundTripper }

func (b limitedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer.Body = struct {
		io.Reader
		io.Closer
	}{io.LimitReader(answer.Body, maxResponseBytes), answer.Body}
	return answer, nil
}

// call sends something until it is answered, the attempts are used up, or time is
// over. once must send the same each time, with the same idempotency key. The
// error, if any, is a *registrar.Error.
func (c *Client) call(ctx context.Context, name string, once func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	began := time.Now()
	pause := firstRetryDelay
	for attempt := 1; ; attempt++ {
		err := once(ctx)
		if err == nil {
			c.observe(name, "ok", time.Since(began))
			return nil
		}
		problem := c.toError(name, err)
		if attempt == maxAttempts || !retryable(err) || !sleep(ctx, pause) {
			if problem.Code == KeyRefused {
				c.logger.ErrorContext(ctx, "Stripe does not take our key, or it may not do this: look at stripe.secret_key", "call", name)
			}
			c.observe(name, string(problem.Code), time.Since(began))
			return problem
		}
		pause *= 2
	}
}

// sleep waits for a while, less by up to a quarter so that a crowd spreads; it is
// false if the context ends first.
func sleep(ctx context.Context, delay time.Duration) bool {
	delay -= rand.N(delay / 4) //nolint:gosec // not a secret
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < delay {
		return false
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
