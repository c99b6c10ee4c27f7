package whois

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// nonFreeWords are words that no honest "free" has, whatever the sentence around
// them: they speak of an outage, of a refusal, of somebody who has the name, or
// of another place than the registry's own books. A star stands for any ending.
var nonFreeWords = newWordSet(
	"cache* server* backend* back-end* mirror* replica* local upstream* gateway* proxy proxies host* file* page*",
	"time timed timeout* time-out* moment* later again tempor* maintenance outage offline down busy overload* unavailable unreachable",
	"error* fail* fault* due because since until while unless except",
	"quota* limit* exceed* access* authori* unauthori* permi* allow* denied refus* reject*",
	"list* whitelist* blacklist* allowlist* blocklist* address* ip ips user* account* client* customer* member* contact* person* handle* nameserver* contract*",
	"owner* auction* backorder* back-order* sedo broker* marketplace* resale sale offer* registrar registrars reseller* registrant* holder*",
	"zone* dns trademark* sunrise archive* histor* backup* billing test old tmp log dev abuse spam apnic arin lacnic afrinic ripe",
	"reserved blocked expired pending redemption quarantine suspended deleted dropping",
	"mantenimiento servidor serveur vorübergehend wartung fehler* сервер* ошибк* временно",
)

// nonFreeSubstrings are the same in scripts that do without spaces.
var nonFreeSubstrings = []string{"服务器", "伺服", "缓存", "快取", "错误", "錯誤", "维护", "維護", "稍后", "稍後", "用户", "用戶", "权限", "權限", "서버", "오류", "점검", "사용자", "サーバ", "エラー", "メンテ", "ユーザ", "一時"}

// wordSet is a set of words and of beginnings of words.
type wordSet struct {
	whole  map[string]bool
	starts []string
}

func newWordSet(lists ...string) wordSet {
	w := wordSet{whole: make(map[string]bool)}
	for word := range strings.FieldsSeq(strings.Join(lists, " ")) {
		if start, open := strings.CutSuffix(word, "*"); open {
			w.starts = append(w.starts, start)
		} else {
			w.whole[word] = true
		}
	}
	return w
}

// matches says that text has one of the words.
func (w wordSet) matches(text string) bool {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r != '-' && !unicode.IsLetter(r) }) {
		if w.whole[word] || slices.ContainsFunc(w.starts, func(start string) bool { return strings.HasPrefix(word, start) }) {
			return true
		}
	}
	return false
}

// exemptPhrases has some of those words and is a registry's way to say "here".
var exemptPhrases = strings.NewReplacer("the registry or registrars whois server", "the registry")

// outage marks a line that says that the server could not look, so that what the
// lines around it have not found is no news.
var outage = regexp.MustCompile(strings.Join([]string{
	`\b(?:internal|database|db|back-?end|system|server|service|connection|network|socket|sql|query|lookup) (?:server )?(?:error|failure|failed|fault|timed out|time-?out|unavailable|unreachable|down|offline)\b`,
	`\b(?:database|back-?end|server|service|system|registry|upstream)\b.{0,30}\b(?:is|are|was|currently) (?:currently |temporarily )?(?:down|offline|unavailable|unreachable|not reachable|not responding|not available(?:$| now| at | right))`,
	`\b(?:(?:under|down for|due to|undergoing|in) (?:scheduled |planned )?|(?:scheduled|planned|emergency) )maintenance\b|\bmaintenance (?:mode|in progress|window)\b`,
	`\b(?:can ?not|could not|unable to|failed to) (?:connect|reach|contact|query|access|open|look ?up|complete|process)\b|\btimed out\b|\btime-?out (?:while|when|waiting|error|expired|occurred)\b`,
}, "|"))

// outageStems are short strings of which every outage has one.
var outageStems = []string{"error", "fail", "fault", "time", "unavail", "unreach", "down", "offline", "not available", "not re", "mainten", "connect", "reach", "contact", "query", "access", "open", "look", "complete", "process"}

// isOutageLine says that a line tells of an outage, and not of what happens in one.
func isOutageLine(text string) bool {
	if !hasAny(text, outageStems) {
		return false
	}
	at := outage.FindStringIndex(text)
	return at != nil && !conditionalPattern.MatchString(text[:at[1]])
}
