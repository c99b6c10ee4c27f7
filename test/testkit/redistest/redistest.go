// Package redistest starts Redis servers for tests.
package redistest

import (
	"context"
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

// Start starts a server that ends with the test. Without redis-server, the test is skipped.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	if testing.Short() {
		t.Skip("-short excludes Redis")
	}
	if _, err := exec.LookPath("redis-server"); err != nil {
		t.Skip("redis-server is not installed (Debian: redis-server)")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	s := &Server{URL: "redis://" + address, Address: address, t: t, folder: t.TempDir(), args: args}
	s.Run()
	t.Cleanup(s.Kill)
	return s
}

// Run starts a server that was killed.
func (s *Server) Run() {
	s.t.Helper()
	_, port, _ := net.SplitHostPort(s.Address)
	args := append([]string{"--bind", "127.0.0.1", "--port", port, "--dir", s.folder, "--save", "", "--appendonly", "no"}, s.args...)
	s.process = exec.Command("redis-server", args...)
	if err := s.process.Start(); err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	for {
		if answersPing(s.Address) {
			return
		}
		select {
		case <-ctx.Done():
			s.t.Fatalf("redis-server does not answer on port %s", port)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func answersPing(address string) bool {
	conn, err := net.DialTimeout("tcp", address, time.Second)
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
	return err == nil && string(answer[:n]) == "+PONG\r\n"
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
