package epp

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

const (
	maxDepth    = 24
	maxElements = 4096
	xsiSpace    = "http://www.w3.org/2001/XMLSchema-instance"
)

// node is one element of a command.
type node struct {
	space, name string
	attrs       []xml.Attr
	text        string
	children    []*node
}

var errXML = errors.New("not XML that EPP allows")

// parse parses a frame into a tree. It checks no schema; it rejects what no EPP
// command contains: document types, processing instructions, other encodings.
func parse(frame []byte) (*node, error) {
	decoder := xml.NewDecoder(bytes.NewReader(frame))
	decoder.CharsetReader = func(string, io.Reader) (io.Reader, error) { return nil, errXML }
	var root *node
	var open []*node
	var text strings.Builder
	elements := 0
	for begin := true; ; begin = false {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, errXML
		}
		switch token := token.(type) {
		case xml.StartElement:
			elements++
			if len(open) == maxDepth || elements > maxElements || root != nil && len(open) == 0 {
				return nil, errXML
			}
			fresh := &node{space: token.Name.Space, name: token.Name.Local, attrs: token.Attr}
			if len(open) == 0 {
				root = fresh
			} else {
				parent := open[len(open)-1]
				parent.text += text.String()
				parent.children = append(parent.children, fresh)
			}
			text.Reset()
			open = append(open, fresh)
		case xml.EndElement:
			last := open[len(open)-1]
			last.text += text.String()
			text.Reset()
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				text.Write(token)
			} else if len(bytes.TrimSpace(token)) > 0 {
				return nil, errXML
			}
		case xml.Comment:
		case xml.ProcInst:
			if token.Target != "xml" || !begin {
				return nil, errXML
			}
		default: // a directive
			return nil, errXML
		}
	}
	if root == nil {
		return nil, errXML
	}
	return root, nil
}

// syntax is the refusal of a schema violation.
func syntax(reason string) *ledger.Refusal {
	return &ledger.Refusal{Code: ledger.SyntaxError, Reason: reason}
}

// sequence reads the children of an element in schema order. The first violation is
// recorded; afterwards everything reads as empty.
type sequence struct {
	of      *node
	at      int
	refusal *ledger.Refusal
	// deferred is a violation that the schema allows. It is reported only if there
	// is no schema violation.
	deferred *ledger.Refusal
}

// children starts reading an element that contains only elements.
func children(of *node, attrs ...string) *sequence {
	s := &sequence{of: of}
	if strings.TrimSpace(of.text) != "" {
		s.fail(syntax("There is text in " + of.name + ", which contains elements only."))
	}
	s.fail(allow(of, attrs...))
	return s
}

func (s *sequence) fail(refusal *ledger.Refusal) {
	if s.refusal == nil {
		s.refusal = refusal
	}
}

// deferRefusal records a violation that the schema allows.
func (s *sequence) deferRefusal(code ledger.Code, element, value, reason string) {
	if s.deferred == nil {
		s.deferred = &ledger.Refusal{Code: code, Element: element, Value: value, Reason: reason}
	}
}

// merge ends a part of the command and takes over its violations.
func (s *sequence) merge(part *sequence) {
	part.close()
	s.fail(part.refusal)
	if s.deferred == nil {
		s.deferred = part.deferred
	}
}

// optional reads an optional child.
func (s *sequence) optional(name string) *node {
	if s.refusal != nil || s.at == len(s.of.children) {
		return nil
	}
	next := s.of.children[s.at]
	if next.name != name || next.space != s.of.space {
		return nil
	}
	s.at++
	return next
}

// required reads a required child.
func (s *sequence) required(name string) *node {
	next := s.optional(name)
	if next == nil {
		s.fail(syntax("The element " + name + " is missing in " + s.of.name + ", or out of order."))
		return &node{space: s.of.space, name: name}
	}
	return next
}

// repeated reads all consecutive children of a name.
func (s *sequence) repeated(name string, atMost int) []*node {
	var all []*node
	for next := s.optional(name); next != nil; next = s.optional(name) {
		all = append(all, next)
	}
	if len(all) > atMost {
		s.fail(syntax("There are too many elements " + name + "."))
	}
	return all
}

// close rejects remaining children.
func (s *sequence) close() {
	if s.refusal == nil && s.at < len(s.of.children) {
		s.fail(syntax("The element " + s.of.children[s.at].name + " is not allowed here in " + s.of.name + "."))
	}
}

// result returns the violation of the whole command.
func (s *sequence) result() *ledger.Refusal {
	s.close()
	if s.refusal != nil {
		return s.refusal
	}
	return s.deferred
}

// allow rejects other attributes.
func allow(of *node, attrs ...string) *ledger.Refusal {
next:
	for _, attr := range of.attrs {
		if attr.Name.Space == "xmlns" || attr.Name.Space == xsiSpace || attr.Name.Space == "" && attr.Name.Local == "xmlns" {
			continue
		}
		for _, name := range attrs {
			if attr.Name.Space == "" && attr.Name.Local == name {
				continue next
			}
		}
		return syntax("The attribute " + attr.Name.Local + " is not allowed on " + of.name + ".")
	}
	return nil
}

// attr returns the value of an attribute.
func (n *node) attr(name string) (string, bool) {
	for _, attr := range n.attrs {
		if attr.Name.Space == "" && attr.Name.Local == name {
			return collapse(attr.Value), true
		}
	}
	return "", false
}

// token reads a text of limited length with collapsed white space.
func (s *sequence) token(of *node, shortest, longest int, attrs ...string) string {
	if of == nil {
		return ""
	}
	text := collapse(of.text)
	s.simple(of, text, shortest, longest, attrs)
	return text
}

// normalised reads a text whose white space counts.
func (s *sequence) normalised(of *node, shortest, longest int, attrs ...string) string {
	if of == nil {
		return ""
	}
	text := strings.NewReplacer("\t", " ", "\n", " ", "\r", " ").Replace(of.text)
	s.simple(of, text, shortest, longest, attrs)
	return text
}

func (s *sequence) simple(of *node, text string, shortest, longest int, attrs []string) {
	if s.refusal != nil {
		return
	}
	if len(of.children) > 0 {
		s.fail(syntax("There are elements in " + of.name + ", which contains text only."))
	}
	length := len([]rune(text))
	if length < shortest || length > longest {
		s.fail(syntax("The length of " + of.name + " is invalid."))
	}
	s.fail(allow(of, attrs...))
}

// empty reads an element without content.
func (s *sequence) empty(of *node) {
	if of != nil && (len(of.children) > 0 || strings.TrimSpace(of.text) != "") {
		s.fail(syntax("The element " + of.name + " is empty."))
	}
}

// pick reads a value from a fixed list.
func (s *sequence) pick(what, value string, values ...string) string {
	for _, allowed := range values {
		if value == allowed {
			return value
		}
	}
	s.fail(syntax("The value of " + what + " is not an allowed value."))
	return ""
}

// collapse normalises white space like xsd:token.
func collapse(text string) string {
	plain := true
	for i := range len(text) {
		if c := text[i]; c == ' ' || c == '\t' || c == '\n' || c == '\r' {
			plain = false
			break
		}
	}
	if plain {
		return text
	}
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return r == ' ' || r == '\t' || r == '\n' || r == '\r'
	}), " ")
}
