package rdap

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/tracing"
)

type reply struct {
	status     int
	header     http.Header
	body       []byte
	url        *url.URL // the final URL after redirects, under its public host name
	redirected bool     // url is on another host than the query
}

// broken is the fault of an invalid response.
func broken(text string) *registrar.Error {
	return registrar.Fault(registrar.FaultBroken, "", errors.New("rdap: "+text))
}

// get fetches u, following redirects, with at most limit bytes of body. URLs are
// compared under their public host names and mapped through the host table only for
// the connection, so redirects behave the same with and without the sandbox.
//
// configured means that the operator or the shipped list names u; its server may be
// in a private network. Any other server is contacted only at a public address,
// unless the host table has an entry for it.
func (c *Client) get(ctx context.Context, u *url.URL, configured bool, header http.Header, limit int64) (reply, *registrar.Error) {
	first := u
	for hops := 0; ; hops++ {
		client := c.publicHTTP
		if c.opts.Hosts.Contains(u) || configured && sameServer(u, first) {
			client = c.http
		}
		answer, fault := c.getOnce(ctx, client, u, header, limit)
		answer.redirected = !strings.EqualFold(u.Host, first.Host)
		if fault != nil || !slices.Contains(redirectStatuses, answer.status) {
			return answer, fault
		}
		if hops == maxRedirects {
			return reply{}, broken("too many redirects")
		}
		target, err := u.Parse(answer.header.Get("Location"))
		if err != nil || answer.header.Get("Location") == "" || target.Hostname() == "" || target.User != nil ||
			target.Scheme != "https" && target.Scheme != "http" {
			return reply{}, broken("redirect without a usable target")
		}
		if u.Scheme == "https" && target.Scheme == "http" && !c.opts.Hosts.Contains(target) {
			return reply{}, broken("redirect from https to http")
		}
		u = target
	}
}

func sameServer(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && a.Port() == b.Port()
}

var redirectStatuses = []int{
	http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect,
}

// getOnce has a span without the URL, which contains the name, and sends no traceparent:
// registries are strangers.
func (c *Client) getOnce(ctx context.Context, client *http.Client, u *url.URL, header http.Header, limit int64) (reply, *registrar.Error) {
	ctx, span := tracing.StartCall(ctx, "rdap", "get")
	answer, fault := c.request(ctx, client, u, header, limit)
	if fault != nil {
		span.End(fault)
		return answer, fault
	}
	span.SetInt(tracing.Status, answer.status)
	span.End(nil)
	return answer, nil
}

func (c *Client) request(ctx context.Context, client *http.Client, u *url.URL, header http.Header, limit int64) (reply, *registrar.Error) {
	// Errors of net/http do not reveal the phase; the trace does. Before the
	// connection is established, every error means "refused".
	var connected atomic.Bool
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { connected.Store(true) },
	})
	request, err := http.NewRequestWithContext(traced, http.MethodGet, c.opts.Hosts.Rewrite(u).String(), nil)
	if err != nil {
		return reply{}, registrar.Fault(registrar.FaultBroken, "", err)
	}
	request.Header = header.Clone()
	request.Header.Set("User-Agent", c.opts.UserAgent)

	response, err := client.Do(request)
	if err != nil {
		return reply{}, registrar.Fault(faultCodeOf(ctx, err, !connected.Load()), "", err)
	}
	defer func() { _ = response.Body.Close() }()

	body, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	if err != nil {
		code := registrar.FaultBroken // truncated
		if isTimeout(ctx, err) {
			code = registrar.FaultTimeout
		}
		return reply{}, registrar.Fault(code, "", err)
	}
	if int64(len(body)) > limit {
		return reply{}, broken("response is too large")
	}
	return reply{status: response.StatusCode, header: response.Header, body: body, url: u}, nil
}

func faultCodeOf(ctx context.Context, err error, connecting bool) registrar.Code {
	if isTimeout(ctx, err) {
		return registrar.FaultTimeout
	}
	var network *net.OpError
	if connecting || errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return registrar.FaultRefused
	}
	return registrar.FaultBroken
}

func isTimeout(ctx context.Context, err error) bool {
	var network net.Error
	return ctx.Err() != nil || errors.As(err, &network) && network.Timeout()
}

// retryAfter parses Retry-After (RFC 9110, 10.2.3): seconds or a date. Invalid
// values are 0; the maximum is an hour.
func retryAfter(value string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(value, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return max(0, min(date.Sub(now), maxRetryAfter))
}
