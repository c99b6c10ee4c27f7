package epp

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"runtime/debug"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// session is one connection. One goroutine uses it; another reads it continuously.
type session struct {
	conn     net.Conn
	account  *Account
	host     string
	services services
	w        Writer

	// responses buffers at most one response that was not received yet.
	responses chan *response
	// closed is closed when the connection is dead; closeCause is the reason.
	closed     chan struct{}
	once       sync.Once
	closeCause error
}

// dialer opens a connection that is ready for the first frame.
type dialer func(ctx context.Context) (net.Conn, error)

// dialTLS dials with TLS and verifies the server's name (RFC 5734, 9).
func dialTLS(a *Account) dialer {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if a.TLS != nil {
		config = a.TLS.Clone()
	}
	if config.ServerName == "" {
		config.ServerName = a.host()
	}
	d := &tls.Dialer{NetDialer: &net.Dialer{KeepAlive: 30 * time.Second}, Config: config}
	return func(ctx context.Context) (net.Conn, error) { return d.DialContext(ctx, "tcp", a.Address) }
}

// openSession connects and reads the greeting (RFC 5730, 2.4). The caller logs in.
func openSession(ctx context.Context, a *Account, dial dialer) (s *session, greeting *Node, err error) {
	conn, err := dial(ctx)
	if err != nil {
		return nil, nil, a.toFault("connect", err)
	}
	s = &session{
		conn: conn, account: a, host: a.host(),
		responses: make(chan *response, 1), closed: make(chan struct{}),
	}
	go s.readLoop()
	first, err := s.receive(ctx)
	if err == nil && first.greeting == nil {
		err = errNoGreeting
		if first.code >= 2000 { // some servers send an error instead of a greeting
			err = first.asError(a, "greeting")
		}
	}
	if err != nil {
		s.close(err)
		return nil, nil, a.toFault("greeting", err)
	}
	return s, first.greeting, nil
}

// readLoop parses every frame until the connection ends. It never stops inside a
// frame; callers that stop waiting close the connection.
func (s *session) readLoop() {
	var frame []byte
	defer func() {
		if recover() != nil { // malformed input must not end the process
			s.account.Logger.Error(registrar.PanicRecovered, "where", "epp response", "account", s.account.Name, "stack", string(debug.Stack()))
			s.close(&unreadable{errPanicked, frame})
		}
	}()
	frames := &frameReader{from: s.conn}
	for {
		var err error
		frame, err = frames.next()
		if errors.Is(err, errFrameTooLong) {
			err = &unreadable{err, frame}
		}
		if err != nil {
			s.close(err)
			return
		}
		a, err := parseResponse(frame)
		if err != nil {
			s.close(&unreadable{err, frame})
			return
		}
		select {
		case s.responses <- a:
		case <-s.closed:
			return
		}
	}
}

var errPanicked = errors.New("epp: panic while reading the response")

// unreadable marks a response that arrived but could not be parsed. The frame is not
// reused, because the connection ends with it; of one that is too long, it is the
// beginning.
type unreadable struct {
	cause error
	frame []byte
}

func (e *unreadable) Error() string { return "epp: unreadable response" }
func (e *unreadable) Unwrap() error { return e.cause }

// close ends the connection. The first cause is retained.
func (s *session) close(cause error) {
	s.once.Do(func() {
		s.closeCause = cause
		_ = s.conn.Close()
		close(s.closed)
	})
}

// receive returns the next response. If ctx ends first, it closes the connection,
// because a late response could be taken for another command's.
func (s *session) receive(ctx context.Context) (*response, error) {
	select {
	case a := <-s.responses:
		return a, nil
	case <-s.closed:
		select {
		case a := <-s.responses: // it arrived just before the end
			return a, nil
		default:
			return nil, s.closeCause
		}
	case <-ctx.Done():
		err := errors.Join(errResponseTimeout, context.Cause(ctx))
		s.close(err)
		return nil, err
	}
}

// isUsable reports whether the connection is open and has no unread response.
func (s *session) isUsable() bool {
	select {
	case <-s.closed:
		return false
	case <-s.responses:
		s.close(errUnsolicited)
		return false
	default:
		return true
	}
}

// exchange sends a frame and receives the response. sent is false if nothing was
// written.
func (s *session) exchange(ctx context.Context, frame []byte) (a *response, sent bool, err error) {
	if !s.isUsable() {
		return nil, false, s.closeCause
	}
	if deadline, ok := ctx.Deadline(); ok {
		if err := s.conn.SetWriteDeadline(deadline); err != nil {
			s.close(err)
			return nil, false, err
		}
	}
	if _, err := s.conn.Write(frame); err != nil {
		s.close(err)
		return nil, true, err
	}
	a, err = s.receive(ctx)
	return a, true, err
}

// do sends a command and returns its response, whatever the result. An error means
// that the connection is closed, unless the command could not be encoded.
func (s *session) do(ctx context.Context, c *call) (a *response, sent bool, err error) {
	frame, err := c.encode(&s.w, s.services, s.account.ProtocolExtension)
	if err != nil {
		return nil, false, err
	}
	a, sent, err = s.exchange(ctx, frame)
	if cap(s.w.buf) > maxRetainedBuffer {
		s.w.buf = nil
	}
	if err != nil {
		return nil, sent, err
	}
	// A server may omit our clTRID; it may not send another one.
	if a.greeting != nil || a.clTRID != "" && a.clTRID != c.trid {
		s.close(errTRIDMismatch)
		return nil, true, errTRIDMismatch
	}
	if a.closesSession() {
		s.close(errServerClosed)
	}
	return a, true, nil
}

var errServerClosed = errors.New("epp: session ended by the server")

// hello keeps the connection alive (RFC 5730, 2.3).
func (s *session) hello(ctx context.Context) error {
	s.w.begin()
	s.w.Empty("hello")
	frame, err := s.w.finish()
	if err != nil {
		return err
	}
	a, _, err := s.exchange(ctx, frame)
	if err == nil && a.greeting == nil {
		err = errNoGreeting
		s.close(err)
	}
	return err
}

// logout ends the session and closes the connection in any case.
func (s *session) logout(ctx context.Context) {
	c := &call{Command: Command{Verb: "logout"}, safe: true, trid: newTRID()}
	_, _, _ = s.do(ctx, c) // the connection is closed next
	s.close(errServerClosed)
}

// toFault converts a connection error to a fault with its cause. A *registrar.Error
// passes unchanged.
func (a *Account) toFault(operation string, err error) *registrar.Error {
	var known *registrar.Error
	if errors.As(err, &known) {
		return known
	}
	cause := &registrar.Cause{Part: "epp", Operation: operation, Target: a.addressLabel(), Class: registrar.NetworkClass(err), Err: err}
	host := a.host()
	var garbled *unreadable
	switch {
	case errors.Is(err, errResponseTimeout), errors.Is(err, context.Canceled), registrar.IsTimeout(err):
		cause.Class = "timeout"
		return registrar.Fault(registrar.FaultTimeout, host, cause)
	case errors.As(err, &garbled), errors.Is(err, errFrameTooLong), errors.Is(err, errFrameTooShort),
		errors.Is(err, errTRIDMismatch), errors.Is(err, errUnsolicited), errors.Is(err, errNoGreeting):
		cause.Class = "protocol_error"
		return registrar.Fault(registrar.FaultBroken, host, cause)
	default:
		cause.Class = cmp.Or(cause.Class, "connection_lost")
		return registrar.Fault(registrar.FaultRefused, host, cause)
	}
}
