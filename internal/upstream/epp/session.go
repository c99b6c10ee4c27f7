package epp

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// session is one connection that is logged in. One goroutine uses it; another
// reads it all the time.
type session struct {
	conn     net.Conn
	account  *Account
	host     string
	services services
	w        Writer

	// responses holds at most one that was not asked for yet.
	responses chan *answer
	// closed is closed when the connection is dead; why says of what.
	closed     chan struct{}
	once       sync.Once
	closeCause error
}

// dialer opens a connection that is ready for the first frame.
type dialer func(ctx context.Context) (net.Conn, error)

// dialTLS is the dialer for an account (RFC 5734, 9: TLS, and the server's name
// is verified).
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

// openSession connects and reads the greeting. The caller logs in.
func openSession(ctx context.Context, a *Account, dial dialer) (*session, greeting, error) {
	conn, err := dial(ctx)
	if err != nil {
		return nil, greeting{}, a.toFault("connect", err)
	}
	s := &session{
		conn: conn, account: a, host: a.host(),
		responses: make(chan *answer, 1), closed: make(chan struct{}),
	}
	go s.readLoop(a.MaxFrame)
	first, err := s.receive(ctx)
	if err == nil && first.greeting == nil {
		err = errNoGreeting
		if first.code >= 2000 { // some servers refuse in place of a greeting
			err = first.asError(a, "greeting")
		}
	}
	if err != nil {
		s.close(err)
		return nil, greeting{}, a.toFault("greeting", err)
	}
	return s, readGreeting(first.greeting), nil
}

// readLoop parses every frame until the connection ends. It never leaves one
// half-read: whoever does not want to wait closes the connection.
func (s *session) readLoop(bound int) {
	defer func() {
		if recover() != nil { // what a server sends must not end the process
			s.account.Logger.Error(registrar.PanicRecovered, "where", "epp answer", "account", s.account.Name, "stack", string(debug.Stack()))
			s.close(&unreadable{errPanicked})
		}
	}()
	frames := &frameReader{from: s.conn, limit: bound}
	for {
		frame, err := frames.next()
		if err != nil {
			s.close(err)
			return
		}
		a, err := parseResponse(frame)
		if err != nil {
			s.close(&unreadable{err})
			return
		}
		select {
		case s.responses <- a:
		case <-s.closed:
			return
		}
	}
}

var errPanicked = errors.New("reading the answer panicked")

// unreadable marks an answer that arrived and could not be understood.
type unreadable struct{ cause error }

func (e *unreadable) Error() string { return "the answer can't be understood" }
func (e *unreadable) Unwrap() error { return e.cause }

// close ends the connection; the first reason stays.
func (s *session) close(cause error) {
	s.once.Do(func() {
		s.closeCause = cause
		_ = s.conn.Close()
		close(s.closed)
	})
}

// receive takes the next answer. When there is none before ctx ends the connection
// is closed, because the answer could still come and be taken for another's.
func (s *session) receive(ctx context.Context) (*answer, error) {
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

// isUsable says whether the connection is alive and nothing lies in it.
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

// exchange sends a frame and takes the answer. sent is false if not a byte of it
// left us.
func (s *session) exchange(ctx context.Context, frame []byte) (a *answer, sent bool, err error) {
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

// do sends a command and returns its answer, whatever its result. An error means
// that the connection is closed, unless the command could not be encoded.
func (s *session) do(ctx context.Context, c *call) (a *answer, sent bool, err error) {
	frame, err := c.encode(&s.w, s.services, s.account.ProtocolExtension, s.account.MaxFrame)
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
	// A server may leave our id out; it may not send another one.
	if a.greeting != nil || a.clTRID != "" && a.clTRID != c.trid {
		s.close(errTRIDMismatch)
		return nil, true, errTRIDMismatch
	}
	if a.closesSession() {
		s.close(errServerClosed)
	}
	return a, true, nil
}

var errServerClosed = errors.New("the server ended the session")

// hello keeps the connection alive (RFC 5730, 2.3).
func (s *session) hello(ctx context.Context) (greeting, error) {
	a, _, err := s.exchange(ctx, appendHello(&s.w))
	if err != nil {
		return greeting{}, err
	}
	if a.greeting == nil {
		s.close(errNoGreeting)
		return greeting{}, errNoGreeting
	}
	return readGreeting(a.greeting), nil
}

// logout ends the session with good manners and closes the connection either way.
func (s *session) logout(ctx context.Context, trid string) {
	c := &call{Command: Command{Verb: "logout"}, safe: true, trid: trid}
	_, _, _ = s.do(ctx, c) // the connection is closed next
	s.close(errServerClosed)
}

// toFault turns what went wrong on a connection into our words, with its cause. A
// *registrar.Error passes as it is.
func (a *Account) toFault(operation string, err error) *registrar.Error {
	var known *registrar.Error
	if errors.As(err, &known) {
		return known
	}
	cause := &registrar.Cause{Part: "epp", Operation: operation, Target: a.addressLabel(), Class: registrar.NetworkClass(err), Err: err}
	host := a.host()
	var garbled *unreadable
	var timeout net.Error
	switch {
	case errors.Is(err, errResponseTimeout), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled),
		errors.Is(err, os.ErrDeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
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
