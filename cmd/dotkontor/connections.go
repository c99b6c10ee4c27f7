package main

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
)

// connections bounds how many connections are open at one moment, in all and
// from one address, so that nobody can hold them all. Those of trusted proxies
// count in all only: they carry many people.
//
// A connection too many is closed at once. Waiting in line would look to its
// owner like a service that is down, and to the operator like nothing at all.
type connections struct {
	net.Listener
	total, perAddress int
	trusted           []netip.Prefix

	mu        sync.Mutex
	open      int
	byAddress map[netip.Addr]int
	refused   atomic.Int64
}

func newConnections(listener net.Listener, total, perAddress int, trusted []netip.Prefix) *connections {
	return &connections{
		Listener: listener, total: total, perAddress: perAddress, trusted: trusted, byAddress: make(map[netip.Addr]int),
	}
}

// Accept returns the next connection that there is room for.
func (c *connections) Accept() (net.Conn, error) {
	for {
		conn, err := c.Listener.Accept()
		if err != nil {
			return nil, err
		}
		from := c.countedAs(conn.RemoteAddr())
		if c.enter(from) {
			return &countedConn{Conn: conn, leave: sync.OnceFunc(func() { c.leave(from) })}, nil
		}
		c.refused.Add(1)
		_ = conn.Close() // nothing was said, so nothing is lost
	}
}

// countedAs is the address that a connection counts for; the zero address is not
// bounded.
func (c *connections) countedAs(remote net.Addr) netip.Addr {
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

func (c *connections) enter(from netip.Addr) bool {
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

func (c *connections) leave(from netip.Addr) {
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

func (c *connections) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open
}

// countedConn gives its place back when it is closed.
type countedConn struct {
	net.Conn
	leave func()
}

// Close closes the connection and gives its place back, once.
func (c *countedConn) Close() error {
	c.leave()
	return c.Conn.Close()
}
