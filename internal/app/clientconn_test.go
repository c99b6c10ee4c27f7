package app

import (
	"errors"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

// countedConn counts how often a deadline is set on the connection itself.
type countedConn struct {
	net.Conn
	reads, writes int
}

func (c *countedConn) SetReadDeadline(t time.Time) error {
	c.reads++
	return c.Conn.SetReadDeadline(t)
}

func (c *countedConn) SetWriteDeadline(t time.Time) error {
	c.writes++
	return c.Conn.SetWriteDeadline(t)
}

// inBubble runs test with both ends of a connection and a fake clock.
func inBubble(t *testing.T, test func(t *testing.T, conn *clientConn, counted *countedConn, client net.Conn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server, client := net.Pipe()
		counted := &countedConn{Conn: server}
		conn := newClientConn(counted, func() {})
		test(t, conn, counted, client)
		if err := errors.Join(conn.Close(), client.Close()); err != nil {
			t.Error(err)
		}
	})
}

func TestClientConn_WaitEndsAtDeadlinePlusSlack(t *testing.T) {
	inBubble(t, func(t *testing.T, conn *clientConn, _ *countedConn, _ net.Conn) {
		for name, call := range map[string]func() error{
			"read": func() error {
				_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
				_, err := conn.Read(make([]byte, 1))
				return err
			},
			"write": func() error {
				_ = conn.SetWriteDeadline(time.Now().Add(5 * time.Second))
				_, err := conn.Write([]byte("x"))
				return err
			},
			"both": func() error {
				_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
				_, err := conn.Write([]byte("x"))
				return err
			},
			"a shorter one after a longer one": func() error {
				_ = conn.SetReadDeadline(time.Now().Add(2 * time.Minute))
				_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
				_, err := conn.Read(make([]byte, 1))
				return err
			},
		} {
			began := time.Now()
			err := call()
			if took := time.Since(began); !errors.Is(err, os.ErrDeadlineExceeded) || took < 5*time.Second || took > 5*time.Second+deadlineSlack {
				t.Errorf("%s: %v after %v", name, err, took)
			}
		}
	})
}

func TestClientConn_DeadlineReachesReadInFlight(t *testing.T) {
	inBubble(t, func(t *testing.T, conn *clientConn, _ *countedConn, client net.Conn) {
		for _, deadline := range []func() time.Time{
			func() time.Time { return time.Unix(1, 0) }, time.Now, func() time.Time { return time.Now().Add(time.Second) },
		} {
			_ = conn.SetReadDeadline(time.Now().Add(time.Hour))
			interrupted := make(chan error)
			go func() {
				_, err := conn.Read(make([]byte, 1))
				interrupted <- err
			}()
			synctest.Wait()
			at := deadline()
			_ = conn.SetReadDeadline(at)
			if err := <-interrupted; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(at) < 0 {
				t.Errorf("got %v", err)
			}
		}
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a read after the deadline got %v", err)
		}
		_ = conn.SetReadDeadline(time.Unix(1, 0)) // before the read begins
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("an interrupted read got %v", err)
		}
		_ = conn.SetReadDeadline(time.Time{})
		go func() {
			time.Sleep(24 * time.Hour)
			_, _ = client.Write([]byte("x"))
		}()
		if n, err := conn.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Errorf("without a deadline: %d bytes, %v", n, err)
		}
	})
}

// The sequence is that of net/http for one request on a kept-alive connection.
func TestClientConn_RequestsShareOneTimer(t *testing.T) {
	inBubble(t, func(t *testing.T, conn *clientConn, counted *countedConn, client net.Conn) {
		b := make([]byte, 1)
		for range 100 {
			_ = conn.SetReadDeadline(time.Now().Add(2 * time.Minute))
			go func() { _, _ = client.Write(b) }()
			if _, err := conn.Read(b); err != nil {
				t.Fatal(err)
			}
			_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
			_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
			_ = conn.SetWriteDeadline(time.Now().Add(20 * time.Second))
			_ = conn.SetReadDeadline(time.Unix(1, 0))
			if _, err := conn.Read(b); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Fatal(err)
			}
			_ = conn.SetReadDeadline(time.Time{})
			go func() { _, _ = client.Read(b) }()
			if _, err := conn.Write(b); err != nil {
				t.Fatal(err)
			}
			_ = conn.SetWriteDeadline(time.Time{})
		}
		if counted.reads != 1 || counted.writes != 1 {
			t.Errorf("%d read and %d write deadlines were set", counted.reads, counted.writes)
		}
	})
}
