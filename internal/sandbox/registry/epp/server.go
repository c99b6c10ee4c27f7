package epp

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

const (
	// MaxChecked limits the objects of one check.
	MaxChecked = 100
	// defaultSessions limits the sessions of an account.
	defaultSessions = 30
	// maxRemembered limits the once- names that are tracked.
	maxRemembered = 100_000
)

// FaultKind is what chaos does to one response.
type FaultKind uint8

// Fault kinds.
const (
	NoFault FaultKind = iota
	Slow
	Fails       // 2400
	Closes      // 2502
	DropsBefore // reset before the command is executed
	DropsAfter  // reset after it
)

// Fault is a fault with its details.
type Fault struct {
	Kind  FaultKind
	Delay time.Duration // of Slow
}

// Timeouts holds all timeouts and delays.
type Timeouts struct {
	Login time.Duration // for a login after the connection
	Idle  time.Duration // between two commands
	Frame time.Duration // for a frame that has begun, in either direction
	Hang  time.Duration // how long a hanging name stays silent
	Slow  time.Duration // delay of a slow name
}

// DefaultTimeouts are those of a real registry.
func DefaultTimeouts() Timeouts {
	return Timeouts{Login: time.Minute, Idle: 10 * time.Minute, Frame: 10 * time.Second, Hang: 30 * time.Second, Slow: 3 * time.Second}
}

// Options configures a server.
type Options struct {
	Ledger      *ledger.Ledger
	Certificate tls.Certificate
	Sessions    int // of an account; 0 means 30
	Latency     time.Duration
	Greeting    time.Duration // delay of greetings
	Timeouts    Timeouts
	// NextFault decides the fault of a response; nil means no faults.
	NextFault func() Fault
	Logger    *slog.Logger
	// Tap gets every sent frame without its length, TapReceived every received one; for tests.
	Tap, TapReceived func(frame []byte)
}

// Server is an EPP server.
type Server struct {
	opts Options
	tls  *tls.Config

	mu           sync.Mutex
	sessions     map[string]int
	failedLogins map[string]int  // wrong passwords since the last correct one
	misbehaved   map[string]bool // once- names that have misbehaved
}

// New returns a server. It does not listen: connections are passed to Serve.
func New(opts Options) *Server {
	if opts.Sessions == 0 {
		opts.Sessions = defaultSessions
	}
	if opts.NextFault == nil {
		opts.NextFault = func() Fault { return Fault{} }
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	return &Server{
		opts:     opts,
		tls:      &tls.Config{Certificates: []tls.Certificate{opts.Certificate}, MinVersion: tls.VersionTLS12},
		sessions: map[string]int{}, failedLogins: map[string]int{}, misbehaved: map[string]bool{},
	}
}

// Serve handles one connection until it ends or ctx ends. cut resets the
// connection; the caller closes it.
func (s *Server) Serve(ctx context.Context, conn net.Conn, cut func()) {
	// Closing the raw connection ends every read and write of the session.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	secure := tls.Server(conn, s.tls)
	if err := secure.SetDeadline(time.Now().Add(s.opts.Timeouts.Frame)); err != nil {
		return
	}
	if err := secure.HandshakeContext(ctx); err != nil {
		return // a port scan, or a client that does not trust the CA
	}
	session := &session{Server: s, ledger: s.opts.Ledger, conn: newFrameConn(secure, s.opts.Timeouts), ctx: ctx, cut: cut}
	defer session.close()
	if session.run() {
		_ = secure.Close() // with close_notify; the client may have left
	}
}

// acquireSession counts a session of an account unless the limit is reached.
func (s *Server) acquireSession(account string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[account] >= s.opts.Sessions {
		return false
	}
	s.sessions[account]++
	return true
}

func (s *Server) releaseSession(account string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[account]--
}

// recordFailedLogin counts a failure, which the next login reports.
func (s *Server) recordFailedLogin(account string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.failedLogins) < maxRemembered {
		s.failedLogins[account]++
	}
}

func (s *Server) countFailedLogins(account string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.failedLogins[account]
	delete(s.failedLogins, account)
	return n
}

// firstTime reports whether a name misbehaves for the first time.
func (s *Server) firstTime(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.misbehaved[name] || len(s.misbehaved) >= maxRemembered {
		return false
	}
	s.misbehaved[name] = true
	return true
}

// sleep waits for d; it returns false if ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
