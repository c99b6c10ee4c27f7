// Package rdap queries registries over RDAP (RFC 9082, RFC 9083) for the record of
// a name.
//
// A response counts only if it answers the query. A domain object for another name,
// a web page with status 200, a web server's own 404 and a truncated body are
// faults of the server, never findings: real registries have sent each of them, and
// each would make a taken name look free. A 404 becomes NotFound, which alone does
// not mean that the name can be registered.
//
// The client reads what decides (class, name, status and error texts) and data
// about the name itself: dates, nameservers and the registrar's name. Contacts are
// skipped while decoding.
//
// It follows at most three redirects, never from https to http, and reads at most
// 512 KiB. Errors contain the host of the base URL and nothing of the query. A
// server that neither the price list nor the host table names, such as a redirect
// target or an entry of the fetched bootstrap, is contacted only at a public
// address, which is checked when dialling.
//
// The server is chosen in this order: a URL pinned by the operator, the entry of
// the latest IANA bootstrap (RFC 9224), the URL shipped in the price list. Run
// fetches the bootstrap and replaces it only with a newer, complete one.
package rdap

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/upstream/hostlimit"
	"github.com/dotkontor/dotkontor/internal/upstream/hostmap"
	"github.com/dotkontor/dotkontor/internal/upstream/ssrf"
)

const (
	defaultBootstrapURL = "https://data.iana.org/rdap/dns.json"
	defaultRefresh      = 24 * time.Hour
	defaultTimeout      = 2500 * time.Millisecond
	defaultUserAgent    = "dotkontor"
	defaultConnsPerHost = 64
	maxIdleConns        = 1024

	maxRedirects   = 3
	maxAnswerBytes = 512 << 10
	maxRetryAfter  = time.Hour
)

// Options configures a Client. The zero value uses the public servers.
type Options struct {
	Hosts hostmap.Table // redirects host names to other addresses
	// BootstrapURL is the URL of IANA's list of RDAP services; empty means
	// https://data.iana.org/rdap/dns.json.
	BootstrapURL string
	Refresh      time.Duration // the interval between fetches of that list; 0 means 24 h
	// Timeout limits one query with all its redirects; 0 means 2.5 s. Waiting for
	// the Limiter does not count.
	Timeout   time.Duration
	UserAgent string // sent to registries; empty means the program's name
	// Logger receives failed refreshes and, at debug level, the kind and host of
	// every fault; nil discards them.
	Logger  *slog.Logger
	Limiter *hostlimit.Limiter // limits the queries per host; nil means no limit
	// MaxConnsPerHost limits the connections to an HTTP/1.1 host; 0 means 64. It
	// should not be below the Limiter's concurrency.
	MaxConnsPerHost int
	Transport       http.RoundTripper // carries the requests; nil means a default one
}

// Client queries RDAP servers. It is safe for concurrent use.
type Client struct {
	opts         Options
	bootstrapURL *url.URL
	// http contacts configured servers, publicHTTP all others.
	http, publicHTTP *http.Client

	// bootstrap is nil until the first fetch. Only Run writes it.
	bootstrap atomic.Pointer[bootstrap]
}

var _ lookup.RecordSource = (*Client)(nil)

// New returns a Client. It does no I/O.
func New(o Options) (*Client, error) {
	if err := o.Hosts.Validate(); err != nil {
		return nil, err
	}
	bootstrapURL, err := parseWebAddress(cmp.Or(o.BootstrapURL, defaultBootstrapURL))
	if err != nil {
		return nil, err
	}
	o.Refresh = cmp.Or(o.Refresh, defaultRefresh)
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	o.UserAgent = cmp.Or(o.UserAgent, defaultUserAgent)
	o.MaxConnsPerHost = cmp.Or(o.MaxConnsPerHost, defaultConnsPerHost)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	c := &Client{opts: o, bootstrapURL: bootstrapURL}
	transport := o.Transport
	if transport == nil {
		transport = newTransport(o.MaxConnsPerHost)
	}
	// get follows redirects itself, to apply the host table and the SSRF check.
	noFollow := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.http = &http.Client{Transport: transport, CheckRedirect: noFollow}
	c.publicHTTP = &http.Client{Transport: newPublicTransport(o.MaxConnsPerHost), CheckRedirect: noFollow}
	return c, nil
}

// publicTransport connects to public addresses only.
type publicTransport struct {
	direct  *http.Transport
	proxied *http.Transport
}

func newPublicTransport(perHost int) publicTransport {
	direct := newTransport(perHost)
	dialer := &net.Dialer{
		Timeout: 2 * time.Second, KeepAlive: 30 * time.Second,
		Control: func(network, address string, conn syscall.RawConn) error {
			return ssrf.ControlPublicPorts(network, address, conn, 80, 443)
		},
	}
	direct.Proxy, direct.DialContext = nil, dialer.DialContext
	return publicTransport{direct: direct, proxied: newTransport(perHost)}
}

// RoundTrip uses the proxy from the environment, which then resolves the host;
// without one, the dialled address is checked.
func (p publicTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	proxy, err := http.ProxyFromEnvironment(r)
	switch {
	case err != nil:
		return nil, err
	case proxy == nil:
		return p.direct.RoundTrip(r)
	case !ssrf.MaybePublicHost(r.URL.Hostname()):
		return nil, ssrf.ErrPrivate
	default:
		return p.proxied.RoundTrip(r)
	}
}

// CloseIdleConnections implements the optional interface of http.Client.
func (p publicTransport) CloseIdleConnections() {
	p.direct.CloseIdleConnections()
	p.proxied.CloseIdleConnections()
}

// newTransport keeps connections to about a hundred registries open, since every
// search queries the same ones. Queries to an HTTP/2 host share one connection.
func newTransport(perHost int) *http.Transport {
	dialer := &net.Dialer{Timeout: 2 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: 2 * time.Second,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        max(maxIdleConns, perHost),
		// A lower limit would close and reopen the connections of every burst.
		MaxIdleConnsPerHost:    perHost,
		MaxConnsPerHost:        perHost,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 32 << 10,
	}
}

// Close closes idle connections. Running queries are not affected.
func (c *Client) Close() {
	c.http.CloseIdleConnections()
	c.publicHTTP.CloseIdleConnections()
}

// Find queries the registry of ext for name. A query cancelled by the caller is
// reported as a timeout whose cause is context.Canceled.
func (c *Client) Find(ctx context.Context, ext registrar.Extension, name registrar.Name) (lookup.Finding, error) {
	base, configured := c.baseFor(ext)
	if base == nil {
		return lookup.Finding{}, lookup.ErrNoSource
	}
	question := base.JoinPath("domain", name.ASCII())
	var finding lookup.Finding
	err := c.opts.Limiter.Do(ctx, base.Host, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, c.opts.Timeout)
		defer cancel()
		header := http.Header{"Accept": {"application/rdap+json, application/json;q=0.9"}}
		reply, fault := c.get(ctx, question, configured, header, maxAnswerBytes)
		if fault == nil {
			finding, fault = classify(reply, name)
		}
		if fault != nil {
			fault.Detail = base.Host
			return fault
		}
		return nil
	})
	if err != nil {
		c.opts.Logger.DebugContext(ctx, "rdap query failed", "host", base.Host, "fault", string(registrar.CodeOf(err)), "cause", registrar.CauseOf(err))
		return lookup.Finding{}, err
	}
	return finding, nil
}

// baseFor returns the RDAP base URL of ext, nil if unknown. configured is false if
// only the fetched bootstrap names it.
func (c *Client) baseFor(ext registrar.Extension) (base *url.URL, configured bool) {
	shipped, _ := parseBase(ext.RDAP) // nil if invalid
	if ext.RDAPPinned {
		return shipped, true // nil where the operator disabled RDAP
	}
	if list := c.bootstrap.Load(); list != nil {
		// The longest match wins (RFC 9224, 4): a shipped URL for ".co.uk" is more
		// specific than a bootstrap entry for "uk".
		labels := strings.TrimPrefix(ext.TLD, ".")
		if base := list.bases[labels]; base != nil {
			return base, false
		}
		if shipped == nil {
			return list.longestMatch(labels), false
		}
	}
	return shipped, true
}
