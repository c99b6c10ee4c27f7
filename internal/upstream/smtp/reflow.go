package smtp

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// lineLength is the length of wrapped lines, in characters (RFC 5322, 2.1.1 recommends at most 78).
const lineLength = 72

// fixedLine matches lines that stay as they are: indented ones, list items, quotes, the
// separator of the footer, columns, URLs, and values with a label.
var fixedLine = regexp.MustCompile(`^[ >-]|  |://|^[^.,;:?!"„]{1,24}: `)

// unbroken matches the spaces of amounts and dates, and joint stands for them while lines are
// wrapped: no mail has that character.
var unbroken = regexp.MustCompile(`\d (?:EUR|Uhr|January|February|March|April|May|June|July|August|September|October|November|December)\b(?: \d{4})?`)

const joint = "\x1f"

// reflow wraps the prose of a mail again. Templates have line breaks for their author, and the
// values that fill them are shorter or longer than their placeholders.
func reflow(text string) string {
	var out, prose []string
	flush := func() {
		whole := unbroken.ReplaceAllStringFunc(strings.Join(prose, " "), func(value string) string { return strings.ReplaceAll(value, " ", joint) })
		for _, line := range wrapWords(strings.Fields(whole)) {
			out = append(out, strings.ReplaceAll(line, joint, " "))
		}
		prose = nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" || fixedLine.MatchString(line) {
			flush()
			out = append(out, line)
			continue
		}
		prose = append(prose, strings.Fields(line)...)
	}
	flush()
	return strings.Join(out, "\n")
}

// wrapWords wraps words into lines. A longer word has a line of its own.
func wrapWords(words []string) (lines []string) {
	length := 0
	for _, word := range words {
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
