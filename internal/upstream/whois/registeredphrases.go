package whois

import (
	"regexp"
	"strings"
)

// What stands beside a free line and takes its weight away. A server that says
// two things at once is not asked which one it meant: the name is undecided.

// registeredPhrases say that somebody has the name. They are held against each
// sentence of a line, and against nothing that is a free phrase.
var registeredPhrases = compileRegistered()

func compileRegistered() *regexp.Regexp {
	const (
		article = `(?:(?:the|this|that|your|our|requested|queried|specified|given|searched|selected|el|la|le|o|der|die|il|de|het) )*`
		noun    = `(?:domain name|domain|name|label|object|record|string|domainname|nombre de dominio|dominio|dom[ií]nio|nom de domaine|domaine|domeinnaam|domein|domena|dom[eé]na|домен|доменное имя)`
		wanted  = `(?:(?:that |which )?you (?:have |had )?(?:requested|queried|specified|entered|searched(?: for)?) )?`
		subject = `(?:sorry,? )?(?:but )?(?:` + article + noun + ` *(?:@ ?)?|@ ?)` + wanted
		adverb  = `(?:(?:already|currently|now|still|presently|been|at present) )*`
		// state is what is said of a name that is not free.
		state = `(?:registered|taken|delegated|allocated|assigned|occupied|owned|held|used|in use|active|activated|connected|unavailable|not (?:currently |longer )?available|no longer available|not free|sold|parked|booked)`
	)
	return regexp.MustCompile(`^(?:` + strings.Join([]string{
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

// registeredStems are short strings of which every held phrase has one.
var registeredStems = []string{
	"registered", "taken", "delega", "alloc", "assign", "occup", "owned", "held", "use", "activ", "connect", "availab", "free", "sold", "park", "book", "exist",
	"vergeben", "registriert", "belegt", "verfüg", "delegiert", "registrad", "ocupad", "dispon", "enregistr", "pris", "registrato", "geregistreerd", "bezet", "zaj", "obsaz", "zarej", "registrov", "занят", "зарег", "свобод", "доступ", "делег",
}

// isRegisteredLine says that a sentence of a line says that somebody has the name.
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
	at := registeredPhrases.FindStringIndex(text)
	return at != nil && !conditionalPattern.MatchString(text[:at[1]]) && !freePhrases.MatchString(text)
}

// lifecycle are the words for a name between two holders, or in a quarrel. Such
// a name may have no record, and it is not free.
var lifecycle = regexp.MustCompile(`\b(?:pending|redemption|deletion|disputed?|locked|quarantined?|suspended|expired|frozen|grace period|to be deleted|` +
	`(?:on|client|server|registry|registrar) ?-?hold|being deleted|auction(?:ed)?|court order)\b|^hold$|\bstatus ?: ?hold$`)

// lifecycleStems are short strings of which every such line has one.
var lifecycleStems = []string{"pending", "redemption", "delet", "disput", "lock", "quarantin", "suspend", "expired", "frozen", "grace", "hold", "auction", "court"}

// maxShortLine is longer than what a server says of one name and shorter than
// most lines of terms.
const maxShortLine = 70

// isLifecycleAt says that line i, whose normalised text is given, has such a word. A
// comment must be short, since terms stand in comments; and the end of a wrapped
// sentence means what the sentence means.
func (a answer) isLifecycleAt(i int, text string) bool {
	l := &a.lines[i]
	if len(text) > 2*maxPhraseBytes || l.comment && len(text) > maxShortLine {
		return false
	}
	if !hasAny(text, lifecycleStems) || !lifecycle.MatchString(text) || conditionalPattern.MatchString(text) {
		return false
	}
	if i == 0 || l.afterBlank || strings.Contains(text, "@") || !continuesIn(&a.lines[i-1], l) {
		return true
	}
	before := a.lines[i-1].body
	return len(before) < minWrappedLine || !conditionalPattern.MatchString(strings.ToLower(before))
}

// badQueryPattern marks a line that says that the server did not understand the
// question, is not the one to ask, or did not give the whole answer.
var badQueryPattern = regexp.MustCompile(strings.Join([]string{
	`\bunknown (?:tld|cctld|gtld|top[ -]level|extension|suffix|zone|registry|command|query|option|flag|request|object type|domain (?:extension|suffix|zone|type))`,
	`\b(?:tld|cctld|gtld|top[ -]level domain|extension|suffix|zone|query|request|question|command|option|syntax|object type)\b.{0,40}\b(?:unknown|invalid|not (?:known|supported|served|handled|valid|recogni[sz]ed|allowed|implemented|managed|hosted))\b`,
	`\b(?:is|are|was) not (?:supported|served|handled|understood|recogni[sz]ed|implemented)\b|\bunsupported\b|^not (?:supported|implemented|understood)\b`,
	`\b(?:syntax|parse|parsing|format|protocol|input) error\b|\berror in (?:the )?(?:query|request|syntax|input)\b|\bnot understood\b`,
	`\b(?:can ?not|could not|unable to|failed to) (?:be )?(?:parsed?|understand|understood|interpret(?:ed)?|recogni[sz]ed?)\b`,
	`^(?:invalid|malformed|bad|illegal|wrong|incorrect) (?:query|request|input|syntax|domain|domain name|name|tld|option|parameters?|format|command|argument|server|registry)\b`,
	`\b(?:data|answer|results?|response|records?|list|output|information) (?:is|are|was|were|may be) (?:incomplete|partial|truncated|not complete)\b`,
	`\b(?:partial|incomplete|truncated) (?:data|answer|results?|response|records?|output|list)\b|^(?:incomplete|partial|truncated)$`,
	`\bnot (?:the )?(?:authoritative|responsible)\b|\bwrong (?:server|registry)\b`,
	`^(?:(?:error|http|status|err|result|response)[ :.-]*(?:code[ :]*)?)?(?:40[034]|429|5\d\d)(?:$|[ :.-])`,
}, "|"))

// badQueryStems are short strings of which every such line has one.
var badQueryStems = []string{"unknown", "invalid", "not ", "unsupport", "error", "unable", "fail", "malform", "bad ", "illegal", "wrong", "incorrect", "incomplete", "partial", "truncat", "40", "429", "50", "51", "52"}

// isBadQueryLine says that a line is one of those, and not a rule about them.
func isBadQueryLine(text string) bool {
	if len(text) > 2*maxPhraseBytes || !hasAny(text, badQueryStems) {
		return false
	}
	at := badQueryPattern.FindStringIndex(text)
	return at != nil && !conditionalPattern.MatchString(text[:at[1]])
}

// isServerLine says that a line is nothing but hosts and addresses, and not of
// the name itself: somebody's nameservers, under whatever heading.
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

// isOtherProtocol says that what answers on the port is no WHOIS server: a web
// server, a page, or a shell.
func isOtherProtocol(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	for _, opening := range [...]string{"http/", "<", "ssh-"} {
		if strings.HasPrefix(text, opening) {
			return true
		}
	}
	return hasAny(text, []string{"<html", "<!doctype", "<head", "<body"})
}
