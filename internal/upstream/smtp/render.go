package smtp

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"text/template"
	"unicode"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
)

// maxValueLength limits a quoted value, in characters.
const maxValueLength = 100

// maxSubjectLength limits a subject, which may contain a long domain name.
const maxSubjectLength = 300

// language holds all mails in one language.
type language struct {
	code             string
	timeLayout       string
	dateLayout       string
	decimalSeparator string // between euros and cents
	greeting, footer string // of every mail
	// accountMails are about an account, orderMails about orders and domains.
	accountMails, orderMails map[registrar.MailKind]mailText
	renewalMails             map[registrar.MailKind]mailText // about charges of automatic renewals
}

// languageOf returns the recipient's language, German if it is not supported.
func languageOf(message mailer.Message) *language {
	if message.Language == english.code {
		return &english
	}
	return &german
}

// MailKinds returns all kinds of mail that have a text.
func MailKinds() []registrar.MailKind {
	kinds := slices.AppendSeq(slices.Collect(maps.Keys(english.accountMails)), maps.Keys(english.orderMails))
	return slices.AppendSeq(kinds, maps.Keys(english.renewalMails))
}

// mailText is one mail between greeting and footer. Both have placeholders.
type mailText struct{ subject, body string }

// templateData holds the placeholders of the texts.
type templateData struct {
	At      string // when it happened
	Until   string // how long the link works
	Link    string
	Portal  string // where to sign in
	Address string // IP address of the request
	Name    string // of a token, passkey or application
	Host    string // redirect host of an application
	Email   string // the new address
	Change  string // on, off, renewed, used, added, removed
	orderData
	noticeData
	Domain string // whose term ends
	Date   string // on that day
	Charge string // the day of a charge
	renewalData
}

// templates are the parsed mails by language code, each with its subject as a template of
// its own.
type templates map[string]map[registrar.MailKind]*template.Template

const subjectTemplate = "subject"

// parseTemplates parses them once, when the first mail is sent.
var parseTemplates = sync.OnceValues(func() (templates, error) {
	parsed := templates{}
	for _, lang := range []language{german, english} {
		parsed[lang.code] = map[registrar.MailKind]*template.Template{}
		for _, mails := range []map[registrar.MailKind]mailText{lang.accountMails, lang.orderMails, lang.renewalMails} {
			for kind, mail := range mails {
				text, err := template.New("body").Parse(lang.greeting + mail.body + lang.footer)
				if err == nil {
					_, err = text.New(subjectTemplate).Parse(mail.subject)
				}
				if err != nil {
					return nil, fmt.Errorf("smtp: parse mail %s in %s: %w", kind, lang.code, err)
				}
				parsed[lang.code][kind] = text
			}
		}
	}
	return parsed, nil
})

func (t templates) render(message mailer.Message, portal string) (subject, body string, err error) {
	lang := languageOf(message)
	text, known := t[lang.code][message.Kind]
	if !known {
		return "", "", fmt.Errorf("smtp: no mail of kind %q", message.Kind)
	}
	data := templateData{
		At: message.At.UTC().Format(lang.timeLayout), Link: message.Link, Portal: portal,
		Address: sanitizeValue(message.Data["address"]), Name: quoteForeign(message.Data["name"], maxValueLength),
		Host: quoteForeign(message.Data["host"], maxValueLength), Email: sanitizeValue(message.Data["email"]), Change: message.Data["change"],
		orderData: lang.orderData(message.Data), noticeData: lang.noticeData(message.Data), Domain: sanitizeValue(message.Data["domain"]), Date: lang.formatDate(message.Data["paid_until"]),
	}
	data.Charge = lang.formatDate(message.Data["charge_at"])
	data.renewalData = lang.renewalData(message.Data, portal)
	if message.Data["declared"] != "" {
		data.Name = quotedLines(data.Name)
	}
	if message.Kind == registrar.MailClaim || data.Unclaimed {
		// An agent chose both the names and the recipient.
		for i := range data.Items {
			data.Items[i].Name = quoteForeign(data.Items[i].Name, maxValueLength)
		}
	}
	if !message.LinkExpiresAt.IsZero() {
		data.Until = message.LinkExpiresAt.UTC().Format(lang.timeLayout)
	}
	var title, written strings.Builder
	if err := text.ExecuteTemplate(&title, subjectTemplate, data); err != nil {
		return "", "", err
	}
	if err := text.Execute(&written, data); err != nil {
		return "", "", err
	}
	return sanitizeLine(title.String(), maxSubjectLength), written.String(), nil
}

func sanitizeValue(value string) string { return sanitizeLine(value, maxValueLength) }

// sanitizeLine removes control characters, line breaks and bidirectional overrides, and
// cuts a value to one line of at most that many characters.
func sanitizeLine(value string, most int) string {
	value = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) || unicode.IsControl(r) || r == unicode.ReplacementChar:
			return ' '
		case unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp):
			return -1
		default:
			return r
		}
	}, value)
	value = strings.Join(strings.Fields(value), " ")
	if runes := []rune(value); len(runes) > most {
		value = string(runes[:most]) + "…"
	}
	return value
}

// quoteForeign makes third-party text safe: one line, without anything that a mail
// program turns into a link.
func quoteForeign(value string, most int) string { return defang(sanitizeLine(value, most)) }

// inIPv4 reports whether the dot at i is one of the three of an IPv4 address. A
// date (1.2.2026) and a price (1.234,56) have fewer.
func inIPv4(runes []rune, i int) bool {
	from, to := i, i
	for from > 0 && (unicode.IsDigit(runes[from-1]) || runes[from-1] == '.') {
		from--
	}
	for to+1 < len(runes) && (unicode.IsDigit(runes[to+1]) || runes[to+1] == '.') {
		to++
	}
	return strings.Count(strings.TrimRight(string(runes[from:to+1]), "."), ".") == 3
}

// defang puts the dots of host names, the colons of schemes and the @ of addresses
// in brackets: evil[.]example, https[:]//evil[.]example, eve[@]evil[.]example.
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
			number := unicode.IsDigit(at(i-1)) && unicode.IsDigit(at(i+1)) && inIPv4(runes, i)
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
