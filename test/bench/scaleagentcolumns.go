package main

// agentColumns are the columns of agents and of what they leave behind that must be
// unique or hold one of a few words. Every agent here is live, has a webhook and
// something to hear.
var agentColumns = map[string]columnFormula{
	"agents.name":                      sequentialText("Agent ", ""),
	"agents.key_hash":                  scatteredText(),
	"agents.profile":                   constantText("ours"),
	"seen_signatures.mac":              scatteredText(),
	"idempotency_keys.scope":           scatteredText(),
	"idempotency_keys.key":             scatteredText(),
	"webhook_deliveries.pending_since": microsFrom(firstDay),
}
