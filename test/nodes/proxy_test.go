package nodes

import (
	"io"
	"net"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
)

// cable is the way to a database, which can be cut, or go dead without anybody
// noticing.
type cable struct {
	listener net.Listener
	network  string
	address  string

	mu    sync.Mutex
	state cableState
	ends  map[net.Conn]bool
	dead  *sync.Cond
}

type cableState uint8

const (
	whole cableState = iota
	cut
	silent
)

// through returns the same place behind a cable.
func (p place) through(t *testing.T) (place, *cable) {
	t.Helper()
	database, err := url.Parse(p.options.URL)
	if err != nil {
		t.Fatal(err)
	}
	c := &cable{network: "tcp", address: database.Host, ends: make(map[net.Conn]bool)}
	c.dead = sync.NewCond(&c.mu)
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
		c.become(cut)
		all.Wait()
	})
	behind := url.URL{Scheme: "postgres", User: database.User, Host: c.listener.Addr().String(), Path: database.Path, RawQuery: "sslmode=disable"}
	return at(t, behind.String()), c
}

// become changes the state; a cut ends what is under way.
func (c *cable) become(state cableState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.state = state
	if state == cut {
		for end := range c.ends {
			_ = end.Close() // whatever it says, it is closed
		}
		clear(c.ends)
	}
	c.dead.Broadcast()
}

// keep remembers an end, unless the cable is cut.
func (c *cable) keep(end net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == cut {
		_ = end.Close()
		return false
	}
	c.ends[end] = true
	return true
}

func (c *cable) accept(all *sync.WaitGroup) {
	for {
		near, err := c.listener.Accept()
		if err != nil {
			return
		}
		if !c.keep(near) {
			continue
		}
		all.Go(func() {
			c.waitUntilItCarries()
			far, err := net.Dial(c.network, c.address)
			if err != nil || !c.keep(far) {
				_ = near.Close()
				return
			}
			all.Go(func() { c.carry(far, near) })
			c.carry(near, far)
		})
	}
}

func (c *cable) waitUntilItCarries() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.state == silent {
		c.dead.Wait()
	}
}

func (c *cable) carry(to, from net.Conn) {
	_, _ = io.Copy(writer{c, to}, from)
	_ = to.Close()
	_ = from.Close()
}

// writer holds back what comes while the cable is silent.
type writer struct {
	cable *cable
	to    net.Conn
}

func (w writer) Write(b []byte) (int, error) {
	w.cable.waitUntilItCarries()
	return w.to.Write(b)
}
