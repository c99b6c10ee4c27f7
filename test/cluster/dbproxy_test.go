package cluster

import (
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
)

// dbProxy is a TCP proxy in front of a database that can close connections or stop
// forwarding without closing them.
type dbProxy struct {
	listener net.Listener
	network  string
	address  string

	mu           sync.Mutex
	state        proxyState
	conns        map[net.Conn]bool
	stateChanged *sync.Cond
}

type proxyState uint8

const (
	connected proxyState = iota
	cut
	silent
)

// behindProxy returns the same database behind a proxy.
func (p testDB) behindProxy(t *testing.T) (testDB, *dbProxy) {
	t.Helper()
	database, err := url.Parse(p.options.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := &dbProxy{network: "tcp", address: database.Host, conns: make(map[net.Conn]bool)}
	c.stateChanged = sync.NewCond(&c.mu)
	if folder := database.Query().Get("host"); folder != "" {
		c.network, c.address = "unix", filepath.Join(folder, ".s.PGSQL.5432")
	}
	if c.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() { c.accept(&all) })
	t.Cleanup(func() {
		if err := c.listener.Close(); err != nil {
			t.Error(err)
		}
		c.setState(cut)
		all.Wait()
	})
	behind := url.URL{Scheme: "postgres", User: database.User, Host: c.listener.Addr().String(), Path: database.Path, RawQuery: "sslmode=disable"}
	return postgresAt(t, behind.String()), c
}

// setState changes the state; a cut closes open connections.
func (c *dbProxy) setState(state proxyState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = state
	if state == cut {
		for end := range c.conns {
			_ = end.Close()
		}
		clear(c.conns)
	}
	c.stateChanged.Broadcast()
}

// track records a connection, unless the proxy is cut.
func (c *dbProxy) track(end net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == cut {
		_ = end.Close()
		return false
	}
	c.conns[end] = true
	return true
}

func (c *dbProxy) accept(all *sync.WaitGroup) {
	for {
		near, err := c.listener.Accept()
		if err != nil {
			return
		}
		if !c.track(near) {
			continue
		}
		all.Go(func() {
			c.waitWhileSilent()
			far, err := net.Dial(c.network, c.address)
			if err != nil || !c.track(far) {
				_ = near.Close()
				return
			}
			all.Go(func() { c.relay(far, near) })
			c.relay(near, far)
		})
	}
}

func (c *dbProxy) waitWhileSilent() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.state == silent {
		c.stateChanged.Wait()
	}
}

func (c *dbProxy) relay(to, from net.Conn) {
	_, _ = io.Copy(stallingWriter{c, to}, from)
	_ = to.Close()
	_ = from.Close()
}

// stallingWriter blocks while the proxy is stalled.
type stallingWriter struct {
	cable *dbProxy
	to    net.Conn
}

func (w stallingWriter) Write(b []byte) (int, error) {
	w.cable.waitWhileSilent()
	return w.to.Write(b)
}
