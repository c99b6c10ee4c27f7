package smtp

import (
	"context"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/wneessen/go-mail/smtp"
)

// An order causes several mails within a second, so a session serves several: connecting
// takes more round trips than a mail, and a TLS handshake.
const (
	maxIdleTime        = 5 * time.Second // servers wait longer (RFC 5321, 4.5.3.2.7: five minutes)
	maxIdleSessions    = 4
	maxMailsPerSession = 50
)

// session is a connection to the server after the handshake.
type session struct {
	*smtp.Client
	conn   net.Conn
	mails  int         // sent so far
	expiry *time.Timer // closes an idle session
}

// interruptible runs exchange and closes the connection as soon as ctx ends.
func (s *session) interruptible(ctx context.Context, exchange func() error) error {
	stop := context.AfterFunc(ctx, func() { _ = s.conn.Close() })
	defer stop()
	return exchange()
}

func (s *session) quit() {
	_ = s.Quit()
	_ = s.conn.Close()
}

// acquire returns an idle session or a new one.
func (c *Client) acquire(ctx context.Context) (*session, error) {
	if s := c.takeIdle(nil); s != nil {
		return s, nil
	}
	return c.connect(ctx)
}

// release makes a session available to the next mail.
func (c *Client) release(s *session) {
	s.mails++
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.mails == maxMailsPerSession || len(c.idle) == maxIdleSessions {
		go s.quit() // within the deadline of the last mail
		return
	}
	c.idle = append(c.idle, s)
	s.expiry = time.AfterFunc(maxIdleTime, func() {
		if c.takeIdle(s) != nil {
			s.quit()
		}
	})
}

// takeIdle removes a session from the idle ones and returns it: wanted, or the last one if
// wanted is nil. It returns nil if there is none.
func (c *Client) takeIdle(wanted *session) *session {
	c.mu.Lock()
	defer c.mu.Unlock()
	index := len(c.idle) - 1
	if wanted != nil {
		index = slices.Index(c.idle, wanted)
	}
	if index < 0 {
		return nil
	}
	s := c.idle[index]
	c.idle = slices.Delete(c.idle, index, index+1)
	s.expiry.Stop()
	return s
}

// connect opens a session: encryption, if configured, and authentication.
func (c *Client) connect(ctx context.Context) (*session, error) {
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	s := &session{conn: conn}
	err = s.interruptible(ctx, func() (err error) {
		if s.Client, err = smtp.NewClient(conn, c.host); err != nil {
			return err
		}
		_, domain, _ := strings.Cut(c.from.Address, "@")
		if err := s.Hello(domain); err != nil {
			return err
		}
		if c.opts.TLS == StartTLS {
			if offered, _ := s.Extension("STARTTLS"); !offered {
				return errNoSTARTTLS
			}
			if err := s.StartTLS(c.tlsConfig()); err != nil {
				return err
			}
		}
		return c.authenticate(s.Client)
	})
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return s, nil
}
