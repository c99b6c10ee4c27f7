// Package ledger is the state of the simulated registry and the rules by which it
// changes: domains, contacts and hosts, their sponsors, periods, transfers and poll
// messages. One ledger serves every TLD of the sandbox.
//
// A command is in the journal before its response is sent, so a killed process loses
// nothing that it confirmed. Commands are serialised, and every reader sees a command
// as soon as it ends. The ledger refuses what a strict registry refuses, with the same
// result codes (RFC 5730, 3).
//
// It knows no wire format. The initial table of names (google.com is taken, nic.dev is
// reserved) is passed in as a Table; the ledger copies a name from it at its first
// change.
//
// # Phases of a domain
//
// The clock moves a domain through its phases. A reader sees every transition as if it
// had happened at the second it was due and in due order, however far the clock jumped.
//
//	phase            begins with                      lasts    then
//	(none)           create, or the end of a pending  to the   renewed by itself for a year, with an
//	                 one                              expiry   autoRenewPeriod; message to the sponsor
//	pendingCreate    create of pending-…              5 s      active; message with paResult 1
//	                 create of pendingfail-…          5 s      gone; message with paResult 0
//	redemptionPeriod delete after the addPeriod       30 d ¹   pendingDelete
//	pendingRestore   restore request in the           7 d      redemptionPeriod again, unless the
//	                 redemptionPeriod                          report made it active before
//	pendingDelete    the end of the redemption        5 d      gone; message with paResult 1
//	transit          delete of a .de name             30 d     gone
//	expired          the expiry, in zones that do     policy   gone; a renewal within the policy's days makes it
//	                 not renew by themselves                   active again
//
// ¹ 60 d in .at, .co.at and .or.at, 40 d in .be, .ch, .li and .nl.
//
// A pending transfer does not change the phase.
//
//	transfer         by                               becomes
//	request          any account with the authInfo    pending for 5 d; message to the sponsor
//	approve          the sponsor                      clientApproved: moved, one year more; message to both
//	reject           the sponsor                      clientRejected; message to the requester
//	cancel           the requester                    clientCancelled; message to the sponsor
//	(none)           the clock, after 5 d             serverApproved: moved, one year more; message to both
//
// # Grace periods
//
//	period           lasts    after            a delete in it
//	addPeriod        5 d      create           removes the domain at once and refunds the fee
//	renewPeriod      5 d      renew            refunds the fee
//	transferPeriod   5 d      transfer         refunds the fee
//	autoRenewPeriod  45 d     auto-renewal     refunds the fee and removes the added year; a transfer takes
//	                                           the added year from the old sponsor and adds the new one
//
// # Special TLDs
//
//	.com .net .dev   domains without contacts: naming one is 2306
//	.eu              contacts with EURid's types; name servers as attributes; the registry makes the authInfo
//	.at .co.at       contacts with nic.at's types; two to eight name servers as attributes; the registry makes
//	.or.at           an authInfo if none is given
//	.org .info       all four contacts
//	.de              as a gateway presents it: a transfer with the right authInfo happens at once (1000,
//	                 serverApproved, a year from now on, message to the old sponsor); delete moves the name to
//	                 TRANSIT; there are no grace periods, no redemption and no fee for transfers; name
//	                 servers may be host objects or attributes; only a registrant is required
//	.at .be .ch .it  no renew command: 2101
//	.li .nl
//	.cz .eu .fi .nu  no renewal by itself: an expired domain is out of the DNS (serverHold), can be renewed
//	.pl .se .uk      for a while, and is then gone
//	others           a registrant, an admin and a tech contact are required; host objects
//
// The zones of the first lines have a Personality: docs/sandbox-registries.md has what each of
// them refuses.
//
// # Result codes
//
//	2003  a required value is missing: authInfo with a transfer, the fee of a premium name
//	2004  a value outside of its range: a fee too low, too many years, another expiry date than curExpDate
//	2005  an invalid value: names, addresses, e-mail, country
//	2102  an option that is not offered: renaming hosts, maxSigLife, urgent
//	2104  the account has no funds, or the name begins with unpaid-
//	2105  more than ten years ahead
//	2106  the requester already sponsors the domain
//	2201  another registrar's object
//	2202  the wrong authInfo
//	2300  a transfer of a domain whose transfer is pending
//	2301  a decision on a transfer that is not pending
//	2302  the object exists
//	2303  the object does not exist
//	2304  a status prohibits it
//	2305  something else still refers to it
//	2306  a registry policy prohibits it: reserved names, contacts where there are none
//	2307  a domain of a TLD that is not served
//	2308  a reserved name of .eu and .at
package ledger
