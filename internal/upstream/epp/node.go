package epp

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"time"
)

// Node is one element of a registry's answer. A nil Node has no text, no
// attributes and no children, so a path can be followed without asking at every
// step whether it is there.
type Node struct {
	// Space is the namespace's URI and never a prefix.
	Space, Local string
	// Text is the element's own text, trimmed.
	Text     string
	Children []*Node
	attrs    []xml.Attr
}

const (
	maxDepth = 32
	maxNodes = 100_000
)

var (
	errDTD       = errors.New("the document has a DTD")
	errTooDeep   = errors.New("the document is nested too deeply")
	errTooMany   = errors.New("the document has too many elements")
	errNoElement = errors.New("the document has no root element")
	errTrailing  = errors.New("something follows the root element")
	errCharset   = errors.New("the document is not in UTF-8")
)

// Child is the first child with this name. An empty space means any namespace.
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

// All are the children with this name, in their order.
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

// Attr is the value of an attribute, trimmed; empty if it is not there.
func (n *Node) Attr(local string) string {
	if n == nil {
		return ""
	}
	for _, attr := range n.attrs {
		if attr.Name.Local == local {
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

// value is the text of a child.
func (n *Node) value(space, local string) string { return n.Child(space, local).text() }

// timeValue is the time in a child; zero if there is none that can be read.
func (n *Node) timeValue(space, local string) time.Time { return parseTime(n.value(space, local)) }

// parseBool reads XML Schema's boolean. absent is its value where nothing is said.
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

// timeLayouts are XML Schema's dateTime and what servers send in its place. A time
// without a zone is UTC (RFC 5731, 2.4).
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

// parseDocument reads one whole document into a tree.
func parseDocument(document []byte) (*Node, error) {
	decoder := xml.NewDecoder(bytes.NewReader(document))
	decoder.CharsetReader = func(charset string, input io.Reader) (io.Reader, error) {
		if strings.EqualFold(charset, "us-ascii") || strings.EqualFold(charset, "utf8") {
			return input, nil
		}
		return nil, errCharset
	}
	var (
		root  *Node
		stack []*Node
		slab  []Node
		count int
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
			if len(slab) == 0 {
				slab = make([]Node, 64)
			}
			node := &slab[0]
			slab = slab[1:]
			node.Space, node.Local, node.attrs = t.Name.Space, t.Name.Local, t.Attr
			if count++; count > maxNodes {
				return nil, errTooMany
			}
			switch {
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
			last := stack[len(stack)-1] // the decoder sees to it that tags match
			last.Text = strings.TrimSpace(last.Text)
			stack = stack[:len(stack)-1]
		case xml.CharData:
			if text := bytes.TrimSpace(t); len(text) > 0 && len(stack) > 0 {
				last := stack[len(stack)-1]
				if last.Text == "" {
					last.Text = string(t)
				} else {
					last.Text += string(t)
				}
			}
		case xml.Directive:
			return nil, errDTD
		}
	}
}
