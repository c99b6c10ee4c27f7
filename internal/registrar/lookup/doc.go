// Package lookup determines whether a name is available and what it costs.
//
// It guarantees that "free" rests on positive evidence from an authoritative source,
// never on a missing record alone, and that every answer arrives within one deadline. It
// does not guess: if sources respond but none decides, the answer is Unknown.
//
// # Sources
//
// Sources are queried in this order, and the first that decides wins.
//
//	step  source        decides                          if
//	1     EPP           free, taken, reserved, premium   an account exists for the extension
//	2     RDAP and DNS  taken                            RDAP has a domain object
//	      together      taken (reserved)                 RDAP reports reserved, or the label is withheld by rule
//	                    free                             RDAP has no record, the label passes the extension's
//	                                                     policy, and the DNS has no nameservers for it
//	3     WHOIS         taken, taken (reserved)          the catalog's server reports it
//	                    free                             it reports it, the label passes, the DNS does not contradict
//	4     DNS           taken                            nameservers exist
//	-     none          Unknown                          at least one source responded
//	-     none          an error of KindUpstream         every queried source failed
//
// If WHOIS reports a name with nameservers as free, the answer is Unknown and the
// contradiction is logged (never with the name).
//
// A name without a record in RDAP or WHOIS that another source has is a contradiction,
// too. It counts as taken, the safe choice, and is logged and counted.
//
// WHOIS is not queried in parallel with a slow RDAP: the first response would decide, and
// a "free" from the weaker source could overtake a record.
//
// # Caching
//
// Verdicts are cached for a short time (free names shorter than taken ones), and equal
// queries in flight are sent once. Prices are not cached: they are read from the active
// catalog. Failures are not cached either. A verdict about a premium name has the registry's fees,
// which are converted with the rate and margin of the moment; orders query them again.
//
// # Whois
//
// Whois queries the same sources in the same order, so it never disagrees with Check about
// whether a name is registered. It adds the registry's record of the name: RDAP's, or
// WHOIS's if RDAP has none, never a mixture. A record has no field for a contact.
package lookup
