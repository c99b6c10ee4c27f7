package smtp

import (
	"io"

	"github.com/emersion/go-smtp"
)

// fault is what chaos does to one letter.
type fault uint8

const (
	faultNone fault = iota
	deferRecipient
	deferData
	dropConnection
)

// The answers of chaos, each of which asks to try again.
var (
	errDeferRecipient = &smtp.SMTPError{Code: 450, EnhancedCode: smtp.EnhancedCode{4, 2, 1}, Message: "the mailbox is busy, try again later"}
	errDeferData      = &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "the letter was not stored, try again later"}
	errShutdown       = &smtp.SMTPError{Code: 421, EnhancedCode: smtp.EnhancedCode{4, 3, 2}, Message: "the server goes away"} // nobody hears it
)

func (b *Server) drawFault() fault {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rng.Float64() >= b.opts.Chaos {
		return faultNone
	}
	return deferRecipient + fault(b.rng.IntN(int(dropConnection)))
}

// NewSession welcomes everybody.
func (b *Server) NewSession(conn *smtp.Conn) (smtp.Session, error) {
	return &session{server: b, conn: conn}, nil
}

// session is one visit of a sender, of one letter or several.
type session struct {
	server *Server
	conn   *smtp.Conn
	fault  fault
	from   string
	to     []string
}

// Reset forgets the letter that was begun.
func (s *session) Reset() { s.from, s.to, s.fault = "", nil, faultNone }

// Logout ends the visit.
func (s *session) Logout() error { return nil }

// Mail begins a letter.
func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.from, s.to, s.fault = from, nil, s.server.drawFault()
	if s.fault == dropConnection {
		_ = s.conn.Conn().Close() // without a word
		return errShutdown
	}
	return nil
}

// Rcpt adds a recipient.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if s.fault == deferRecipient {
		return errDeferRecipient
	}
	s.to = append(s.to, to)
	return nil
}

// Data takes the letter.
func (s *session) Data(text io.Reader) error {
	raw, err := io.ReadAll(text) // bounded by MaxMessageBytes
	if err != nil {
		return err
	}
	if s.fault == deferData {
		return errDeferData
	}
	mail := parseMail(raw)
	mail.From, mail.To, mail.ReceivedAt = s.from, s.to, s.server.opts.Now().UTC()
	s.server.store(mail)
	return nil
}
