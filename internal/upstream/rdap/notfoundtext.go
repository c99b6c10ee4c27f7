package rdap

import (
	"strings"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

// A valid RDAP error 404 need not mean that the name is unregistered: gateways send it
// when they could not query the registry, and a registry may know a name without
// showing a record. Both say so in the title or the description.

var (
	throttleWords = lookup.LazyPattern(`\b(?:rate|request|query)[ -]?limit|\btoo many (?:requests?|quer|connections?|lookups?)|\bquota\b|\bthrottl(?:ed|ing)\b|\blimit (?:was |is |has been )?(?:exceeded|reached)\b|\bexceeded\b.{0,40}\blimit|\bslow down\b|\bblacklisted\b`)

	outageWords = lookup.LazyPattern(strings.Join([]string{
		`\bupstreams?\b|\bbad gateway\b|\bgateway\b|\bproxy error\b|\bback-?ends?\b`,
		`\b(?:service|server|database|db|system|registry|data source|connection|network|query|lookup|request)\b[^.;]{0,30}\b(?:unavailable|not available|unreachable|offline|is down|busy|overloaded|not responding|fail(?:ed|ure)|refused)\b`,
		`\btime[d]?[ -]?out\b|\btemporar(?:y|ily)\b|\bmaintenance\b|\boutage\b|\btry again\b`,
		`\binternal (?:server )?error\b|\b(?:database|server|system|network|connection) error\b|\bexception\b`,
		`\b(?:can ?not|can't|could not|couldn't|unable to|failed to) (?:be )?(?:connect|reach|contact|process|quer|complete|perform)`,
		// Messages of web servers and frameworks.
		`\bnot (?:be )?found on (?:this|the|our) server\b`,
		`\b(?:page|file|route|endpoint|path|handler|controller|action|method)s?\b[^.;]{0,60}\b(?:not (?:be )?(?:found|matched|exist)|does ?n[o']t exist|missing)\b`,
		`\bno (?:such )?(?:route|endpoint|handler|static resource|mapping|page|file|matching route)\b|\bcannot get /`,
	}, "|"))

	// urlWords are used by web servers, but also by registries that call the query
	// a URL. So they decide nothing.
	urlWords = lookup.LazyPattern(`\b(?:url|uri)\b[^;]{0,90}\b(?:not (?:be )?(?:found|exist)|does ?n[o']t exist|invalid|unknown)\b`)

	lifecycleWords  = lookup.LazyPattern(`\bpending\b|\bredemption\b|\bquarantined?\b|\bdisputed?\b|\blocked\b|\bsuspended\b|\bexpired\b|\bfrozen\b|\bgrace period\b|\bdeletion\b|\bto be deleted\b|\bon hold\b|\b(?:client|server)[ -]?hold\b`)
	registeredWords = lookup.LazyPattern(`(?:\b(?:domain|name|object|label)\b|@)[^.;]{0,20}\b(?:is|has|was|been|already)\b (?:already |currently |been |now )*(?:registered|taken|delegated|in use|allocated|assigned|not available|unavailable|no longer available)\b|\balready (?:exists|registered|taken)\b`)

	// conditionalWords marks a hypothetical sentence.
	conditionalWords = lookup.LazyPattern(`\b(?:if|should|would|may|might|will|unless|when|whether)\b`)
)

// contradiction looks for a reason to distrust a 404 in its messages.
func contradiction(messages []string, r reply, name registrar.Name) (finding lookup.Finding, fault *registrar.Error, doubtful bool) {
	masks := strings.NewReplacer(name.ASCII(), "@", name.String(), "@")
	for _, sentence := range messages {
		sentence = masks.Replace(strings.ToLower(sentence))
		if conditionalWords().MatchString(sentence) {
			continue
		}
		switch {
		case throttleWords().MatchString(sentence):
			return lookup.Finding{}, throttledFault(r), true
		case outageWords().MatchString(sentence):
			return lookup.Finding{}, broken("404 reports an outage"), true
		case lifecycleWords().MatchString(sentence), registeredWords().MatchString(sentence), urlWords().MatchString(sentence):
			doubtful = true
		}
	}
	return lookup.Finding{State: lookup.Undecided}, nil, doubtful
}
