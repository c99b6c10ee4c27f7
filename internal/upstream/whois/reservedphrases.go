package whois

// reservedPhrases say that the name can't be registered by anyone.
var reservedPhrases = phraseSet{[]string{"reserv", "block", "prohibit", "forbid", "banned", "withheld", "registration", "registered", "not a", "dpml", "unassign"}, phrases(
	`reserved(?: (?:by|for|name|domain|word|list|brand)\b.*)?`,
	`(?:blocked|prohibited|forbidden|banned)(?: (?:by|name|domain|string|word)\b.*)?`,
	`(?:the |this )?(?:requested |queried )?(?:domain name|domain|name|label|string|object)?:? ?(?:@ ?)?(?:is|has been|was) (?:currently )?(?:a )?(?:registry |permanently )?(?:reserved|blocked|prohibited|forbidden|banned|withheld)\b.*`,
	`.*\b(?:not|un)(?: be)? ?available for (?:public |general )?registration.*`,
	`(?:the |this )?(?:domain name|domain|name|label|string|object)?:? ?(?:@ ?)?(?:can ?not|cant|may not|must not) be registered.*`,
	`(?:the |this )?(?:domain|name|domain name) ?(?:@ ?)?is not (?:available|allowed|permitted)(?: (?:for|to|by|due|under|because|as|at)\b.*)?`,
	`.*\b(?:dpml|globalblock) (?:brand )?block.*|.*reserved (?:by|for) (?:the )?registry.*`,
)}

// reservedValues are the equivalent values of a status field.
var reservedValues = phrases(
	`.*\b(?:reserved|blocked|prohibited string|forbidden|banned|withheld|unassignable|cannot be registered|out of registry)\b.*`,
)
