package stripe

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"time"

	api "github.com/stripe/stripe-go/v85"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/tracing"
)

const (
	// attemptTimeout limits one attempt and callTimeout a call with its retries.
	// Customers wait for some calls, and the server limits a response to 20
	// seconds.
	attemptTimeout = 7 * time.Second
	callTimeout    = 16 * time.Second
	// maxAttempts limits the attempts of a call; the first delay between them
	// doubles.
	maxAttempts      = 3
	firstRetryDelay  = 250 * time.Millisecond
	maxResponseBytes = 4 << 20
	maxConcurrent    = 64
)

var _ order.Provider = (*Client)(nil)

// Options configures a Client.
type Options struct {
	Key string
	// URL is the base URL of the API; empty means Stripe's own.
	URL string
	// Methods are the payment methods on the page, by Stripe's names.
	Methods []string
	// Secrets are the webhook signing secrets; any of them is accepted.
	Secrets []string
	// Token configures payments by shared payment token.
	Token TokenRequestFormat
	// Logger receives problems that an operator must fix; nil discards them.
	Logger *slog.Logger
	// Observe is called after each call with its name, outcome (ok or the error
	// code) and duration including retries. It may be nil.
	Observe func(call, outcome string, took time.Duration)
}

// Client calls the Stripe API. It is safe for concurrent use.
type Client struct {
	options Options
	api     endpoints
	// backend sends requests whose responses are read into types of our own.
	backend *api.BackendImplementation
	host    string
	// reusableMethods are those of Options.Methods that can be saved.
	reusableMethods []string
}

// New returns a Client. It does no I/O.
func New(o Options) *Client {
	return newClient(o, &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true,
		MaxConnsPerHost: maxConcurrent, MaxIdleConnsPerHost: maxConcurrent, IdleConnTimeout: time.Minute,
		TLSHandshakeTimeout: attemptTimeout, MaxResponseHeaderBytes: 64 << 10,
	})
}

func newClient(o Options, transport http.RoundTripper) *Client {
	o.URL = cmp.Or(o.URL, api.APIURL)
	o.Token.Parameter, o.Token.Version = cmp.Or(o.Token.Parameter, tokenParameter), cmp.Or(o.Token.Version, tokenVersion)
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
	// The library has no other constructor. This is the type that it returns; if a later version
	// returned another, every start and every test would panic here.
	backend := api.GetBackendWithConfig(api.APIBackend, &api.BackendConfig{
		URL: api.String(o.URL), HTTPClient: &http.Client{
			Transport:     limitedTransport{transport},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Timeout:       attemptTimeout,
		},
		MaxNetworkRetries: api.Int64(0), EnableTelemetry: api.Bool(false),
		// The library's log quotes requests and responses.
		LeveledLogger: &api.LeveledLogger{Level: api.LevelNull},
	}).(*api.BackendImplementation)
	// No other Stripe host is ever called.
	client := api.NewClient(o.Key, api.WithBackends(&api.Backends{
		API: backend, Connect: backend, Uploads: backend, MeterEvents: backend,
	}))
	reusable := slices.DeleteFunc(slices.Clone(o.Methods), func(method string) bool {
		return !slices.Contains(reusableMethodTypes, method)
	})
	return &Client{options: o, api: endpointsOf(client), backend: backend, host: host, reusableMethods: reusable}
}

// limitedTransport truncates oversized responses, which then fail as JSON. It states the length of
// a request's body, and names the span of a traced request in a header.
type limitedTransport struct{ transport http.RoundTripper }

func (b limitedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	r, err := withLength(tracing.Propagate(r))
	if err != nil {
		return nil, err
	}
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

// withLength returns a copy of r that states the length of its body. The library omits it, and
// net/http would send the header and a chunked body in separate packets.
func withLength(r *http.Request) (*http.Request, error) {
	if r.Body == nil {
		return r, nil
	}
	body, err := io.ReadAll(r.Body)
	_ = r.Body.Close() // as of every RoundTripper
	if err != nil {
		return nil, err
	}
	r = r.WithContext(r.Context()) // a RoundTripper must not change its request
	r.ContentLength, r.Body = int64(len(body)), http.NoBody
	if len(body) > 0 {
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	return r, nil
}

// call runs once until it succeeds, fails for good, or the attempts or the time are
// used up. once must send the same request with the same idempotency key each time.
// The error, if any, is a *registrar.Error.
func (c *Client) call(ctx context.Context, name string, once func(context.Context) error) error {
	ctx, span := tracing.StartCall(ctx, "stripe", name)
	span.SetString(tracing.Call, name)
	err := c.callWithRetries(ctx, name, once)
	span.End(err)
	return err
}

func (c *Client) callWithRetries(ctx context.Context, name string, once func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	began := time.Now()
	delay := firstRetryDelay
	for attempt := 1; ; attempt++ {
		err := once(ctx)
		if err == nil {
			c.options.Observe(name, "ok", time.Since(began))
			return nil
		}
		problem := c.toError(name, err)
		if attempt == maxAttempts || !retryable(err) || !sleep(ctx, delay) {
			if problem.Code == KeyRefused {
				c.options.Logger.ErrorContext(ctx, "stripe api key rejected: check stripe.secret_key", "call", name)
			}
			c.options.Observe(name, string(problem.Code), time.Since(began))
			return problem
		}
		delay *= 2
	}
}

// create is call for the library's methods that create an object.
func create[P, T any](
	ctx context.Context, c *Client, name string, method func(context.Context, P) (*T, error), params P,
) (object *T, err error) {
	err = c.call(ctx, name, func(ctx context.Context) (err error) {
		object, err = method(ctx, params)
		return err
	})
	return object, err
}

// onObject is call for the library's methods on an existing object.
func onObject[P, T any](
	ctx context.Context, c *Client, name string, method func(context.Context, string, P) (*T, error), id string, params P,
) (*T, error) {
	return create(ctx, c, name, func(ctx context.Context, params P) (*T, error) { return method(ctx, id, params) }, params)
}

// broken is the fault for a response that lacks its data.
func (c *Client) broken(call string) error {
	return registrar.Fault(registrar.FaultBroken, c.host+": "+call, nil)
}

// sleep waits for delay minus up to a quarter of jitter; it returns false if the
// context ends first.
func sleep(ctx context.Context, delay time.Duration) bool {
	delay -= rand.N(delay / 4) //nolint:gosec // jitter need not be unpredictable
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
