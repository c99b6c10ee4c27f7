package mcp

import (
	"bytes"
	"errors"
	"unicode/utf8"
)

// The keys of a message and of its parameters that decide what is called. A key that
// differs from one of them only in case is refused: some parsers would take it for the
// same key.
var (
	messageKeys = [][]byte{[]byte("jsonrpc"), []byte("id"), []byte("method"), []byte("params"), []byte("result"), []byte("error")}
	paramKeys   = [][]byte{[]byte("name"), []byte("arguments"), []byte("_meta")}
)

var (
	errBatch      = errors.New("batches are not supported; send each message in its own POST")
	errNoMessage  = errors.New("the message is not a JSON-RPC request")
	errWrongCase  = errors.New("a key differs from a JSON-RPC key only in case")
	errInvalidID  = errors.New("the id must be a string or a number")
	errNotVersion = errors.New(`the member jsonrpc must be "2.0"`)
)

// message is a JSON-RPC message after its only parse. Raw values are parts of the body.
type message struct {
	id     []byte // verbatim; nil in a notification
	method string // empty in a response
	params []byte // verbatim; nil if absent

	// Members of params, verbatim, if params is an object.
	name, arguments, meta             []byte
	requestState, inputResponses      []byte
	protocolVersion, cursor           []byte
	capabilities, clientInfo          []byte
	metaVersion, metaCapabilities     []byte
	metaClientInfo, metaProgressToken []byte
}

func parseMessage(body []byte) (message, error) {
	var m message
	if !utf8.Valid(body) {
		return m, errNotJSON
	}
	s := scanner{text: body}
	switch s.peek() {
	case '{':
	case '[':
		if _, err := s.value(); err != nil {
			return m, err
		}
		return m, errBatch
	default:
		if _, err := s.value(); err != nil {
			return m, err
		}
		return m, errNoMessage
	}
	var version, method []byte
	var isResponse bool
	err := s.object(func(key []byte) (err error) {
		switch string(key) {
		case "params":
			m.params, err = m.readParams(&s)
		case "method":
			method, err = s.value()
		case "id":
			m.id, err = s.value()
		case "jsonrpc":
			version, err = s.value()
		case "result", "error":
			isResponse = true
			_, err = s.value()
		default:
			if differsInCase(key, messageKeys) {
				return errWrongCase
			}
			_, err = s.value()
		}
		return err
	})
	if err != nil {
		return m, err
	}
	if s.peek() != 0 || s.at != len(body) {
		return m, errNotJSON
	}
	if text, _ := stringOf(version); text != "2.0" {
		return m, errNotVersion
	}
	if m.id != nil && m.id[0] != '"' && m.id[0] != '-' && !isDigit(m.id[0]) {
		return m, errInvalidID
	}
	var isText bool
	m.method, isText = stringOf(method)
	switch {
	case method != nil && (!isText || m.method == "" || isResponse), method == nil && (!isResponse || m.id == nil):
		return m, errNoMessage
	}
	return m, nil
}

// readParams reads the parameters of any method: which method it is may follow later in
// the body.
func (m *message) readParams(s *scanner) ([]byte, error) {
	if s.peek() != '{' {
		return s.value()
	}
	start := s.at
	err := s.object(func(key []byte) error {
		var target *[]byte
		switch string(key) {
		case "name":
			target = &m.name
		case "arguments":
			target = &m.arguments
		case "_meta":
			return m.readMeta(s)
		case "requestState":
			target = &m.requestState
		case "inputResponses":
			target = &m.inputResponses
		case "protocolVersion":
			target = &m.protocolVersion
		case "capabilities":
			target = &m.capabilities
		case "clientInfo":
			target = &m.clientInfo
		case "cursor":
			target = &m.cursor
		default:
			if differsInCase(key, paramKeys) {
				return errWrongCase
			}
			_, err := s.value()
			return err
		}
		value, err := s.value()
		if string(value) != "null" { // null counts as absent
			*target = value
		}
		return err
	})
	return s.text[start:s.at:s.at], err
}

func (m *message) readMeta(s *scanner) (err error) {
	if s.peek() != '{' {
		if m.meta, err = s.value(); string(m.meta) == "null" {
			m.meta = nil
		}
		return err
	}
	start := s.at
	err = s.object(func(key []byte) error {
		var target *[]byte
		switch string(key) {
		case metaPrefix + "protocolVersion":
			target = &m.metaVersion
		case metaPrefix + "clientCapabilities":
			target = &m.metaCapabilities
		case metaPrefix + "clientInfo":
			target = &m.metaClientInfo
		case "progressToken":
			target = &m.metaProgressToken
		default:
			_, err := s.value()
			return err
		}
		var err error
		*target, err = s.value()
		return err
	})
	m.meta = s.text[start:s.at:s.at]
	return err
}

func differsInCase(key []byte, known [][]byte) bool {
	for _, k := range known {
		if bytes.EqualFold(k, key) {
			return true // the switch has found equal ones
		}
	}
	return false
}
