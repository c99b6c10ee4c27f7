package app

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"
)

func TestConnLimiter_BoundsConnectionsPerAddress(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listener := newConnLimiter(inner, 5, 2, []netip.Prefix{netip.MustParsePrefix("127.0.0.8/32")})
	accepted := make(chan net.Conn, 10)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			accepted <- conn
		}
	}()
	// dial opens a connection from an address and says whether it is kept open.
	dial := func(from string) (serverConn net.Conn, ok bool) {
		t.Helper()
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Timeout: 10 * time.Second}
		conn, err := dialer.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Skip("this system has one loopback address only: ", err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		select {
		case serverConn := <-accepted:
			return serverConn, true
		case <-time.After(10 * time.Second):
			t.Fatal("neither accepted nor refused")
		case <-closedByPeer(conn):
		}
		return nil, false
	}
	first, ok := dial("127.0.0.2")
	if !ok {
		t.Fatal("the first connection was refused")
	}
	if _, ok := dial("127.0.0.2"); !ok {
		t.Error("the second connection was refused")
	}
	if _, ok := dial("127.0.0.2"); ok {
		t.Error("the third connection of one address was accepted")
	}
	if _, ok := dial("127.0.0.3"); !ok {
		t.Error("another address was refused")
	}
	if err := errors.Join(first.Close(), ignoreClosed(first.Close())); err != nil {
		t.Fatal(err)
	}
	if _, ok := dial("127.0.0.2"); !ok {
		t.Error("a place that was given back stays taken")
	}
	for range 2 { // 3 are open; a proxy may have the rest
		if _, ok := dial("127.0.0.8"); !ok {
			t.Error("a connection of a trusted proxy was refused")
		}
	}
	if _, ok := dial("127.0.0.8"); ok {
		t.Error("more connections than allowed in all")
	}
	if listener.count() != 5 || listener.refused.Load() != 2 {
		t.Errorf("%d open, %d refused", listener.count(), listener.refused.Load())
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	<-ended
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// closedByPeer is closed when the other side has hung up.
func closedByPeer(conn net.Conn) <-chan struct{} {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_, _ = io.Copy(io.Discard, conn)
	}()
	return closed
}

func TestConnLimiter_CountsIPv6By64Prefix(t *testing.T) {
	c := newConnLimiter(nil, 10, 2, nil)
	one := c.limitKey(&net.TCPAddr{IP: net.ParseIP("2001:db8::1"), Port: 1})
	other := c.limitKey(&net.TCPAddr{IP: net.ParseIP("2001:db8::2:3"), Port: 1})
	foreign := c.limitKey(&net.TCPAddr{IP: net.ParseIP("2001:db8:0:1::1"), Port: 1})
	if one != other || one == foreign {
		t.Errorf("counted as %s, %s and %s", one, other, foreign)
	}
}
