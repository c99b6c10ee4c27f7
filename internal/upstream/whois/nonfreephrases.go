package whois

import (
	"slices"
	"strings"
	"unicode"
)

// nonFreeWords never occur in a genuine "free" line, whatever the sentence: they
// refer to an outage, a refusal, a registrant, or another source than the
// registry's database. A star matches any ending.
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

// nonFreeSubstrings are the same in scripts without spaces.
var nonFreeSubstrings = []string{"服务器", "伺服", "缓存", "快取", "错误", "錯誤", "维护", "維護", "稍后", "稍後", "用户", "用戶", "权限", "權限", "서버", "오류", "점검", "사용자", "サーバ", "エラー", "メンテ", "ユーザ", "一時"}

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

func (w wordSet) matches(text string) bool {
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r != '-' && !unicode.IsLetter(r) }) {
		if w.whole[word] || slices.ContainsFunc(w.starts, func(start string) bool { return strings.HasPrefix(word, start) }) {
			return true
		}
	}
	return false
}

// exemptPhrases contain some of those words but only mean the registry itself.
var exemptPhrases = strings.NewReplacer("the registry or registrars whois server", "the registry")
