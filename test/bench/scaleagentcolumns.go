package main

// agentColumns are the columns of agents and their records that must be unique or have
// one of a few values. Every agent is active and has a webhook and a due delivery.
var agentColumns = map[string]columnFormula{
	"agents.name":                      sequentialText("Agent ", ""),
	"agents.key_hash":                  scatteredText(),
	"agents.profile":                   constantText("ours"),
	"seen_signatures.mac":              scatteredText(),
	"idempotency_keys.scope":           scatteredText(),
	"idempotency_keys.key":             scatteredText(),
	"idempotency_keys.node":            sequentialText("node_", ""),
	"webhook_deliveries.node":          sequentialText("node_", ""),
	"webhook_deliveries.pending_since": microsFrom(firstDay),
}
