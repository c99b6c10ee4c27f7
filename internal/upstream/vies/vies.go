package vies

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/billing"
	"github.com/dotkontor/dotkontor/internal/ttlcache"
	"github.com/dotkontor/dotkontor/internal/upstream/hostlimit"
)

// Address is the base URL of the European Commission's interface.
const Address = "https://ec.europa.eu/taxation_customs/vies/rest-api"

const (
	validTTL   = 24 * time.Hour
	invalidTTL = time.Hour

	// defaultTimeout is long for a server and short for a waiting customer.
	defaultTimeout   = 4 * time.Second
	maxResponseBytes = 64 << 10
	perSecond        = 5
	maxConcurrent    = 4
	maxWaiting       = 64
)

// Cache stores results.
type Cache interface {
	// VATCheck returns the last stored result of an id and its time.
	VATCheck(ctx context.Context, id string) (valid bool, checkedAt time.Time, found bool, err error)
	SetVATCheck(ctx context.Context, id string, valid bool, checkedAt time.Time) error
}

// Options configures a Client.
type Options struct {
	// Address is the base URL; empty means the European Commission's.
	Address string
	// Timeout limits one query; 0 means 4 s.
	Timeout   time.Duration
	UserAgent string
	Cache     Cache
	// Now is the business clock; nil means time.Now.
	Now func() time.Time
	// Logger receives faults, without the id; nil discards them. Observe receives
	// the limiter events of each member state; it may be nil.
	Logger  *slog.Logger
	Observe func(host string, event hostlimit.Event)
}

// Client queries VIES. It is safe for concurrent use.
type Client struct {
	options Options
	url     string
	host    string
	limiter *hostlimit.Limiter
	http    *http.Client
	// inFlight merges concurrent queries for one id. Results are reused from Cache,
	// and failures are bounded by limiter.
	inFlight *ttlcache.Cache[string, bool]
}

var _ billing.VATIDValidator = (*Client)(nil)

// New returns a Client. It does no I/O.
func New(o Options) (*Client, error) {
	o.Address = cmp.Or(o.Address, Address)
	address, err := url.Parse(o.Address)
	if err != nil || address.Hostname() == "" || address.Scheme != "http" && address.Scheme != "https" {
		return nil, fmt.Errorf("vies: invalid base URL %q", o.Address)
	}
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	o.UserAgent = cmp.Or(o.UserAgent, "dotkontor")
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	dialer := &net.Dialer{Timeout: 2 * time.Second, KeepAlive: 30 * time.Second}
	return &Client{
		options:  o,
		inFlight: ttlcache.New[string, bool](ttlcache.Config{}),
		url:      address.JoinPath("check-vat-number").String(),
		host:     address.Host,
		limiter: hostlimit.New(hostlimit.Options{
			PerSecond: perSecond, MaxConcurrent: maxConcurrent, MaxWaiting: maxWaiting,
			// Queries are rare, so three failures suffice to detect an outage.
			Breaker: hostlimit.Breaker{MinCalls: 3, Window: 2 * time.Minute, MinOpen: 30 * time.Second, MaxOpen: 5 * time.Minute},
			Logger:  o.Logger, Observe: o.Observe,
		}),
		http: &http.Client{
			Transport: &http.Transport{
				Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, ForceAttemptHTTP2: true,
				TLSHandshakeTimeout: 2 * time.Second, IdleConnTimeout: time.Minute,
				MaxIdleConnsPerHost: maxConcurrent, MaxResponseHeaderBytes: 16 << 10,
			},
			// A redirect would disclose the id to another server.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Valid reports whether an id, which begins with its two-letter country code, is
// valid.
func (c *Client) Valid(ctx context.Context, id string) (bool, error) {
	if len(id) < 4 {
		return false, nil
	}
	valid, at, found, err := c.options.Cache.VATCheck(ctx, id)
	switch {
	case err != nil:
		c.options.Logger.WarnContext(ctx, "vat check cache read failed", "cause", registrar.CauseOf(err))
	case found && c.isFresh(valid, at):
		return valid, nil
	}
	answer, err := c.inFlight.Get(ctx, id, nil, func(ctx context.Context) (bool, error) { return c.queryAndStore(ctx, id) })
	return answer.Value && err == nil, err
}

func (c *Client) queryAndStore(ctx context.Context, id string) (valid bool, err error) {
	country := id[:2]
	state := c.host + "/" + country
	err = c.limiter.Do(ctx, state, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
		defer cancel()
		var fault *registrar.Error
		if valid, fault = c.query(ctx, country, id[2:]); fault != nil {
			fault.Detail = state
			fault.Err = &registrar.Cause{
				Part: "vies", Operation: "check", Target: c.host, Class: cmp.Or(registrar.NetworkClass(fault.Err), string(fault.Code)), Err: fault.Err,
			}
			return fault
		}
		return nil
	})
	if err != nil {
		c.options.Logger.InfoContext(ctx, "vat check failed", "host", state, "fault", string(registrar.CodeOf(err)), "cause", registrar.CauseOf(err))
		return false, err
	}
	if err := c.options.Cache.SetVATCheck(ctx, id, valid, c.options.Now()); err != nil {
		c.options.Logger.WarnContext(ctx, "vat check cache write failed", "cause", registrar.CauseOf(err))
	}
	return valid, nil
}

// isFresh reports whether a stored result is still valid. One from the future was
// stored before the clock was set back and does not count.
func (c *Client) isFresh(valid bool, at time.Time) bool {
	keep := invalidTTL
	if valid {
		keep = validTTL
	}
	age := c.options.Now().Sub(at)
	return age >= 0 && age < keep
}

type checkResponse struct {
	CountryCode string `json:"countryCode"`
	VATNumber   string `json:"vatNumber"`
	Valid       *bool  `json:"valid"`
	// UserError contains the reason in some responses with valid=false.
	UserError     string `json:"userError"`
	ErrorWrappers []struct {
		Error string `json:"error"`
	} `json:"errorWrappers"`
}

var (
	errIDMismatch       = errors.New("vies: response is about another id")
	errNoVerdict        = errors.New("vies: response says neither valid nor invalid")
	errResponseTooLarge = errors.New("vies: response is too large")
)

func (c *Client) query(ctx context.Context, country, number string) (bool, *registrar.Error) {
	body, err := json.Marshal(map[string]string{"countryCode": country, "vatNumber": number})
	if err != nil {
		return false, registrar.Fault(registrar.FaultBroken, "", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return false, registrar.Fault(registrar.FaultBroken, "", err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", c.options.UserAgent)
	response, err := c.http.Do(request)
	if err != nil {
		return false, registrar.Fault(faultCodeOf(ctx, err, registrar.FaultRefused), "", err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxResponseBytes+1))
	if err != nil {
		return false, registrar.Fault(faultCodeOf(ctx, err, registrar.FaultBroken), "", err)
	}
	if len(text) > maxResponseBytes {
		return false, registrar.Fault(registrar.FaultBroken, "", errResponseTooLarge)
	}
	if response.StatusCode == http.StatusTooManyRequests {
		return false, registrar.Fault(registrar.FaultThrottled, "", nil)
	}
	return interpretResponse(response.StatusCode, text, country, number)
}

func interpretResponse(status int, text []byte, country, number string) (bool, *registrar.Error) {
	var a checkResponse
	if err := json.Unmarshal(text, &a); err != nil {
		return false, registrar.Fault(registrar.FaultBroken, "", err)
	}
	reasons := []string{a.UserError}
	for _, wrapper := range a.ErrorWrappers {
		reasons = append(reasons, wrapper.Error)
	}
	for _, reason := range reasons {
		switch reason {
		case "", "VALID", "INVALID":
		case "INVALID_INPUT":
			return false, nil // no member state uses this format
		case "GLOBAL_MAX_CONCURRENT_REQ", "GLOBAL_MAX_CONCURRENT_REQ_TIME", "MS_MAX_CONCURRENT_REQ", "MS_MAX_CONCURRENT_REQ_TIME":
			return false, registrar.Fault(registrar.FaultThrottled, "", nil)
		case "TIMEOUT":
			return false, registrar.Fault(registrar.FaultTimeout, "", nil)
		default: // MS_UNAVAILABLE, SERVICE_UNAVAILABLE and unknown reasons
			return false, registrar.Fault(registrar.FaultRefused, "", nil)
		}
	}
	switch {
	case status != http.StatusOK || a.Valid == nil:
		return false, registrar.Fault(registrar.FaultBroken, "", errNoVerdict)
	case a.CountryCode != country || a.VATNumber != number:
		return false, registrar.Fault(registrar.FaultBroken, "", errIDMismatch)
	}
	return *a.Valid, nil
}

func faultCodeOf(ctx context.Context, err error, otherwise registrar.Code) registrar.Code {
	if ctx.Err() != nil || registrar.IsTimeout(err) {
		return registrar.FaultTimeout
	}
	return otherwise
}

// HostStatuses returns the state of the member states' registers.
func (c *Client) HostStatuses() []hostlimit.HostStatus { return c.limiter.HostStatuses() }
