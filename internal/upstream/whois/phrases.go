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
		`(?:domain names?|domains?|domain objects?|objects?|records?|names?|data|entry|entries|information|dominio|domaine|nom de domaine|domena|query)`
	// subject may open a sentence: "the domain @", "@", "sorry, but domain: @,".
	subject = `(?:sorry,? (?:but )?)?(?:(?:the|this|your|el|le|o) )?(?:` + thing + `[ :]*)?(?:you (?:have )?(?:requested|queried) )?(?:@ ?)?[,: ]*(?:@ ?)?`
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
		`(?:match(?:es|ing)?|entry|entries|data|records?|objects?|information|info|results?|domains?|domain names?|found)`+
		`(?: (?:was|were|is|are|has been|have been))?(?: (?:found|available|exists?|matched|located|returned))?`+tail,
	`we do not have an entry`+tail,
	`(?:nothing|none) (?:was )?found`+tail,
	// "@ is free", "this domain is available for registration"
	subject+`is (?:currently |still )?(?:free|available|unregistered)(?: (?:for|to) (?:registration|purchase|register|be registered|buy|order).*)?`,
	`(?:data not found )?(?:this|the) domain(?: name)? is (?:free|available)(?: for (?:registration|purchase))?`,
	`data not found.*`,
	`(?:free|available|unregistered|unallocated)`,
	`(?:this|the) (?:domain|domain name|name) has not been registered`,
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
	`.*등록되어 있지 않습니다`,
	`.*(?:未找到|未注册|没有找到|查無|未註冊|不存在).*`,
	`.*登録されていません.*|該当するデータがありません.*`,
)

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
	`(?:the |this )?(?:domain|name|domain name) ?(?:@ ?)?is not (?:available|allowed|permitted)(?: .*)?`,
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

var premiumWords = regexp.MustCompile(`\bpremium\b`)

func phrases(alternatives ...string) *regexp.Regexp {
	return regexp.MustCompile(`^(?:` + strings.Join(alternatives, "|") + `)$`)
}

// categories groups the names of record fields. A record has fields of several
// categories; a sentence that looks like a field has one at most.
type category uint8

const (
	catNone category = iota
	catRegistrar
	catHolder
	catContact
	catDate
	// catUpdated counts less: some servers date the answer itself with it.
	catUpdated
	catServer
	catHandle
	catStatus
	catDomain
	catAvailable
)

// fields is searched for the whole key first, then for its beginning with
// prefixes.
var fields = fieldTable(map[category]string{
	catRegistrar: `registrar|sponsoring registrar|registrar name|registrar id|current registrar|registration service provider|authorized agency|agente registrador|registrar handle|managed by|reseller|tech registrar`,
	catHolder:    `registrant|holder|owner|domain holder|holder c|titular|organization|organisation|org|organization using domain name|descr|person|holder name|registered for|registrant type|owner contact|owner name|dom public|domain managers|owner c|ownerid|responsible|등록인|first name|last name|organizacion|nombre|organization name|organisation name`,
	catContact:   `admin c|tech c|zone c|billing c|admin contact|tech contact|administrative contact|technical contact|billing contact|contact|admin|nic hdl|nichandle|contacto administrativo|contacto tecnico|mntnr|mnt by|technical contacts|email|e mail|e mailbox|phone|phone number|책임자`,
	catDate: `created|created on|creation date|created date|date created|record created|create date|registered|registered on|registered date|registration date|registration time|domain registered|activated on|activation date|` +
		`expires|expires on|expiry|expiry date|expire date|expiration date|expiration time|registry expiry date|registrar registration expiration date|expire|expired|paid till|renewal date|renewal|validity|valid until|fecha de expiracion|fecha de expiración|fecha de vencimiento|fecha de creacion|domain expires|record expires on|record expires|domain dateregistered|domain datebilleduntil|` +
		`등록일|사용 종료일|date de creation|date d expiration|free date|delete date`,
	catUpdated:   `updated|updated date|updated on|last updated|last updated on|last modified|last update|last updated date|modified|changed|modification date|domain datelastmodified|최근 정보 변경일|state date`,
	catServer:    `name server|name servers|nameserver|nameservers|nserver|nservers|name server information|dns|dns servers|domain servers|domain servers in listed order|domain nameservers|host name|hostname|ns|nsset|primary server|secondary server|servidores de nombre|servidor dns|servidores dns|servidor de nombres|1차 네임서버 정보|name servers information|ns list|dns1|primary name server|dnssec|ds rdata|keyset`,
	catHandle:    `registry domain id|domain id|roid|domain handle|norid handle|authoritative dns|registry registrant id|eppid|repository id`,
	catStatus:    `status|domain status|state|domaintype|query status|registration status|eppstatus|estado|statut`,
	catDomain:    `domain|domain name|domainname|domain ace|complete domain name|dominio|nom de domaine|nombre de dominio|도메인이름|ascii|idn domain name|domain name ace|domain idn`,
	catAvailable: `available|availability|is available`,
})

var prefixes = []struct {
	prefix string
	cat    category
}{
	{"registrar ", catRegistrar},
	{"registrant ", catHolder},
	{"owner ", catHolder},
	{"admin ", catContact},
	{"administrative contact", catContact},
	{"tech ", catContact},
	{"technical contact", catContact},
	{"contacto ", catContact},
	{"name server", catServer},
	{"nameserver", catServer},
	{"ns ", catServer},
	{"ns name ", catServer},
	{"dns ", catServer},
	{"ds ", catServer},
}

func fieldTable(groups map[category]string) map[string]category {
	table := make(map[string]category)
	for cat, keys := range groups {
		for key := range strings.SplitSeq(keys, "|") {
			table[key] = cat
		}
	}
	return table
}

func categoryOf(key string) category {
	if cat, found := fields[key]; found {
		return cat
	}
	for _, p := range prefixes {
		if strings.HasPrefix(key, p.prefix) && len(key) < 40 {
			return p.cat
		}
	}
	return catNone
}
