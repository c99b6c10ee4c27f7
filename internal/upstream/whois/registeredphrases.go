package whois

import (
	"regexp"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

// Lines that contradict a free phrase, so that the name is undecided.

// registeredPhrases say that the name is registered. They are matched against each
// sentence that is not a free phrase.
var registeredPhrases = compileRegistered()

func compileRegistered() func() *regexp.Regexp {
	const (
		article = `(?:(?:the|this|that|your|our|requested|queried|specified|given|searched|selected|el|la|le|o|der|die|il|de|het) )*`
		noun    = `(?:domain name|domain|name|label|object|record|string|domainname|nombre de dominio|dominio|dom[ií]nio|nom de domaine|domaine|domeinnaam|domein|domena|dom[eé]na|домен|доменное имя)`
		wanted  = `(?:(?:that |which )?you (?:have |had )?(?:requested|queried|specified|entered|searched(?: for)?) )?`
		subject = `(?:sorry,? )?(?:but )?(?:` + article + noun + ` *(?:@ ?)?|@ ?)` + wanted
		adverb  = `(?:(?:already|currently|now|still|presently|been|at present) )*`
		// state is a predicate of a name that is not free.
		state = `(?:registered|taken|delegated|allocated|assigned|occupied|owned|held|used|in use|active|activated|connected|unavailable|not (?:currently |longer )?available|no longer available|not free|sold|parked|booked)`
	)
	return lookup.LazyPattern(`^(?:` + strings.Join([]string{
		subject + `(?:is|are|was|were|has|have) ` + adverb + state,
		subject + `already ` + adverb + state,
		subject + `(?:already |currently |still )?exists?`,
		`(?:sorry,? )?(?:it is )?(?:already )?(?:registered|taken|delegated|in use|occupied|unavailable|not available)(?: domain(?: name)?)?$`,
		`(?:sorry,? )?(?:it )?already (?:exists?|registered|taken|in use)`,
		// The same in the languages of the registries.
		subject + `(?:(?:ist|wurde|leider|bereits|schon|derzeit) )*(?:(?:vergeben|registriert|belegt|delegiert)|nicht (?:mehr )?(?:verfügbar|frei))`,
		subject + `(?:(?:ya|se|est[aá]|j[aá]|foi|é|encuentra) )*(?:registrad[oa]|ocupad[oa]|delegad[oa]|en uso|em uso|ya existe|j[aá] existe|(?:no|n[aã]o) (?:est[aá] )?(?:disponible|dispon[ií]vel))`,
		subject + `(?:(?:est|n.?est|d[ée]j[aà]) )*(?:enregistr[ée]|pris|occup[ée]|utilis[ée]|indisponible|(?:pas|non) disponible)`,
		subject + `(?:(?:è|gi[aà]) )*(?:registrato|occupato|non (?:è )?disponibile)`,
		subject + `(?:(?:is|jest|je|już|již|reeds) )*(?:geregistreerd|bezet|zajęta|zajeta|obsazena|zarejestrowana|registrov[aá]na|niet (?:beschikbaar|vrij))`,
		subject + `(?:уже )?(?:занят[ао]?|зарегистрирован[ао]?|делегирован[ао]?|не (?:свободен|доступен))`,
	}, "|") + `)(?:$|[^\pL\pN])`)
}

// registeredStems are short strings; every registered phrase contains one.
var registeredStems = []string{
	"registered", "taken", "delega", "alloc", "assign", "occup", "owned", "held", "use", "activ", "connect", "availab", "free", "sold", "park", "book", "exist",
	"vergeben", "registriert", "belegt", "verfüg", "delegiert", "registrad", "ocupad", "dispon", "enregistr", "pris", "registrato", "geregistreerd", "bezet", "zaj", "obsaz", "zarej", "registrov", "занят", "зарег", "свобод", "доступ", "делег",
}

// isRegisteredLine reports whether a sentence says that the name is registered.
func isRegisteredLine(text string) bool {
	if len(text) > 2*maxPhraseBytes || !hasAny(text, registeredStems) {
		return false
	}
	for sentence := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(".;:!?", r) }) {
		if isRegisteredSentence(strings.Trim(sentence, " ,-")) {
			return true
		}
	}
	// "domain: @ is registered" and "@: already registered" are cut in two.
	return isRegisteredSentence(strings.Join(strings.Fields(strings.ReplaceAll(text, ":", " ")), " "))
}

func isRegisteredSentence(text string) bool {
	at := registeredPhrases().FindStringIndex(text)
	return at != nil && !conditionalPattern().MatchString(text[:at[1]]) && !freePhrases().MatchString(text)
}

// lifecycle words describe a name between two registrations, or in a dispute. Such
// a name may have no record and still not be free.
var lifecycle = newPhraseSet(
	[]string{"pending", "redemption", "delet", "disput", "lock", "quarantin", "suspend", "expired", "frozen", "grace", "hold", "auction", "court"},
	`\b(?:pending|redemption|deletion|disputed?|locked|quarantined?|suspended|expired|frozen|grace period|to be deleted|`+
		`(?:on|client|server|registry|registrar) ?-?hold|being deleted|auction(?:ed)?|court order)\b|^hold$|\bstatus ?: ?hold$`,
)

// maxShortLine is longer than a message about one name, shorter than terms of use.
const maxShortLine = 70

// isLifecycleAt reports whether line i, given its normalised text, has such a word.
// A comment must be short, since terms of use are comments; and the end of a
// wrapped sentence means what the sentence means.
func (a answer) isLifecycleAt(i int, text string) bool {
	l := &a.lines[i]
	if len(text) > 2*maxPhraseBytes || l.comment && len(text) > maxShortLine {
		return false
	}
	if !lifecycle.match(text) || conditionalPattern().MatchString(text) {
		return false
	}
	if i == 0 || l.afterBlank || strings.Contains(text, "@") || !continuesIn(&a.lines[i-1], l) {
		return true
	}
	before := a.lines[i-1].body
	return len(before) < minWrappedLine || !conditionalPattern().MatchString(strings.ToLower(before))
}

// isServerLine reports whether a line consists of hosts and addresses other than
// the name itself: nameservers, under whatever heading.
func isServerLine(l *line, name string) bool {
	if l.comment || l.key != "" || webAddress(strings.ToLower(l.body)) == 0 {
		return false
	}
	hosts := 0
	for token := range strings.FieldsSeq(l.body) {
		token = strings.Trim(token, "[](),;")
		if token == "" || isAddress(token) {
			continue
		}
		host, ok := hostOf(token)
		if !ok {
			return false
		}
		if host != name {
			hosts++
		}
	}
	return hosts > 0
}

// takenValues are values of a status field that occur only in records.
var takenValues = phrases(
	`active.*|ok\b.*|registered.*|connect|failed|not available|unavailable|in use|taken|delegated.*|paid.*|200 active|occupied|assigned`,
	`(?:client|server)[ -]?\w.*|(?:add|auto ?renew|renew|transfer|redemption) ?period.*|pending.*|in ?active|inactive|hold|locked?|published|verified.*|quarantine|expired|suspended.*`,
)
