package smtp

import (
	"io"

	"github.com/emersion/go-smtp"
)

// fault is what chaos does to one mail.
type fault uint8

const (
	faultNone fault = iota
	deferRecipient
	deferData
	dropConnection
)

// Responses of chaos; all of them are temporary.
var (
	errDeferRecipient = &smtp.SMTPError{Code: 450, EnhancedCode: smtp.EnhancedCode{4, 2, 1}, Message: "the mailbox is busy, try again later"}
	errDeferData      = &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "the mail was not stored, try again later"}
	errShutdown       = &smtp.SMTPError{Code: 421, EnhancedCode: smtp.EnhancedCode{4, 3, 2}, Message: "the server goes away"} // never sent
)

func (b *Server) drawFault() fault {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rng.Float64() >= b.opts.Chaos {
		return faultNone
	}
	return deferRecipient + fault(b.rng.IntN(int(dropConnection)))
}

// NewSession accepts every client.
func (b *Server) NewSession(conn *smtp.Conn) (smtp.Session, error) {
	return &session{server: b, conn: conn}, nil
}

// session is one SMTP session with one or more mails.
type session struct {
	server *Server
	conn   *smtp.Conn
	fault  fault
	from   string
	to     []string
}

// Reset discards the current mail.
func (s *session) Reset() { s.from, s.to, s.fault = "", nil, faultNone }

// Logout ends the session.
func (s *session) Logout() error { return nil }

// Mail begins a mail.
func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.from, s.to, s.fault = from, nil, s.server.drawFault()
	if s.fault == dropConnection {
		_ = s.conn.Conn().Close() // without a response
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

// Data receives the mail.
func (s *session) Data(text io.Reader) error {
	raw, err := io.ReadAll(text) // limited by MaxMessageBytes
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
