package whois

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

const (
	maxLines     = 4000
	maxLineBytes = 1000
	// maxPhraseBytes is longer than any sentence in the tables.
	maxPhraseBytes = 200
)

// answer is a WHOIS answer cut into lines that are ready for the tables.
type answer struct {
	lines []line
}

// line is one line of an answer.
type line struct {
	// text is the line in lower case, without marks, with "@" for the name that
	// was asked and "@other" for any other host or domain name.
	text string
	// key and value are set if the line has the form "key: value". The key is
	// normalised; the value is as written, in lower case.
	key, value string
	// comment says that the line was marked as a comment.
	comment bool
	// legal says that the line belongs to a paragraph of terms.
	legal bool
	// indented says that the line began with white space.
	indented bool
}

var (
	// commentMark is what servers put before lines that are not data. Two
	// asterisks (as in .tr) mark headings of data.
	commentMark = regexp.MustCompile(`^(?:%+|#+|;+|>>>+|--+|\*\*\*+|\*\s|\[\s)\s*`)
	// errorMark is a number or a word that some servers put before a message.
	errorMark  = regexp.MustCompile(`^(?:(?:error|err|info|message|result|response|notice)\s*[:.-]*\s*)?(?:\(?\d{1,6}\)?\s*[:.-]\s*)?`)
	webAddress = regexp.MustCompile(`(?:https?|ftp)://\S+|www\.\S+|\S+@\S+`)
	// hostName also takes labels beyond ASCII; a dot must stand inside.
	hostName = regexp.MustCompile(`[\p{L}\p{N}_][\p{L}\p{N}\p{M}_-]*(?:\.[\p{L}\p{N}_][\p{L}\p{N}\p{M}_-]*)+`)
	notAName = regexp.MustCompile(`^[0-9.]+$|^\d|\.\d+$|^(?:e\.g|i\.e|a\.m|p\.m)$`)
	marks    = strings.NewReplacer(`"`, "", `'`, "", "`", "", "“", "", "”", "", "‘", "", "’", "",
		"«", "", "»", "", "(", " ", ")", " ", "[", " ", "]", " ", "<", "", "_", " ")
	spaces = regexp.MustCompile(`\s+`)
	// keyLine is "Key: value", "Key.....: value", "Key : value" and, for
	// Japan, "a. [Key] value".
	keyLine     = regexp.MustCompile(`^([\p{L}][^:]{0,60}?)[\s.]*:(?:[\s.]+(.*)|([^/\s].*)|)$`)
	bracketLine = regexp.MustCompile(`^(?:\p{L}\.\s*)?\[([^\]]{1,40})\]\s*(.*)$`)
	keyFiller   = regexp.MustCompile(`[\s._\-/]+`)
	parenthesis = regexp.MustCompile(`\s*\([^)]*\)`)
)

// decodeText makes a string of an answer: UTF-8 if it is valid, else Latin-1.
// ok is false for what is no text at all.
func decodeText(raw []byte) (text string, ok bool) {
	controls := 0
	for _, b := range raw {
		switch {
		case b == 0:
			return "", false
		case b < ' ' && b != '\n' && b != '\r' && b != '\t' && b != '\f' && b != 0x1b:
			controls++
		}
	}
	if controls*20 > len(raw) {
		return "", false
	}
	if utf8.Valid(raw) {
		return strings.TrimPrefix(string(raw), "\ufeff"), true
	}
	runes := make([]rune, len(raw))
	high := 0
	for i, b := range raw {
		runes[i] = rune(b)
		if b >= 0x80 && b < 0xa0 {
			high++
		}
	}
	// Text in any 8-bit encoding has few bytes in the C1 range; noise has many.
	if high*4 > len(raw) {
		return "", false
	}
	return string(runes), true
}

// legalOpeners begin a paragraph that binds the reader and says nothing about
// the name.
var legalOpeners = regexp.MustCompile(`^(?:terms (?:of|and)|conditions of|notice\b|notes?:|disclaimer|copyright|important|access to|` +
	`the (?:data|information|whois|service|contents|registry|above|registrar of)|this (?:whois|data|information|service)|by (?:submitting|using|executing|querying)|` +
	`for more information|please (?:note|be advised|query|visit)|you (?:are|agree)|use of this|whois (?:information|displays|database)|` +
	`all rights|los datos|le service|url of the)`)

// cut splits text into lines and prepares each.
func cut(text, name string) answer {
	var a answer
	legal := false
	for raw := range strings.Lines(text) {
		if len(a.lines) == maxLines {
			break
		}
		raw = strings.TrimRight(raw, " \t\r\n\f")
		if len(raw) > maxLineBytes {
			raw = strings.ToValidUTF8(raw[:maxLineBytes], "")
		}
		body := strings.ToLower(strings.TrimSpace(raw))
		if body == "" {
			legal = false
			continue
		}
		l := line{indented: strings.IndexAny(raw[:1], " \t") == 0}
		if mark := commentMark.FindString(body); mark != "" {
			l.comment = true
			body = strings.TrimSpace(body[len(mark):])
		}
		body = strings.TrimSpace(strings.TrimPrefix(body, "** "))
		if body == "" {
			if l.comment {
				legal = false
			}
			continue
		}
		l.text = normalise(body, name)
		legal = legal || legalOpeners.MatchString(body) && !freeLine(l.text, name)
		l.legal = legal
		l.key, l.value = field(body)
		a.lines = append(a.lines, l)
	}
	return a
}

// normalise brings a line into the form of the tables.
func normalise(body, name string) string {
	body = webAddress.ReplaceAllString(body, "")
	body = hostName.ReplaceAllStringFunc(body, func(found string) string {
		switch {
		case sameName(found, name):
			return " @ "
		case notAName.MatchString(found):
			return found
		default:
			return " @other "
		}
	})
	body = marks.Replace(body)
	body = strings.TrimSpace(body)
	body = body[len(errorMark.FindString(body)):]
	body = spaces.ReplaceAllString(body, " ")
	return strings.Trim(body, " .!:,;-*=>?")
}

// field splits "key: value". A sentence with a colon in it gives a key that is
// in no table.
func field(body string) (key, value string) {
	if m := bracketLine.FindStringSubmatch(body); m != nil {
		return normaliseKey(m[1]), strings.TrimSpace(m[2])
	}
	m := keyLine.FindStringSubmatch(body)
	if m == nil {
		return "", ""
	}
	return normaliseKey(m[1]), strings.TrimSpace(m[2] + m[3])
}

func normaliseKey(key string) string {
	key = parenthesis.ReplaceAllString(key, "")
	return strings.TrimSpace(keyFiller.ReplaceAllString(key, " "))
}

// sameName compares a name as a server spells it with the one that was asked.
func sameName(spelled, name string) bool {
	spelled = strings.TrimSuffix(strings.ToLower(spelled), ".")
	if spelled == name {
		return true
	}
	if !strings.Contains(name, "xn--") {
		return false
	}
	ascii, err := idna.Punycode.ToASCII(spelled)
	return err == nil && ascii == name
}
