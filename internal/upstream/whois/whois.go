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
	"cmp"
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

// queryFormats is for servers that need more than NAME, the name in A-labels.
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
	Hosts hostmap.Table // redirects host names to other addresses
	// Timeout limits one query from the connection to the last byte; 0 means 2.2 s.
	// Waiting for the Limiter does not count.
	Timeout time.Duration
	Logger  *slog.Logger       // receives the kind and host of every fault at debug level; optional
	Limiter *hostlimit.Limiter // limits the queries per host; nil means no limit
	// Dialer opens connections; nil means the system's.
	Dialer func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Client queries WHOIS servers. It is safe for concurrent use.
type Client struct{ opts Options }

var _ lookup.RecordSource = (*Client)(nil)

// New returns a Client. It does no I/O.
func New(o Options) (*Client, error) {
	if err := o.Hosts.Validate(); err != nil {
		return nil, err
	}
	o.Timeout = cmp.Or(o.Timeout, defaultTimeout)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Dialer == nil {
		o.Dialer = new(net.Dialer).DialContext
	}
	return &Client{o}, nil
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
	question := cmp.Or(queryFormats[strings.ToLower(host)], "NAME") + "\r\n"
	question = strings.Replace(question, "NAME", name.ASCII(), 1)
	var finding lookup.Finding
	err := c.opts.Limiter.Do(ctx, host, func(ctx context.Context) error {
		answer, err := c.query(ctx, host, c.opts.Hosts.Address(server), question)
		if err != nil {
			return err
		}
		var code registrar.Code
		if finding, code = classify(answer, name.ASCII()); code != "" {
			return registrar.Fault(code, host, nil)
		}
		return nil
	})
	if err != nil {
		c.opts.Logger.DebugContext(ctx, "whois query failed", "host", host, "fault", string(registrar.CodeOf(err)), "cause", registrar.CauseOf(err))
		return lookup.Finding{}, err
	}
	return finding, nil
}

var errResponseTooLarge = errors.New("whois: response is too large")

func (c *Client) query(ctx context.Context, host, address, question string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	conn, err := c.opts.Dialer(ctx, "tcp", address)
	if err != nil {
		return nil, faultOf(ctx, host, err)
	}
	defer func() { _ = conn.Close() }()
	// Closing the connection ends a blocked read when ctx ends.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()

	if _, err := io.WriteString(conn, question); err != nil {
		return nil, faultOf(ctx, host, err)
	}
	answer, err := io.ReadAll(io.LimitReader(conn, maxAnswerBytes+1))
	if err != nil {
		// Even if text has arrived: a partial record can look like none.
		return nil, faultOf(ctx, host, err)
	}
	if len(answer) > maxAnswerBytes {
		return nil, registrar.Fault(registrar.FaultBroken, host, errResponseTooLarge)
	}
	return answer, nil
}

// faultOf prefers the error of ctx to its effect, "use of closed connection".
func faultOf(ctx context.Context, host string, err error) error {
	var network net.Error
	switch {
	case ctx.Err() != nil:
		return registrar.Fault(registrar.FaultTimeout, host, ctx.Err())
	case errors.As(err, &network) && network.Timeout():
		return registrar.Fault(registrar.FaultTimeout, host, err)
	default:
		return registrar.Fault(registrar.FaultRefused, host, err)
	}
}
