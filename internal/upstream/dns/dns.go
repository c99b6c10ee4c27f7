// Package dns asks a recursive resolver whether a name is delegated, that is, has
// nameservers of its own.
//
// True is never a guess: the response matched the query and contained an NS record
// owned by the queried name. False means that a resolver responded without one,
// which alone does not make a name free. Everything else is a fault.
//
// Every attempt uses a new socket, and so a new port, and a random id; responses
// that do not match are ignored (RFC 5452). A truncated response is fetched again
// over TCP. An unanswered packet is resent once, since a burst can overflow a
// resolver's socket. After a failed attempt the next server is tried, at most three
// in total.
//
// The package does not resolve recursively, does not cache, and ignores the
// nameservers' addresses.
package dns

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

const (
	maxTries = 3
	// resendAfter is longer than most responses take and well below an attempt.
	resendAfter = 250 * time.Millisecond
	defaultPort = "53"
	resolvConf  = "/etc/resolv.conf"
)

// Options configures a Client.
type Options struct {
	// Servers are the recursive resolvers as host:port, tried in this order; empty
	// means those of /etc/resolv.conf.
	Servers []string
	// Timeout limits a query with all its attempts; 0 means 2 s.
	Timeout time.Duration
	// AttemptTimeout limits one attempt; 0 means 700 ms.
	AttemptTimeout time.Duration
	// MaxConcurrent limits the queries in flight; 0 means no limit. Waiting for
	// others does not count towards Timeout.
	MaxConcurrent int
	// Logger receives, at debug level, the kind and server of every fault; nil
	// discards them.
	Logger *slog.Logger
}

// Client queries recursive resolvers. It holds no sockets and is safe for
// concurrent use.
type Client struct {
	options Options
	slots   chan struct{} // nil without a limit
	dial    func(ctx context.Context, network, addr string) (net.Conn, error)
}

var _ lookup.DelegationSource = (*Client)(nil)

// New returns a Client. It reads /etc/resolv.conf if no server is given.
func New(o Options) (*Client, error) {
	servers := o.Servers
	if len(servers) == 0 {
		servers = systemServers(resolvConf)
	}
	if len(servers) == 0 {
		return nil, errors.New("dns: no server is configured and " + resolvConf + " has none; set one as host:port")
	}
	for _, server := range servers {
		if host, port, err := net.SplitHostPort(server); err != nil || host == "" || port == "" {
			return nil, errors.New("dns: server " + server + " is not host:port")
		}
	}
	o.Servers = servers
	o.Timeout = cmp.Or(o.Timeout, 2*time.Second)
	o.AttemptTimeout = cmp.Or(o.AttemptTimeout, 700*time.Millisecond)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	c := &Client{options: o, dial: new(net.Dialer).DialContext}
	if o.MaxConcurrent > 0 {
		c.slots = make(chan struct{}, o.MaxConcurrent)
	}
	return c, nil
}

// systemServers reads the nameserver lines of a resolv.conf. A missing file has
// none.
func systemServers(path string) []string {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	var servers []string
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		fields := strings.Fields(scanner.Text())
		if len(fields) >= 2 && fields[0] == "nameserver" {
			servers = append(servers, net.JoinHostPort(fields[1], defaultPort))
		}
	}
	return servers
}

// IsDelegated reports whether name has nameservers. A query cancelled by the caller
// is reported as a timeout whose cause is context.Canceled.
func (c *Client) IsDelegated(ctx context.Context, name registrar.Name) (bool, error) {
	owner, err := dnsmessage.NewName(name.ASCII() + ".")
	if err != nil {
		return false, &registrar.Error{Kind: registrar.KindInvalid, Code: registrar.NameTooLong, Err: err}
	}
	question := dnsmessage.Question{Name: owner, Type: dnsmessage.TypeNS, Class: dnsmessage.ClassINET}
	if c.slots != nil {
		select {
		case c.slots <- struct{}{}:
			defer func() { <-c.slots }()
		case <-ctx.Done():
			return false, registrar.Fault(registrar.FaultTimeout, c.options.Servers[0], ctx.Err())
		}
	}
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()

	var last *registrar.Error
	for try := range maxTries {
		server := c.options.Servers[try%len(c.options.Servers)]
		delegated, code, err := c.queryServer(ctx, server, question)
		if code == "" {
			return delegated, nil
		}
		c.options.Logger.DebugContext(ctx, "dns query attempt failed", "server", server, "fault", string(code))
		last = registrar.Fault(code, server, err)
		if ctx.Err() != nil {
			last.Code, last.Err = registrar.FaultTimeout, ctx.Err()
			break
		}
	}
	return false, last
}

// queryServer queries one server once over UDP and, if the response was truncated,
// over TCP.
func (c *Client) queryServer(ctx context.Context, server string, question dnsmessage.Question) (bool, registrar.Code, error) {
	ctx, cancel := context.WithTimeout(ctx, c.options.AttemptTimeout)
	defer cancel()
	// The top-level functions of math/rand/v2 use a ChaCha8 generator seeded by the
	// system, so the id is unpredictable.
	id := uint16(rand.N(1 << 16)) //nolint:gosec // see above
	packet, err := packQuery(id, question)
	if err != nil {
		return false, registrar.FaultBroken, err
	}
	for _, network := range []string{"udp", "tcp"} {
		verdict, err := c.exchange(ctx, network, server, packet, id, question)
		switch {
		case err != nil:
			return false, faultCodeOf(ctx, err), err
		case verdict == verdictTruncated && network == "udp":
		case verdict == verdictDelegated, verdict == verdictNotDelegated:
			return verdict == verdictDelegated, "", nil
		case verdict == verdictRefused:
			return false, registrar.FaultRefused, nil
		default:
			return false, registrar.FaultBroken, nil
		}
	}
	return false, registrar.FaultBroken, errMalformed
}

func faultCodeOf(ctx context.Context, err error) registrar.Code {
	switch {
	case ctx.Err() != nil:
		return registrar.FaultTimeout
	case errors.Is(err, errMalformed):
		return registrar.FaultBroken
	default:
		return registrar.NetworkFault(err)
	}
}
