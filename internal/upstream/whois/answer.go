package whois

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

const (
	maxLines       = 4000
	maxLineBytes   = 1000
	maxPhraseBytes = 200 // longer than any phrase in the tables
	maxKeyBytes    = 80
)

// answer is a WHOIS response in lines that can be matched against the tables.
type answer struct {
	lines []line
	whole bool // false if excess lines were dropped
}

type line struct {
	body string // the line without surrounding white space and comment marks
	// key and value are set if the line has the form "key: value". The key is
	// normalised; the value is verbatim.
	key, value string
	cat        category  // the category of the key, or of a heading without one
	order      dateOrder // the date format given in the key, as in "created (dd/mm/yyyy)"
	indent     int       // counts the columns of white space before the line
	comment    bool      // the line was marked as a comment
	afterBlank bool      // an empty line precedes this one
}

func splitLines(text string) answer {
	a := answer{lines: make([]line, 0, 64), whole: true}
	blank := true
	for raw := range strings.Lines(text) {
		if len(a.lines) == maxLines {
			a.whole = false
			break
		}
		raw = strings.TrimRight(raw, " \t\r\n\f")
		if len(raw) > maxLineBytes {
			raw = strings.ToValidUTF8(raw[:maxLineBytes], "")
		}
		l := line{afterBlank: blank}
		l.body, l.indent = trimIndent(raw)
		if mark := commentPrefixLength(l.body); mark > 0 {
			l.comment = true
			l.body = strings.TrimSpace(l.body[mark:])
		}
		l.body = strings.TrimSpace(strings.TrimPrefix(l.body, "** "))
		if blank = strings.Trim(l.body, "-=*_~ ") == ""; blank { // empty, or a ruler
			continue
		}
		if !l.comment {
			l.split()
		}
		a.lines = append(a.lines, l)
	}
	return a
}

func trimIndent(raw string) (body string, indent int) {
	for i, r := range raw {
		switch {
		case r == '\t':
			indent += 8 - indent%8
		case unicode.IsSpace(r):
			indent++
		default:
			return raw[i:], indent
		}
	}
	return "", indent
}

// commentPrefixLength is the length of a comment mark. Two asterisks (as in .tr) mark
// headings of data, brackets without a space (as in .jp) mark fields.
func commentPrefixLength(body string) int {
	if body == "" {
		return 0
	}
	n := 1
	for n < len(body) && body[n] == body[0] {
		n++
	}
	followed := n < len(body) && (body[n] == ' ' || body[n] == '\t')
	switch body[0] {
	case '%', '#', ';':
		return n
	case '-':
		if n >= 2 {
			return n
		}
	case '>', '*':
		if n >= 3 || body[0] == '*' && n == 1 && followed {
			return n
		}
	case '[':
		if n == 1 && followed {
			return n
		}
	}
	return 0
}

// split finds key, value and category of a line that is not a comment.
func (l *line) split() {
	key, value, found := cutKey(l.body)
	if !found {
		l.cat = headingOf(l.body)
		return
	}
	l.key, l.cat = readKey(key)
	l.order = orderOf(key)
	l.value = value
	if l.cat == catNone && value != "" {
		l.cat = guessDate(l.key, value, l.order)
	}
}

// cutKey splits "Key: value", "Key.....: value", "Key : value", "Key [value]" and,
// for Japan, "a. [Key] value".
func cutKey(body string) (key, value string, found bool) {
	if rest := skipItemLetter(body); strings.HasPrefix(rest, "[") {
		if key, value, found = strings.Cut(rest[1:], "]"); found && key != "" && len(key) <= maxKeyBytes {
			return key, strings.TrimSpace(value), true
		}
		return "", "", false
	}
	colon := strings.IndexByte(body[:min(len(body), maxKeyBytes)], ':')
	if colon <= 0 || isClock(body, colon) {
		return cutColumns(body)
	}
	first, _ := utf8.DecodeRuneInString(body)
	if !unicode.IsLetter(first) && !unicode.IsNumber(first) {
		return "", "", false
	}
	value = body[colon+1:]
	if strings.HasPrefix(value, "/") {
		return "", "", false // a URL
	}
	return strings.TrimRight(body[:colon], " \t."), strings.TrimLeft(value, " \t."), true
}

// isClock reports whether a colon separates hours from minutes.
func isClock(body string, colon int) bool {
	digit := func(i int) bool { return i < len(body) && body[i] >= '0' && body[i] <= '9' }
	return digit(colon-1) && digit(colon+1) && digit(colon+2)
}

// cutColumns splits "Name server ns1.example.net", where only white space separates
// a known key from its value.
func cutColumns(body string) (key, value string, found bool) {
	gap := strings.Index(body, "  ")
	if tab := strings.IndexByte(body, '\t'); tab > 0 && (gap < 0 || tab < gap) {
		gap = tab
	}
	// Two spaces also follow the full stop of a sentence.
	if gap <= 0 || gap > maxKeyBytes || strings.ContainsAny(body[gap-1:gap], ".,;!?)") {
		return "", "", false
	}
	if _, found = fields[normaliseKey(strings.ToLower(body[:gap]))]; !found {
		return "", "", false
	}
	return body[:gap], strings.TrimSpace(body[gap:]), true
}

// skipItemLetter drops the "a." before Japanese and the "a" before Malaysian fields.
func skipItemLetter(body string) string {
	if len(body) < 4 || body[0] < 'a' || body[0] > 'z' || body[1] != '.' && body[1] != ' ' {
		return body
	}
	if rest := strings.TrimLeft(body[2:], " \t"); strings.HasPrefix(rest, "[") {
		return rest
	}
	return body
}

// Patterns that normalise uses to bring lines into the form of the phrase tables.
var (
	// errorMark is a number or a word that some servers put before a message.
	errorMark = lookup.LazyPattern(`^(?:(?:error|err|info|message|result|response|notice)\s*[:.-]*\s*)?(?:\(?\d{1,6}\)?\s*[:.-]\s*)?`)
	// webMark is the same from a web server or a gateway: "404: not found" means
	// that a page is missing, and "500" that the query failed.
	webMark      = lookup.LazyPattern(`^(?:(?:error|err|info|message|result|response|notice|http|status)\s*(?:code)?\s*[:.-]*\s*)?(?:40[034]|429|5\d\d)(?:\D|$)`)
	markStripper = strings.NewReplacer(`"`, "", `'`, "", "`", "", "“", "", "”", "", "‘", "", "’", "",
		"«", "", "»", "", "(", " ", ")", " ", "[", " ", "]", " ", "<", "", "_", " ")
)

// urlLeadIns precede a URL that is a place to go and not the queried object.
var urlLeadIns = []string{" visit", " see", " go to", " at", " here", " now", " online"}

// normalise brings a line into the form of the tables: lower case, without marks
// and adverts, with "@" for the queried name and "@other" for any other host or
// domain name, URL or mail address, which includes a literal "@".
func normalise(body, name string) string {
	var b strings.Builder
	b.Grow(len(body) + 8)
	for token := range strings.FieldsSeq(strings.ToLower(body)) {
		if strings.Contains(token, "@") {
			b.WriteString(" @other")
			continue
		}
		address := webAddress(token)
		if before := token[:address]; before != "" {
			b.WriteByte(' ')
			if strings.Contains(before, ".") {
				replaceHosts(&b, before, name)
			} else {
				b.WriteString(before)
			}
		}
		if address < len(token) && !endsInAny(strings.TrimRight(b.String(), " (<[:,;-"), urlLeadIns) {
			b.WriteString(" @other")
		}
	}
	text := strings.TrimSpace(markStripper.Replace(b.String()))
	if !webMark().MatchString(text) {
		text = text[len(errorMark().FindString(text)):]
	}
	text = strings.Join(strings.Fields(text), " ")
	return strings.Trim(text, " .!:,;-*=>?")
}

func endsInAny(text string, endings []string) bool {
	return slices.ContainsFunc(endings, func(ending string) bool { return strings.HasSuffix(text, ending) })
}

// webAddress returns the index of a URL in token, or its length if there is none.
func webAddress(token string) int {
	for _, start := range [...]string{"http://", "https://", "ftp://", "www."} {
		if i := strings.Index(token, start); i >= 0 {
			return i
		}
	}
	return len(token)
}

func replaceHosts(b *strings.Builder, token, name string) {
	for token != "" {
		start, end := nextHost(token)
		b.WriteString(token[:start])
		switch found := token[start:end]; {
		case found == "":
		case lookup.SameName(found, name):
			b.WriteString(" @ ")
		case notAName(found):
			b.WriteString(found)
		default:
			b.WriteString(" @other ")
		}
		token = token[end:]
	}
}

// nextHost finds the first run of labels with a dot; without one, both are len(s).
func nextHost(s string) (start, end int) {
	start = -1
	dotted := false
	for i, r := range s {
		inside := hostRune(r)
		switch {
		case start < 0 && (!inside || r == '-'):
		case start < 0:
			start, dotted = i, false
		case inside:
		case r == '.' && i+1 < len(s) && s[i+1] != '-' && startsLabel(s[i+1:]):
			dotted = true
		case dotted:
			return start, i
		default:
			start = -1
		}
	}
	if start >= 0 && dotted {
		return start, len(s)
	}
	return len(s), len(s)
}

func hostRune(r rune) bool {
	return r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

func startsLabel(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return hostRune(r)
}

// notAName reports whether a dotted s is a number, a date or an abbreviation.
func notAName(s string) bool {
	last := s[strings.LastIndexByte(s, '.')+1:]
	return s[0] >= '0' && s[0] <= '9' || strings.Trim(last, "0123456789") == "" || slices.Contains([]string{"e.g", "i.e", "a.m", "p.m"}, s)
}
