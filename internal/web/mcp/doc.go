// Package mcp is the endpoint for agents: the Model Context Protocol over Streamable
// HTTP, without sessions, at /api/mcp.
//
// Five tools are lookups that need no token, within the budget of the address; the
// others act for the customer whose token comes with the request. All tools are listed
// to every caller, in the same bytes, so that a model knows what signing in offers and
// a client may cache the list.
//
// # One parse
//
// A message is parsed once, by parseMessage, and this parse decides what is called, who
// may call it and which budget it spends. The attack to prevent is a message that a guard
// reads as harmless, but a parser behind it as a call to a signed-in tool: keys that
// differ only in case, duplicate keys, an escaped letter in the tool's name, a batch of
// one, a header that names a different tool than the body. So there is no second parser, and what
// two parsers could read differently is refused: duplicate keys in any object, keys that
// differ from those of JSON-RPC only in case, data after the message, batches, invalid
// UTF-8, more than 32 levels or 128 keys in one object. Ids are returned as they were sent.
//
// An event stream begins with the first progress notification of a running tool, after
// everything that could refuse the call. Without one, the response is a JSON body.
//
// The reference for the protocol is the official SDK: TestReference_SameAnswersAsSDK
// sends both the same messages in every revision and lists each difference.
//
// # Authorization
//
// A token in the request must be valid, whatever is called: a client with an expired
// token should learn it now, not from a response that lacks what it expected. This is
// decided from the headers alone, before the body is read, so that a client without a
// valid token can't make the server read and parse 64 KiB. The JSON-RPC error of this
// 401 therefore has the id null. A signed-in tool that is called without a token is
// refused after parsing, with its id. /api/mcp/login is the same endpoint for clients
// that sign in only when they connect: it requires a token for everything.
//
// A token in the URL is refused like an invalid one, because URLs are logged. If tokens
// can't be verified because the database is unavailable, no caller counts as signed in:
// lookups work as without a token, signed-in tools fail with a retryable error, and the
// login path answers 503.
//
// # Rate limits
//
// Lookups spend the budget of the address, signed-in tools that of the token, never
// both. In networks known to be shared by many callers, a lookup with a valid token
// counts against the token instead of the address. Calls of read-only signed-in tools
// are not audited one by one: the token's last use is enough, and thousands of entries
// would hide the few that matter.
//
// See hostPolicy for the protection against DNS rebinding and cross-origin calls of
// local services.
//
// Tool arguments contain searched names and are never logged; the name of the tool is,
// from our own list.
package mcp
