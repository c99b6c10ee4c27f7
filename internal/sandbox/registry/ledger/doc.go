// Package ledger is what a registry knows and the rules by which it changes:
// domains, contacts and hosts, who sponsors them, their periods, transfers and
// the messages about all that. One ledger serves every extension of the world.
//
// It promises that a command is in the journal before it is answered, so that
// nothing that was answered is forgotten, not even by a process that is killed;
// that commands happen one after the other; and that the moment a command ends
// everybody who reads the ledger sees it. It refuses what a strict registry
// refuses, with the same result codes (RFC 5730, 3).
//
// It knows no wire format. The table of names that stood before anybody came
// (google.com is taken, nic.dev is reserved) is handed in as a Table; the ledger
// copies a name from it the first time that somebody changes it.
//
// # Phases of a domain
//
// The clock moves a domain on by itself. Whoever looks at it afterwards sees it
// as if it had happened at the second at which it was due, in the order in which
// it was due, however far the clock jumped.
//
//	phase            begins with                      lasts    then
//	(none)           create, or the end of a pending  to the   renewed by itself for a year, with an
//	                 one                              expiry   autoRenewPeriod; message to the sponsor
//	pendingCreate    create of pending-…              5 s      active; message with paResult 1
//	                 create of pendingfail-…          5 s      gone; message with paResult 0
//	redemptionPeriod delete after the addPeriod       30 d     pendingDelete
//	pendingRestore   restore request in the           7 d      redemptionPeriod again, unless the
//	                 redemptionPeriod                          report made it active before
//	pendingDelete    the end of the redemption        5 d      gone; message with paResult 1
//	transit          delete of a .de name             30 d     gone
//
// A transfer is beside that: while it is pending the domain stays what it is.
//
//	transfer         by                               becomes
//	request          anybody with the authInfo        pending for 5 d; message to the sponsor
//	approve          the sponsor                      clientApproved: moved, one year more; message to both
//	reject           the sponsor                      clientRejected; message to the one who asked
//	cancel           who asked                        clientCancelled; message to the sponsor
//	(nobody)         the clock, after 5 d             serverApproved: moved, one year more; message to both
//
// # Periods in which money comes back
//
//	period           lasts    after            a delete in it
//	addPeriod        5 d      create           takes the domain away at once; the fee comes back
//	renewPeriod      5 d      renew            the fee comes back
//	transferPeriod   5 d      transfer         the fee comes back
//	autoRenewPeriod  45 d     auto-renewal     the fee comes back and the added year goes; a transfer takes
//	                                           the added year from the old sponsor and adds the new one
//
// # Extensions that are different
//
//	.com .net .dev   domains without contacts: naming one is 2306
//	.de              as a gateway presents it: a transfer with the right authInfo happens at once (1000,
//	                 serverApproved, no year added, message to the old sponsor); delete gives the name to
//	                 TRANSIT; there are no grace periods, no redemption and no fee for transfers; name
//	                 servers may be host objects or attributes; only a registrant is wanted
//	all others       a registrant, an admin and a tech contact are wanted; host objects
//
// # Result codes
//
//	2003  a value that the rules want is missing: authInfo with a transfer, the fee of a premium name
//	2004  a value outside of its range: a fee too low, too many years, another expiry date than curExpDate
//	2005  a value that is not what it should be: names, addresses, e-mail, country
//	2102  an option that is not offered: renaming hosts, maxSigLife, urgent
//	2104  the account is broke, or the name begins with unpaid-
//	2105  more than ten years ahead
//	2106  the domain is the asker's own already
//	2201  somebody else's object
//	2202  the wrong authInfo
//	2300  a transfer of a domain whose transfer is pending
//	2301  an answer to a transfer that is not pending
//	2302  the object exists
//	2303  the object does not exist
//	2304  a status forbids it
//	2305  something else still refers to it
//	2306  a rule of the registry forbids it: reserved names, contacts where there are none
//	2307  a domain of an extension that is not served
package ledger
