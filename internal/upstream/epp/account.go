package epp

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"
	"unicode/utf8"
)

// Account is a registrar's account at one registry or gateway. Address, ClientID
// and Password are required; every other zero value works.
type Account struct {
	// Name is the operator's name for the account, in logs; empty means ClientID.
	Name string
	// Address is host:port; registries listen on port 700.
	Address string
	// ClientID is the name of the account (clID), 3 to 16 characters.
	ClientID string
	// Password has at least 6 characters. More than 16 need a server that
	// announces login security (RFC 8807).
	Password string
	// TLS carries the client certificate that most registries ask for, and the
	// roots to trust; nil means the system's roots and no certificate. The
	// server's name is taken from Address unless it is set here.
	TLS *tls.Config
	// Language is the language of the registry's messages; empty means en.
	Language string
	// TLDs are the extensions of this account with their leading dot:
	// ".com". They matter to NewSource alone.
	TLDs []string

	// MaxConnections bounds the connections; 0 means 4. Registries tell how many
	// an account may have; several nodes share that number.
	MaxConnections int
	// OrderConnections is how many of them quotes and lookups never take; 0 means a quarter
	// of them, but at least one if there are two. A negative number means none.
	OrderConnections int
	// PerSecond bounds the commands in a second, over all connections; 0 means
	// that the registry sets no such bound. Burst is how many may come at once;
	// 0 means the commands of one second.
	PerSecond float64
	Burst     int
	// OrderShare is the part of PerSecond that quotes and lookups never use; 0
	// means a quarter.
	OrderShare float64
	// MaxWaiting bounds the commands of each class that wait for a connection, so
	// that one class never fills the queue of another; 0 means 1024.
	MaxWaiting int

	// ConnectTimeout bounds everything up to the end of the login; 0 means 10 s.
	ConnectTimeout time.Duration
	// QueryTimeout and ChangeTimeout bound the wait for the answer to a command
	// that asks and to one that changes something; 0 means 10 s and 45 s. A
	// change is given more time, because a lost answer costs more than a wait.
	QueryTimeout     time.Duration
	TransformTimeout time.Duration
	// LookupTimeout bounds the wait of somebody who only asks, after which another
	// source is asked; 0 means 1.5 s.
	LookupTimeout time.Duration
	// MaxQueueTime bounds the wait for a connection of a caller whose context
	// does not; 0 means 30 s.
	MaxQueueTime time.Duration
	// KeepAlive is the idle time after which a hello is sent; 0 means 4 minutes.
	// Registries close connections that are idle for about ten.
	KeepAlive time.Duration

	// BatchDelay is how long a question about a name waits for others, and
	// BatchNames how many names travel together; 0 means 2 ms and 50. A negative
	// BatchWait means no wait.
	BatchDelay time.Duration
	BatchNames int
	// MaxFrame bounds a frame in either direction; 0 means 1 MiB. It is 64 KiB
	// to 16 MiB.
	MaxFrame int

	// ProtocolExtension is what a gateway adds to the protocol; nil means nothing.
	ProtocolExtension ProtocolExtension
	// UserAgent is what servers with login security see; empty means the
	// program's name.
	UserAgent string
	// Logger hears about connections and never about names; nil means silence.
	Logger *slog.Logger
	// Now is the wall clock; nil means time.Now.
	Now func() time.Time
}

const (
	maxPlainPassword = 16 // pwType in RFC 5730
	minPassword      = 6
	maxBatchNames    = 500
)

// validate reports the first setting that can't work. It names the field and never
// its value where that is a secret.
func (a *Account) validate() error {
	if host, port, err := net.SplitHostPort(a.Address); err != nil || host == "" || port == "" {
		return fmt.Errorf("EPP account: address %q is not written as host:port, like epp.example.net:700", a.Address)
	}
	if n := utf8.RuneCountInString(a.ClientID); n < 3 || n > 16 || strings.TrimSpace(a.ClientID) != a.ClientID {
		return errors.New("EPP account: the client id must have 3 to 16 characters")
	}
	if err := validatePassword(a.Password); err != nil {
		return err
	}
	switch {
	case a.MaxConnections < 0 || a.MaxConnections > 1000:
		return errors.New("EPP account: max connections must be 1 to 1000")
	case a.OrderConnections > 0 && a.OrderConnections >= max(a.MaxConnections, 1) && a.MaxConnections > 0:
		return errors.New("EPP account: order connections must be fewer than max connections, else no name can be looked up")
	case a.PerSecond < 0 || a.OrderShare < 0 || a.OrderShare >= 1:
		return errors.New("EPP account: per second must not be negative, and the order share must be below 1")
	case a.MaxFrame != 0 && (a.MaxFrame < minFrameLimit || a.MaxFrame > maxFrameLimit):
		return errors.New("EPP account: max frame must be 64 KiB to 16 MiB")
	case a.BatchNames < 0 || a.BatchNames > maxBatchNames:
		return errors.New("EPP account: batch names must be 1 to 500")
	}
	for _, tld := range a.TLDs {
		if !strings.HasPrefix(tld, ".") || strings.ToLower(tld) != tld {
			return fmt.Errorf("EPP account: extension %q must be in lower case with its leading dot, like .com", tld)
		}
	}
	return nil
}

// validatePassword refuses what would arrive as another password: the schema's type
// is a token, whose white space is collapsed.
func validatePassword(password string) error {
	if utf8.RuneCountInString(password) < minPassword {
		return errors.New("EPP account: the password must have at least 6 characters")
	}
	if strings.Join(strings.Fields(password), " ") != password {
		return errors.New("EPP account: the password must not begin or end with a space or have two in a row")
	}
	return nil
}

func (a Account) withDefaults() Account {
	if a.Language == "" {
		a.Language = "en"
	}
	if a.MaxConnections == 0 {
		a.MaxConnections = max(4, a.OrderConnections+1)
	}
	switch {
	case a.OrderConnections < 0 || a.MaxConnections == 1:
		a.OrderConnections = 0 // one connection: orders go first, that is all
	case a.OrderConnections == 0:
		a.OrderConnections = max(1, a.MaxConnections/4)
	}
	if a.OrderShare == 0 {
		a.OrderShare = 0.25
	}
	if a.Burst <= 0 {
		a.Burst = max(1, int(a.PerSecond))
	}
	orDefault(&a.MaxWaiting, 1024)
	orDefault(&a.ConnectTimeout, 10*time.Second)
	orDefault(&a.QueryTimeout, 10*time.Second)
	orDefault(&a.TransformTimeout, 45*time.Second)
	orDefault(&a.LookupTimeout, 1500*time.Millisecond)
	orDefault(&a.MaxQueueTime, 30*time.Second)
	orDefault(&a.KeepAlive, 4*time.Minute)
	if a.BatchDelay == 0 {
		a.BatchDelay = 2 * time.Millisecond
	}
	orDefault(&a.BatchNames, 50)
	orDefault(&a.MaxFrame, defaultMaxFrame)
	if a.UserAgent == "" {
		a.UserAgent = "dotkontor"
	}
	if a.Logger == nil {
		a.Logger = slog.New(slog.DiscardHandler)
	}
	if a.Now == nil {
		a.Now = time.Now
	}
	return a
}

func orDefault[T int | time.Duration](value *T, fallback T) {
	if *value <= 0 {
		*value = fallback
	}
}

// addressLabel is the account and its server, for errors and logs.
func (a *Account) addressLabel() string { return a.label() + " (" + a.Address + ")" }

func (a *Account) label() string { return cmp.Or(a.Name, a.ClientID) }

// host is the server's name, which is all that errors and logs tell.
func (a *Account) host() string {
	host, _, err := net.SplitHostPort(a.Address)
	if err != nil {
		return a.Address
	}
	return host
}
