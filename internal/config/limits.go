package config

// Limits are the rate limits. Unless noted otherwise, they count per client address
// (IPv6: per /64). Without shared.url, each node counts on its own.
type Limits struct {
	// LookupPerMinute and LookupPer6Hours are shared by check, search and the MCP lookup
	// tools except whois_lookup. Default: 30 and 300.
	LookupPerMinute int `toml:"lookup_per_minute" default:"30" range:"1..100000"`
	LookupPer6Hours int `toml:"lookup_per_6_hours" default:"300" range:"1..100000"`
	// WhoisPerMinute and WhoisPer6Hours limit the tool whois_lookup. Default: 15 and 150.
	WhoisPerMinute int `toml:"whois_per_minute" default:"15" range:"1..100000"`
	WhoisPer6Hours int `toml:"whois_per_6_hours" default:"150" range:"1..100000"`
	// RDAPPerMinute and RDAPPerHour limit lookups at /rdap/. Default: 60 and 1200.
	RDAPPerMinute int `toml:"rdap_per_minute" default:"60" range:"1..100000"`
	RDAPPerHour   int `toml:"rdap_per_hour" default:"1200" range:"1..100000"`
	// MaxAddresses is how many addresses, accounts or tokens each of these limits keeps in
	// memory. A million take about 83 MB. Default: 2000000.
	MaxAddresses int `toml:"max_addresses" default:"2000000" range:"1000..100000000"`
	// TokenPerMinute and TokenPerHour limit the tools that act for a customer, per access
	// token. Default: 60 and 1000.
	TokenPerMinute int `toml:"token_per_minute" default:"60" range:"1..100000"`
	TokenPerHour   int `toml:"token_per_hour" default:"1000" range:"1..100000"`
	// QuotesPerMinute and QuotesPerHour limit how many names are queried at registries for
	// one customer, over pages, baskets, orders, tools and applications together. Payment
	// attempts have a second counter with the same limits. Beyond a limit, nothing can be
	// ordered and pages show the last known quote. At least 20, the size of the largest
	// order by a program; a person may order up to 100 names, which count as at most this
	// many. Default: 300 and 2000.
	QuotesPerMinute int `toml:"quotes_per_minute" default:"300" range:"20..100000"`
	QuotesPerHour   int `toml:"quotes_per_hour" default:"2000" range:"20..100000"`
	// AgentQuotesPerMinute and AgentQuotesPerHour are the same limits for one checkout agent
	// with all its buyers. At least 20. Default: 1200 and 20000.
	AgentQuotesPerMinute int `toml:"agent_quotes_per_minute" default:"1200" range:"20..100000"`
	AgentQuotesPerHour   int `toml:"agent_quotes_per_hour" default:"20000" range:"20..100000"`
	// SessionsPerAgent is how many checkout sessions one agent may create per minute.
	// BadSignaturesPerAddress is how many checkout requests with a wrong key or signature
	// one address may send per minute; 20 times as many if the key is well-formed.
	// Default: 60 and 30.
	SessionsPerAgent        int `toml:"sessions_per_agent" default:"60" range:"1..100000"`
	BadSignaturesPerAddress int `toml:"bad_signatures_per_address" default:"30" range:"1..100000"`
	// BadTokensPerAddress is how many invalid tokens, codes and client credentials one
	// address may send per minute; the MCP and OAuth endpoints count separately. It is high
	// because hosted assistants share a few addresses. Default: 600.
	BadTokensPerAddress int `toml:"bad_tokens_per_address" default:"600" range:"1..100000"`
	// Failed sign-ins: SignInPerAddress per address in 10 minutes, SignInPerPair per account
	// and address in 15 minutes, SignInPerAccount per account in an hour from unknown
	// browsers. A browser that has signed in to the account before has its own budget,
	// SignInPerDevice in 15 minutes, so an attacker can't lock a customer out.
	// Default: 30, 10, 50 and 10.
	SignInPerAddress int `toml:"sign_in_per_address" default:"30" range:"1..100000"`
	SignInPerPair    int `toml:"sign_in_per_pair" default:"10" range:"1..100000"`
	SignInPerAccount int `toml:"sign_in_per_account" default:"50" range:"1..100000"`
	SignInPerDevice  int `toml:"sign_in_per_device" default:"10" range:"1..100000"`
	// CodesPerAccount and CodesPer10Hours are how many second-factor codes may be tried for
	// one account, in 15 minutes and in 10 hours. A known browser has its own budgets.
	// Default: 10 and 25.
	CodesPerAccount int `toml:"codes_per_account" default:"10" range:"1..100000"`
	CodesPer10Hours int `toml:"codes_per_10_hours" default:"25" range:"1..100000"`
	// MailsPerRecipient is how many mails per hour unauthenticated requests can cause for
	// one recipient: that many password resets, and as many again for registrations and
	// unpaid agent orders. MailsPerAddress is how many mails per hour one client address can
	// cause in total. Default: 3 and 20.
	MailsPerRecipient int `toml:"mails_per_recipient" default:"3" range:"1..100000"`
	MailsPerAddress   int `toml:"mails_per_address" default:"20" range:"1..100000"`
	// RegisterPerMinute and RegisterPerHour are how many OAuth clients one address may
	// register. They are high because hosted assistants register for all their users from a
	// few addresses. Default: 60 and 1200.
	RegisterPerMinute int `toml:"register_per_minute" default:"60" range:"1..100000"`
	RegisterPerHour   int `toml:"register_per_hour" default:"1200" range:"1..100000"`
	// RefreshPerMinute and RefreshPerHour are how often the tokens of one grant may be
	// refreshed. An access token is valid for an hour, so each process that shares the grant
	// needs one refresh per hour. Default: 60 and 300.
	RefreshPerMinute int `toml:"refresh_per_minute" default:"60" range:"1..100000"`
	RefreshPerHour   int `toml:"refresh_per_hour" default:"300" range:"1..100000"`
	// PasskeysPerAddress is how many passkey sign-ins one address may start in 10 minutes,
	// and how often a signed-in customer may use a passkey in that time. Default: 60.
	PasskeysPerAddress int `toml:"passkeys_per_address" default:"60" range:"1..100000"`
	// SharedEgress sets other limits for networks whose users share a few addresses.
	// Each address of such a network gets them; whois_lookup gets half. Tool calls with a
	// valid token count per token there. Default: none.
	SharedEgress []SharedEgress `toml:"shared_egress"`
}

// SharedEgress is a network with its own lookup limits, a [[limits.shared_egress]] table.
type SharedEgress struct {
	// Network is an address or a network, such as 198.51.100.0/24.
	Network         string `toml:"network"`
	LookupPerMinute int    `toml:"lookup_per_minute" range:"1..100000"`
	LookupPer6Hours int    `toml:"lookup_per_6_hours" range:"1..100000"`
}
