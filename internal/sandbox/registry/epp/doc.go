// Package epp is the registrars' entrance to the simulated registry: EPP over
// TLS (RFC 5730 to 5734) with the extensions for fees (RFC 8748), DNSSEC (RFC
// 5910), grace periods (RFC 3915) and login security (RFC 8807).
//
// It promises to be as strict as the strictest of real registries. A command is
// read against the order and the types of the schemas: what does not fit is 2001
// and nothing else is looked at. What fits is held against the registry's rules
// in package ledger. Every answer fits the schemas, too. A command is in the
// ledger's journal before its answer is sent.
//
// It refuses to wait for anybody for long: a frame that has begun has to be
// complete within seconds, a frame has at most 128 KiB, a connection without a
// login ends after a minute and an idle one after ten, and an account has a
// limited number of sessions (2502). The third wrong password ends the
// connection (2501).
//
// # Session
//
//	command      without a login           with one
//	login        1000, 2200, 2501, 2502    2002
//	logout       2002                      1500, then the connection is closed
//	all others   2002                      carried out
//
// A hello is answered with a greeting at any time.
//
// A service or an extension that the login did not name can't be used: 2307 and
// 2103. While messages wait, every answer to a logged-in client counts them in
// msgQ.
//
// # Names that misbehave
//
// The first label of a domain name calls these up. Those of the first part do
// it in every command that names the domain, and take the other names of the
// same check along; they are the ones that misbehave in RDAP, WHOIS and the DNS
// as well. Those of the second part do it in commands that change something:
// create, update, renew, transfer and delete. With once- before it, such as
// once-dropped-…, a prefix of the second part works for the first such command
// after the start, and then never again.
//
//	prefix        what happens
//	timeout-      no answer for 30 s, then the connection is closed
//	refused-      the connection is reset
//	garbled-      a frame that is no XML
//	throttled-    2502, and the connection is closed
//	unknown-      2306
//
//	lostanswer-   the command is carried out, then the connection is reset instead of an answer
//	dropped-      the command is not carried out, and the connection is reset
//	failing-      2400, and the command is not carried out
//	closing-      2502, the command is not carried out and the connection is closed
//	slow-         the command is carried out at once, and answered some seconds later
//
// Beside them the ledger knows pending-, pendingfail- and unpaid-, and the table
// of names transfer- and premium-.
//
// # Chaos
//
// With chaos, a share of the greetings is late, and a share of the answers, each
// way as likely as the others: slow, 2400, 2502 with a closed connection, and
// reset; a reset comes before or after the command was carried out. Without
// chaos, Options.Greeting alone makes every greeting late.
package epp
