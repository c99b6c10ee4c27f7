package whois

import (
	"regexp"
	"strings"
)

// Phrase tables. Every phrase is matched against a whole normalised line (see
// normalise), so that the same words inside terms of use do not count.

// takenValues are values of a status field that occur only in records.
var takenValues = phrases(
	`active.*|ok\b.*|registered.*|connect|failed|not available|unavailable|in use|taken|delegated.*|paid.*|200 active|occupied|assigned`,
	`(?:client|server)[ -]?\w.*|(?:add|auto ?renew|renew|transfer|redemption) ?period.*|pending.*|in ?active|inactive|hold|locked?|published|verified.*|quarantine|expired|suspended.*`,
)

// reservedPhrases say that the name can't be registered by anyone.
var reservedPhrases = phrases(
	`reserved(?: (?:by|for|name|domain|word|list|brand)\b.*)?`,
	`(?:blocked|prohibited|forbidden|banned)(?: (?:by|name|domain|string|word)\b.*)?`,
	`(?:the |this )?(?:requested |queried )?(?:domain name|domain|name|label|string|object)?:? ?(?:@ ?)?(?:is|has been|was) (?:currently )?(?:a )?(?:registry |permanently )?(?:reserved|blocked|prohibited|forbidden|banned|withheld)\b.*`,
	`.*\b(?:not|un)(?: be)? ?available for (?:public |general )?registration.*`,
	`(?:the |this )?(?:domain name|domain|name|label|string|object)?:? ?(?:@ ?)?(?:can ?not|cant|may not|must not) be registered.*`,
	`(?:the |this )?(?:domain|name|domain name) ?(?:@ ?)?is not (?:available|allowed|permitted)(?: (?:for|to|by|due|under|because|as|at)\b.*)?`,
	`.*\b(?:dpml|globalblock) (?:brand )?block.*|.*reserved (?:by|for) (?:the )?registry.*`,
)

// reservedValues are the equivalent values of a status field.
var reservedValues = phrases(
	`.*\b(?:reserved|blocked|prohibited string|forbidden|banned|withheld|unassignable|cannot be registered|out of registry)\b.*`,
)

// throttlePhrases are searched for inside a line, because servers add polite
// wording.
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

// conditionalPattern marks a hypothetical sentence, as in terms of use.
var conditionalPattern = regexp.MustCompile(`\b(?:if|should|would|might|unless|in case|may|will|shall|whenever|when|avoid|prevent|reserves?)\b`)

// throttleStems are short strings; every throttle phrase contains one.
var throttleStems = []string{"exceed", "exhaust", "reached", "used up", "too many", "grace period", "limit", "again", "temporar", "maintain at", "block", "black", "banned", "denied", "refused", "reject", "restrict", "unavailable", "not permitted", "throttl", "busy", "55000000002", "wait", "slow down"}

// reservedStems are short strings; every reserved phrase contains one.
var reservedStems = []string{"reserv", "block", "prohibit", "forbid", "banned", "withheld", "registration", "registered", "not a", "dpml", "unassign"}

// hasAny reports whether text contains one of stems.
func hasAny(text string, stems []string) bool {
	for _, stem := range stems {
		if strings.Contains(text, stem) {
			return true
		}
	}
	return false
}

// legalOpeners begin a paragraph of terms of use, which says nothing about the
// name.
var legalOpeners = regexp.MustCompile(`^(?:terms (?:of|and)|conditions of|notice\b|notes?:|disclaimer|copyright|important|access to|` +
	`the (?:data|information|whois|service|contents|registry|above (?:data|information|whois)|registrar of)|this (?:whois|data|information|service)|by (?:submitting|using|executing|querying)|` +
	`for more information|please (?:note|be advised|query|visit)|you (?:are|agree)|use of this|whois (?:information|displays|database)|` +
	`all rights|los datos|le service|url of the)`)
