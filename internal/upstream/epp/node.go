package epp

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"time"
)

// Node is one element of a response. A nil Node has no text, attributes or
// children, so paths can be followed without nil checks.
type Node struct {
	// Space is the namespace URI, never a prefix.
	Space, Local string
	// Text is the element's own text, trimmed.
	Text     string
	Children []*Node
	attrs    []Attr
}

const (
	maxDepth = 32
	maxNodes = 100_000
	maxSlab  = 64 // nodes that are allocated at once
	// maxJoined limits the texts that follow another one in their element, because joining them
	// copies them. Registries send text only in elements without children.
	maxJoined = 256
)

var tagStart = []byte("<")

var (
	errDTD       = errors.New("epp: document has a DTD")
	errTooDeep   = errors.New("epp: document is nested too deeply")
	errTooMany   = errors.New("epp: document has too many elements")
	errNoElement = errors.New("epp: document has no root element")
	errTrailing  = errors.New("epp: document continues after the root element")
	errCharset   = errors.New("epp: document is not in UTF-8")
)

// Child returns the first child with this name. An empty space matches any
// namespace.
func (n *Node) Child(space, local string) *Node {
	if n == nil {
		return nil
	}
	for _, child := range n.Children {
		if child.is(space, local) {
			return child
		}
	}
	return nil
}

// All returns the children with this name in document order.
func (n *Node) All(space, local string) []*Node {
	if n == nil {
		return nil
	}
	var found []*Node
	for _, child := range n.Children {
		if child.is(space, local) {
			found = append(found, child)
		}
	}
	return found
}

// Attr returns the value of an attribute in any namespace, trimmed; empty if absent.
func (n *Node) Attr(local string) string {
	if n == nil {
		return ""
	}
	for _, attr := range n.attrs {
		if attr.Name == local {
			return strings.TrimSpace(attr.Value)
		}
	}
	return ""
}

func (n *Node) is(space, local string) bool {
	return n.Local == local && (space == "" || n.Space == space)
}

func (n *Node) text() string {
	if n == nil {
		return ""
	}
	return n.Text
}

// value returns the text of a child.
func (n *Node) value(space, local string) string { return n.Child(space, local).text() }

// texts returns the texts of the children with this name.
func (n *Node) texts(space, local string) []string {
	var texts []string
	for _, child := range n.All(space, local) {
		texts = append(texts, child.Text)
	}
	return texts
}

// timeValue returns the time in a child; zero if absent or invalid.
func (n *Node) timeValue(space, local string) time.Time { return parseTime(n.value(space, local)) }

// parseBool parses an XML Schema boolean; absent is the value of an empty text.
func parseBool(text string, absent bool) bool {
	switch strings.ToLower(text) {
	case "1", "true":
		return true
	case "0", "false":
		return false
	default:
		return absent
	}
}

// timeLayouts are the XML Schema dateTime and common deviations. A time without a
// zone is UTC (RFC 5731, 2.4).
var timeLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05", "2006-01-02Z", time.DateOnly}

func parseTime(text string) time.Time {
	if text == "" {
		return time.Time{}
	}
	for _, form := range timeLayouts {
		if at, err := time.Parse(form, text); err == nil {
			return at.UTC()
		}
	}
	return time.Time{}
}

// slab allocates the nodes of a document.
type slab struct {
	free  []Node
	count int
}

func newSlab(document []byte) slab {
	return slab{free: make([]Node, min(bytes.Count(document, tagStart)/2, maxSlab))} // most elements have two tags
}

func (s *slab) next() *Node {
	if len(s.free) == 0 {
		s.free = make([]Node, maxSlab)
	}
	node := &s.free[0]
	s.free = s.free[1:]
	s.count++
	return node
}

// parseDocument parses a complete document into a tree.
func parseDocument(document []byte) (*Node, error) {
	if root := parsePlain(document); root != nil {
		return root, nil
	}
	return parseAny(document)
}

// parseAny is parseDocument for any document.
func parseAny(document []byte) (*Node, error) {
	decoder := xml.NewDecoder(bytes.NewReader(document))
	decoder.CharsetReader = func(charset string, input io.Reader) (io.Reader, error) {
		if strings.EqualFold(charset, "us-ascii") || strings.EqualFold(charset, "utf8") {
			return input, nil
		}
		return nil, errCharset
	}
	var (
		root   *Node
		stack  []*Node
		joined int
		nodes  = newSlab(document)
	)
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			if root == nil {
				return nil, errNoElement
			}
			return root, nil
		}
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			node := nodes.next()
			node.Space, node.Local = t.Name.Space, t.Name.Local
			for _, attr := range t.Attr {
				node.attrs = append(node.attrs, Attr{attr.Name.Local, attr.Value})
			}
			switch {
			case nodes.count > maxNodes:
				return nil, errTooMany
			case len(stack) >= maxDepth:
				return nil, errTooDeep
			case len(stack) > 0:
				parent := stack[len(stack)-1]
				parent.Children = append(parent.Children, node)
			case root != nil:
				return nil, errTrailing
			default:
				root = node
			}
			stack = append(stack, node)
		case xml.EndElement:
			last := stack[len(stack)-1] // the decoder guarantees matching tags
			last.Text = strings.TrimSpace(last.Text)
			stack = stack[:len(stack)-1]
		case xml.CharData:
			if text := bytes.TrimSpace(t); len(text) == 0 || len(stack) == 0 {
				continue
			}
			last := stack[len(stack)-1]
			if last.Text != "" {
				joined++
			}
			if last.Text += string(t); joined > maxJoined {
				return nil, errTooMany
			}
		case xml.Directive:
			return nil, errDTD
		}
	}
}
