package registry

import (
	"strings"
	"time"
)

// whoisStyle is the response format of a WHOIS host. The texts are templates:
// {domain} etc. are replaced; a line with {ns} or {status} is repeated for each
// nameserver or status and omitted if there is none; the line {contacts} becomes
// one block for each contact with a role.
type whoisStyle struct {
	// prefixes may precede the name in a query.
	prefixes []string
	// dates is the layout of all dates.
	dates string

	taken     string
	free      string
	reserved  string
	throttled string

	// contact is the block for one contact; roles name the registrant, the
	// administrative and the technical one.
	contact string
	roles   []string
}

// Messages that are the same on all hosts.
const (
	notProvided   = "Information about this name is not provided by this service.\n"
	notUnderstood = "% The question was not understood. Ask for one domain name.\n"
	premiumRemark = "\nRemarks: premium name, sold at a premium price\n"
)

// latin1Hosts use ISO-8859-1.
var latin1Hosts = [...]string{"whois.nic.at", "whois.nic.hu"}

// whoisStyleOf returns the style of a host.
func whoisStyleOf(host string) whoisStyle {
	if style, special := whoisStyles[host]; special {
		return style
	}
	return icannStyle
}

// render fills a template with a record. The record of a free name has only a name.
func (s whoisStyle) render(template string, rec record, now time.Time) string {
	fill := strings.NewReplacer(
		"{domain}", rec.name,
		"{DOMAIN}", strings.ToUpper(rec.name),
		"{handle}", rec.handle,
		"{created}", rec.created.Format(s.dates),
		"{changed}", rec.changed.Format(s.dates),
		"{expires}", rec.expires.Format(s.dates),
		"{dnssec}", signedWord(rec.signed && len(rec.keys) > 0),
		"{now}", now.UTC().Format(time.RFC3339),
		"{registrar}", rec.registrar.name,
		"{registrar-id}", rec.registrar.id,
		"{registrar-url}", rec.registrar.url,
		"{registrar-abuse}", rec.registrar.abuse,
	)
	var text strings.Builder
	for line := range strings.Lines(template) {
		switch {
		case strings.Contains(line, "{ns}"):
			for _, host := range rec.nameservers {
				text.WriteString(strings.ReplaceAll(line, "{ns}", host))
			}
		case strings.Contains(line, "{status}"):
			for _, status := range rec.statuses {
				text.WriteString(strings.ReplaceAll(line, "{status}", status.epp))
			}
		case strings.HasPrefix(line, "{contacts}"):
			text.WriteString(s.renderContacts())
		default:
			text.WriteString(fill.Replace(line))
		}
	}
	return text.String()
}

func (s whoisStyle) renderContacts() string {
	var text strings.Builder
	for i, role := range s.roles {
		person := contacts[i%len(contacts)]
		text.WriteString(strings.NewReplacer(
			"{role}", role,
			"{handle}", person.handle,
			"{person}", person.person,
			"{company}", person.company,
			"{street}", person.street,
			"{postal}", person.postal,
			"{city}", person.city,
			"{phone}", person.phone,
			"{email}", person.email,
		).Replace(s.contact))
	}
	return text.String()
}

// signedWord is the DNSSEC status in a record. Unchanged names have no keys.
func signedWord(signed bool) string {
	if signed {
		return "signedDelegation"
	}
	return "unsigned"
}
