package clientmeta

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/oauth"
	"github.com/dotkontor/dotkontor/internal/upstream/ssrf"
)

const (
	fetchTimeout     = 5 * time.Second
	maxDocumentBytes = 64 << 10
	// maxConcurrent limits the fetches in flight.
	maxConcurrent = 16
)

var _ oauth.MetadataFetcher = (*Client)(nil)

// Client fetches documents. It is safe for concurrent use.
type Client struct {
	http      *http.Client
	userAgent string
	cache     cache
	hostLimit hostRateLimit
	slots     chan struct{}
}

// New returns a Client that sends agent as its User-Agent.
func New(agent string) *Client {
	dialer := &net.Dialer{Timeout: fetchTimeout, Control: ssrf.ControlPublicHTTPS}
	return newClient(agent, &http.Transport{
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true, DisableKeepAlives: true,
		TLSHandshakeTimeout: fetchTimeout, ResponseHeaderTimeout: fetchTimeout, MaxResponseHeaderBytes: 16 << 10,
	})
}

func newClient(agent string, transport http.RoundTripper) *Client {
	return &Client{
		userAgent: agent,
		http: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Timeout:       fetchTimeout,
		},
		cache:     cache{now: time.Now, entries: make(map[string]entry)},
		hostLimit: hostRateLimit{now: time.Now, hosts: make(map[string]callWindow)},
		slots:     make(chan struct{}, maxConcurrent),
	}
}

// FetchClientMetadata returns the document at a URL.
func (c *Client) FetchClientMetadata(ctx context.Context, address string) (oauth.ClientMetadata, error) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme != "https" || parsed.Hostname() == "" || parsed.User != nil {
		return oauth.ClientMetadata{}, registrar.Fault(registrar.FaultRefused, "", err)
	}
	if document, err, known := c.cache.get(address); known {
		return document, err
	}
	host := parsed.Hostname()
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	default:
		return oauth.ClientMetadata{}, registrar.Fault(registrar.FaultBusy, host, nil)
	}
	if !c.hostLimit.allow(host) {
		return oauth.ClientMetadata{}, registrar.Fault(registrar.FaultBusy, host, nil)
	}
	document, keep, err := c.fetch(ctx, address)
	if err != nil {
		code := registrar.NetworkFault(err)
		if errors.Is(err, errInvalidDocument) {
			code = registrar.FaultBroken
		}
		err = registrar.Fault(code, host, err)
		if ctx.Err() != nil {
			return oauth.ClientMetadata{}, err // not a fact about the document, so not cached
		}
		keep = failureTTL
	}
	c.cache.put(address, document, err, keep)
	return document, err
}

var errInvalidDocument = errors.New("clientmeta: response is not a metadata document")

func (c *Client) fetch(ctx context.Context, address string) (document oauth.ClientMetadata, ttl time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return document, 0, err
	}
	request.Header.Set("User-Agent", c.userAgent)
	request.Header.Set("Accept", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		return document, 0, err
	}
	defer response.Body.Close()
	kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil || response.StatusCode != http.StatusOK || kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return document, 0, errInvalidDocument
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, maxDocumentBytes+1))
	if err != nil {
		return document, 0, err
	}
	// The members of a document in use; their names are RFC 7591's.
	var about struct {
		ClientID     string   `json:"client_id"`
		Name         string   `json:"client_name"`
		RedirectURIs []string `json:"redirect_uris"`
		AuthMethod   string   `json:"token_endpoint_auth_method"`
	}
	if len(body) > maxDocumentBytes || json.Unmarshal(body, &about) != nil {
		return document, 0, errInvalidDocument
	}
	return oauth.ClientMetadata{
		ClientID: about.ClientID, Name: about.Name, RedirectURIs: about.RedirectURIs, AuthMethod: about.AuthMethod,
	}, parseTTL(response.Header.Get("Cache-Control")), nil
}
