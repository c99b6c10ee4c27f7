package clientdoc

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/access"
	"github.com/dotkontor/dotkontor/internal/upstream/guard"
)

const (
	deadline = 5 * time.Second
	largest  = 64 << 10
	// atOnce bounds the fetches under way.
	atOnce = 16
)

var _ access.Documents = (*Client)(nil)

// Client fetches documents. It is safe for concurrent use.
type Client struct {
	http  *http.Client
	cache cache
	doors doors
	slots chan struct{}
}

// New returns a Client. agent is what it calls itself.
func New(agent string) *Client {
	dialer := &net.Dialer{Timeout: deadline, Control: guard.OnlyPublic}
	return newClient(agent, &http.Transport{
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true, DisableKeepAlives: true,
		TLSHandshakeTimeout: deadline, ResponseHeaderTimeout: deadline, MaxResponseHeaderBytes: 16 << 10,
	})
}

func newClient(agent string, transport http.RoundTripper) *Client {
	return &Client{
		http: &http.Client{
			Transport:     named{agent, transport},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Timeout:       deadline,
		},
		cache: cache{now: time.Now, kept: make(map[string]entry)},
		doors: doors{now: time.Now, hosts: make(map[string]minute)},
		slots: make(chan struct{}, atOnce),
	}
}

// named says who is asking.
type named struct {
	agent string
	next  http.RoundTripper
}

func (n named) RoundTrip(r *http.Request) (*http.Response, error) {
	r.Header.Set("User-Agent", n.agent)
	r.Header.Set("Accept", "application/json")
	return n.next.RoundTrip(r)
}

// Document returns the document at an address.
func (c *Client) Document(ctx context.Context, address string) (access.Document, error) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme != "https" || parsed.Hostname() == "" || parsed.User != nil {
		return access.Document{}, registrar.Fault(registrar.FaultRefused, "", err)
	}
	if document, err, known := c.cache.get(address); known {
		return document, err
	}
	host := parsed.Hostname()
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	default:
		return access.Document{}, registrar.Fault(registrar.FaultBusy, host, nil)
	}
	if !c.doors.allow(host) {
		return access.Document{}, registrar.Fault(registrar.FaultBusy, host, nil)
	}
	document, keep, err := c.fetch(ctx, address)
	if err != nil {
		err = registrar.Fault(faultOf(err), host, err)
		if ctx.Err() != nil {
			return access.Document{}, err // it says nothing about the document
		}
		keep = keepFailure
	}
	c.cache.put(address, document, err, keep)
	return document, err
}

func faultOf(err error) registrar.Code {
	var timeout net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded),
		errors.As(err, &timeout) && timeout.Timeout():
		return registrar.FaultTimeout
	case errors.Is(err, errBroken):
		return registrar.FaultBroken
	default:
		return registrar.FaultRefused
	}
}

var errBroken = errors.New("the answer is no document")

// metadata is what we read of a document; the names are RFC 7591's.
type metadata struct {
	ClientID     string   `json:"client_id"`
	Name         string   `json:"client_name"`
	RedirectURIs []string `json:"redirect_uris"`
	AuthMethod   string   `json:"token_endpoint_auth_method"`
}

func (c *Client) fetch(ctx context.Context, address string) (access.Document, time.Duration, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return access.Document{}, 0, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return access.Document{}, 0, err
	}
	defer response.Body.Close()
	kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil || response.StatusCode != http.StatusOK || kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return access.Document{}, 0, errBroken
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, largest+1))
	if err != nil {
		return access.Document{}, 0, err
	}
	var about metadata
	if len(body) > largest || json.Unmarshal(body, &about) != nil {
		return access.Document{}, 0, errBroken
	}
	return access.Document{
		ClientID: about.ClientID, Name: about.Name, RedirectURIs: about.RedirectURIs, AuthMethod: about.AuthMethod,
	}, keepFor(response.Header.Get("Cache-Control")), nil
}
