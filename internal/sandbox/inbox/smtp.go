package inbox

import (
	"io"

	"github.com/emersion/go-smtp"
)

// mishap is what chaos does to one letter.
type mishap uint8

const (
	fine mishap = iota
	laterRecipient
	laterText
	hangUp
)

// The answers of chaos, each of which asks to try again.
var (
	errRecipient = &smtp.SMTPError{Code: 450, EnhancedCode: smtp.EnhancedCode{4, 2, 1}, Message: "the mailbox is busy, try again later"}
	errText      = &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "the letter was not stored, try again later"}
	errGone      = &smtp.SMTPError{Code: 421, EnhancedCode: smtp.EnhancedCode{4, 3, 2}, Message: "the server goes away"} // nobody hears it
)

func (b *Inbox) throw() mishap {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.dice.Float64() >= b.opts.Chaos {
		return fine
	}
	return laterRecipient + mishap(b.dice.IntN(int(hangUp)))
}

// NewSession welcomes everybody.
func (b *Inbox) NewSession(conn *smtp.Conn) (smtp.Session, error) {
	return &session{inbox: b, conn: conn}, nil
}

// session is one visit of a sender, of one letter or several.
type session struct {
	inbox  *Inbox
	conn   *smtp.Conn
	mishap mishap
	from   string
	to     []string
}

// Reset forgets the letter that was begun.
func (s *session) Reset() { s.from, s.to, s.mishap = "", nil, fine }

// Logout ends the visit.
func (s *session) Logout() error { return nil }

// Mail begins a letter.
func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	s.from, s.to, s.mishap = from, nil, s.inbox.throw()
	if s.mishap == hangUp {
		_ = s.conn.Conn().Close() // without a word
		return errGone
	}
	return nil
}

// Rcpt adds a recipient.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	if s.mishap == laterRecipient {
		return errRecipient
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
	if s.mishap == laterText {
		return errText
	}
	mail := read(raw)
	mail.From, mail.To, mail.ReceivedAt = s.from, s.to, s.inbox.opts.Now().UTC()
	s.inbox.keep(mail)
	return nil
}
