package whois

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

// The phrases by which servers report that they have no record. They are closed:
// every word of a line must have its place in one of them. A sentence that
// continues with unknown words ("… in the local cache", "… because you are not
// authorised") usually means something else, and this package must never call a
// taken name free. A missing phrase only costs a query to the next source.
//
// Lines are normalised: "@" is the queried name; quotes and brackets are removed.

// freePhrases say that there is no record, or that the name is available.
var freePhrases = compileFree()

// compileFree builds the phrases from shared parts, one line per family of servers.
func compileFree() func() *regexp.Regexp {
	const (
		// article and which may precede a noun.
		article = `(?:(?:the|this|that|your|our|above|a|an|any|el|la|los|le|les|l|o|os|der|die|das|den|il|su|votre|ta) )`
		which   = `(?:(?:requested|queried|specified|given|searched|selected|entered|consulted) )`
		// nameNoun is the queried object, noun any object of a server.
		nameNoun = `(?:domain name|domain|name|nombre de dominio|dominio|dom[ií]nio|nome de dom[ií]nio|nom de domaine|domaine|domainname|domena|domene|domeen|domän|dom[eé]na|domeinnaam|domein|домен|домена|доменное имя)`
		noun     = `(?:` + nameNoun + `|domain names|domains|names|domain objects?|domain records?|domain info(?:rmation)?|objects?|records?|data|entry|entries|information|info|registros?|objetos?|objet|enregistrement|запись|объект|данные)`

		apology = `(?:sorry,? (?:but )?)?`
		wanted  = `(?:(?:that |which )?you (?:have |had )?(?:requested|queried|specified|entered|searched(?: for)?) )?`
		// subject opens a sentence in which the verb alone suffices; named is
		// required where it does not, because "is available" is said of other
		// things than names: "the domain @", "@", "sorry, but domain: @,".
		subject = apology + `(?:` + article + `?` + which + `?` + noun + `[ :]*)?` + wanted + `(?:@ ?)?[,: -]*`
		named   = apology + `(?:` + article + `?` + which + `?` + nameNoun + `[ :]*` + wanted + `(?:@ ?)?|@ ?)[,: -]*`

		// asked is the query in the server's words, aboutName the name in them.
		aboutName = `(?:` + article + `?` + which + `?` + nameNoun + `(?: (?:consulted|requested|queried|specified|given|entered))?(?:[ :]+@)?|@)`
		asked     = `(?:` + aboutName + `|` + article + `?` + which + `?(?:(?:request|search|query) (?:criteria|criterion|string|terms?|keys?)|query|request|search|lookup|objects?|keywords?|key|string|criteria|consulta|solicitud|recherche|requ[eê]te|anfrage|suche)(?:[ :]+@)?)`
		// aboutTail and nameTail end a sentence with them.
		about     = `(?:for|on|about|of|matching|to match|that match(?:es|ed)?|which match(?:es|ed)?|with(?: the)? name|named|called|corresponding to|regarding|concerning|related to|para|sobre|pour|für|zu|по|для)`
		aboutTail = `(?:(?:[ :,-]+` + about + ` | ?[:-]+ ?)` + asked + `| @)`
		nameTail  = `(?:[ :,-]+` + about + ` ` + aboutName + `)`

		// kept are words for the place of the records, and registry is the
		// registry's name or TLD before them: "in the afnic database". The zone is
		// excluded, since a registered name need not be delegated.
		registry = `(?:\.[^ @]+|[a-z-]{2,3}|[^ @]*nic[^ @]*|nask|sidn|cira|auda|jprs|iedr|eurid|norid|nominet|carnet|rnids|rotld|isoc-il|registro|verisign|afilias|donuts|neustar|knet|zdns)`
		keptWord = `(?:whois|domain|domains|name|dot|registry|register|national|central|public|official|main|internet|tld|cctld|top level|of the|of) `
		kept     = article + `?(?:` + keptWord + `)*(?:` + registry + ` )?(?:` + keptWord + `)*` +
			`(?:data ?bases?|registry|registries|register|records?|db|whois|directory|repository|base de datos|base de dados|base de donn[ée]es|datenbank|registro|registre|базе данных|реестре)`
		keptTail = `[ :,-]+(?:(?:in|from|at|on|within|of|en|em|dans|im|v|w|na|nel|в) ` + kept + `|in (?:our|the|this) system` +
			`|(?:in|for|from) (?:the )?(?:selected |specified |requested )?sources?(?: s)?` +
			`|(?:to|with|at|in|en|no|na) (?:the )?(?:[^ @]*nic|nic[ .-][^ @]+))`

		// tail is what may follow: "for @ in our database". found is a participle
		// at its end, as in "no records matching @ found".
		found = `(?: (?:found|exists?|matched|located|registered|recorded))`
		tail  = `(?:` + aboutTail + `)?(?:` + keptTail + `(?:` + aboutTail + `)?)?` + found + `?(?: yet)?`

		// buy is how to register a free name, and visit where.
		buy   = `(?: (?:for|to) (?:public |new |immediate )?(?:registration|register|be registered|purchase|buy|order)(?: now)?)?`
		visit = `(?:[ ,.;:!-]+(?:please )?(?:visit|see|go to|register (?:it )?(?:now|here|at|online)))?`

		// there opens a negative sentence, was precedes its participle.
		there = apology + `(?:@[ :,-]+)?(?:(?:there (?:is|are|was|were)|we (?:have|found|could find)|` + article + `(?:query|search|request) (?:returned|found|produced)|found|returned) )?`
		was   = `(?: (?:was|were|is|are|has been|have been))?`
	)

	// Predicates of a name or an object. The tail may follow.
	verbs := []string{
		// "not found", "domain @ not found", "the domain you requested is not registered"
		`(?:(?:was|is|are|were|has|have|had|could|can) )?(?:currently |yet )?(?:not|no|cannot) (?:yet |currently )?(?:been |be )?(?:found|registered|existing|exists?|taken|located|matched)`,
		`(?:does not|doesnt|do not|dont|did not) exists?`,
		// The same in the languages of the registries.
		`no (?:existe|se encuentra registrad[oa]|est[aá] registrad[oa]|registrad[oa]|encontrad[oa]|se encuentra|se encontr[oó]|fue encontrad[oa])`,
		`(?:est )?(?:non trouv[ée]|inconnu|introuvable|inexistant|non enregistr[ée]|n.?existe pas|n.?est pas enregistr[ée])`,
		`(?:n[aã]o (?:foi |est[aá] |é )?(?:encontrad[oa]|registrad[oa]|registad[oa])|n[aã]o existe|inexistente)`,
		`(?:ist |wurde )?(?:nicht (?:gefunden|registriert|vergeben)|frei)`,
		`non trovato|non esiste|non registrato|niet gevonden|niet geregistreerd|ei löytynyt|ei ole registreeritud|hittades inte|ikke registrert|ikke fundet|ikke funnet`,
		`nebyla? nalezena?|nenalezen[aoý]?|neexistuje|nie znaleziono|nie istnieje|nie jest zarejestrowana|ne postoji|nije registrovan|nije registriran`,
		`bulunamadı|kayıtlı değil|nav reģistrēts|nerastas|neregistruotas|nu exist[aă]`,
		`не (?:найден[аоы]?|зарегистрирован[ао]?|существует|знайдено|зареєстрован[оаий]+|існує|е регистриран|съществува)`,
	}
	// Negated nouns. The tail may follow.
	nothing := []string{
		// "no match", "no entries found", "no such domain", "no data found"
		`(?:such |matching |matched )?(?:match(?:es)?|entry|entries|records?|objects?|domain records?|found)` + was + found + `?`,
		`(?:such|matching|matched) ` + noun + was + found + `?`,
		`(?:(?:whois )?(?:data|information|info)|results?|domains?|domain names?)` + was + `(?:` + found + `|` + nameTail + `)`,
		`results for ` + article + `(?:query|search)`,
		// These must refer to the name, since data may be withheld.
		`(?:data|information|info|records?|entry|entries|results?)` + was + ` (?:available|returned)` + nameTail,
	}
	others := []string{
		article + `?(?:query|search|request)(?: @)? (?:does not|doesnt|did not|didnt) match any(?:thing| ` + noun + `)`,
		`(?:we|i) (?:do not|dont|did not|could not|couldnt) (?:have|find|locate) (?:an?|any|the) (?:such |matching )?` + noun,
		`(?:nothing|none)(?: was| were)? (?:found|matched)`,
		`no se (?:encontr[oó]|encontraron|ha encontrado|encuentra) (?:(?:el|la|los|las|ning[uú]n|ninguna|un) )?(?:objetos?|dominios?|registros?|resultados?|datos|informaci[oó]n|coincidencias?|nombre de dominio)`,
		`(?:aucun|aucune) (?:objet|enregistrement|r[ée]sultat|domaine|nom de domaine|donn[ée]e|entr[ée]e)s?(?: n.?a [ée]t[ée])?(?: (?:trouv[ée]e?s?|correspondante?s?|existant))?`,
		`nenhum (?:registro|registo|resultado|objeto|dom[ií]nio)(?: foi)? encontrado`,
		`(?:kein|keine) (?:eintr(?:a|ä|ae)ge?|treffer|objekte?|domains?|daten)(?: gefunden| vorhanden)?`,
		`nie znaleziono (?:domeny|obiektu|danych|rekordu)`,
		`(?:по (?:вашему )?запросу )?(?:ничего|записей|данных|объектов|записів|даних) не (?:найдено|знайдено)`,
	}
	// Complete sentences.
	alone := []string{
		`(?:no match(?:es)?(?: found)?|no entries found) for`,
		subject + `(?:is )?not (?:a )?registered (?:\.[^ @]+ )?domain(?: name)?`,
		article + `?(?:query|search|request) (?:returned|found|produced) (?:0|zero|no) (?:objects?|records?|results?|matches|entries)`,
		`(?:0|zero) (?:objects?|records?|results?|matches|entries) (?:were )?found`,
		// "unknown" alone may refer to the TLD.
		`(?:invalid query or )?(?:the )?domain(?: name)? ` + wanted + `(?:@ )?(?:is )?(?:not known|unknown)(?:` + keptTail + `)?`,
		// "@ is free", "this domain is available for registration"
		named + `(?:(?:is |are )?(?:currently |still |yet )?(?:free|available|unregistered)` + buy + visit +
			`|(?:est[aá] |is |est |è )?(?:disponible|dispon[ií]vel|disponibile|libre|livre|libero|свободен|свободно|vrij|volná?|wolna|vaba|laus|ledigt?))`,
		`this (?:domain|domain name) is not available in (?:our|the) (?:whois )?database`,
		`previous registration \S+ was purged on \S+(?: domain not found)?|common; no match`,
		`nincs tal[aá]lat`,
	}
	// The tail is the larger part, so it is compiled once.
	return phrases(
		`(?:`+subject+`(?:`+strings.Join(verbs, "|")+`)|`+there+`no (?:`+strings.Join(nothing, "|")+`)|`+strings.Join(others, "|")+`)`+tail,
		strings.Join(alone, "|"),
	)
}

// freeBare do not count in a comment, where they may end a wrapped sentence.
var freeBare = phrases(`(?:free|available|unregistered)(?: for (?:registration|purchase))?`)

// freeEndings are used in scripts without spaces. The verb ends the sentence there,
// so they also count at the end of a line that contains a noun of nounsInside.
var (
	freeEndings = []string{
		"등록되어 있지 않습니다", "등록되지 않은 도메인입니다", "등록되지 않은 도메인이름입니다", "登録されていません", "該当するデータがありません", "見つかりません",
		"未找到", "未注册", "没有找到", "沒有找到", "未註冊", "尚未註冊", "不存在", "未找到域名", "没有找到域名", "没有找到记录", "查無資料", "查無此網域名稱", "查無此網域",
	}
	nounsInside = []string{"@", "도메인", "域名", "網域", "网域", "ドメイン", "データ", "记录", "記錄", "数据", "資料"}
)

// freeStems are short strings; every free phrase contains one. Most lines have none
// and skip the expensive match.
var freeStems = []string{
	"no", "free", "availab", "unreg", "nicht", "frei", "kein", "aucun", "inconnu", "introuv", "inexist",
	"existe pas", "não", "nenhum", "niet", "nie", "ne", "ei ", "inte", "ikke", "bulunamad", "değil", "не", "unknown", "doesn", "dont", "cannot", "didn",
	" 0 ", "0 ", "zero", "nincs", "purged", "nav ", "nu exist", "dispon", "libre", "livre", "libero", "свобод", "vrij", "voln", "woln", "vaba", "laus", "ledig", "i could", "we could",
}

// freeValues are the equivalent values of a status field.
var freeValues = phrases(
	`free|available|not registered|unregistered|no object found|object not found|domain not found|not found|no match|unassigned|inexistent`,
	`220 available`,
	`(?:domain(?: name)? )?(?:is )?(?:free|available|not registered)(?: (?:for|to) (?:registration|register|be registered|purchase|order))?`,
)

func phrases(alternatives ...string) func() *regexp.Regexp {
	return lookup.LazyPattern(`^(?:` + strings.Join(alternatives, "|") + `)$`)
}

// isFreeText reports whether a sentence says "free", and of no other name.
func isFreeText(text, name string, comment bool) bool {
	if text == "" || len(text) > maxPhraseBytes || strings.Contains(text, "@other") {
		return false
	}
	label, _, _ := strings.Cut(name, ".")
	if label != "" && text == label+"not found" {
		return true
	}
	end := strings.TrimRight(text, "。！!. ")
	if endsInAny(end, freeEndings) {
		return hasAny(text, nounsInside) && !hasAny(text, nonFreeSubstrings)
	}
	if text == label || !hasAny(text, freeStems) {
		return false // the label alone is an echo, whatever word it is
	}
	text = exemptPhrases.Replace(text)
	// Some servers use only the label: "no match for LABEL".
	sentence := text
	if before, ok := strings.CutSuffix(sentence, " for "+label); ok && label != "" {
		sentence = before + " for @"
	}
	if !isFreeSentence(sentence) && (comment || !freeBare().MatchString(sentence)) {
		return false
	}
	// If the label is one of the words ("no match for server"), the doubt remains.
	return !nonFreeWords.matches(text)
}

// isFreeSentence reports whether text is one free phrase, or two with a separator:
// "data not found. this domain is available", "nincs találat / no match", "the
// queried object does not exist: @".
func isFreeSentence(text string) bool {
	if freePhrases().MatchString(text) {
		return true
	}
	const marks, tries = ".,;:/!|-", 4
	for at, n := 0, 0; n < tries; n++ {
		next := strings.IndexAny(text[at:], marks)
		if next < 0 {
			return false
		}
		at += next + 1
		first := strings.TrimRight(text[:at], " "+marks)
		second := strings.TrimLeft(text[at:], " "+marks)
		if freePhrases().MatchString(first) && (second == "@" || freePhrases().MatchString(second)) {
			return true
		}
	}
	return false
}

// minWrappedLine is the minimum length of a line that was wrapped.
const minWrappedLine = 40

// isFreeAt reports whether line i, given its normalised text, says "free". A part
// of a longer sentence means what the sentence means.
func (a answer) isFreeAt(i int, text, name string) bool {
	l := &a.lines[i]
	// A single word in a domain field is a name, even if it is "free".
	if l.cat == catDomain && l.key != "" && !strings.Contains(l.value, " ") || !isFreeText(text, name, l.comment) {
		return false
	}
	if i > 0 && !l.afterBlank && continuesIn(&a.lines[i-1], l) && (l.comment || len(a.lines[i-1].body) >= minWrappedLine) {
		return false
	}
	if i+1 == len(a.lines) || a.lines[i+1].afterBlank {
		return true
	}
	if !continuesIn(l, &a.lines[i+1]) {
		return !strings.HasSuffix(text, " for") // the object follows
	}
	whole := l.body + " " + a.lines[i+1].body
	return len(whole) <= 2*maxPhraseBytes && isFreeText(normalise(whole, name), name, l.comment)
}

// continuesIn reports whether a sentence continues in the next line: it has no end
// in l, and the next line begins in lower case.
func continuesIn(l, next *line) bool {
	if l.comment != next.comment || strings.ContainsAny(l.body[len(l.body)-1:], ".!?:;") || webAddress(next.body) == 0 {
		return false
	}
	if _, _, field := cutKey(next.body); field {
		return false
	}
	first, _ := utf8.DecodeRuneInString(next.body)
	return unicode.IsLower(first)
}
