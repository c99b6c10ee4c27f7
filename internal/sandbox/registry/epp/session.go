package epp

import (
	"context"
	"errors"
	"strconv"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

// session is one connection.
type session struct {
	*Server
	ledger *ledger.Ledger
	conn   *frameConn
	ctx    context.Context //nolint:containedctx // a session is one connection and ends with it
	cut    func()

	account       string          // empty before the login
	services      map[string]bool // namespaces named in the login
	loginAttempts int             // wrong passwords on this connection
	answer        response
	frame         writer
}

// response is the result of a command before it is encoded.
type response struct {
	code      ledger.Code
	refusal   *ledger.Refusal
	svTRID    string
	message   *ledger.Message // of a poll
	data, ext writer
	closing   bool
}

func (a *response) reset() {
	*a = response{code: ledger.Done, data: writer{text: a.data.text[:0], open: a.data.open[:0]}, ext: writer{text: a.ext.text[:0], open: a.ext.open[:0]}}
}

// request identifies the client and the command for the ledger.
func (s *session) request(c *command, a *response) ledger.Request {
	return ledger.Request{Account: s.account, TRID: ledger.TRID{Client: c.clTRID, Server: a.svTRID}}
}

// run handles the session. It reports whether the connection ends cleanly.
func (s *session) run() bool {
	late := s.opts.Greeting
	if mishap := s.opts.NextFault(); mishap.Kind == Slow {
		late += mishap.Delay
	}
	if !sleep(s.ctx, late) {
		return false
	}
	if s.greet() != nil {
		return false
	}
	for {
		timeout := s.opts.Timeouts.Idle
		if s.account == "" {
			timeout = s.opts.Timeouts.Login
		}
		frame, err := s.conn.read(timeout)
		if errors.Is(err, errFrameSize) {
			// The start of the next frame is unknown.
			s.answer.reset()
			s.answer.code, s.answer.closing = ledger.FailedClosing, true
			_ = s.reply(&command{}) // the client may have left
			return true
		}
		if err != nil {
			return false
		}
		if !sleep(s.ctx, s.opts.Latency) {
			return false
		}
		if on, peaceful := s.handle(frame); !on {
			return peaceful
		}
	}
}

// handle answers one frame and reports whether the session continues.
func (s *session) handle(frame []byte) (on, peaceful bool) {
	if s.opts.TapReceived != nil {
		s.opts.TapReceived(frame)
	}
	s.answer.reset()
	a := &s.answer
	c, refusal := &command{}, (*ledger.Refusal)(nil)
	root, err := parse(frame)
	switch {
	case err != nil:
		refusal = syntax("The frame is not well-formed XML in UTF-8, or has parts that EPP does not allow.")
	case root.space != eppSpace || root.name != "epp" || len(root.children) != 1 || root.children[0].space != eppSpace:
		refusal = syntax("The frame is not one EPP element.")
	case root.children[0].name == "hello":
		return s.greet() == nil, false
	case root.children[0].name == "command":
		c, refusal = readCommand(root.children[0])
	default:
		refusal = syntax("Only hello and command are allowed.")
	}
	fault := commandFault{}
	if refusal == nil {
		fault = s.faultFor(c)
	}
	switch fault.action {
	case actionHang:
		sleep(s.ctx, s.opts.Timeouts.Hang)
		return false, true
	case actionReset:
		s.cut()
		return false, false
	case actionGarble:
		return s.conn.write([]byte("\x00\x00\x00\x00<epp><response><<\x01>\xff")) == nil, false
	case actionRefuse:
		refusal = &ledger.Refusal{Code: fault.code, Reason: "The registry refuses the command."}
		a.closing = fault.code == ledger.LimitClosing
	}
	a.svTRID = s.ledger.NextTRID()
	if refusal == nil {
		refusal = s.execute(c, a)
	}
	if fault.loseResponse {
		s.cut()
		return false, false
	}
	if fault.delay > 0 && !sleep(s.ctx, fault.delay) {
		return false, false
	}
	if refusal != nil {
		a.code, a.refusal = refusal.Code, refusal
		a.data.text, a.ext.text = a.data.text[:0], a.ext.text[:0]
	}
	if s.reply(c) != nil {
		return false, false
	}
	return !a.closing, true
}

type handler func(*session, *command, *response) error

// handlers are the commands on objects. A missing one is 2101.
var handlers = map[string]handler{
	domainSpace + " check":     (*session).domainCheck,
	domainSpace + " create":    (*session).domainCreate,
	domainSpace + " delete":    (*session).domainDelete,
	domainSpace + " info":      (*session).domainInfo,
	domainSpace + " renew":     (*session).domainRenew,
	domainSpace + " transfer":  (*session).domainTransfer,
	domainSpace + " update":    (*session).domainUpdate,
	balanceSpace + " info":     (*session).balanceInfo,
	contactSpace + " check":    (*session).contactCheck,
	contactSpace + " create":   (*session).contactCreate,
	contactSpace + " delete":   (*session).contactDelete,
	contactSpace + " info":     (*session).contactInfo,
	contactSpace + " update":   (*session).contactUpdate,
	contactSpace + " transfer": nil,
	hostSpace + " check":       (*session).hostCheck,
	hostSpace + " create":      (*session).hostCreate,
	hostSpace + " delete":      (*session).hostDelete,
	hostSpace + " info":        (*session).hostInfo,
	hostSpace + " update":      (*session).hostUpdate,
}

// execute executes a command.
func (s *session) execute(c *command, a *response) *ledger.Refusal {
	err := s.dispatch(c, a)
	if err == nil {
		return nil
	}
	var refusal *ledger.Refusal
	if errors.As(err, &refusal) {
		return refusal
	}
	s.opts.Logger.ErrorContext(s.ctx, "sandbox registry command failed", "verb", c.verb, "error", err)
	return &ledger.Refusal{Code: ledger.Failed, Reason: "The registry can't store the command."}
}

func (s *session) dispatch(c *command, a *response) error {
	if c.verb == "login" {
		return s.login(c, a)
	}
	if s.account == "" {
		return &ledger.Refusal{Code: ledger.UseError, Reason: "Log in first."}
	}
	switch c.verb {
	case "logout":
		a.code, a.closing = ledger.DoneEnding, true
		return nil
	case "poll":
		return s.poll(c, a)
	}
	if !s.services[c.object.space] {
		return &ledger.Refusal{Code: ledger.NoSuchService, Reason: "The login did not name this service, or it does not exist."}
	}
	handle, exists := handlers[c.object.space+" "+c.verb]
	if !exists || c.object.name != c.verb {
		return syntax("The object's element does not fit the command.")
	}
	if handle == nil {
		return &ledger.Refusal{Code: ledger.NoSuchCommand, Reason: "Contacts are not transferred here."}
	}
	return handle(s, c, a)
}

// poll returns or acknowledges messages (RFC 5730, 2.9.2.3).
func (s *session) poll(c *command, a *response) error {
	if _, refusal := s.protocolExtensions(c); refusal != nil {
		return refusal
	}
	if c.op == "ack" {
		if c.msgID == "" {
			return &ledger.Refusal{Code: ledger.Missing, Reason: "An acknowledgement names the message."}
		}
		id, err := strconv.ParseUint(c.msgID, 10, 64)
		if err != nil {
			return &ledger.Refusal{Code: ledger.NotFound, Reason: "There is no such message."}
		}
		return s.ledger.Ack(s.request(c, a), id)
	}
	if c.msgID != "" {
		return &ledger.Refusal{Code: ledger.UseError, Reason: "A request names no message."}
	}
	message, _ := s.ledger.Queue(s.account)
	if message == nil {
		a.code = ledger.NoMessages
		return nil
	}
	a.code, a.message = ledger.AckToDequeue, message
	switch {
	case message.Transfer != nil:
		a.data.transfer(message.Transfer)
	case message.Pending != nil:
		a.data.pending(message.Pending)
	case message.Renewal != nil:
		a.data.renewal(message.Renewal.Name, message.Renewal.Expires)
	case message.Balance != nil && s.services[lowBalanceSpace]:
		a.data.balance(s.ledger.AccountName(s.account), message.Balance)
	case message.Maintenance != nil && s.services[maintenanceSpace]:
		a.data.maintenance(message.Maintenance)
	case message.Change != nil && s.services[changeSpace]:
		a.changed(s.account, message.Change)
	case message.Unknown:
		a.data.element("sim:notice", message.Text)
	}
	return nil
}

func (w *writer) pending(p *ledger.Pending) {
	granted := "0"
	if p.Granted {
		granted = "1"
	}
	w.begin("domain:panData")
	w.element("domain:name", p.Name, "paResult", granted)
	w.begin("domain:paTRID")
	w.optional("clTRID", p.Asked.Client)
	w.element("svTRID", p.Asked.Server)
	w.end()
	w.element("domain:paDate", dateTime(p.At))
	w.end()
}

// reply writes the response to a command.
func (s *session) reply(c *command) error {
	a, w := &s.answer, &s.frame
	w.text, w.open = w.text[:0], w.open[:0]
	w.raw(frameBegin)
	w.raw("<response>")
	w.result(a.code, a.refusal)
	if s.account != "" {
		s.writeQueue(w, a)
	}
	w.wrap("resData", &a.data)
	w.wrap("extension", &a.ext)
	w.raw("<trID>")
	w.optional("clTRID", c.clTRID)
	if a.svTRID == "" {
		a.svTRID = s.ledger.NextTRID()
	}
	w.element("svTRID", a.svTRID)
	w.raw("</trID></response></epp>")
	return s.send(w.text)
}

func (w *writer) wrap(name string, part *writer) {
	if len(part.text) == 0 {
		return
	}
	w.raw("<" + name + ">")
	w.text = append(w.text, part.text...)
	w.raw("</" + name + ">")
}

// writeQueue writes the queue length and the polled message.
func (s *session) writeQueue(w *writer, a *response) {
	oldest, waiting := s.ledger.Queue(s.account)
	if a.message != nil {
		oldest, waiting = a.message, max(waiting, 1)
	}
	if oldest == nil {
		return
	}
	w.begin("msgQ", "count", strconv.Itoa(waiting), "id", strconv.FormatUint(oldest.ID, 10))
	if a.message != nil {
		w.element("qDate", dateTime(a.message.At))
		w.element("msg", a.message.Text)
	}
	w.end()
}

func (s *session) send(frame []byte) error {
	if s.opts.Tap != nil {
		s.opts.Tap(frame[frameHeader:])
	}
	return s.conn.write(frame)
}

// close releases the session.
func (s *session) close() {
	if s.account != "" {
		s.releaseSession(s.account)
	}
}
