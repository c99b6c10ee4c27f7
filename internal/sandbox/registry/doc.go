// Package registry simulates the registries that the product queries and registers
// names with: their RDAP and WHOIS servers, IANA's list of RDAP servers, a recursive
// DNS resolver, and one EPP server for all TLDs. Everything runs in this process on
// sockets of 127.0.0.1.
//
// Only the addresses differ from the real servers. Every distinct host of the price
// list has its own listener and port, so a hanging host affects no other. The package
// shares no code with the clients: both sides implement the specifications (RFC 9082,
// 9083 and 9224 for RDAP and its bootstrap, RFC 3912 for WHOIS, RFC 1035 for the DNS,
// RFC 5730 to 5734 for EPP) and meet only on a socket. The state of an unchanged name
// follows from the name and the sandbox clock, so runs are reproducible. Changes by
// registrars over EPP are stored in a ledger on top of that table; RDAP, WHOIS and the
// DNS read the same ledger, so they show a change as soon as the command ends.
//
// A fault, requested or random, is always recognisable as a fault and never a valid
// response with the wrong state.
//
// Package ledger holds the states of domains, contacts and transfers, their deadlines
// and the result codes; package epp the sessions, validation and misbehaving names of
// the EPP server.
//
// # The table of names
//
//	label                                       under                      is
//	google, amazon, wikipedia, … (famous)       every zone                 taken
//	hotel, kaffee, versicherung, … (well known) popular zones              taken
//	ohne-dns, parked-without-dns                every zone                 taken, without nameservers
//	nic, whois, www, rdds, example, a … z, 0-9  zones of one label that    reserved; RDAP answers the plain 404 of
//	                                            is longer than two letters a free name, WHOIS says reserved
//	reserved, reserviert                        every zone                 reserved; RDAP's 404 says so
//	premium-…, gold, crypto, casino, hotel24    every zone                 free at a premium price; RDAP's 404 and
//	                                                                       WHOIS say so
//	transfer-…                                  every zone                 taken at the registrar "andere", not locked
//	names in Options.Seeds                      their own zone             taken, with the given data
//	anything else                               every zone                 free
//
// A zone below another one, such as .co.uk below .uk, is a taken name there. The DNS
// delegates taken names with nameservers; all others, including reserved and premium
// names, do not exist there.
//
// The authInfo of a taken name is "auth-" and its label: auth-transfer-haus for
// transfer-haus.com.
//
// # Registrars
//
//	account     password        is
//	dotkontor   kontor-geheim   the product's
//	andere      andere-geheim   another one, to transfer from and to
//	pleite      pleite-geheim   one without funds: billable commands fail with 2104
//
// The contact sandbox-tech is the registry's own; every registrar may name it as the tech
// contact of .eu domains.
//
// Passwords changed over EPP persist. Accounts are in EUR.
//
//	class          create    renew     transfer           restore   names
//	standard       8.00      8.00      8.00 (.de 0.00)    40.00     all others
//	premium        250.00    250.00    250.00             250.00    premium-…
//	premium-gold   2500.00   500.00    500.00             500.00    gold, crypto, casino, hotel24
//
// # Persistence
//
// With Options.Data the ledger is a journal in <data>/registry. A command is written
// to it before its response is sent, so a killed process loses nothing that it
// confirmed. The clock's advance is part of it. The CA of the EPP server's certificate
// is stored next to it, and <data>/control.json tells other processes how to reach the
// clock. A folder serves one sandbox at a time.
//
// # The clock
//
// The sandbox clock is Options.Now plus what Advance, or a POST to the control address,
// added to it: expiry, renewal, redemption, purge and transfers follow it. Registry.Now
// is for a product in the same process; in another process the product uses the
// machine's time.
//
// # Names that misbehave
//
// A label with one of these prefixes fails in the same way under every TLD and is
// exempt from chaos. Package epp has a longer table for EPP; package ledger knows
// pending-, pendingfail- and unpaid-.
//
//	prefix      RDAP                         WHOIS                    DNS
//	timeout-    no response for 30 s         no response for 30 s     no response
//	refused-    connection reset             connection reset         REFUSED
//	garbled-    200 with a web page or with  binary junk              a packet that does not parse
//	            broken JSON, by name
//	throttled-  429, Retry-After: 0          the host's message       REFUSED
//	unknown-    400, query not supported     nothing provided here    NXDOMAIN
//
// # Chaos
//
// Options.Chaos is the share of responses, including IANA's, that fail in one of four
// equally likely ways: slow (correct, but 0.5 to 3 seconds late), broken (truncated,
// junk, or a server error), throttled (429, the WHOIS host's message, REFUSED) and
// dropped (connection reset, no DNS response). The n-th response of a host fails in the
// same way in every run with the same seed.
//
// # Canaries
//
// Every record in RDAP and WHOIS has contacts, and every personal field of them
// contains one of the words in Canaries, also for domains that were registered with
// other contacts: those are visible over EPP only. A test that finds such a word in the
// product's output, storage or logs has found a leak.
package registry
