// Package dns asks a recursive resolver whether a name is delegated: whether it
// has nameservers of its own.
//
// It promises that true is never a guess: there was an NS record whose owner is
// the very name that was asked, in an answer to the very question that was
// sent. False means that a resolver answered and had none, which alone does not
// make a name free. Everything else is a fault.
//
// Every try uses a fresh socket, so that its port is new, and a random number;
// an answer that fits neither is ignored and the wait goes on (RFC 5452). A
// truncated answer is asked again over TCP. A packet without an answer is sent a
// second time soon, since a crowd of questions can overflow a resolver's socket
// and a lost packet is no failed server. After a failed try the next server is
// asked, three tries at most.
//
// It refuses to resolve by itself, to cache, and to look at the addresses that
// the nameservers have.
package dns

import (
	"bufio"
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
	defaultTimeout        = 2 * time.Second
	defaultAttemptTimeout = 700 * time.Millisecond
	maxTries              = 3
	// resendAfter is longer than most answers take and a good deal shorter than
	// an attempt.
	resendAfter = 250 * time.Millisecond
	defaultPort = "53"
	resolvConf  = "/etc/resolv.conf"
)

// Options are the settings of a Client.
type Options struct {
	// Servers are the recursive resolvers as host:port, asked in this order;
	// empty means those of /etc/resolv.conf.
	Servers []string
	// Timeout bounds a whole question with all its tries; 0 means 2 s.
	Timeout time.Duration
	// AttemptTimeout bounds one try; 0 means 700 ms.
	AttemptTimeout time.Duration
	// Logger hears, at debug level, the kind and server of every fault. nil
	// means silence.
	Logger *slog.Logger
}

// Client asks recursive resolvers. It holds no sockets and is safe for
// concurrent use.
type Client struct {
	servers        []string
	timeout        time.Duration
	attemptTimeout time.Duration
	log            *slog.Logger
	dial           func(ctx context.Context, network, addr string) (net.Conn, error)
}

var _ lookup.DelegationSource = (*Client)(nil)

// New makes a Client. It reads /etc/resolv.conf if no server is given.
func New(o Options) (*Client, error) {
	servers := o.Servers
	if len(servers) == 0 {
		servers = systemServers(resolvConf)
	}
	if len(servers) == 0 {
		return nil, errors.New("no DNS server is set and " + resolvConf + " names none; set one as host:port")
	}
	c := &Client{timeout: o.Timeout, attemptTimeout: o.AttemptTimeout, log: o.Logger, dial: new(net.Dialer).DialContext}
	for _, server := range servers {
		host, port, err := net.SplitHostPort(server)
		if err != nil || host == "" || port == "" {
			return nil, errors.New("DNS server " + server + " is not written as host:port")
		}
		c.servers = append(c.servers, server)
	}
	if c.timeout <= 0 {
		c.timeout = defaultTimeout
	}
	if c.attemptTimeout <= 0 {
		c.attemptTimeout = defaultAttemptTimeout
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// systemServers reads the nameserver lines of a resolv.conf. A file that is not
// there has none.
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

// IsDelegated says whether name has nameservers. A question that the caller
// cancelled is reported as a time-out whose cause is context.Canceled.
func (c *Client) IsDelegated(ctx context.Context, name registrar.Name) (bool, error) {
	owner, err := dnsmessage.NewName(name.ASCII() + ".")
	if err != nil {
		return false, &registrar.Error{Kind: registrar.KindInvalid, Code: registrar.NameTooLong, Err: err}
	}
	question := dnsmessage.Question{Name: owner, Type: dnsmessage.TypeNS, Class: dnsmessage.ClassINET}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()

	var last *registrar.Error
	for try := range maxTries {
		server := c.servers[try%len(c.servers)]
		delegated, code, err := c.queryServer(ctx, server, question)
		if code == "" {
			return delegated, nil
		}
		c.log.DebugContext(ctx, "dns: try failed", "server", server, "fault", string(code))
		last = registrar.Fault(code, server, err)
		if ctx.Err() != nil {
			last.Code, last.Err = registrar.FaultTimeout, ctx.Err()
			break
		}
	}
	return false, last
}

// queryServer asks one server once, over UDP and, if the answer did not fit, over TCP.
func (c *Client) queryServer(ctx context.Context, server string, question dnsmessage.Question) (bool, registrar.Code, error) {
	ctx, cancel := context.WithTimeout(ctx, c.attemptTimeout)
	defer cancel()
	// The top-level functions of math/rand/v2 draw from a ChaCha8 generator
	// that is seeded by the system, so an outsider can't predict the number.
	id := uint16(rand.N(1 << 16)) //nolint:gosec // see above
	packet, err := packQuery(id, question)
	if err != nil {
		return false, registrar.FaultBroken, err
	}
	for _, network := range []string{"udp", "tcp"} {
		said, err := c.exchange(ctx, network, server, packet, id, question)
		switch {
		case err != nil:
			return false, faultCodeOf(ctx, err), err
		case said == verdictTruncated && network == "udp":
		case said == verdictDelegated, said == verdictNotDelegated:
			return said == verdictDelegated, "", nil
		case said == verdictRefused:
			return false, registrar.FaultRefused, nil
		default:
			return false, registrar.FaultBroken, nil
		}
	}
	return false, registrar.FaultBroken, errMalformed
}

func faultCodeOf(ctx context.Context, err error) registrar.Code {
	var network net.Error
	switch {
	case ctx.Err() != nil, errors.As(err, &network) && network.Timeout():
		return registrar.FaultTimeout
	case errors.Is(err, errMalformed):
		return registrar.FaultBroken
	default:
		return registrar.FaultRefused
	}
}
