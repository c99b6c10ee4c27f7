// Package whois queries registries over WHOIS (RFC 3912) and interprets their
// responses.
//
// The protocol does not define a response format, so this package knows families of
// responses instead of servers: a response is split into lines, terms of use and
// comments are set aside, and the rest is matched against tables of phrases and
// field names. classify is that part alone, a pure function.
//
// Errors are on the safe side. "Free" requires a line that says so explicitly,
// refers to the queried name if to any, and is not part of a record. Everything
// else is a record, a refusal, or undecided. A wrong "taken" costs a sale; a wrong
// "free" costs trust.
//
// Of a record it returns data about the name: status, dates, nameservers and the
// registrar. It never reads a contact's field or anything under a contact's
// heading, so a registrar is never guessed from a contact, and an ambiguous date is
// ignored.
//
// It reads at most 128 KiB, stops at its deadline, and does not follow referrals:
// only servers in the catalog are trusted.
package whois

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/upstream/hostlimit"
	"github.com/dotkontor/dotkontor/internal/upstream/hostmap"
)

const (
	defaultTimeout = 2200 * time.Millisecond
	defaultPort    = "43"
	maxAnswerBytes = 128 << 10
)

// queryFormats holds the query format of servers that need more than the name. NAME
// is the name in A-labels.
var queryFormats = map[string]string{
	// Without the type, DENIC returns less; ace announces A-labels.
	"whois.denic.de": "-T dn,ace NAME",
	// A bare name also matches nameservers and registrars.
	"whois.verisign-grs.com":   "domain NAME",
	"ccwhois.verisign-grs.com": "domain NAME",
	"whois.punktum.dk":         "--charset=utf-8 NAME",
	"whois.dk-hostmaster.dk":   "--charset=utf-8 NAME",
	// Without /e the response is in ISO-2022-JP.
	"whois.jprs.jp": "NAME/e",
}

// Options configures a Client. The zero value uses the public servers.
type Options struct {
	// Hosts redirects host names to other addresses.
	Hosts hostmap.Table
	// Timeout limits one query from the connection to the last byte; 0 means 2.2 s.
	// Waiting for the Limiter does not count.
	Timeout time.Duration
	// Logger receives, at debug level, the kind and host of every fault; nil
	// discards them.
	Logger *slog.Logger
	// Limiter limits the queries per host; nil means no limit.
	Limiter *hostlimit.Limiter
	// Dialer opens connections; nil means the system's.
	Dialer func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Client queries WHOIS servers. It holds no connections and is safe for concurrent
// use.
type Client struct {
	hosts   hostmap.Table
	timeout time.Duration
	log     *slog.Logger
	limiter *hostlimit.Limiter
	dial    func(ctx context.Context, network, addr string) (net.Conn, error)
}

var _ lookup.RecordSource = (*Client)(nil)

// New returns a Client. It does no I/O.
func New(o Options) (*Client, error) {
	if err := o.Hosts.Validate(); err != nil {
		return nil, err
	}
	c := &Client{hosts: o.Hosts, timeout: o.Timeout, log: o.Logger, limiter: o.Limiter, dial: o.Dialer}
	if c.timeout <= 0 {
		c.timeout = defaultTimeout
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.dial == nil {
		c.dial = new(net.Dialer).DialContext
	}
	return c, nil
}

// Find queries the registry of ext for name. A query cancelled by the caller is
// reported as a timeout whose cause is context.Canceled.
func (c *Client) Find(ctx context.Context, ext registrar.Extension, name registrar.Name) (lookup.Finding, error) {
	if ext.WHOIS == "" {
		return lookup.Finding{}, lookup.ErrNoSource
	}
	host, server := ext.WHOIS, ext.WHOIS
	if h, _, err := net.SplitHostPort(server); err == nil {
		host = h
	} else {
		server = net.JoinHostPort(server, defaultPort)
	}
	var finding lookup.Finding
	err := c.limiter.Do(ctx, host, func(ctx context.Context) error {
		answer, code, err := c.query(ctx, c.hosts.Address(server), formatQuery(host, name))
		if code == "" {
			finding, code = classify(answer, name.ASCII())
		}
		if code != "" {
			return registrar.Fault(code, host, err)
		}
		return nil
	})
	if err != nil {
		c.log.DebugContext(ctx, "whois query failed", "host", host, "fault", string(registrar.CodeOf(err)), "cause", registrar.CauseOf(err))
		return lookup.Finding{}, err
	}
	return finding, nil
}

func formatQuery(host string, name registrar.Name) string {
	form, found := queryFormats[strings.ToLower(host)]
	if !found {
		form = "NAME"
	}
	return strings.Replace(form, "NAME", name.ASCII(), 1) + "\r\n"
}

var errResponseTooLarge = errors.New("whois: response is too large")

// query sends one query and reads the complete response. The code is empty on
// success.
func (c *Client) query(ctx context.Context, address, question string) ([]byte, registrar.Code, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	conn, err := c.dial(ctx, "tcp", address)
	if err != nil {
		return nil, faultCodeOf(ctx, err), causeOf(ctx, err)
	}
	defer func() { _ = conn.Close() }()
	// Closing the connection ends a blocked read when ctx is cancelled or its
	// deadline passes.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()

	if _, err := io.WriteString(conn, question); err != nil {
		return nil, faultCodeOf(ctx, err), causeOf(ctx, err)
	}
	answer, err := io.ReadAll(io.LimitReader(conn, maxAnswerBytes+1))
	if err != nil {
		// Even if text has arrived: a partial record can look like none.
		return nil, faultCodeOf(ctx, err), causeOf(ctx, err)
	}
	if len(answer) > maxAnswerBytes {
		return nil, registrar.FaultBroken, errResponseTooLarge
	}
	return answer, "", nil
}

func faultCodeOf(ctx context.Context, err error) registrar.Code {
	var network net.Error
	if ctx.Err() != nil || errors.As(err, &network) && network.Timeout() {
		return registrar.FaultTimeout
	}
	return registrar.FaultRefused
}

// causeOf prefers the error of ctx to its effect, "use of closed connection".
func causeOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
