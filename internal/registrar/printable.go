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
