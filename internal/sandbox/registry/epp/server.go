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

// Fault is what chaos does to one answer.
type Fault uint8

// The faults.
const (
	NoFault Fault = iota
	Slow
	Fails       // 2400
	Closes      // 2502
	DropsBefore // reset before the command is carried out
	DropsAfter  // reset after it
)

// Mishap is a fault with its details.
type Mishap struct {
	Fault Fault
	Late  time.Duration // of Slow
}

// Pace holds the waits.
type Pace struct {
	Login time.Duration // for a login after the connection
	Idle  time.Duration // between two commands
	Frame time.Duration // for a frame that has begun, in either direction
	Hang  time.Duration // how long a name that never answers keeps silent
	Slow  time.Duration // how late a slow name is
}

// DefaultPace is that of a registry.
func DefaultPace() Pace {
	return Pace{Login: time.Minute, Idle: 10 * time.Minute, Frame: 10 * time.Second, Hang: 30 * time.Second, Slow: 3 * time.Second}
}

// Options say what the server serves.
type Options struct {
	Ledger      *ledger.Ledger
	Certificate tls.Certificate
	Sessions    int // of an account; 0 means 30
	Latency     time.Duration
	Greeting    time.Duration // how late greetings are
	Pace        Pace
	// Mishap throws the dice for an answer; nil means that all goes well.
	Mishap func() Mishap
	Logger *slog.Logger
	// Tap sees every frame that is sent, without its length; for tests.
	Tap func(frame []byte)
}

// Server speaks EPP.
type Server struct {
	opts Options
	tls  *tls.Config

	mu       sync.Mutex
	sessions map[string]int
	failed   map[string]int  // wrong passwords since the last right one
	once     map[string]bool // names that have misbehaved
}

// New makes a server. It listens to nobody: connections come through Serve.
func New(opts Options) *Server {
	if opts.Sessions == 0 {
		opts.Sessions = defaultSessions
	}
	if opts.Mishap == nil {
		opts.Mishap = func() Mishap { return Mishap{} }
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	return &Server{
		opts:     opts,
		tls:      &tls.Config{Certificates: []tls.Certificate{opts.Certificate}, MinVersion: tls.VersionTLS12},
		sessions: map[string]int{}, failed: map[string]int{}, once: map[string]bool{},
	}
}

// Serve speaks with one client until one of them has enough or ctx ends. cut
// resets the connection; the caller closes it.
func (s *Server) Serve(ctx context.Context, conn net.Conn, cut func()) {
	// Closing the raw connection ends every read and write of the session.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	secure := tls.Server(conn, s.tls)
	if err := secure.SetDeadline(time.Now().Add(s.opts.Pace.Frame)); err != nil {
		return
	}
	if err := secure.HandshakeContext(ctx); err != nil {
		return // a port scan, or a client that does not trust us
	}
	session := &session{Server: s, ledger: s.opts.Ledger, line: newLine(secure, s.opts.Pace), ctx: ctx, cut: cut}
	defer session.leave()
	if session.run() {
		_ = secure.Close() // with a goodbye; the client may be gone already
	}
}

// enter counts a session of an account, if there is room for one more.
func (s *Server) enter(account string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[account] >= s.opts.Sessions {
		return false
	}
	s.sessions[account]++
	return true
}

func (s *Server) exit(account string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions[account]--
}

// wrongPassword counts a failure; the count is told at the next login.
func (s *Server) wrongPassword(account string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.failed) < maxRemembered {
		s.failed[account]++
	}
}

func (s *Server) failures(account string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.failed[account]
	delete(s.failed, account)
	return n
}

// firstTime says whether a name misbehaves for the first time.
func (s *Server) firstTime(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.once[name] || len(s.once) >= maxRemembered {
		return false
	}
	s.once[name] = true
	return true
}

// pause waits for d, or shorter if ctx ends; then it returns false.
func pause(ctx context.Context, d time.Duration) bool {
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
