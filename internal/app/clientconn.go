package app

import (
	"net"
	"os"
	"sync"
	"time"
)

// deadlineSlack is how much later than wanted a wait may end.
const deadlineSlack = time.Second

// clientConn is an accepted connection. It releases its slot when it is closed.
//
// net/http sets seven deadlines per request and replaces most of them before anything
// waits; their timers were a twentieth of the cost of a lookup. So a deadline is set
// when a call may wait for it, and again only if the one in place is too early or more
// than deadlineSlack too late.
type clientConn struct {
	net.Conn
	release       func()
	reads, writes waits
}

func newClientConn(conn net.Conn, release func()) *clientConn {
	opened := time.Now()
	return &clientConn{
		Conn: conn, release: release,
		reads:  waits{opened: opened, set: conn.SetReadDeadline},
		writes: waits{opened: opened, set: conn.SetWriteDeadline},
	}
}

func (c *clientConn) Close() error {
	c.release()
	return c.Conn.Close()
}

func (c *clientConn) Read(b []byte) (int, error) {
	if err := c.reads.begin(); err != nil {
		return 0, err
	}
	defer c.reads.end()
	return c.Conn.Read(b)
}

func (c *clientConn) Write(b []byte) (int, error) {
	if err := c.writes.begin(); err != nil {
		return 0, err
	}
	defer c.writes.end()
	return c.Conn.Write(b)
}

func (c *clientConn) SetReadDeadline(t time.Time) error  { return c.reads.limit(t) }
func (c *clientConn) SetWriteDeadline(t time.Time) error { return c.writes.limit(t) }

func (c *clientConn) SetDeadline(t time.Time) error {
	if err := c.reads.limit(t); err != nil {
		return err
	}
	return c.writes.limit(t)
}

// waits bounds the calls of one direction.
type waits struct {
	opened time.Time
	set    func(time.Time) error // sets the deadline of the connection

	mu       sync.Mutex
	wanted   time.Time // zero means none
	inPlace  time.Time
	inFlight int
}

// limit bounds calls in flight at once and exactly, later ones when they begin.
func (w *waits) limit(t time.Time) (err error) {
	w.mu.Lock()
	w.wanted = t
	if w.inFlight > 0 {
		w.inPlace, err = t, w.set(t)
	}
	w.mu.Unlock()
	return err
}

func (w *waits) begin() error {
	w.mu.Lock()
	err := w.arm()
	if err == nil {
		w.inFlight++
	}
	w.mu.Unlock()
	return err
}

func (w *waits) end() {
	w.mu.Lock()
	w.inFlight--
	w.mu.Unlock()
}

// arm makes the deadline in place cover the wanted one.
func (w *waits) arm() error {
	if late := w.inPlace.Sub(w.wanted); late >= 0 && late <= deadlineSlack {
		return nil
	}
	next := w.wanted
	switch {
	case next.IsZero():
	case next.Before(w.opened): // how net/http interrupts a read
		return os.ErrDeadlineExceeded
	default:
		next = next.Add(deadlineSlack)
	}
	w.inPlace = next
	return w.set(next)
}
