package registrar

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsPrintable reports whether text has at most limit characters, all of them printable.
// Control characters and bidirectional overrides would garble a list, a page or a mail.
func IsPrintable(text string, limit int) bool {
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= limit &&
		!strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// IsUnprintable reports characters that no line of a page or a mail may repeat. A mail may go
// to an arbitrary address, so submitted text must not look like our own lines: it can neither
// start a new line nor change the text direction.
func IsUnprintable(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

// IsUnprintableInLines is IsUnprintable for text of several lines.
func IsUnprintableInLines(r rune) bool { return r != '\n' && IsUnprintable(r) }
