package epp

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// Account configures a registrar account at one registry or gateway. Address,
// ClientID and Password are required; every other zero value works.
type Account struct {
	// Name is the operator's name for the account in logs; empty means ClientID.
	Name string
	// Address is host:port; registries listen on port 700.
	Address string
	// ClientID is the account's clID, 3 to 16 characters.
	ClientID string
	// Password has at least 6 characters. More than 16 require a server that
	// announces login security (RFC 8807).
	Password string
	// TLS holds the client certificate that most registries require, and the roots
	// to trust; nil means system roots and no certificate. ServerName defaults to
	// the host of Address.
	TLS *tls.Config

	// MaxConnections limits the connections; 0 means 4. Registries set the limit per account,
	// so with Sessions it is that of all nodes, and so is PerSecond.
	MaxConnections int
	// OrderConnections is the number of connections reserved for orders; 0 means a
	// quarter, but at least one if there are two. A negative number reserves none.
	OrderConnections int
	// PerSecond limits the commands per second over all connections and how many may
	// be sent at once; 0 means no limit.
	PerSecond float64
	// OrderShare is the fraction of PerSecond reserved for orders; 0 means a
	// quarter.
	OrderShare float64
	// MaxWaiting limits the queued commands of each class, so that one class can't
	// fill the queue of another; 0 means 1024.
	MaxWaiting int

	// ConnectTimeout covers everything up to the end of the login; 0 means 10 s.
	ConnectTimeout time.Duration
	// QueryTimeout and TransformTimeout limit the wait for the response to a query and
	// to a transform command; 0 means 10 s and 45 s. Transforms get more time because
	// a lost response costs more than a wait.
	QueryTimeout     time.Duration
	TransformTimeout time.Duration
	// LookupTimeout limits an availability lookup before the next source is tried;
	// 0 means DefaultLookupTimeout.
	LookupTimeout time.Duration

	// BatchDelay is how long a check of a name waits for others, and BatchNames the
	// number of names per check; 0 means 2 ms and 50. A negative BatchDelay
	// disables the delay.
	BatchDelay time.Duration
	BatchNames int

	// Sessions limits the connections of all nodes together; nil means that this node has the
	// account to itself.
	Sessions Sessions

	// ProtocolExtension adds a gateway's own elements; nil means none.
	ProtocolExtension ProtocolExtension
	// UserAgent is sent to servers with login security; empty means the program's
	// name.
	UserAgent string
	// Logger receives connection events, never domain names; nil discards them.
	Logger *slog.Logger

	// offered has the services of the last login; set by newClient.
	offered *atomic.Pointer[services]
}

// DefaultLookupTimeout is the LookupTimeout of an account that sets none.
const DefaultLookupTimeout = 1500 * time.Millisecond

const (
	// maxQueueTime limits the wait for a connection when the caller's context does
	// not.
	maxQueueTime = 30 * time.Second
	// keepAlive is the idle time after which a hello is sent. Registries close
	// connections after about ten idle minutes.
	keepAlive = 4 * time.Minute

	maxPlainPassword = 16 // pwType in RFC 5730
	minPassword      = 6
)

// validate reports the first invalid setting. It names the field, never a secret
// value.
func (a *Account) validate() error {
	host, port, err := net.SplitHostPort(a.Address)
	idLength := utf8.RuneCountInString(a.ClientID)
	switch {
	case err != nil || host == "" || port == "":
		return fmt.Errorf("epp: account: address %q is not host:port, like epp.example.net:700", a.Address)
	case idLength < 3 || idLength > 16 || strings.TrimSpace(a.ClientID) != a.ClientID:
		return errors.New("epp: account: the client id must have 3 to 16 characters")
	case utf8.RuneCountInString(a.Password) < minPassword:
		return errors.New("epp: account: the password must have at least 6 characters")
	case strings.Join(strings.Fields(a.Password), " ") != a.Password:
		// The schema type is a token, whose white space is collapsed.
		return errors.New("epp: account: the password must not begin or end with a space or have two in a row")
	case a.MaxConnections < 0 || a.MaxConnections > 1000:
		return errors.New("epp: account: max connections must be 1 to 1000")
	case a.OrderConnections > 0 && a.OrderConnections >= max(a.MaxConnections, 1) && a.MaxConnections > 0:
		return errors.New("epp: account: order connections must be fewer than max connections, or lookups get none")
	case a.PerSecond < 0 || a.OrderShare < 0 || a.OrderShare >= 1:
		return errors.New("epp: account: per second must not be negative, and the order share must be below 1")
	}
	return nil
}

func (a Account) withDefaults() Account {
	if a.MaxConnections == 0 {
		a.MaxConnections = max(4, a.OrderConnections+1)
	}
	switch {
	case a.OrderConnections < 0 || a.MaxConnections == 1:
		a.OrderConnections = 0 // a single connection can't be reserved; orders only go first
	case a.OrderConnections == 0:
		a.OrderConnections = max(1, a.MaxConnections/4)
	}
	a.OrderShare = cmp.Or(a.OrderShare, 0.25)
	orDefault(&a.MaxWaiting, 1024)
	orDefault(&a.ConnectTimeout, 10*time.Second)
	orDefault(&a.QueryTimeout, 10*time.Second)
	orDefault(&a.TransformTimeout, 45*time.Second)
	orDefault(&a.LookupTimeout, DefaultLookupTimeout)
	a.BatchDelay = cmp.Or(a.BatchDelay, 2*time.Millisecond)
	orDefault(&a.BatchNames, 50)
	a.UserAgent = cmp.Or(a.UserAgent, "dotkontor")
	if a.Logger == nil {
		a.Logger = slog.New(slog.DiscardHandler)
	}
	return a
}

func orDefault[T int | time.Duration](value *T, fallback T) {
	if *value <= 0 {
		*value = fallback
	}
}

// addressLabel identifies the account and its server in errors and logs.
func (a *Account) addressLabel() string { return a.label() + " (" + a.Address + ")" }

func (a *Account) label() string { return cmp.Or(a.Name, a.ClientID) }

// host is the server's name without the port, for errors and logs.
func (a *Account) host() string {
	host, _, err := net.SplitHostPort(a.Address)
	if err != nil {
		return a.Address
	}
	return host
}
