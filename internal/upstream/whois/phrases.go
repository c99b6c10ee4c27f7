package whois

import (
	"regexp"
	"strings"
)

// The tables. Every phrase is matched against a whole normalised line (see
// line.text), so that the same words inside a sentence of terms do not count.

const (
	// thing is what a server says it has not got.
	thing = `(?:(?:requested|queried|specified|given|searched) )?` +
		`(?:domain names?|domains?|domain objects?|objects?|records?|names?|data|entry|entries|information|dominio|domaine|nom de domaine|domena|domene|domeen|query)`
	// subject may open a sentence: "the domain @", "@", "sorry, but domain: @,".
	subject = `(?:sorry,? (?:but )?)?(?:(?:the|this|your|above|el|le|o) )?(?:` + thing + `[ :]*)?(?:you (?:have )?(?:requested|queried) )?(?:@ ?)?[,: ]*(?:@ ?)?`
	// tail may close it: "in the database", "for @". A name in it was checked.
	tail = `(?:[ :,.-]+(?:in|on|for|from|to|about|at|with|within|of|matching|that|using|by|en|dans|na|w|no)\b.*|[ :-]+@.*)?`
)

// freePhrases say that there is no record, or that the name can be had. Each
// group is one family of servers.
var freePhrases = phrases(
	// "not found", "domain @ not found", "the queried object does not exist: …"
	subject+`(?:(?:was|is|are|has|have|could) )?(?:currently )?(?:not|no) (?:been |be )?(?:found|registered|known|existing|exist|exists|taken|in use|allocated|delegated)`+tail,
	subject+`(?:does not|doesnt|do not|did not) (?:exist|match any.*)(?: ?: .*)?`+tail,
	`not found(?: ?: ?| )(?:@|domain.*|object.*)?`,
	`not (?:a )?registered.*`,
	`(?:invalid query or )?domain(?: name)? (?:is )?(?:not known|unknown)`+tail,
	// "no match", "no entries found", "no data was found to match …"
	`(?:(?:there (?:is|are|was|were)|we (?:have|found)|your query returned) )?no (?:such |matching |matched )?`+
		`(?:match(?:es|ing)?|entry|entries|data|records?|objects?|information|info|results?|domains?|domain names?|domain records?|found)`+
		`(?: (?:was|were|is|are|has been|have been))?(?: (?:found|available|exists?|matched|located|returned))?`+tail,
	`@ no match`,
	`we do not have an entry`+tail,
	`(?:nothing|none) (?:was )?found`+tail,
	// "@ is free", "this domain is available for registration"
	subject+`is (?:currently |still )?(?:free|available|unregistered)(?: (?:for|to) (?:registration|purchase|register|be registered|buy|order).*)?`,
	`(?:data not found )?(?:this|the) domain(?: name)? is (?:free|available)(?: for (?:registration|purchase))?`,
	`data not found.*`,
	`(?:free|available|unregistered|unallocated)`,
	`(?:this|the) (?:domain|domain name|name) has not been registered`,
	`(?:this|your) query returned 0 objects`,
	subject+`is not available in (?:our|the) (?:whois )?database`,
	// The same in the languages of the registries.
	subject+`no (?:existe|se encuentra registrado|esta registrado|está registrado)`+tail,
	`no se encontr[oó] .*`,
	`nincs tal[aá]lat.*`,
	`(?:aucun|aucune) (?:objet|enregistrement|r[ée]sultat|domaine)(?: n.?a [ée]t[ée])?(?: trouv[ée]e?)?`+tail,
	subject+`(?:non trouv[ée]|inconnu|introuvable|inexistant)`+tail,
	subject+`(?:n[aã]o (?:foi )?encontrado|n[aã]o existe|inexistente)`+tail,
	subject+`(?:nicht (?:gefunden|registriert|vergeben)|ist frei|frei)`+tail,
	`(?:kein|keine) (?:eintr(?:a|ä)ge?|treffer|objekte?)(?: gefunden)?`+tail,
	subject+`(?:non trovato|non esiste|niet gevonden|nebyla? nalezena?|nenalezen[ao]?|nie znaleziono|ei löytynyt|hittades inte|bulunamadı)`+tail,
	`(?:(?:домен|запись|объект)[\p{L}]* ?(?:@ ?)?)?(?:не найден[аоы]?|не зарегистрирован[ао]?|не существует)`+tail,
	`ничего не найдено`+tail,
)

// freeInside are said in scripts that do without spaces and sentences of terms,
// so they count wherever they stand in a line.
var freeInside = []string{"등록되어 있지 않습니다", "未找到", "未注册", "没有找到", "查無", "未註冊", "不存在", "登録されていません", "該当するデータがありません"}

// freeStems are short strings of which every free phrase has one. Most lines have
// none, and need not be held against the phrases.
var freeStems = []string{"no", "free", "availab", "unreg", "unalloc", "not", "nicht", "frei", "kein", "aucun", "inconnu", "introuv", "inexist", "não", "nao", "non", "nie", "ne", "ei ", "inte", "bulunamad", "не ", "ничего", "unknown", "doesn", "returned 0", "nincs", "hittades"}

// freeValues are values of a status field that say the same.
var freeValues = phrases(
	`free|available|not registered|unregistered|no object found|not found|no match|available for registration|unassigned|inexistent`,
	`220 available`,
	`(?:domain )?(?:is )?(?:free|available|not registered)(?: for .*)?`,
)

// takenValues are values of a status field that go with a record only.
var takenValues = phrases(
	`active.*|ok\b.*|registered.*|connect|failed|not available|unavailable|in use|taken|delegated.*|paid.*|200 active|occupied|assigned`,
	`(?:client|server)[ -]?\w.*|(?:add|auto ?renew|renew|transfer|redemption) ?period.*|pending.*|in ?active|inactive|hold|locked?|published|verified.*|quarantine|expired|suspended.*`,
)

// reservedPhrases say that nobody may have the name.
var reservedPhrases = phrases(
	`reserved(?: (?:by|for|name|domain|word|list|brand)\b.*)?`,
	`(?:blocked|prohibited|forbidden|banned)(?: (?:by|name|domain|string|word)\b.*)?`,
	`(?:the |this )?(?:requested |queried )?(?:domain name|domain|name|label|string|object)?:? ?(?:@ ?)?(?:is|has been|was) (?:currently )?(?:a )?(?:registry |permanently )?(?:reserved|blocked|prohibited|forbidden|banned|withheld)\b.*`,
	`.*\b(?:not|un)(?: be)? ?available for (?:public |general )?registration.*`,
	`(?:the |this )?(?:domain name|domain|name|label|string|object)?:? ?(?:@ ?)?(?:can ?not|cant|may not|must not) be registered.*`,
	`(?:the |this )?(?:domain|name|domain name) ?(?:@ ?)?is not (?:available|allowed|permitted)(?: (?:for|to|by|due|under|because|as|at)\b.*)?`,
	`.*\b(?:dpml|globalblock) (?:brand )?block.*|.*reserved (?:by|for) (?:the )?registry.*`,
)

// reservedValues are values of a status field that say the same.
var reservedValues = phrases(
	`.*\b(?:reserved|blocked|prohibited string|forbidden|banned|withheld|unassignable|cannot be registered|out of registry)\b.*`,
)

// throttlePhrases are looked for inside a line: servers wrap them in courtesies.
var throttlePhrases = regexp.MustCompile(strings.Join([]string{
	`\b(?:quota|rate|limits?|quer(?:y|ies)|lookups?|requests?|connections?|number|maximum|allowed)\b.{0,60}\b(?:exceeded|exceeds|exhausted|reached|used up)\b`,
	`\bexceeded\b.{0,60}\b(?:quota|rate|limits?|quer(?:y|ies)|lookups?|requests?|maximum|allow)`,
	`\btoo many\b|\bgrace period of \d+\b`,
	`\b(?:rate|access control|query) limit\b`,
	`\b(?:please )?(?:try|query) again (?:later|in|after|soon)\b|\bplease try again$|\btry again$`,
	`\btemporar(?:y|ily)\b.{0,30}\b(?:not|unable|unavailable|denied|blocked|suspended|banned|failure|error|refused)\b`,
	`\bmaintain at least\b.{0,40}\b(?:second|minute)`,
	`\b(?:your|this) (?:ip|address|host|access|connection).{0,40}\b(?:blocked|blacklisted|banned|denied|restricted|refused|limited)\b`,
	`^(?:access|request|query|connection|permission|service) (?:denied|refused|rejected|blocked|limited|unavailable|not permitted).*`,
	`\bblack ?listed\b|\bthrottl(?:ed|ing)\b|\bserver (?:is )?(?:too )?busy\b|\b55000000002\b|\b440 request denied\b`,
	`\bplease (?:wait|slow down)\b|\bwait\b.{0,20}\b(?:seconds|minutes)\b.{0,30}\b(?:before|again|next)\b`,
}, "|"))

// condition marks a sentence that says what would happen, as terms do.
var condition = regexp.MustCompile(`\b(?:if|should|would|might|unless|in case|may|will|shall|whenever|when|avoid|prevent|reserves?)\b`)

// throttleStems are short strings of which every throttle phrase has one.
var throttleStems = []string{"exceed", "exhaust", "reached", "used up", "too many", "grace period", "limit", "again", "temporar", "maintain at", "block", "black", "banned", "denied", "refused", "reject", "restrict", "unavailable", "not permitted", "throttl", "busy", "55000000002", "wait", "slow down"}

// reservedStems are short strings of which every reserved phrase has one.
var reservedStems = []string{"reserv", "block", "prohibit", "forbid", "banned", "withheld", "registration", "registered", "not a", "dpml", "unassign"}

// hasAny says that text has one of stems.
func hasAny(text string, stems []string) bool {
	for _, stem := range stems {
		if strings.Contains(text, stem) {
			return true
		}
	}
	return false
}

// legalOpeners begin a paragraph that binds the reader and says nothing about
// the name.
var legalOpeners = regexp.MustCompile(`^(?:terms (?:of|and)|conditions of|notice\b|notes?:|disclaimer|copyright|important|access to|` +
	`the (?:data|information|whois|service|contents|registry|above (?:data|information|whois)|registrar of)|this (?:whois|data|information|service)|by (?:submitting|using|executing|querying)|` +
	`for more information|please (?:note|be advised|query|visit)|you (?:are|agree)|use of this|whois (?:information|displays|database)|` +
	`all rights|los datos|le service|url of the)`)

func phrases(alternatives ...string) *regexp.Regexp {
	return regexp.MustCompile(`^(?:` + strings.Join(alternatives, "|") + `)$`)
}
