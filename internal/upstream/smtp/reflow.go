package smtp

import (
	"strings"
	"unicode/utf8"
)

// lineLength is the length of wrapped lines, in characters (RFC 5322, 2.1.1 recommends at most 78).
const lineLength = 72

// maxLabelLength is the length of a label, in characters. What precedes a colon and is longer is
// prose.
const maxLabelLength = 24

// isFixed reports whether a line stays as it is: empty and indented ones, list items, quotes, the
// separator of the footer, columns, URLs, and values with a label.
func isFixed(line string) bool {
	if line == "" || strings.ContainsRune(" >-", rune(line[0])) || strings.Contains(line, "  ") || strings.Contains(line, "://") {
		return true
	}
	label, _, found := strings.Cut(line, ": ")
	return found && label != "" && utf8.RuneCountInString(label) <= maxLabelLength && !strings.ContainsAny(label, `.,;:?!"„`)
}

// reflow wraps the prose of a mail again. Templates have line breaks for their author, and the
// values that fill them are shorter or longer than their placeholders.
func reflow(text string) string {
	var out, prose []string
	for line := range strings.SplitSeq(text, "\n") {
		if isFixed(line) {
			out, prose = append(wrapWords(out, prose), line), prose[:0]
			continue
		}
		prose = append(prose, strings.Fields(line)...)
	}
	return strings.Join(wrapWords(out, prose), "\n")
}

// wrapWords wraps words and appends the new lines to lines. A longer word has a line of its own, and amounts,
// times and dates stay together.
func wrapWords(lines, words []string) []string {
	length := 0
	for len(words) > 0 {
		var word string
		word, words = nextUnit(words)
		size := utf8.RuneCountInString(word)
		if length > 0 && length+1+size <= lineLength {
			lines[len(lines)-1] += " " + word
			length += 1 + size
			continue
		}
		lines, length = append(lines, word), size
	}
	return lines
}

const (
	units  = " EUR % Uhr "
	months = " January February March April May June July August September October November December "
)

// nextUnit returns the first word, with those that must not begin a line: 14.28 EUR, 19 %, 12 Uhr,
// 1 December 2026.
func nextUnit(words []string) (unit string, rest []string) {
	unit, rest = words[0], words[1:]
	if len(rest) == 0 || !isDigit(unit[len(unit)-1]) {
		return unit, rest
	}
	next := " " + strings.TrimRight(rest[0], ".,;:!?)") + " "
	if !strings.Contains(units, next) && !strings.Contains(months, next) {
		return unit, rest
	}
	unit, rest = unit+" "+rest[0], rest[1:]
	if len(rest) > 0 && isDigit(rest[0][0]) && strings.Contains(months, next) {
		unit, rest = unit+" "+rest[0], rest[1:]
	}
	return unit, rest
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }
