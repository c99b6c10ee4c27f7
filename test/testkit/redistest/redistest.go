// Package redistest starts Redis servers for tests.
package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Server is a Redis server on this machine. Its data does not survive a restart, unless an
// argument of Start enables persistence.
type Server struct {
	URL, Address string

	t       testing.TB
	folder  string
	args    []string
	process *exec.Cmd
}

// startTimeout bounds the start of a server.
const startTimeout = 10 * time.Second

// ErrMissing means that redis-server is not installed.
var ErrMissing = errors.New("redis-server is not installed (Debian: redis-server)")

// Start starts a server that ends with the test. Without redis-server, the test is skipped.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	if testing.Short() {
		t.Skip("-short excludes Redis")
	}
	s, err := Launch(t.TempDir(), args...)
	if errors.Is(err, ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.t = t
	t.Cleanup(s.Kill)
	return s
}

// Launch starts a server outside of a test, with its data in a folder. The caller kills it.
func Launch(folder string, args ...string) (*Server, error) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		return nil, ErrMissing
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return nil, err
	}
	s := &Server{URL: "redis://" + address, Address: address, folder: folder, args: args}
	if err := s.run(); err != nil {
		return nil, err
	}
	return s, nil
}

// Run starts a server that was killed.
func (s *Server) Run() {
	s.t.Helper()
	if err := s.run(); err != nil {
		s.t.Fatal(err)
	}
}

func (s *Server) run() error {
	_, port, _ := net.SplitHostPort(s.Address)
	args := append([]string{"--bind", "127.0.0.1", "--port", port, "--dir", s.folder, "--save", "", "--appendonly", "no"}, s.args...)
	s.process = exec.CommandContext(context.Background(), "redis-server", args...)
	if err := s.process.Start(); err != nil {
		return err
	}
	for deadline := time.Now().Add(startTimeout); !answersPing(s.Address); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.Kill()
			return fmt.Errorf("redis-server does not answer on port %s", port)
		}
	}
	return nil
}

// PID is the process id.
func (s *Server) PID() int { return s.process.Process.Pid }

func answersPing(address string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	answer := make([]byte, 7)
	n, err := conn.Read(answer)
	return err == nil && (string(answer[:n]) == "+PONG\r\n" || string(answer[:n]) == "-NOAUTH") // one with a password
}

// Kill ends the server at once. Run starts it again.
func (s *Server) Kill() {
	if s.process == nil {
		return
	}
	_ = s.process.Process.Kill()
	_ = s.process.Wait()
	s.process = nil
}

// Freeze stops the server without closing its connections, until Thaw.
func (s *Server) Freeze() { s.signal(syscall.SIGSTOP) }

// Thaw continues a frozen server.
func (s *Server) Thaw() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(signal syscall.Signal) {
	s.t.Helper()
	if err := s.process.Process.Signal(signal); err != nil {
		s.t.Fatalf("signal %s to redis-server, process %s: %v", signal, strconv.Itoa(s.process.Process.Pid), err)
	}
}
