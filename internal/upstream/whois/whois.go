// Package whois asks registries over WHOIS (RFC 3912) and reads their answers.
//
// The protocol says nothing about the form of an answer, so this package knows
// families of answers instead of servers: an answer is cut into lines, legal
// text and comments are set aside, and what remains is held against tables of
// phrases and field names. Classify is that part alone, a pure function.
//
// It promises to be wrong on the safe side. "Free" needs a line that says so in
// as many words, that speaks of the name that was asked if it speaks of any,
// and that does not stand in a record. Anything else is a record, a refusal, or
// undecided. A wrong "taken" costs a sale; a wrong "free" costs trust.
//
// Of a record it returns what is about the name: status, dates, nameservers and
// the registrar. It refuses to read anything that stands in a person's field or
// under a person's heading, so a registrar is never guessed from a contact, and a
// date that could be two dates is none.
//
// It refuses to read more than 128 KiB, to wait longer than its deadline, and to
// follow referrals: the engine believes only servers that the catalogue names.
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

// queryFormats holds the form of the question for servers that want more than the
// name. NAME stands for the name in A-labels.
var queryFormats = map[string]string{
	// Without the type DENIC answers with less; ace says that we send A-labels.
	"whois.denic.de": "-T dn,ace NAME",
	// A bare name also matches nameservers and registrars.
	"whois.verisign-grs.com":   "domain NAME",
	"ccwhois.verisign-grs.com": "domain NAME",
	"whois.punktum.dk":         "--charset=utf-8 NAME",
	"whois.dk-hostmaster.dk":   "--charset=utf-8 NAME",
	// Without /e the answer is in ISO-2022-JP.
	"whois.jprs.jp": "NAME/e",
}

// Options are the settings of a Client. The zero value asks the real world.
type Options struct {
	// Hosts says which servers stand elsewhere.
	Hosts hostmap.Table
	// Timeout bounds one question from the connection to the last byte; 0 means
	// 2.2 s. The wait for a turn does not count.
	Timeout time.Duration
	// Logger hears, at debug level, the kind and host of every fault. nil means
	// silence.
	Logger *slog.Logger
	// Limiter sees to it that no host is asked too much; nil means that nobody
	// does.
	Limiter *hostlimit.Limiter
	// Dialer opens connections; nil means the system's.
	Dialer func(ctx context.Context, network, addr string) (net.Conn, error)
}

// Client asks WHOIS servers. It holds no connections and is safe for concurrent
// use.
type Client struct {
	hosts   hostmap.Table
	timeout time.Duration
	log     *slog.Logger
	limiter *hostlimit.Limiter
	dial    func(ctx context.Context, network, addr string) (net.Conn, error)
}

var _ lookup.RecordSource = (*Client)(nil)

// New makes a Client. It does no I/O.
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

// Find asks the registry of ext about name. A question that the caller
// cancelled is reported as a time-out whose cause is context.Canceled.
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
			finding, code = Classify(answer, name.ASCII())
		}
		if code != "" {
			return registrar.Fault(code, host, err)
		}
		return nil
	})
	if err != nil {
		c.log.DebugContext(ctx, "whois: question failed", "host", host, "fault", string(registrar.CodeOf(err)), "cause", registrar.CauseOf(err))
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

var errResponseTooLarge = errors.New("the answer is too large")

// query sends one question and reads the answer to its end. The code is empty if
// that went well.
func (c *Client) query(ctx context.Context, address, question string) ([]byte, registrar.Code, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	conn, err := c.dial(ctx, "tcp", address)
	if err != nil {
		return nil, faultCodeOf(ctx, err), causeOf(ctx, err)
	}
	defer func() { _ = conn.Close() }()
	// A cancelled question must not sit in a read: closing ends it at once. The
	// deadline of ctx comes the same way.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()

	if _, err := io.WriteString(conn, question); err != nil {
		return nil, faultCodeOf(ctx, err), causeOf(ctx, err)
	}
	answer, err := io.ReadAll(io.LimitReader(conn, maxAnswerBytes+1))
	if err != nil {
		// Even if text has arrived: half a record can look like none.
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

// causeOf prefers the reason of ctx to "use of closed connection", which is only
// its effect.
func causeOf(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
