// Package lookup says whether a name is free and what it costs.
//
// It promises that "free" rests on positive evidence from an authoritative
// source, never on a missing record alone, and that every answer comes within
// one deadline whatever happens outside. It refuses to guess: where sources
// answer but none decides, the answer is Unknown.
//
// # The ladder
//
// Sources are asked in this order, and the first that decides wins.
//
//	rung  source        it decides                       when
//	1     EPP           free, taken, reserved, premium   an account exists for the extension
//	2     RDAP and DNS  taken                            RDAP holds a domain object
//	      together      taken (reserved)                 RDAP says reserved, or the label is withheld by rule
//	                    free                             RDAP has no record, the label passes the extension's
//	                                                     policy, and the DNS has no nameservers for it
//	3     WHOIS         taken, taken (reserved)          the server that the catalogue names says so
//	                    free                             it says so, the label passes, the DNS does not contradict
//	4     DNS           taken                            nameservers exist
//	-     none          Unknown                          at least one source answered
//	-     none          an error of KindUpstream         every source that was asked failed
//
// A free name with nameservers is a contradiction: if WHOIS calls it free, the
// answer is Unknown and the contradiction is logged (never with the name).
//
// A name that RDAP or WHOIS does not know and another source does is a
// contradiction, too. It is taken, because nobody loses a name by that, and it
// is logged and counted.
//
// WHOIS is not asked beside a slow RDAP to save time: whichever came first would
// then decide, and a "free" of the weaker source could overtake a record.
//
// # Memory
//
// What was found is kept for a short time (free names shorter than taken ones),
// and equal questions under way are asked once. Prices are not kept: they are
// read from the catalogue in force when the answer is given. Failures are not
// kept either.
//
// # Whois
//
// Whois climbs the same ladder and so never disagrees with Check about whether a
// name is registered. It adds what the registry's record says about the name:
// RDAP's word, or WHOIS's where RDAP tells nothing, and never a mixture. A record
// has no field for a contact.
package lookup
