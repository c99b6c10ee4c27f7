package epp

import (
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

// command is a command parsed according to RFC 5730.
type command struct {
	verb   string // check, login, …
	op     string // of a transfer or poll
	msgID  string
	object *node // domain:create etc., or login
	ext    []*node
	clTRID string
}

// readCommand parses a command. Even with a refusal, clTRID is set if it is
// readable.
func readCommand(of *node) (*command, *ledger.Refusal) {
	c := &command{}
	s := children(of)
	// clTRID is the last element, but part of every response.
	if n := len(of.children); n > 0 && of.children[n-1].name == "clTRID" && of.children[n-1].space == eppSpace {
		part := &sequence{of: of}
		if id := part.token(of.children[n-1], 3, 64); part.refusal == nil {
			c.clTRID = id
		}
	}
	if len(of.children) == 0 || of.children[0].space != eppSpace {
		return c, syntax("The command is empty.")
	}
	verb := of.children[0]
	c.verb = verb.name
	s.at++
	switch c.verb {
	case "check", "create", "delete", "info", "renew", "update":
		c.object = s.objectOf(verb)
	case "transfer":
		op, _ := verb.attr("op")
		c.op = s.pick("op", op, "approve", "cancel", "query", "reject", "request")
		c.object = s.objectOf(verb, "op")
	case "poll":
		op, _ := verb.attr("op")
		c.op = s.pick("op", op, "ack", "req")
		c.msgID, _ = verb.attr("msgID")
		s.fail(allow(verb, "op", "msgID"))
		s.empty(verb)
	case "login":
		c.object = verb
	case "logout":
		s.empty(verb)
	default:
		return c, &ledger.Refusal{Code: ledger.UnknownCommand, Reason: "Unknown command."}
	}
	if ext := s.optional("extension"); ext != nil {
		part := children(ext)
		if len(ext.children) == 0 {
			part.fail(syntax("The extension is empty."))
		}
		for _, kid := range ext.children {
			if kid.space == eppSpace || kid.space == "" {
				part.fail(syntax("An extension must have its own namespace."))
			}
		}
		part.at = len(ext.children)
		s.merge(part)
		c.ext = ext.children
	}
	s.token(s.optional("clTRID"), 3, 64)
	return c, s.result()
}

// objectOf returns the single child of a command that names the object.
func (s *sequence) objectOf(verb *node, attrs ...string) *node {
	part := children(verb, attrs...)
	if len(verb.children) != 1 || verb.children[0].space == eppSpace || verb.children[0].space == "" {
		part.fail(syntax("The command names no object, or more than one."))
		s.fail(part.refusal)
		return &node{}
	}
	part.at = 1
	s.merge(part)
	return verb.children[0]
}

// name reads a domain or host name.
func (s *sequence) name(of *node, attrs ...string) string {
	return strings.ToLower(s.token(of, 1, 255, attrs...))
}

// names reads the names of a check.
func (s *sequence) names(element string) []string {
	nodes := s.repeated(element, maxElements)
	if len(nodes) == 0 {
		s.required(element)
	}
	if len(nodes) > MaxChecked {
		s.deferRefusal(ledger.PolicyForbids, "", "", "A check names at most "+strconv.Itoa(MaxChecked)+" objects.")
		return nil
	}
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = s.name(n)
	}
	return names
}

// id reads the identifier of a contact or registrar.
func (s *sequence) id(of *node, attrs ...string) string { return s.token(of, 3, 16, attrs...) }

// number reads an unsigned number.
func (s *sequence) number(of *node, most int, attrs ...string) int {
	text := s.token(of, 1, 10, attrs...)
	if of == nil || s.refusal != nil {
		return 0
	}
	number, err := strconv.ParseUint(text, 10, 31)
	if err != nil || int(number) > most {
		s.fail(syntax("The value of " + of.name + " is not a valid number."))
	}
	return int(number)
}

// period reads a term in years; 0 means that none is given.
func (s *sequence) period(of *node) int {
	if of == nil {
		return 0
	}
	number := s.number(of, 99, "unit")
	if number == 0 {
		s.fail(syntax("A period is 1 to 99."))
	}
	unit, _ := of.attr("unit")
	if s.pick("unit", unit, "y", "m") == "m" {
		s.deferRefusal(ledger.PolicyForbids, "domain:period", strconv.Itoa(number), "Terms are whole years.")
	}
	return number
}

// date reads an xsd:date.
func (s *sequence) date(of *node) time.Time {
	text := s.token(of, 10, 16)
	for _, layout := range []string{"2006-01-02", "2006-01-02Z07:00"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at
		}
	}
	s.fail(syntax("The value of " + of.name + " is not a date."))
	return time.Time{}
}

// dateTime reads an xsd:dateTime.
func (s *sequence) dateTime(of *node) time.Time {
	text := s.token(of, 19, 40)
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at
		}
	}
	s.fail(syntax("The value of " + of.name + " is not a time."))
	return time.Time{}
}

// auth reads an optional authInfo. With null, domain:null is allowed.
func (s *sequence) auth(of *node, null bool) *string {
	if of == nil {
		return nil
	}
	part := children(of)
	defer func() { s.merge(part) }()
	if ext := part.optional("ext"); ext != nil {
		part.deferRefusal(ledger.NoSuchOption, "", "", "The authInfo is a password.")
		return nil
	}
	if null {
		if none := part.optional("null"); none != nil {
			return new(string)
		}
	}
	text := part.normalised(part.required("pw"), 0, 255, "roid")
	return &text
}

func value[T any](pointer *T) (v T) {
	if pointer != nil {
		v = *pointer
	}
	return v
}

// flag reads an xsd:boolean.
func (s *sequence) flag(what, text string) bool {
	text = s.pick(what, text, "0", "1", "true", "false")
	return text == "1" || text == "true"
}
