// Package epp is the EPP server of the simulated registry: EPP over TLS (RFC 5730 to
// 5734) with the EPP extensions for fees (RFC 8748), DNSSEC (RFC 5910), grace periods
// (RFC 3915) and login security (RFC 8807), and the contact types of EURid and nic.at.
//
// It is as strict as the strictest real registries. A command is validated against the
// order and types of the schemas; a violation is 2001. Valid commands are then checked
// against the registry's rules in package ledger. Every response conforms to the
// schemas. A command is in the ledger's journal before its response is sent.
//
// Waiting is limited: a frame must be complete within seconds and has at most 128 KiB, a
// connection without a login ends after a minute and an idle one after ten, and an
// account has a limited number of sessions (2502). The third wrong password ends the
// connection (2501).
//
// # Session
//
//	command      without a login           with a login
//	login        1000, 2200, 2501, 2502    2002
//	logout       2002                      1500, then the connection is closed
//	all others   2002                      executed
//
// A hello is always answered with a greeting.
//
// A service or EPP extension that the login did not name can't be used: 2307 and 2103.
// While messages are queued, every response to a logged-in client counts them in msgQ.
//
// # Names that misbehave
//
// The first label of a domain name triggers these faults. Those of the first part apply
// to every command that names the domain, including other names in the same check; the
// same prefixes misbehave in RDAP, WHOIS and the DNS. Those of the second part apply to
// transform commands: create, update, renew, transfer and delete. Preceded by once-, as
// in once-dropped-…, a prefix of the second part applies only to the first such command
// after the start.
//
//	prefix        what happens
//	timeout-      no response for 30 s, then the connection is closed
//	refused-      the connection is reset
//	garbled-      a frame that is not XML
//	throttled-    2502, and the connection is closed
//	unknown-      2306
//
//	lostanswer-   the command is executed, then the connection is reset instead of a response
//	dropped-      the command is not executed, and the connection is reset
//	failing-      2400, and the command is not executed
//	closing-      2502, the command is not executed and the connection is closed
//	slow-         the command is executed at once, and the response follows some seconds later
//
// In addition, the ledger knows pending-, pendingfail- and unpaid-, and the table of
// names transfer- and premium-.
//
// # Chaos
//
// With chaos, a share of the greetings is late, and a share of the responses fails in
// equally likely ways: slow, 2400, 2502 with a closed connection, and reset before or
// after the command is executed. Without chaos, only Options.Greeting delays greetings.
package epp
