// Package registry is the outside world that the product asks about names and
// registers them with: the RDAP servers of the registries, their WHOIS servers,
// IANA's list of RDAP servers, one recursive DNS resolver, and one EPP server for
// all extensions. All of it runs in this process, on sockets of 127.0.0.1.
//
// It promises that the product can't tell it from the real world by anything
// but the addresses. Every distinct host of the price list has a listener and
// a port of its own, so a host that hangs does so alone. It shares no code with
// the clients that ask it: both were written from the specifications (RFC 9082,
// 9083 and 9224 for RDAP and its bootstrap, RFC 3912 for WHOIS, RFC 1035 for
// the DNS, RFC 5730 to 5734 for EPP), and they meet on a socket only. What it
// knows about a name that nobody changed follows from the name and the world's
// clock alone, so two runs agree. What registrars change over EPP stands in a
// ledger above that table; RDAP, WHOIS and the DNS read the same ledger, so they
// show a change the moment the command ends.
//
// It refuses to lie in a well-formed way: a fault, asked for or by chance, is
// always recognisable as one and never a valid answer for the wrong state.
//
// The states of domains, contacts and transfers, their clocks and the result
// codes stand in package ledger; sessions, strictness and the names that
// misbehave over EPP in package epp.
//
// # What stands in the table
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
//	names in Options.Held                       their own zone             taken, as they say
//	anything else                               every zone                 free
//
// A zone below another one, such as .co.uk below .uk, is a taken name there.
// The DNS delegates what is taken and has nameservers; all the rest does not
// exist there, reserved and premium names included.
//
// Every taken name of the table has the authInfo "auth-" and its label:
// auth-transfer-haus for transfer-haus.com.
//
// # Registrars
//
//	account     password        is
//	dotkontor   kontor-geheim   the product's
//	andere      andere-geheim   another one, to transfer from and to
//	pleite      pleite-geheim   one that can't pay: what costs money is 2104
//
// A password that was changed over EPP stays changed. Accounts are kept in EUR.
//
//	class          create    renew     transfer           restore   names
//	standard       8.00      8.00      8.00 (.de 0.00)    40.00     all others
//	premium        250.00    250.00    250.00             250.00    premium-…
//	premium-gold   2500.00   500.00    500.00             500.00    gold, crypto, casino, hotel24
//
// # What is kept
//
// With Options.Data the ledger is a journal in <data>/registry, which a command
// reaches before its answer is sent: a process that is killed forgets nothing
// that it answered. The clock's advance is part of it. The authority of the EPP
// server's certificate lies beside it, and <data>/control.json says how other
// processes reach the clock. One folder has one world at a time.
//
// # The clock
//
// The world's time is Options.Now and what Advance, or a POST to the control
// address, added to it: expiry, renewal, redemption, purge and transfers follow.
// Registry.Now is for a product in the same process; one in another process has
// the time of its machine.
//
// # Names that misbehave
//
// A label with one of these prefixes fails in the same way under every
// extension, and chaos leaves it alone. Package epp has the same table, and a
// longer one, for EPP; package ledger knows pending-, pendingfail- and unpaid-.
//
//	prefix      RDAP                         WHOIS                    DNS
//	timeout-    no answer for 30 s           no answer for 30 s       no answer
//	refused-    connection reset             connection reset         REFUSED
//	garbled-    200 with a web page or with  binary junk              a packet that does not parse
//	            broken JSON, by name
//	throttled-  429, Retry-After: 0          the host's words for it  REFUSED
//	unknown-    400, query not supported     nothing provided here    NXDOMAIN
//
// # Chaos
//
// Options.Chaos is the share of answers, IANA's included, that go wrong in one
// of four ways, each as likely as the others: slow (right, but 0.5 to 3 seconds
// late), broken (cut off, junk, or a server error), throttled (429, the WHOIS
// host's words, REFUSED) and dropped (connection reset, no DNS answer). The
// n-th answer of a host meets the same fate in every run with the same seed.
//
// # Canaries
//
// Every record that RDAP and WHOIS show carries contacts as real ones do, and
// every personal field of them contains one of the words in Canaries, also for
// domains that were registered with contacts of their own: those are shown over
// EPP only. A test that finds such a word in
// something that the product says, stores or logs has found a leak.
package registry
