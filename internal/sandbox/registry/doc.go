// Package registry is the outside world that the product asks about names: the
// RDAP servers of the registries, their WHOIS servers, IANA's list of RDAP
// servers, and one recursive DNS resolver. All of it runs in this process, on
// sockets of 127.0.0.1.
//
// It promises that the product can't tell it from the real world by anything
// but the addresses. Every distinct host of the price list has a listener and
// a port of its own, so a host that hangs does so alone. It shares no code with
// the clients that ask it: both were written from the specifications (RFC 9082,
// 9083 and 9224 for RDAP and its bootstrap, RFC 3912 for WHOIS, RFC 1035 for
// the DNS), and they meet on a socket only. What it knows about a name follows
// from the name and the world's clock alone, so two runs agree.
//
// It refuses to take registrations: its table never changes. It refuses to lie
// in a well-formed way: a fault, asked for or by chance, is always
// recognisable as one and never a valid answer for the wrong state.
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
//	names in Options.Held                       their own zone             taken, as they say
//	anything else                               every zone                 free
//
// A zone below another one, such as .co.uk below .uk, is a taken name there.
// The DNS delegates what is taken and has nameservers; all the rest does not
// exist there, reserved and premium names included.
//
// # Names that misbehave
//
// A label with one of these prefixes fails in the same way under every
// extension, and chaos leaves it alone.
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
// Every record carries contacts as real ones do, and every personal field of
// them contains one of the words in Canaries. A test that finds such a word in
// something that the product says, stores or logs has found a leak.
package registry
