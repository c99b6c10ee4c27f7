// Package mcp is the endpoint for agents: the Model Context Protocol over
// Streamable HTTP, without sessions, at /api/mcp.
//
// Five tools look things up for anybody, within the budget of the address; the others
// act for the customer whose token comes with the request. All of them are listed to
// everybody, in the same bytes, so that a model knows what signing in is good for and
// a client may keep the list.
//
// # The gate
//
// What is protected: a customer's domains and orders. Who attacks: anybody who
// can send bytes. The way in would be a message that a guard reads as harmless
// and the library reads as a call of a signed-in tool: keys that differ in case
// only, a key given twice, an escaped letter in the tool's name, a batch of one,
// a header that names another tool than the body. So there is no second reader.
// The library parses the message; a middleware behind its parser sees the tool
// that is about to be called, and closes the gate of this request if the caller
// may not; the tool is then not called. The writer in front of the library
// looks at the gate before the first byte leaves, and a closed gate turns
// whatever the library answers into the 401 or 403 of the contract. The guard
// and the status can only be wrong together, and a signed-in tool asks the same
// question once more before it runs.
//
// A token that comes along must be good, whatever is called: a client whose
// token has expired shall learn it now and not from an answer that lacks what it
// expected. That is decided by the headers alone, before the body is read, so that
// whoever has no good token can't make the server read and parse 64 KiB. Hence the
// JSON-RPC error beside this 401 has the id null: no message was parsed. A signed-in
// tool that is called without any token is refused after parsing, with its id.
// /api/mcp/login is the same endpoint for clients that sign in only
// when they connect: there everything needs a token.
//
// A token in the address is refused like a bad one, since addresses get into
// logs and histories. If tokens can't be checked, because the database is away,
// nobody is taken for signed in: lookups go on as without a token, a signed-in
// tool fails in a way that invites to repeat it, and the login path is a 503.
//
// # Counting
//
// Lookups spend the budget of the address, signed-in tools that of the token,
// never both. Where a network is known to be shared by many callers, a lookup
// with a good token counts by the token instead of the address. Calls of
// signed-in tools that only read are not in the audit one by one: the token's
// last use tells enough, and thousands of lines would hide the few that matter.
//
// What the library would answer in plain text becomes a JSON-RPC error here, and
// batches are refused in every revision of the protocol. To answer such errors
// with the id of their request the message is decoded once more, by the same
// decoder; whether the caller may call is not decided by that.
//
// A page in a browser must not reach a service on the same machine or behind a
// name that was bent to point there: see hosts.
//
// Arguments of tools hold searched names. They reach no log; the name of the
// tool does, from our own list.
package mcp
