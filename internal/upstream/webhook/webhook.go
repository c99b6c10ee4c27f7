// Package webhook sends order events to the webhooks of agents.
//
// The operator configures a webhook's URL, but its owner controls what the name
// resolves to. So the client uses only https and POST, without proxy, redirects or
// cookies, and connects only to port 443 of public addresses, which is checked when
// dialling. A server that itself listens on loopback, such as a sandbox, sends only
// to loopback addresses, also over http.
//
// Any 2xx status is success. Only the status and Retry-After are read.
package webhook

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/webhook"
	"github.com/dotkontor/dotkontor/internal/upstream/ssrf"
)

const (
	sendTimeout = 10 * time.Second
	// maxDrainBytes is how much of a response is read so that its connection can be
	// reused.
	maxDrainBytes = 16 << 10
	// maxRetryAfter limits Retry-After.
	maxRetryAfter = time.Hour
)

var _ webhook.Sender = (*Client)(nil)

// Client sends messages. It is safe for concurrent use.
type Client struct {
	http    *http.Client
	options Options
}

// maxIdlePerHost is as many messages as are delivered at a time: an agent that buys a lot
// would otherwise cost a TLS handshake for most of its webhooks.
const maxIdlePerHost = 16

// Options configures a Client.
type Options struct {
	UserAgent string
	// Loopback allows only webhooks on this machine.
	Loopback bool
}

// New returns a Client.
func New(opts Options) *Client {
	dialer := &net.Dialer{Timeout: sendTimeout, Control: ssrf.ControlPublicHTTPS}
	if opts.Loopback {
		dialer.Control = ssrf.ControlLoopback
	}
	return &Client{
		http: &http.Client{
			Transport: &http.Transport{
				DialContext: dialer.DialContext, ForceAttemptHTTP2: true, MaxIdleConns: 32, MaxIdleConnsPerHost: maxIdlePerHost, IdleConnTimeout: time.Minute,
				TLSHandshakeTimeout: sendTimeout, ResponseHeaderTimeout: sendTimeout, MaxResponseHeaderBytes: 16 << 10,
			},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Timeout:       sendTimeout,
		},
		options: opts,
	}
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Send posts one message to its URL.
func (c *Client) Send(ctx context.Context, message webhook.Message) error {
	address, err := url.Parse(message.URL)
	if err != nil || address.Hostname() == "" || address.User != nil || address.Scheme != "https" && (!c.options.Loopback || address.Scheme != "http") {
		return registrar.Fault(registrar.FaultRefused, "", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address.String(), bytes.NewReader(message.Body))
	if err != nil {
		return registrar.Fault(registrar.FaultRefused, "", err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", c.options.UserAgent)
	request.Header.Set("Request-Id", message.ID)
	request.Header.Set("Timestamp", message.At.UTC().Format(time.RFC3339))
	request.Header.Set(webhook.SignatureHeader, message.Signature)
	answer, err := c.http.Do(request)
	if err != nil {
		return registrar.Fault(registrar.NetworkFault(err), address.Hostname(), &registrar.Cause{
			Part: "webhook", Operation: "post", Target: address.Host, Class: cmp.Or(registrar.NetworkClass(err), "connection_failed"), Err: err,
		})
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, maxDrainBytes) // a truncated body is still a success
	if answer.StatusCode >= http.StatusOK && answer.StatusCode < http.StatusMultipleChoices {
		return nil
	}
	fault := registrar.Fault(registrar.FaultBroken, address.Hostname(), &registrar.Cause{
		Part: "webhook", Operation: "post", Target: address.Host, Class: registrar.HTTPClass(answer.StatusCode), Code: "HTTP " + strconv.Itoa(answer.StatusCode),
	})
	if answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode == http.StatusServiceUnavailable {
		fault.Code, fault.RetryAfter = registrar.FaultThrottled, parseRetryAfter(answer.Header.Get("Retry-After"))
	}
	return fault
}

func parseRetryAfter(header string) time.Duration {
	seconds, err := strconv.ParseUint(header, 10, 31)
	if err != nil {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, maxRetryAfter)
}
