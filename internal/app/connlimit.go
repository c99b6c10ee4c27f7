package app

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
)

// connLimiter bounds open connections in total and per address, so that one client
// can't hold them all. Connections of trusted proxies count in total only, because they
// carry many clients.
//
// Excess connections are closed at once: queueing would look like an outage to the
// client and stay invisible to the operator.
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

func (c *connLimiter) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := c.limitKey(conn.RemoteAddr())
		if c.acquire(from) {
			return newClientConn(conn, sync.OnceFunc(func() { c.release(from) })), nil
		}
		c.refused.Add(1)
		_ = conn.Close() // nothing was sent yet
	}
}

// limitKey returns the address that a connection counts for; the zero address is unlimited.
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
	if addr.Is6() { // a household has a whole /64; rate limits use the same key
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
