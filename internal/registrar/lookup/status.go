package lookup

import (
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// Record guarantees that no personal name passes through it. A status is the field closest
// to a server's free text, so it is limited to a closed list: a missing entry costs one
// line of a record, an open list could cost a person's privacy.

// eppStatuses are the statuses of RFC 5731, 2.3 and RFC 3915, 3.1.
const eppStatuses = `ok inactive addPeriod autoRenewPeriod renewPeriod transferPeriod redemptionPeriod
	pendingCreate pendingDelete pendingRenew pendingRestore pendingTransfer pendingUpdate
	clientDeleteProhibited clientHold clientRenewProhibited clientTransferProhibited clientUpdateProhibited
	serverDeleteProhibited serverHold serverRenewProhibited serverTransferProhibited serverUpdateProhibited`

// registryStatuses are the registries' own, and those that only RFC 9083, 10.2.2 has.
const registryStatuses = `active|activated|activ|activé|actif|activo|ativo|aktiv|aktywna|aktif|attivo|
	registered|registered until expiry date|registered until renewal date|registered until cancelled|registrado|registrada|registriert|
	connect|connected|disconnected|free|available|granted|transit|failed|invalid|published|linked|associated|assigned|allocated|
	paid|unpaid|paid and in zone|in zone|not in zone|out of zone|delegated|not delegated|undelegated|
	verified|unverified|not verified|validated|not validated|200 active|
	reserved|blocked|domain blocked|prohibited|withheld|forbidden|restricted|unassignable|
	hold|on hold|registry hold|registrar hold|frozen|suspended|to be suspended|disabled|deactivated|inactivo|
	lock|locked|unlocked|registrar lock|registry lock|transfer locked|client updt lock|client xfer lock|
	delete prohibited|renew prohibited|transfer prohibited|update prohibited|deletion forbidden|transfer forbidden|update forbidden|
	registrant change forbidden|sponsoring registrar change forbidden|
	pending|pending registration|pending activation|pending verification|expired|expiring|expire|grace|grace period|renew grace period|
	redemption|in redemption|redemption grace period|quarantine|quarantined|in quarantine|deleted|to be deleted|deleting|pending purge|purged|cancelled|canceled|
	dispute|in dispute|under dispute|disputed|in use|taken|occupied|unavailable|private|proxy|removed|obscured|administrative|
	signed|unsigned|signed delegation|unsigned delegation`

// knownStatuses maps the letters and digits of a status to its spelling.
var knownStatuses = func() map[string]string {
	table := make(map[string]string)
	for own := range strings.SplitSeq(registryStatuses, "|") {
		if own = strings.TrimSpace(own); own != "" {
			table[separatorStripper.Replace(own)] = own
		}
	}
	for word := range strings.FieldsSeq(eppStatuses) {
		table[strings.ToLower(word)] = word
	}
	return table
}()

var separatorStripper = strings.NewReplacer(" ", "", "-", "", "_", "")

// ParseStatus returns a known status in the spelling of Record.
func ParseStatus(text string) (word string, ok bool) {
	const longest = 60
	text = strings.ToLower(strings.TrimSpace(text))
	if len(text) > longest {
		return "", false
	}
	word, ok = knownStatuses[separatorStripper.Replace(text)]
	return word, ok
}

// SameName compares a name in A-labels or U-labels with the queried one in A-labels.
func SameName(spelled, name string) bool {
	spelled = strings.TrimSuffix(strings.ToLower(spelled), ".")
	if spelled == name || !strings.Contains(name, "xn--") {
		return spelled == name
	}
	ascii, err := idna.Punycode.ToASCII(spelled)
	return err == nil && ascii == name
}

// phonePattern matches a phone number after a company name: a number after a word for a
// telephone, or one in the usual shapes.
var phonePattern = LazyPattern(`(?i)(?:\s+[-–(]*\s*|\s*[,;:(/|]+\s*)+(?:` +
	`(?:tel|tél|tlf|telephone|téléphone|telefon|telefone|teléfono|telefono|phone|ph|fon|fax|mobile|mobil|mob|cell|hotline|call)\b[.: ]*(?:no\.? ?|number ?|nr\.? ?)?[+(]*\d` +
	`|\+[ (]*\d[\d ()./-]{4,}\d` +
	`|\(?0\d[\d ()./-]{4,}\d` +
	`|\(?\d{3}[) .-]{1,2}\d{3}[ .-]\d{4}` +
	`).*$`)

// CleanRegistrar returns a company name as one line without invisible characters, a phone
// number at its end, and more than MaxRegistrarRunes.
func CleanRegistrar(name string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, name)
	name = strings.Join(strings.Fields(name), " ")
	if at := phonePattern().FindStringIndex(name); at != nil {
		name = name[:at[0]]
	}
	if runes := []rune(name); len(runes) > MaxRegistrarRunes {
		name = strings.TrimSpace(string(runes[:MaxRegistrarRunes]))
	}
	return name
}
