package mail

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"
	"unicode"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/letters"
)

// maxFact bounds what a letter quotes, in characters.
const maxFact = 100

// language is every letter in one language.
type language struct {
	code    string
	moments string // the layout of times
	days    string // the layout of dates
	comma   string // between euros and cents
	footer  string
	// letters are those about an account, orders those about orders and domains.
	letters, orders map[registrar.LetterKind]letter
}

// letter finds a text.
func (l *language) letter(kind registrar.LetterKind) letter {
	if found, known := l.letters[kind]; known {
		return found
	}
	return l.orders[kind]
}

// Kinds are all kinds of mail that there are texts for.
func Kinds() []registrar.LetterKind {
	return slices.AppendSeq(slices.Collect(maps.Keys(english.letters)), maps.Keys(english.orders))
}

// letter is one text. A subject has no placeholders.
type letter struct{ subject, body string }

// words are what texts can mention.
type words struct {
	At      string // when it happened
	Until   string // how long the link works
	Link    string
	Portal  string // where to sign in
	Address string // the network address from which it was done
	Name    string // of a token, passkey or application
	Host    string // where an application was answered to
	Email   string // the new address
	Change  string // on, off, renewed, used, added, removed
	bill
	declared
	Domain string // whose term ends
	Date   string // on that day
}

// texts are the parsed letters.
type texts map[string]map[registrar.LetterKind]*template.Template

func parseTexts() (texts, error) {
	parsed := texts{}
	for _, spoken := range []language{german, english} {
		parsed[spoken.code] = map[registrar.LetterKind]*template.Template{}
		for _, some := range []map[registrar.LetterKind]letter{spoken.letters, spoken.orders} {
			for kind, letter := range some {
				text, err := template.New(string(kind)).Parse(letter.body + spoken.footer)
				if err != nil {
					return nil, fmt.Errorf("the letter %s in %s: %w", kind, spoken.code, err)
				}
				parsed[spoken.code][kind] = text
			}
		}
	}
	return parsed, nil
}

// write makes subject and body of a message. A language that we do not write is
// German.
func (t texts) write(message letters.Message, portal string) (subject, body string, err error) {
	spoken := german
	if message.Language == english.code {
		spoken = english
	}
	text, known := t[spoken.code][message.Kind]
	if !known {
		return "", "", fmt.Errorf("there is no letter of the kind %q", message.Kind)
	}
	said := words{
		At: message.At.UTC().Format(spoken.moments), Link: message.Link, Portal: portal,
		Address: oneLine(message.Facts["address"]), Name: quoted(message.Facts["name"], maxFact),
		Host: quoted(message.Facts["host"], maxFact), Email: oneLine(message.Facts["email"]), Change: message.Facts["change"],
		bill: spoken.bill(message.Facts), declared: spoken.declared(message.Facts), Domain: oneLine(message.Facts["domain"]), Date: spoken.date(message.Facts["paid_until"]),
	}
	if message.Facts["declared"] != "" {
		said.Name = quotedLines(said.Name)
	}
	if message.Kind == registrar.LetterClaim || said.Unclaimed {
		// An agent has chosen both the names and the address that this goes to.
		for i := range said.Items {
			said.Items[i].Name = quoted(said.Items[i].Name, maxFact)
		}
	}
	if !message.LinkExpiresAt.IsZero() {
		said.Until = message.LinkExpiresAt.UTC().Format(spoken.moments)
	}
	var written strings.Builder
	if err := text.Execute(&written, said); err != nil {
		return "", "", err
	}
	return spoken.letter(message.Kind).subject, written.String(), nil
}

// oneLine makes a fact harmless: no control characters, no line of its own, no
// text that runs from right to left, and not more than a line.
func oneLine(fact string) string { return inLine(fact, maxFact) }

func inLine(fact string, most int) string {
	fact = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r) || r == unicode.ReplacementChar:
			return ' '
		case unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp):
			return -1
		default:
			return r
		}
	}, fact)
	fact = strings.Join(strings.Fields(fact), " ")
	if letters := []rune(fact); len(letters) > most {
		fact = string(letters[:most]) + "…"
	}
	return fact
}

// quoted is text that somebody else chose, in one line and without anything that a
// mail program would make a link of. What was written can still be read: only the
// characters that make an address are put in brackets.
func quoted(fact string, most int) string { return defang(inLine(fact, most)) }

// inAddress reports whether the dot at i is one of the three of an IPv4 address. A
// date (1.2.2026) and a price (1.234,56) have fewer.
func inAddress(runes []rune, i int) bool {
	from, to := i, i
	for from > 0 && (unicode.IsDigit(runes[from-1]) || runes[from-1] == '.') {
		from--
	}
	for to+1 < len(runes) && (unicode.IsDigit(runes[to+1]) || runes[to+1] == '.') {
		to++
	}
	return strings.Count(strings.TrimRight(string(runes[from:to+1]), "."), ".") == 3
}

// defang brackets the dots of host names, the colons of schemes and the @ of
// addresses: evil[.]example, https[:]//evil[.]example, eve[@]evil[.]example.
func defang(text string) string {
	runes := []rune(text)
	at := func(i int) rune {
		if i < 0 || i >= len(runes) {
			return ' '
		}
		return runes[i]
	}
	var out strings.Builder
	for i, r := range runes {
		link := false
		switch r {
		case '@':
			link = at(i-1) != ' ' && at(i+1) != ' '
		case ':':
			link = unicode.IsLetter(at(i-1)) && at(i+1) != ' '
		case '.', '\u3002', '\uff0e', '\uff61': // the dots of IDNA
			long := unicode.IsLetter(at(i+1)) && at(i+2) != ' ' && at(i+2) != '.' // "z. B." and "e.g." stay as they are
			number := unicode.IsDigit(at(i-1)) && unicode.IsDigit(at(i+1)) && inAddress(runes, i)
			www := strings.HasSuffix(strings.ToLower(string(runes[max(0, i-3):i])), "www")
			link = at(i-1) != ' ' && (long || www || number)
		}
		if link {
			out.WriteString("[" + string(r) + "]")
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}
