// Package agenthook takes messages to the webhooks of agents.
//
// The operator enters the address of a webhook, but what its name resolves to is
// up to whoever runs it. What it promises: only https, only POST, no proxy, no
// redirect, no cookie; each connection goes to port 443 of the public internet,
// which is checked when it is dialled. A service that is itself on a loopback
// address, such as a sandbox, calls loopback addresses instead, also over http,
// and nothing else.
//
// An answer of 2xx is a yes, whatever it says; nothing of it is read but the
// status and Retry-After.
package webhook

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/webhook"
	"github.com/dotkontor/dotkontor/internal/upstream/ssrf"
)

const (
	sendTimeout = 10 * time.Second
	// maxDrainBytes is how much of an answer is read, so that its connection can be used
	// again.
	maxDrainBytes = 16 << 10
	// maxRetryAfter bounds what an agent can ask for by Retry-After.
	maxRetryAfter = time.Hour
)

var _ webhook.Sender = (*Client)(nil)

// Client sends messages. It is safe for concurrent use.
type Client struct {
	http *http.Client
	// loopback says that all of the world is on this machine.
	loopback  bool
	userAgent string
}

// Options are what a Client is made of.
type Options struct {
	// UserAgent is what it calls itself.
	UserAgent string
	// Loopback says that webhooks are on this machine: only there is called.
	Loopback bool
}

// New returns a Client.
func New(opts Options) *Client {
	dialer := &net.Dialer{Timeout: sendTimeout, Control: ssrf.ControlPublicHTTPS}
	if opts.Loopback {
		dialer.Control = ssrf.ControlLoopback
	}
	return newClient(opts, &http.Transport{
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true, MaxIdleConns: 32, MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute,
		TLSHandshakeTimeout: sendTimeout, ResponseHeaderTimeout: sendTimeout, MaxResponseHeaderBytes: 16 << 10,
	})
}

func newClient(opts Options, transport http.RoundTripper) *Client {
	return &Client{
		http: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Timeout:       sendTimeout,
		},
		loopback: opts.Loopback, userAgent: opts.UserAgent,
	}
}

// Close ends connections that nobody uses.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Send takes one message to its address.
func (c *Client) Send(ctx context.Context, message webhook.Message) error {
	address, err := url.Parse(message.URL)
	if err != nil || address.Hostname() == "" || address.User != nil || address.Scheme != "https" && (!c.loopback || address.Scheme != "http") {
		return registrar.Fault(registrar.FaultRefused, "", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address.String(), bytes.NewReader(message.Body))
	if err != nil {
		return registrar.Fault(registrar.FaultRefused, "", err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", c.userAgent)
	request.Header.Set("Request-Id", message.ID)
	request.Header.Set("Timestamp", message.At.UTC().Format(time.RFC3339))
	request.Header.Set(webhook.SignatureHeader, message.Signature)
	answer, err := c.http.Do(request)
	if err != nil {
		return registrar.Fault(faultCodeOf(err), address.Hostname(), &registrar.Cause{
			Part: "webhook", Operation: "post", Target: address.Host, Class: cmp.Or(registrar.NetworkClass(err), "connection_failed"), Err: err,
		})
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, maxDrainBytes) // an answer that is cut off says yes as well
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

func faultCodeOf(err error) registrar.Code {
	var timeout net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout() {
		return registrar.FaultTimeout
	}
	return registrar.FaultRefused
}
