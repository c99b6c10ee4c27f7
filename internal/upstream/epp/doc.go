// Package epp speaks EPP with a registry or a wholesale gateway: RFC 5730 to
// 5734 over TLS, with the extensions for fees (RFC 8748), DNSSEC (RFC 5910), the
// redemption grace period (RFC 3915) and login security (RFC 8807).
//
// # What it promises
//
// It sends strictly: every command has its elements in the order of the schemas,
// in their namespaces, within their lengths; what can't be sent that way is an
// error before a byte leaves. It reads tolerantly: any prefix, any white space,
// trID before or after resData, and everything that it does not know is skipped.
//
// An error never carries a name, a person's data or a secret in its text. A
// registry's own words stand in ResultError, for whoever asks for them.
//
// # What it refuses
//
// It refuses to send two commands at once over one connection, since not every
// server keeps them apart. It refuses frames larger than a set bound, documents
// with a DTD, a server whose certificate it can't verify, and to log in with a
// service that the server did not announce. It decides nothing about money: it
// hands on the fees that it is told.
//
// # The pool
//
// An account has at most MaxConnections connections, because registries bound
// them and punish those who pass the bound. A connection is opened when there is
// work for it, kept with a hello while there is none, and left with a logout.
// Three classes share it: orders go before quotes, and quotes before lookups.
// Quotes and lookups together never hold more than
// MaxConnections - OrderConnections connections and never use more than
// 1 - OrderShare of PerSecond. So neither a crowd that searches nor a customer who
// reloads the page of a large order keeps another one from paying, or from getting
// the name that was paid for. Each class has a queue of its own, which is bounded;
// a command that finds it full is refused at once.
//
// A goroutine reads each connection all the time. It sees at once when the server
// closes it, so a dead connection is hardly ever written to. A connection is
// closed, and never used again, when an answer does not come in time, is longer
// than the bound, can't be parsed, or carries another clTRID than the command:
// after each of these nobody knows any more which answer belongs to which
// command. A caller that leaves early does not break the connection; the answer
// is awaited and thrown away.
//
// When no connection can be made, everyone who waits is told so, and the next
// try comes after a pause that doubles from half a second to 30 seconds. A
// refused login waits from one minute to 15, because registries lock accounts
// after a few wrong passwords.
//
// Questions about single names wait up to two milliseconds for others of their
// class and travel as one check of at most 50 names, with and without fees apart.
// While every connection is busy a waiting check goes on collecting names. A check
// for an order does not wait.
//
// # The lost answer
//
// When a command was handed to the network and no answer came back, the registry
// may or may not have done it. For a command that changes something the caller
// then gets ErrOutcomeUnknown, never a plain failure, and nothing is repeated
// behind its back. CreateOrFind, RenewOrFind and TransferOrFind ask the registry
// what it knows before they repeat.
//
//	command                  safe to repeat?  why, or what to ask first
//	hello, check, info       yes, done here   they change nothing; once, on another connection
//	poll request             yes, done here   a message stays until it is acknowledged
//	poll ack                 by the caller    a second ack of the same id is 2303 or 2005, harmless
//	transfer query           yes, done here   it changes nothing
//	domain create            no               info: is it ours, by this order? (CreateOrFind)
//	contact create           no               info: we choose the id, so one in our account is ours
//	host create              no               2302 means that the host is there, which was wanted
//	renew                    no               info: has the expiry moved? curExpDate guards a repeat
//	transfer request         no               transfer query: is our request pending or done?
//	transfer approve, reject,
//	cancel                   by the caller    a second one is 2301, harmless
//	update                   by the caller    a repeated add or rem can fail with 2306; ask info first
//	delete                   by the caller    a second one is 2303 or 2304, harmless
//	restore request          no               info: is it still in redemptionPeriod? it costs money
//	login                    yes, done here   a session that is not known to be open is closed
//
// A result of 2000 and above says that the command was not carried out (RFC 5730,
// 3), so it is an answer and not a lost one.
//
// # Policies and gateways
//
// How the registries differ, beyond the protocol, is data: see Policy. What a
// wholesale gateway adds to the protocol is code behind a small interface: see
// Extender.
package epp
