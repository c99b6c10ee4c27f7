package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// responseTimeout is how long a response may take before the run is aborted.
const responseTimeout = 10 * time.Second

// load is a number of clients of one server, each with a connection that stays open
// during all rounds.
type load struct {
	clients []*client
	// length is the length of the expected body.
	length int
	sent   atomic.Int64
}

type client struct {
	conn     net.Conn
	reader   *bufio.Reader
	template requestTemplate
}

// dial opens the connections and sends one request, whose response length all others
// must have.
func dial(ctx context.Context, address string, asked requestSpec, connections int) (*load, []byte, error) {
	l := &load{}
	turn := &atomic.Uint64{}
	var dialer net.Dialer
	for range connections {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil {
			l.close()
			return nil, nil, err
		}
		l.clients = append(l.clients, &client{
			conn: conn, reader: bufio.NewReaderSize(conn, maxResponse), template: newRequestTemplate(asked, turn),
		})
	}
	first, err := l.clients[0].askBy(time.Now().Add(responseTimeout))
	if err != nil {
		l.close()
		return nil, nil, fmt.Errorf("the first question: %w", err)
	}
	l.sent.Add(1)
	l.length = len(first)
	return l, append([]byte(nil), first...), nil
}

func (l *load) close() {
	for _, c := range l.clients {
		c.conn.Close()
	}
}

// askBy sends one request and returns the body of a 200.
func (c *client) askBy(deadline time.Time) ([]byte, error) {
	if err := c.conn.SetDeadline(deadline); err != nil {
		return nil, err
	}
	return c.exchange()
}

func (c *client) exchange() ([]byte, error) {
	if _, err := c.conn.Write(c.template.next()); err != nil {
		return nil, err
	}
	got, err := readResponse(c.reader)
	switch {
	case err != nil:
		return nil, err
	case got.status == http.StatusTooManyRequests:
		return nil, errors.New("a limit was hit, so this would measure refusals")
	case got.status != http.StatusOK:
		return nil, fmt.Errorf("status %d instead of 200", got.status)
	}
	return got.body, nil
}

// run sends requests as fast as responses arrive and returns the responses per second.
func (l *load) run(ctx context.Context, duration time.Duration) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, duration+responseTimeout)
	defer cancel()
	var (
		all  sync.WaitGroup
		done atomic.Int64
		over atomic.Bool
	)
	failures := make([]error, len(l.clients))
	began := time.Now()
	timer := time.AfterFunc(duration, func() { over.Store(true) })
	defer timer.Stop()
	// A cancelled run must not wait for responses.
	stop := context.AfterFunc(ctx, func() { over.Store(true) })
	defer stop()
	for i, c := range l.clients {
		all.Go(func() {
			n, err := c.loop(&over, l.length, began.Add(duration+responseTimeout))
			done.Add(n)
			failures[i] = err
		})
	}
	all.Wait()
	took := time.Since(began)
	l.sent.Add(done.Load())
	if err := errors.Join(errors.Join(failures...), ctx.Err()); err != nil {
		return 0, err
	}
	return float64(done.Load()) / took.Seconds(), nil
}

// loop sends requests until the time is over.
func (c *client) loop(over *atomic.Bool, length int, deadline time.Time) (n int64, err error) {
	if err := c.conn.SetDeadline(deadline); err != nil {
		return 0, err
	}
	for !over.Load() {
		body, err := c.exchange()
		if err != nil {
			return n, err
		}
		if len(body) != length {
			return n, fmt.Errorf("an answer has %d bytes, the first one had %d", len(body), length)
		}
		n++
	}
	return n, nil
}
