package main

// ofAgents are the columns of agents and of what they leave behind that must be
// unique or hold one of a few words. Every agent here is live, has a webhook and
// something to hear.
var ofAgents = map[string]formula{
	"agents.name":         inOrder("Agent ", ""),
	"agents.key_hash":     anywhere(),
	"agents.profile":      constant("ours"),
	"signatures_seen.mac": anywhere(),
	"idempotency.scope":   anywhere(),
	"idempotency.key":     anywhere(),
	"agent_events.since":  microsFrom(firstDay),
}
