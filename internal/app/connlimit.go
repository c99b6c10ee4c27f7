package app

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
)

// connLimiter bounds how many connections are open at one moment, in all and
// from one address, so that nobody can hold them all. Those of trusted proxies
// count in all only: they carry many people.
//
// A connection too many is closed at once. Waiting in line would look to its
// owner like a service that is down, and to the operator like nothing at all.
type connLimiter struct {
	net.Listener
	total, perAddress int
	trusted           []netip.Prefix

	mu        sync.Mutex
	open      int
	byAddress map[netip.Addr]int
	refused   atomic.Int64
}

func newConnLimiter(listener net.Listener, total, perAddress int, trusted []netip.Prefix) *connLimiter {
	return &connLimiter{
		Listener: listener, total: total, perAddress: perAddress, trusted: trusted, byAddress: make(map[netip.Addr]int),
	}
}

// Accept returns the next connection that there is room for.
func (c *connLimiter) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := c.limitKey(conn.RemoteAddr())
		if c.acquire(from) {
			return &limitedConn{Conn: conn, release: sync.OnceFunc(func() { c.release(from) })}, nil
		}
		c.refused.Add(1)
		_ = conn.Close() // nothing was said, so nothing is lost
	}
}

// limitKey is the address that a connection counts for; the zero address is not
// bounded.
func (c *connLimiter) limitKey(remote net.Addr) netip.Addr {
	peer, err := netip.ParseAddrPort(remote.String())
	if err != nil {
		return netip.Addr{}
	}
	addr := peer.Addr().Unmap().WithZone("")
	for _, network := range c.trusted {
		if network.Contains(addr) {
			return netip.Addr{}
		}
	}
	if addr.Is6() { // a household has a whole /64, as the limits see it too
		return netip.PrefixFrom(addr, 64).Masked().Addr()
	}
	return addr
}

func (c *connLimiter) acquire(from netip.Addr) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open >= c.total || from.IsValid() && c.byAddress[from] >= c.perAddress {
		return false
	}
	c.open++
	if from.IsValid() {
		c.byAddress[from]++
	}
	return true
}

func (c *connLimiter) release(from netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open--
	if !from.IsValid() {
		return
	}
	if c.byAddress[from]--; c.byAddress[from] == 0 {
		delete(c.byAddress, from)
	}
}

func (c *connLimiter) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open
}

// limitedConn gives its place back when it is closed.
type limitedConn struct {
	net.Conn
	release func()
}

// Close closes the connection and gives its place back, once.
func (c *limitedConn) Close() error {
	c.release()
	return c.Conn.Close()
}
