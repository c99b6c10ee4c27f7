package whois

import (
	"regexp"
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

// Lines that say why the server did not answer the query. They are searched for inside a
// line, because servers add polite wording.

// phraseSet is a pattern with its stems, short strings of which every phrase contains one.
// Most lines contain none and skip the expensive match.
type phraseSet struct {
	stems   []string
	pattern func() *regexp.Regexp
}

func newPhraseSet(stems []string, patterns ...string) phraseSet {
	return phraseSet{stems, lookup.LazyPattern(strings.Join(patterns, "|"))}
}

func (p phraseSet) match(text string) bool {
	return hasAny(text, p.stems) && p.pattern().MatchString(text)
}

// isIn looks for a message in a line. A condition before it makes it a rule.
func (p phraseSet) isIn(text string) bool {
	if !hasAny(text, p.stems) {
		return false
	}
	at := p.pattern().FindStringIndex(text)
	return at != nil && !conditionalPattern().MatchString(text[:at[1]])
}

// conditionalPattern marks a hypothetical sentence, as in terms of use.
var conditionalPattern = lookup.LazyPattern(`\b(?:if|should|would|might|unless|in case|may|will|shall|whenever|when|avoid|prevent|reserves?)\b`)

func hasAny(text string, stems []string) bool {
	for _, stem := range stems {
		if strings.Contains(text, stem) {
			return true
		}
	}
	return false
}

// throttled: the server refuses the query.
var throttled = newPhraseSet([]string{"exceed", "exhaust", "reached", "used up", "too many", "grace period", "limit", "again", "temporar", "maintain at", "block", "black", "banned", "denied", "refused", "reject", "restrict", "unavailable", "not permitted", "throttl", "busy", "55000000002", "wait", "slow down"},
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
)

// outage: the query failed, so that a "not found" elsewhere in the response means nothing.
var outage = newPhraseSet([]string{"error", "fail", "fault", "time", "unavail", "unreach", "down", "offline", "not available", "not re", "mainten", "connect", "reach", "contact", "query", "access", "open", "look", "complete", "process"},
	`\b(?:internal|database|db|back-?end|system|server|service|connection|network|socket|sql|query|lookup) (?:server )?(?:error|failure|failed|fault|timed out|time-?out|unavailable|unreachable|down|offline)\b`,
	`\b(?:database|back-?end|server|service|system|registry|upstream)\b.{0,30}\b(?:is|are|was|currently) (?:currently |temporarily )?(?:down|offline|unavailable|unreachable|not reachable|not responding|not available(?:$| now| at | right))`,
	`\b(?:(?:under|down for|due to|undergoing|in) (?:scheduled |planned )?|(?:scheduled|planned|emergency) )maintenance\b|\bmaintenance (?:mode|in progress|window)\b`,
	`\b(?:can ?not|could not|unable to|failed to) (?:connect|reach|contact|query|access|open|look ?up|complete|process)\b|\btimed out\b|\btime-?out (?:while|when|waiting|error|expired|occurred)\b`,
)

// badQuery: the query was not understood, sent to the wrong server, or partly answered.
var badQuery = newPhraseSet([]string{"unknown", "invalid", "not ", "unsupport", "error", "unable", "fail", "malform", "bad ", "illegal", "wrong", "incorrect", "incomplete", "partial", "truncat", "40", "429", "50", "51", "52"},
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
)

// legalOpeners begin a paragraph of terms of use.
var legalOpeners = lookup.LazyPattern(`^(?:terms (?:of|and)|conditions of|notice\b|notes?:|disclaimer|copyright|important|access to|` +
	`the (?:data|information|whois|service|contents|registry|above (?:data|information|whois)|registrar of)|this (?:whois|data|information|service)|by (?:submitting|using|executing|querying)|` +
	`for more information|please (?:note|be advised|query|visit)|you (?:are|agree)|use of this|whois (?:information|displays|database)|` +
	`all rights|los datos|le service|url of the)`)

// isOtherProtocol reports whether the server on the port is not WHOIS: a web
// server, a page, or a shell.
func isOtherProtocol(text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	return strings.HasPrefix(text, "http/") || strings.HasPrefix(text, "<") || strings.HasPrefix(text, "ssh-") ||
		hasAny(text, []string{"<html", "<!doctype", "<head", "<body"})
}
