// Package epp is an EPP client for registries and wholesale gateways: RFC 5730 to
// 5734 over TLS, with the EPP extensions for fees (RFC 8748), DNSSEC (RFC 5910),
// the redemption grace period (RFC 3915), login security (RFC 8807) and, in poll
// messages, changes by the registry (RFC 8590) and maintenance (RFC 9167).
// It has the commands and elements that the service uses. A few commands have no
// caller yet: domain delete and restore (end of term), transfer approve, reject
// and cancel (outgoing transfers), contact update and password change.
//
// # Guarantees
//
// The client is strict in what it sends: elements appear in schema order, in their
// namespaces and within their lengths. A command that can't be sent that way fails
// before anything is written. It is tolerant in what it reads: it accepts any
// namespace prefix and white space, trID before or after resData, and skips unknown
// elements.
//
// Error texts never contain a domain name, personal data or a secret. The
// registry's own message is available in ResultError.
//
// # Restrictions
//
// The client never pipelines commands on a connection, because not every server
// keeps the responses apart. It rejects frames above a size limit, documents with a
// DTD, servers whose certificate it can't verify, and services that the server does
// not announce. It makes no pricing decisions; it passes on the fees that the
// registry reports.
//
// # Connection pool
//
// An account has at most MaxConnections connections, because registries limit them
// and penalise clients that exceed the limit. Connections are opened on demand,
// kept alive with hello and closed with logout. Three priority classes share them:
// orders before quotes, quotes before lookups. Quotes and lookups together never use
// more than MaxConnections - OrderConnections connections or 1 - OrderShare of
// PerSecond, so neither a burst of searches nor repeated quotes for a large order
// can delay payments and paid registrations. Each class has its own bounded queue; a
// command that finds it full fails at once.
//
// Each connection has a goroutine that reads continuously and notices at once when
// the server closes it, so commands are rarely written to a dead connection. A
// connection is closed for good when a response times out, exceeds the size limit,
// can't be parsed or carries another clTRID, because responses can no longer be
// matched to commands. A caller that gives up early does not break the connection;
// its response is read and discarded.
//
// When no connection can be opened, all queued commands fail, and the next attempt
// follows after a backoff that doubles from half a second to 30 seconds. After a
// refused login it runs from one minute to 15, because registries lock accounts
// after a few wrong passwords.
//
// Checks of single names wait up to two milliseconds for others of their class and
// are sent as one check of at most BatchNames names, with and without fees
// separately. While all connections are busy, a queued check keeps collecting names.
// Checks for orders are never delayed.
//
// # Lost responses
//
// When a command was sent and no response came back, the registry may or may not
// have executed it. For a transform command the caller gets ErrOutcomeUnknown, never
// an ordinary failure, and the command is not repeated implicitly. CreateOrFind,
// RenewOrFind and TransferOrFind query the registry before they repeat a command.
//
//	command                  safe to repeat?  why, or what to query first
//	hello, check, info       yes, done here   read-only; once, on another connection
//	poll request             yes, done here   a message stays until it is acknowledged
//	poll ack                 by the caller    a second ack of the same id is 2303 or 2005, harmless
//	transfer query           yes, done here   read-only
//	domain create            no               info: is it ours, from this order? (CreateOrFind)
//	contact create           no               info: we choose the id, so one in our account is ours
//	host create              no               2302 means that the host exists, as intended
//	renew                    no               info: has the expiry moved? curExpDate guards a repeat
//	transfer request         no               transfer query: is our request pending or done?
//	transfer approve, reject,
//	cancel                   by the caller    a second one is 2301, harmless
//	domain update            by the caller    a repeated add or rem can fail with 2306; query info first
//	contact update           by the caller    it replaces the data, so a second one is harmless
//	delete                   by the caller    a second one is 2303 or 2304, harmless
//	restore request          no               info: is it still in redemptionPeriod? it costs money
//	login                    yes, done here   a session not known to be open is closed
//	password change          no               login: either password may be valid
//
// A result code of 2000 or above means that the command was not executed (RFC 5730,
// 3), so it is a response and not a lost one.
//
// # Adding a TLD or an EPP extension
//
// Differences between the registries of TLDs are data: see Policy in policy.go, and
// contactpolicy.csv for contacts.
//
// A standard EPP extension gets a file of its own, such as fee.go or dnssec.go:
//
//   - Add its namespace in writer.go and to knownExtensions in protocolextension.go,
//     so that login requests it where the server announces it.
//   - Set requiredExtension and writeExtension in the call (command.go) of each
//     command that carries it.
//   - Read its response elements from response.extension.
//   - Teach the sandbox registry the same (internal/sandbox/registry/epp/extension.go).
//
// Elements of a single gateway need no change here: implement ProtocolExtension and
// set it in Account.
package epp
