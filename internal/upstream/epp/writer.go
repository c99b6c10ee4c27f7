package epp

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// XML namespaces. Only fee and loginSec have "epp:" in theirs.
const (
	nsEPP      = "urn:ietf:params:xml:ns:epp-1.0"
	nsDomain   = "urn:ietf:params:xml:ns:domain-1.0"
	nsContact  = "urn:ietf:params:xml:ns:contact-1.0"
	nsHost     = "urn:ietf:params:xml:ns:host-1.0"
	nsFee      = "urn:ietf:params:xml:ns:epp:fee-1.0"
	nsSecDNS   = "urn:ietf:params:xml:ns:secDNS-1.1"
	nsRGP      = "urn:ietf:params:xml:ns:rgp-1.0"
	nsLoginSec = "urn:ietf:params:xml:ns:epp:loginSec-1.0"
)

// CannotSend is the code of a command that violates the schemas.
const CannotSend registrar.Code = "epp_cannot_send"

// Writer writes XML elements. The first schema violation is recorded and fails the
// command before it is sent.
type Writer struct {
	buf []byte
	err error
}

// Attr is an attribute of an element.
type Attr struct{ Name, Value string }

// Fail records the first reason why the command can't be sent. It names the
// element, never its content.
func (w *Writer) Fail(element, reason string) {
	if w.err == nil {
		w.err = &registrar.Error{Kind: registrar.KindInvalid, Code: CannotSend, Detail: element + " " + reason}
	}
}

// Start opens an element. tag includes its prefix; xmlns:prefix must be declared on
// it or on an ancestor.
func (w *Writer) Start(tag string, attrs ...Attr) {
	w.tag(tag, attrs)
	w.raw(">")
}

func (w *Writer) tag(tag string, attrs []Attr) {
	w.raw("<", tag)
	for _, attr := range attrs {
		w.raw(" ", attr.Name, `="`)
		w.escape(tag, attr.Value)
		w.raw(`"`)
	}
}

func (w *Writer) raw(parts ...string) {
	for _, part := range parts {
		w.buf = append(w.buf, part...)
	}
}

// End closes an element.
func (w *Writer) End(tag string) { w.raw("</", tag, ">") }

// Empty writes an element without content.
func (w *Writer) Empty(tag string, attrs ...Attr) {
	w.tag(tag, attrs)
	w.raw("/>")
}

// Leaf writes an element that holds text.
func (w *Writer) Leaf(tag, text string, attrs ...Attr) {
	w.tag(tag, attrs)
	w.raw(">")
	w.escape(tag, text)
	w.End(tag)
}

// sized writes a Leaf of min to max characters without surrounding white space,
// which a schema processor would strip.
func (w *Writer) sized(tag, text string, least, most int, attrs ...Attr) {
	if n := utf8.RuneCountInString(text); n < least || n > most {
		w.Fail(tag, fmt.Sprintf("must have %d to %d characters", least, most))
	}
	if strings.Trim(text, " \t\n\r") != text {
		w.Fail(tag, "must not begin or end with white space")
	}
	w.Leaf(tag, text, attrs...)
}

// label writes a domain or host name (eppcom:labelType).
func (w *Writer) label(tag, name string, attrs ...Attr) { w.sized(tag, name, 1, 255, attrs...) }

// handle writes the id of a contact or registrar (eppcom:clIDType).
func (w *Writer) handle(tag, id string, attrs ...Attr) { w.sized(tag, id, 3, 16, attrs...) }

// years writes a period; 0 omits it for the registry's default.
func (w *Writer) years(tag string, years int) {
	switch {
	case years == 0:
	case years < 0 || years > 99:
		w.Fail(tag, "must be 1 to 99 years")
	default:
		w.Leaf(tag, strconv.Itoa(years), Attr{"unit", "y"})
	}
}

// escape appends text, which must be valid XML 1.0 in one line: every text that EPP
// sends is a token or a normalizedString.
func (w *Writer) escape(tag, text string) {
	plain := true
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ' || c == 0x7f:
			w.Fail(tag, "contains a control character")
			return
		case c == '&' || c == '<' || c == '>' || c == '"' || c >= utf8.RuneSelf:
			plain = false
		}
	}
	if plain {
		w.buf = append(w.buf, text...)
		return
	}
	if !utf8.ValidString(text) {
		w.Fail(tag, "is not valid UTF-8")
		return
	}
	for _, r := range text {
		switch r {
		case '&':
			w.raw("&amp;")
		case '<':
			w.raw("&lt;")
		case '>':
			w.raw("&gt;")
		case '"':
			w.raw("&quot;")
		case 0xfffe, 0xffff:
			w.Fail(tag, "contains a character that XML does not allow")
			return
		default:
			w.buf = utf8.AppendRune(w.buf, r)
		}
	}
}
