package smtp

import (
	"bytes"
	"errors"
	"net/textproto"
	"regexp"
)

// transactionError is the failure of a step of a mail's transaction.
type transactionError struct {
	step  string           // MAIL, RCPT, DATA, or message for what follows
	reply *textproto.Error // the server's refusal; nil without a response
	// enhanced is the status code in the response (RFC 3463); empty without one.
	enhanced string
	err      error
}

func (e *transactionError) Error() string { return "smtp: " + e.step + ": " + e.err.Error() }

func (e *transactionError) Unwrap() error { return e.err }

// isTemporary reports whether the server accepts the mail later.
func (e *transactionError) isTemporary() bool { return e.reply != nil && e.reply.Code/100 == 4 }

// isClosed reports whether the server had closed the session before the mail.
func (e *transactionError) isClosed() bool {
	return e.step == "MAIL" && (e.reply == nil || e.reply.Code == 421) // RFC 5321, 3.8
}

// transmit hands a mail to the server and returns the response of a server that accepts it. The mail
// is ASCII and ends with CRLF. After an error the session must be closed, so that the server
// drops what it has received.
func (s *session) transmit(from, to string, mail []byte) (response string, err error) {
	steps := [...]struct {
		name, command string
		expected      int
	}{
		{"MAIL", "MAIL FROM:<" + from + ">\r\n", 250}, {"RCPT", "RCPT TO:<" + to + ">\r\n", 25}, {"DATA", "DATA\r\n", 354},
	}
	pipelining, _ := s.Extension("PIPELINING") // RFC 2920
	answered := 0
	for i, step := range steps {
		_, _ = s.Text.W.WriteString(step.command) // receive returns its error
		if pipelining && i < len(steps)-1 {
			continue
		}
		for ; answered <= i; answered++ {
			if _, err := s.receive(steps[answered].name, steps[answered].expected); err != nil {
				return "", err
			}
		}
	}
	s.writeData(mail)
	return s.receive("message", 250)
}

// writeData writes the lines of a mail and the line that ends it. Lines that begin with a dot get
// another one (RFC 5321, 4.5.2).
func (s *session) writeData(mail []byte) {
	for {
		end := bytes.Index(mail, []byte("\n.")) + 1
		if end == 0 {
			break
		}
		_, _ = s.Text.W.Write(mail[:end])
		_ = s.Text.W.WriteByte('.')
		mail = mail[end:]
	}
	_, _ = s.Text.W.Write(append(mail, ".\r\n"...)) // together, because each write is a packet
}

var enhancedStatusCode = regexp.MustCompile(`\b[245]\.\d{1,3}\.\d{1,3}\b`)

// receive sends what is buffered and reads the response to a step.
func (s *session) receive(step string, expected int) (text string, err error) {
	if err = s.Text.W.Flush(); err == nil {
		_, text, err = s.Text.ReadResponse(expected)
	}
	if err == nil {
		return text, nil
	}
	failed := &transactionError{step: step, err: err}
	announced, _ := s.Extension("ENHANCEDSTATUSCODES")
	if errors.As(err, &failed.reply) && announced {
		failed.enhanced = enhancedStatusCode.FindString(failed.reply.Msg)
	}
	return "", failed
}
