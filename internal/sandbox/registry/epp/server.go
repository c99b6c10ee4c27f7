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
	// maxChecked bounds the objects of one check.
	maxChecked = 100
	// defaultSessions is how many sessions an account may have.
	defaultSessions = 30
	// maxRemembered bounds the names of which the server knows that they have
	// misbehaved once.
	maxRemembered = 100_000
)

// FaultKind is what chaos does to one answer.
type FaultKind uint8

// The faults.
const (
	NoFault FaultKind = iota
	Slow
	Fails       // 2400
	Closes      // 2502
	DropsBefore // reset before the command is carried out
	DropsAfter  // reset after it
)

// Fault is a fault with its details.
type Fault struct {
	Kind  FaultKind
	Delay time.Duration // of Slow
}

// Timeouts holds the waits.
type Timeouts struct {
	Login time.Duration // for a login after the connection
	Idle  time.Duration // between two commands
	Frame time.Duration // for a frame that has begun, in either direction
	Hang  time.Duration // how long a name that never answers keeps silent
	Slow  time.Duration // how late a slow name is
}

// DefaultTimeouts is that of a registry.
func DefaultTimeouts() Timeouts {
	return Timeouts{Login: time.Minute, Idle: 10 * time.Minute, Frame: 10 * time.Second, Hang: 30 * time.Second, Slow: 3 * time.Second}
}

// Options say what the server serves.
type Options struct {
	Ledger      *ledger.Ledger
	Certificate tls.Certificate
	Sessions    int // of an account; 0 means 30
	Latency     time.Duration
	Greeting    time.Duration // how late greetings are
	Timeouts    Timeouts
	// NextFault throws the dice for an answer; nil means that all goes well.
	NextFault func() Fault
	Logger    *slog.Logger
	// Tap sees every frame that is sent, without its length; for tests.
	Tap func(frame []byte)
}

// Server speaks EPP.
type Server struct {
	opts Options
	tls  *tls.Config

	mu           sync.Mutex
	sessions     map[string]int
	failedLogins map[string]int  // wrong passwords since the last right one
	misbehaved   map[string]bool // names that have misbehaved
}

// New makes a server. It listens to nobody: connections come through Serve.
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

// Serve speaks with one client until one of them has enough or ctx ends. cut
// resets the connection; the caller closes it.
func (s *Server) Serve(ctx context.Context, conn net.Conn, cut func()) {
	// Closing the raw connection ends every read and write of the session.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	secure := tls.Server(conn, s.tls)
	if err := secure.SetDeadline(time.Now().Add(s.opts.Timeouts.Frame)); err != nil {
		return
	}
	if err := secure.HandshakeContext(ctx); err != nil {
		return // a port scan, or a client that does not trust us
	}
	session := &session{Server: s, ledger: s.opts.Ledger, conn: newFrameConn(secure, s.opts.Timeouts), ctx: ctx, cut: cut}
	defer session.close()
	if session.run() {
		_ = secure.Close() // with a goodbye; the client may be gone already
	}
}

// acquireSession counts a session of an account, if there is room for one more.
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

// recordFailedLogin counts a failure; the count is told at the next login.
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

// firstTime says whether a name misbehaves for the first time.
func (s *Server) firstTime(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.misbehaved[name] || len(s.misbehaved) >= maxRemembered {
		return false
	}
	s.misbehaved[name] = true
	return true
}

// sleep waits for d, or shorter if ctx ends; then it returns false.
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
