// Package rdap asks registries over RDAP (RFC 9082, RFC 9083) whether they hold
// a record of a name.
//
// It promises to believe an answer only if it is an answer to the question that
// was asked. A domain object for another name, a web page with status 200, a
// web server's own 404 and a cut-off body are all reported as a broken server,
// never as a finding, because each of them has been seen from real registries
// and each of them would turn a taken name into a free one. A 404 is reported
// as NotFound, which by itself does not mean that the name can be registered.
//
// It reads what decides (class, name, status and the texts of an error) and what
// is about the name alone: dates, nameservers and the name of the registrar.
// Contacts are skipped while decoding and have no place to go.
//
// It refuses to follow more than three redirects, to go from https to http, to
// read more than 512 KiB, and to print what it asked: an error carries the host
// of the base address and nothing of the question. A server that neither the price
// list nor the host table names, such as the target of a redirect or an entry of the
// fetched bootstrap, is called only at a public address, which is checked when it
// is dialled.
//
// Which server is asked: an address that the operator pinned, else the entry of
// the latest IANA bootstrap (RFC 9224), else the address that the price list
// ships. The bootstrap is fetched by Run and replaced only by a newer one that
// is whole.
package rdap

import (
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

// Options are the settings of a Client. The zero value asks the real world.
type Options struct {
	// Hosts says which servers stand elsewhere.
	Hosts hostmap.Table
	// BootstrapURL is where IANA's list of RDAP services is fetched; empty means
	// https://data.iana.org/rdap/dns.json.
	BootstrapURL string
	// Refresh is the time between two fetches of that list; 0 means 24 h.
	Refresh time.Duration
	// Timeout bounds one question with all its redirects; 0 means 2.5 s. The
	// wait for a turn does not count.
	Timeout time.Duration
	// UserAgent is what registries see; empty means the program's name.
	UserAgent string
	// Logger hears about failed refreshes and, at debug level, about the kind
	// and host of every fault. nil means silence.
	Logger *slog.Logger
	// Limiter sees to it that no host is asked too much; nil means that nobody
	// does.
	Limiter *hostlimit.Limiter
	// MaxConnsPerHost bounds the connections to one host that speaks HTTP/1.1,
	// where each carries one question at a time; 0 means 64. It should be no
	// less than what the Guard lets through at once.
	MaxConnsPerHost int
	// Transport carries the requests; nil means one of our own.
	Transport http.RoundTripper
}

// Client asks RDAP servers. It is safe for concurrent use.
type Client struct {
	hosts        hostmap.Table
	bootstrapURL *url.URL
	refresh      time.Duration
	timeout      time.Duration
	userAgent    string
	log          *slog.Logger
	limiter      *hostlimit.Limiter
	// http calls configured servers, strangers all others.
	http, publicHTTP *http.Client

	// bootstrap is nil until the first document has arrived. It is written by
	// Run alone.
	bootstrap atomic.Pointer[bootstrap]
}

var _ lookup.RecordSource = (*Client)(nil)

// New makes a Client. It does no I/O.
func New(o Options) (*Client, error) {
	if err := o.Hosts.Validate(); err != nil {
		return nil, err
	}
	address := o.BootstrapURL
	if address == "" {
		address = defaultBootstrapURL
	}
	bootstrapURL, err := parseWebAddress(address)
	if err != nil {
		return nil, err
	}
	c := &Client{
		hosts:        o.Hosts,
		bootstrapURL: bootstrapURL,
		refresh:      o.Refresh,
		timeout:      o.Timeout,
		userAgent:    o.UserAgent,
		log:          o.Logger,
		limiter:      o.Limiter,
	}
	if c.refresh <= 0 {
		c.refresh = defaultRefresh
	}
	if c.timeout <= 0 {
		c.timeout = defaultTimeout
	}
	if c.userAgent == "" {
		c.userAgent = defaultUserAgent
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	transport := o.Transport
	if transport == nil {
		transport = newTransport(o.MaxConnsPerHost)
	}
	// Redirects are followed by hand, so that every target passes through the host
	// table and the guard.
	byHand := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.http = &http.Client{Transport: transport, CheckRedirect: byHand}
	c.publicHTTP = &http.Client{Transport: newPublicTransport(o.MaxConnsPerHost), CheckRedirect: byHand}
	return c, nil
}

// publicTransport calls public addresses only.
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

// RoundTrip goes through the proxy that the environment names, which then resolves
// the host and has the last word; without one the dialled address is checked.
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

// CloseIdleConnections is what http.Client asks for.
func (p publicTransport) CloseIdleConnections() {
	p.direct.CloseIdleConnections()
	p.proxied.CloseIdleConnections()
}

// newTransport keeps connections to a hundred registries warm. A search asks
// many of them at once and the same ones again a second later. A host that
// speaks HTTP/2 gets all its questions over one connection.
func newTransport(perHost int) *http.Transport {
	if perHost <= 0 {
		perHost = defaultConnsPerHost
	}
	dialer := &net.Dialer{Timeout: 2 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		TLSHandshakeTimeout: 2 * time.Second,
		ForceAttemptHTTP2:   true,
		MaxIdleConns:        max(maxIdleConns, perHost),
		// As many as may be open: with fewer, a crowd's connections are closed
		// when it has been answered and opened anew for the next one.
		MaxIdleConnsPerHost:    perHost,
		MaxConnsPerHost:        perHost,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 32 << 10,
	}
}

// Close drops idle connections. Questions under way are not disturbed.
func (c *Client) Close() {
	c.http.CloseIdleConnections()
	c.publicHTTP.CloseIdleConnections()
}

// Find asks the registry of ext about name. A question that the caller
// cancelled is reported as a time-out whose cause is context.Canceled.
func (c *Client) Find(ctx context.Context, ext registrar.Extension, name registrar.Name) (lookup.Finding, error) {
	base, configured := c.baseFor(ext)
	if base == nil {
		return lookup.Finding{}, lookup.ErrNoSource
	}
	question := base.JoinPath("domain", name.ASCII())
	var finding lookup.Finding
	err := c.limiter.Do(ctx, base.Host, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, c.timeout)
		defer cancel()
		found, fault := c.query(ctx, question, configured, name)
		if fault != nil {
			fault.Detail = base.Host
			return fault
		}
		finding = found
		return nil
	})
	if err != nil {
		c.log.DebugContext(ctx, "rdap: question failed", "host", base.Host, "fault", string(registrar.CodeOf(err)), "cause", registrar.CauseOf(err))
		return lookup.Finding{}, err
	}
	return finding, nil
}

func (c *Client) query(ctx context.Context, question *url.URL, configured bool, name registrar.Name) (lookup.Finding, *registrar.Error) {
	header := http.Header{"Accept": {"application/rdap+json, application/json;q=0.9"}}
	reply, fault := c.get(ctx, question, configured, header, maxAnswerBytes)
	if fault != nil {
		return lookup.Finding{}, fault
	}
	return classify(reply, name)
}

// baseFor is the base address of the RDAP service of ext, nil if none is known.
// configured is false for one that only the fetched bootstrap names.
func (c *Client) baseFor(ext registrar.Extension) (base *url.URL, configured bool) {
	shipped, err := parseBase(ext.RDAP)
	if err != nil {
		shipped = nil
	}
	if ext.RDAPPinned {
		return shipped, true // nil where the operator said: ask none
	}
	if list := c.bootstrap.Load(); list != nil {
		// RFC 9224, 4: the longest match wins. A shipped address for ".co.uk"
		// is more exact than a bootstrap entry for "uk".
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
