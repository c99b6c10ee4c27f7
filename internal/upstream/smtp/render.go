package smtp

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/template"
	"time"
	"unicode"

	"golang.org/x/net/idna"

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
	timeLayout       string // of times, which are Germany's; days are those of UTC
	dateLayout       string
	decimalSeparator string // between euros and cents
	withVAT, net     string // after a price that includes VAT at a rate, and after one without VAT
	greeting, footer string // of every mail
	// country follows the seller's address below the footer, represented and vatID are labels.
	country, represented, vatID string
	// accountMails are about an account, orderMails about orders and domains, consentMails
	// about the choice of automatic renewal and renewalMails about its charges, termMails
	// about the end of a domain's term, contactMails about messages from the contact form,
	// transferMails about transfers to other registrars, checkMails about registrants' addresses,
	// disputeMails about payments.
	accountMails, orderMails, consentMails, renewalMails, termMails, contactMails, transferMails, checkMails, disputeMails map[registrar.MailKind]mailText

	topics  map[string]string // of messages from the contact form
	help    string            // the end of mails in securityMails
	contact string            // the path of the contact form
	basket  string            // the path of the basket
	// withdrawal is the path of the form to withdraw from a contract.
	withdrawal string
}

// securityMails report something that may be an attack on an account or a domain. They end
// with the address of the contact form, as do MailDomainChanged and MailDomainLock in words of
// their own.
var securityMails = map[registrar.MailKind]bool{
	registrar.MailEmailChanging: true, registrar.MailPasswordReset: true, registrar.MailSignIn: true, registrar.MailPasswordChanged: true, registrar.MailTokenCreated: true,
	registrar.MailSecondFactor: true, registrar.MailRegistrantChanged: true, registrar.MailPasskey: true,
	registrar.MailApplicationConnected: true, registrar.MailApplicationReplayed: true, registrar.MailAgentLinked: true,
	registrar.MailAuthCode: true, registrar.MailNameserversCanceled: true, registrar.MailAccountClosed: true,
	registrar.MailTransferAway: true, registrar.MailTransferAwayEnded: true, registrar.MailHolderNotice: true,
	registrar.MailContactCheck: true, registrar.MailContactWarning: true, registrar.MailContactSuspended: true,
}

// undatedLists are mails about several domains whose subjects name the first of the list. Those of
// other mails have the day of one domain, and name that domain.
var undatedLists = map[registrar.MailKind]bool{
	registrar.MailRenewalOn: true, registrar.MailRenewalOff: true, registrar.MailRenewalHeld: true, registrar.MailContractEnds: true, registrar.MailDomainChanged: true, registrar.MailNameserversRefused: true, registrar.MailNameserversCanceled: true, registrar.MailHolderNotice: true,
}

func (l *language) allMails() map[registrar.MailKind]mailText {
	all := maps.Clone(l.accountMails)
	for _, mails := range []map[registrar.MailKind]mailText{l.orderMails, l.consentMails, l.renewalMails, l.termMails, l.contactMails, l.transferMails, l.checkMails, l.disputeMails} {
		maps.Copy(all, mails)
	}
	return all
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
	return slices.Collect(maps.Keys(english.allMails()))
}

// mailText is one mail between greeting and footer. Subjects may have placeholders of
// sanitised values.
type mailText struct{ subject, body string }

// templateData holds the placeholders of the texts.
type templateData struct {
	At      string // when it happened
	On      string // on that day
	Until   string // how long the link works
	Link    string
	Portal  string // where to sign in
	Address string // IP address of the request
	Name    string // of a token, passkey or application
	Host    string // redirect host of an application
	Email   string // the new address
	Change  string // on, off, renewed, used, added, removed, set; of a payment method also saved, default
	Left    string // the number of unused recovery codes; empty if it is unknown
	// Expires is the last day of a token, as the portal shows it; empty with NeverExpires, or if it is unknown.
	Expires      string
	NeverExpires bool
	Default      string // the label of the default payment method
	Moved        bool   // the default is another one now
	orderData
	noticeData
	termData
	Domain string // whose term ends
	Date   string // on that day
	Page   string // the domain's page
	// Place is where a change is seen: the domain's page, the result of an action for many
	// domains, or the portal.
	Place                       string
	Nameservers, OldNameservers []string
	Before, After               string // the holders of a domain
	LockedUntil                 string // the day until which a transfer may be refused after a change of the holder; empty if it may not
	Confirm                     bool   // the new holder has to confirm their address: another mail asks them to
	Lockable                    bool   // the extension has a transfer lock
	Charge                      string // the day of a charge
	// NextTerm means that the first charge is for the next term, Announced that this mail
	// announces it.
	NextTerm, Announced bool
	Attached            bool // the invoice is attached
	// Terms is the name of the attached file with our terms. Instructed means that it also has the
	// instructions on withdrawal, and Withdrawal is the address of the form.
	Terms, Withdrawal string
	Instructed        bool
	Lasts             bool // the registry renews the domain by itself, whether it is paid or not
	Over              bool // the domain can't be renewed once its term has ended
	renewalData
	transferData
	// Contact is the address of the contact form. The next three belong to a message from
	// there; Message is quoted. Case is the operator's page of a message, notice or dispute;
	// Deadline is the last day for evidence.
	Contact, Topic, About, Message, Case, Deadline string
	// SignIn is where to sign in; for a Buyer, who has a basket, on the way to the checkout.
	SignIn string
	// Notice is the number of a mail that asks to confirm an address, Due the last day to do so.
	Notice, Due string
	Suspended   bool // domains are suspended until then
	Unlisted    int  // domains that Items does not have
	// Kept are the first of KeptDomains that stay in the DNS without a confirmation, AllKept means
	// that the mail is about no others.
	Kept                      []string
	KeptDomains, UnlistedKept int
	AllKept                   bool
	Buyer, NoPassword         bool
}

// templates are the parsed mails by language code.
type templates map[string]map[registrar.MailKind]parsedMail

type parsedMail struct{ subject, body *template.Template }

// parseTemplates parses them once, when the first mail is sent.
var parseTemplates = sync.OnceValues(func() (templates, error) {
	parsed := templates{}
	for _, lang := range []language{german, english} {
		parsed[lang.code] = map[registrar.MailKind]parsedMail{}
		for kind, mail := range lang.allMails() {
			subject, err := template.New("subject").Parse(mail.subject)
			if err != nil {
				return nil, fmt.Errorf("smtp: parse subject of %s in %s: %w", kind, lang.code, err)
			}
			text := lang.greeting + mail.body
			if securityMails[kind] {
				text += lang.help
			}
			body, err := template.New("body").Parse(text + lang.footer)
			if err != nil {
				return nil, fmt.Errorf("smtp: parse mail %s in %s: %w", kind, lang.code, err)
			}
			parsed[lang.code][kind] = parsedMail{subject, body}
		}
	}
	return parsed, nil
})

func (t templates) render(message mailer.Message, portal string) (subject, body string, err error) {
	lang := languageOf(message)
	mail, known := t[lang.code][message.Kind]
	if !known {
		return "", "", fmt.Errorf("smtp: no mail of kind %q", message.Kind)
	}
	occurred := message.At
	if at, err := time.Parse(time.RFC3339, message.Data[registrar.MailOccurredAt]); err == nil {
		occurred = at
	}
	data := templateData{
		At: lang.moment(occurred), On: occurred.In(registrar.Germany()).Format(lang.dateLayout), Link: message.Link, Portal: portal,
		Address: sanitizeValue(message.Data["address"]), Name: quoteForeign(message.Data["name"], maxValueLength),
		Host: quoteForeign(message.Data["host"], maxValueLength), Email: sanitizeValue(message.Data["email"]), Change: message.Data["change"],
		Left: sanitizeValue(message.Data["left"]), Expires: lang.formatDay(message.Data["expires_at"]), NeverExpires: message.Data["expires_at"] == "never",
		Default: sanitizeValue(message.Data["default"]), Moved: message.Data["moved"] == "true",
		orderData: lang.orderData(message.Data), noticeData: lang.noticeData(message.Data), termData: lang.termData(message.Data), Domain: sanitizeValue(message.Data["domain"]), Date: lang.formatDate(message.Data["paid_until"]),
	}
	if id := sanitizeValue(message.Data["domain_id"]); id != "" {
		data.Page = portal + "/domains/" + url.PathEscape(id)
	}
	switch action := sanitizeValue(message.Data["bulk"]); {
	case action != "" && message.Data["items"] != "":
		data.Place = portal + "/domain-actions/" + url.PathEscape(action)
	default:
		data.Place = cmp.Or(data.Page, portal)
	}
	data.Before, data.After = quoteForeign(message.Data["before"], maxValueLength), quoteForeign(message.Data["after"], maxValueLength)
	data.Nameservers, data.OldNameservers = lines(message.Data["nameservers"]), lines(message.Data["old_nameservers"])
	data.Confirm, data.LockedUntil = message.Data["confirm"] == "true", lang.formatDate(message.Data["locked_until"])
	data.Lockable = message.Data["lockable"] != "false"
	data.Charge = lang.formatDate(message.Data["charge_at"])
	data.NextTerm, data.Announced = message.Data["next_term"] == "true", message.Data["announced"] == "true"
	for _, file := range message.Attachments {
		switch file.Kind {
		case mailer.InvoiceFile:
			data.Attached = true
		case mailer.TermsFile, mailer.ConsumerTermsFile:
			data.Terms, data.Instructed = file.Name, file.Kind == mailer.ConsumerTermsFile
		}
	}
	data.Notice, data.Due = sanitizeValue(message.Data["notice"]), lang.formatDate(message.Data["due"])
	data.Suspended = message.Data["suspended"] == "true"
	if all, _ := strconv.Atoi(message.Data["domains"]); all > len(data.Items) {
		data.Others, data.Unlisted = all-1, all-len(data.Items)
	}
	data.Kept, data.AllKept = lines(message.Data["kept"]), message.Data["all_kept"] == "true"
	data.KeptDomains, _ = strconv.Atoi(message.Data["kept_domains"])
	data.UnlistedKept = max(data.KeptDomains-len(data.Kept), 0)
	data.Over = message.Data["over"] == "true"
	data.Lasts = message.Data["lasts"] == "true"
	data.renewalData = lang.renewalData(message.Data, portal)
	data.PriceRise = message.Kind == registrar.MailRenewalPriceRise
	if undatedLists[message.Kind] && data.More > 0 && len(data.Renewals) > 0 {
		data.Domain = data.Renewals[0].Name
		if message.Kind == registrar.MailRenewalOn { // the subject has the day of the first charge
			data.Domain = cmp.Or(data.First, data.Domain)
		}
	}
	data.transferData = lang.transferData(message.Data, data.Page)
	base := strings.TrimSuffix(portal, "/portal")
	data.Contact, data.Withdrawal, data.SignIn = base+lang.contact, base+lang.withdrawal, portal
	data.NoPassword = message.NoPassword
	next := message.Data[registrar.MailNext]
	if data.Buyer = message.Data["basket"] == "true" && next == ""; data.Buyer {
		next = lang.basket
	}
	if next != "" && message.Kind == registrar.MailAlreadyRegistered {
		data.SignIn = portal + "/sign-in?next=" + url.QueryEscape(next)
	}
	if message.Kind == registrar.MailItemFailed {
		data.Items, data.Refund = lang.failedData(message.Data)
		data.Others = len(data.Items) - 1
	}
	if message.Kind == registrar.MailInquiryReceived {
		data.Topic, data.About = lang.topics[message.Data["topic"]], quotedLines(quoteForeign(message.Data["about"], maxValueLength))
		data.Name = quotedLines(data.Name)
		data.Message, data.Case = quotedMessage(message.Data["message"]), base+"/operator/inquiries/"+url.PathEscape(data.Number)
	}
	if message.Kind == registrar.MailDisputeReceived {
		data.Case, data.Deadline = base+"/operator/disputes/"+url.PathEscape(data.Number), lang.formatDate(message.Data["evidence_due"])
	}
	if message.Data["declared"] != "" {
		data.Name, data.Case = quotedLines(data.Name), base+"/operator/notices/"+url.PathEscape(data.Number)
	}
	quote := sanitizeValue
	if message.Kind == registrar.MailClaim || message.Kind == registrar.MailConfirm || data.Unclaimed {
		// An agent or anyone on the site chose both the names and the recipient.
		quote = func(name string) string { return quoteForeign(name, maxValueLength) }
	}
	if !message.LinkExpiresAt.IsZero() {
		data.Until = lang.moment(message.LinkExpiresAt)
	}
	var head, text strings.Builder
	if err := mail.subject.Execute(&head, data.withNames(func(name string) string { return quote(unicodeName(name)) })); err != nil {
		return "", "", err
	}
	if err := mail.body.Execute(&text, data.withNames(func(name string) string {
		if written := unicodeName(name); written != name { // letters can look alike
			return quote(written) + " (" + quote(name) + ")"
		}
		return quote(name)
	})); err != nil {
		return "", "", err
	}
	return sanitizeLine(head.String(), maxSubjectLength), reflow(text.String()), nil
}

// withNames returns the data with all domain names as show writes them.
func (d templateData) withNames(show func(name string) string) templateData {
	d.Domain, d.Items, d.Parts, d.Renewals = show(d.Domain), slices.Clone(d.Items), slices.Clone(d.Parts), slices.Clone(d.Renewals)
	for i := range d.Items {
		d.Items[i].Name = show(d.Items[i].Name)
	}
	for i := range d.Parts {
		d.Parts[i].Name = show(d.Parts[i].Name)
	}
	for i := range d.Renewals {
		d.Renewals[i].Name = show(d.Renewals[i].Name)
	}
	return d
}

// unicodeName returns a domain name in Unicode.
func unicodeName(name string) string {
	if written, err := idna.Punycode.ToUnicode(name); err == nil {
		return written
	}
	return name
}

// compareNames orders the domains of a list as they are read.
func compareNames(a, b string) int { return strings.Compare(unicodeName(a), unicodeName(b)) }

// maxNameserverLine is longer than a host name with its addresses.
const maxNameserverLine = 400

// lines are the lines of a value.
func lines(value string) (list []string) {
	for line := range strings.Lines(value) {
		if line = sanitizeLine(line, maxNameserverLine); line != "" && len(list) < maxItems {
			list = append(list, line)
		}
	}
	return list
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
