package registry

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"
)

// maxConns limits the connections of one host. Further ones wait in the kernel's
// queue.
const maxConns = 256

// serverGroup tracks everything that runs or is open, so that close ends all of it.
// Every activity asks begin first, which returns false after close; this also keeps
// the WaitGroup from growing while it is waited for.
type serverGroup struct {
	ctx    context.Context //nolint:containedctx // ends when closing begins; lifetime of all servers
	cancel context.CancelFunc
	group  sync.WaitGroup

	mu      sync.Mutex
	closing bool
	open    map[io.Closer]struct{}
}

func newServerGroup() *serverGroup {
	ctx, cancel := context.WithCancel(context.Background())
	return &serverGroup{ctx: ctx, cancel: cancel, open: map[io.Closer]struct{}{}}
}

// begin counts one more activity. False means that the group is closing and the
// activity must not start; otherwise end must follow.
func (c *serverGroup) begin() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		return false
	}
	c.group.Add(1)
	return true
}

func (c *serverGroup) end() { c.group.Done() }

// run starts f as a counted goroutine.
func (c *serverGroup) run(f func()) bool {
	if !c.begin() {
		return false
	}
	go func() {
		defer c.end()
		f()
	}()
	return true
}

// track registers a Closer for close. It closes it and returns false if closing has
// begun.
func (c *serverGroup) track(closer io.Closer) bool {
	c.mu.Lock()
	if !c.closing {
		c.open[closer] = struct{}{}
		c.mu.Unlock()
		return true
	}
	c.mu.Unlock()
	_ = closer.Close() // it is never used
	return false
}

func (c *serverGroup) untrack(closer io.Closer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.open, closer)
}

// close ends everything and waits for it until ctx ends. It can be called
// repeatedly.
func (c *serverGroup) close(ctx context.Context) error {
	c.mu.Lock()
	c.closing = true
	closers := make([]io.Closer, 0, len(c.open))
	for closer := range c.open {
		closers = append(closers, closer)
	}
	c.mu.Unlock()
	c.cancel()
	for _, closer := range closers {
		// A listener or connection that has already closed itself is fine.
		_ = closer.Close()
	}
	done := make(chan struct{})
	go func() {
		c.group.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// sleep waits for d; it returns false if ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
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

// limitedListener is a listener with a limited number of connections.
type limitedListener struct {
	net.Listener
	group *serverGroup
	slots chan struct{}
}

// listen opens a listener on a free port of the loopback address.
func (c *serverGroup) listen(address string) (*limitedListener, error) {
	var config net.ListenConfig
	listener, err := config.Listen(c.ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	g := &limitedListener{Listener: listener, group: c, slots: make(chan struct{}, maxConns)}
	if !c.track(g) {
		return nil, net.ErrClosed
	}
	return g, nil
}

// Accept waits for a free slot, then for a connection.
func (g *limitedListener) Accept() (net.Conn, error) {
	select {
	case g.slots <- struct{}{}:
	case <-g.group.ctx.Done():
		return nil, net.ErrClosed
	}
	conn, err := g.Listener.Accept()
	if err != nil {
		<-g.slots
		return nil, err
	}
	tracked := &trackedConn{Conn: conn, listener: g}
	if !g.group.track(tracked) {
		return nil, net.ErrClosed
	}
	return tracked, nil
}

// Close closes the listener; accepted connections stay open.
func (g *limitedListener) Close() error {
	g.group.untrack(g)
	return g.Listener.Close()
}

// serve runs handle for every connection in a goroutine of its own until the
// listener is closed. The connection is closed after handle.
func (g *limitedListener) serve(handle func(*trackedConn)) {
	for {
		conn, err := g.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			// Out of file descriptors or the like: it may be temporary.
			if !sleep(g.group.ctx, 10*time.Millisecond) {
				return
			}
			continue
		}
		tracked, ok := conn.(*trackedConn)
		if !ok || !g.group.run(func() {
			defer func() { _ = tracked.Close() }()
			handle(tracked)
		}) {
			_ = conn.Close()
		}
	}
}

// trackedConn is one accepted connection. Closing it releases its slot.
type trackedConn struct {
	net.Conn
	listener  *limitedListener
	closeOnce sync.Once
}

// Close closes the connection once; later calls do nothing.
func (g *trackedConn) Close() error {
	var err error
	g.closeOnce.Do(func() {
		g.listener.group.untrack(g)
		err = g.Conn.Close()
		<-g.listener.slots
	})
	return err
}

// reset closes the connection with a TCP reset: undelivered data is lost.
func (g *trackedConn) reset() {
	if tcp, ok := g.Conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // an ordinary close is the fallback
	}
	_ = g.Close()
}

// hang keeps the connection silent until the peer leaves, d has passed or the
// sandbox closes.
func (g *trackedConn) hang(d time.Duration) {
	if err := g.SetReadDeadline(time.Now().Add(d)); err != nil {
		return
	}
	// Further input is discarded.
	_, _ = io.Copy(io.Discard, g.Conn)
}
