// Package domainchange lets customers manage their domains at the registry: nameservers,
// DNSSEC, transfer lock, auth code and registrant contact.
//
// # Guarantees
//
// The registry is authoritative. Displayed data was read there and carries its time;
// changes are made there first. Only the customer who holds a domain sees or changes it.
// Every change that could help to take a domain away (all except setting the lock)
// requires a recent sign-in, is audited, and is confirmed by mail. Domains of an
// unclaimed guest order belong to an account without sign-in, so they can't be changed.
//
// # A change is a row
//
// A change describes the desired state, never the steps: exactly these nameservers, this
// DS record present, this lock set. Execution starts by reading the registry's state and
// sends the difference, so any node can repeat it at any time. A unique index allows one
// open change per domain.
//
//	state        meaning, and what may have happened upstream     next
//	open         the intent is stored; the command may have been  done, refused, pending on result
//	             executed                                         1001, or removing_ds
//	removing_ds  the domain has DS records; they may have been    waiting, refused or canceled
//	             removed
//	waiting      the DS records are removed; resolvers may still  open at WaitUntil, refused or
//	             have them                                        canceled
//	pending      the registry accepted it and decides later       done, or refused if it decides against it
//	done         the registry has the desired state               (end)
//	refused      the registry refused, the reason is stored; or   (end)
//	             an operator abandoned or prevented it
//	canceled     the customer canceled it before the nameservers  (end)
//	             were changed
//
// # Nameservers of a signed domain
//
// Resolvers that have a DS record reject every answer of nameservers that don't sign with its
// key, so new nameservers would take the domain offline. Nameservers are therefore never
// changed while the registry has DS records, unless the customer requested that explicitly
// (DesiredState.Immediate). An open change that finds some becomes removing_ds, removes them
// and waits for the TTL that they have in the zone of the TLD (dsttl.csv, 24 hours if
// unknown), counted from their confirmed removal, in business time. Then it is open again, and
// looks again: records that were added meanwhile are removed first, too. That records were
// found is stored before they are removed, because after a crash the registry has none.
//
// A refusal that names nameservers (ServersRefused) is stored with their names, which pages repeat.
//
// A registry with host objects gets those of the new nameservers first: one that it refuses ends the
// change while the domain still has its DS records. If the change is refused, prevented or abandoned after
// their removal has begun, the customer gets a mail, and the domain's page says why.
//
// The request is audited as ActionPlanned, and the change of the nameservers as the system's.
// Until the second step begins the customer can cancel, which a mail confirms. The nameservers stay; the DS
// records are not added again, because they may no longer match; the domain's page offers them. While a change
// waits:
//
//	another change, also of the nameservers   refused with ChangeInProgress; cancel first
//	Secure                                    ends it
//	DS records added in another way           removed again, with another wait
//	the domain is transferred away, expires   refused with that reason when the wait ends, even if
//	  or is deleted                           the registry has the name again for someone else
//
// The request that creates a change waits for the first attempt. If the registry does not
// respond, a loop claims the row and retries with backoff, and the page shows it as in
// progress. Each step is a compare-and-swap on state and due time, as in package provision.
//
// A request about many domains (QueueChange, package bulk) stores one row for each of them and
// waits for none.
//
// A new domain's transfer lock is such a row too. Package provision stores it when it activates
// the domain; its actor is the service, and it sends no mail. A customer's request waits for it
// for a few seconds. If the registry refuses the lock, the domain stays unlocked and its page
// says so.
//
// # Failpoints
//
// Tests kill the process at each of these points:
//
//	#  failpoint        committed before it   call next to it       after a crash there
//	1  change_written   open                  domain update next    domain info, then the difference
//	2  change_carried   open                  domain update done    domain info finds nothing to do
//	3  change_ended     done or refused       (none)                nothing is left to do, or the lock
//	4  ds_found         removing_ds           removal of DS next    domain info, then the removal
//	5  ds_removed       removing_ds           removal of DS done    domain info finds none; waits
//	6  ds_waiting       waiting               (none)                waits until the stored time
//	7  ns_begun         open                  domain update next    domain info, then the difference
//
// # Auth code
//
// The auth code is shown once, in the response to the request, and stored only until it
// is set. Each request sets a new code and invalidates the previous one. After a crash
// between setting and showing it the customer requests another one.
//
// # Operators
//
// For a dispute or a court order (Secure) the registry gets the transfer lock and a new
// auth code in one command. The code is disclosed to no one, so a code that the customer
// obtained earlier no longer works, even at a registry without a transfer lock. If the
// registry chooses codes itself, only the lock is set.
//
// # Payment disputes
//
// For a payment dispute (package dispute) the service itself stores changes: the transfer lock, or
// Secure at a registry without one; after a loss Hold and Release, which also serve unconfirmed addresses
// and operators' locks. DesiredState.Lock has the dispute, check or lock. They send no mail: the dispute has its own.
//
// # Abandoned changes
//
// A change whose registry account was removed from the configuration can't be executed
// and blocks further changes while it is open. An operator can abandon such a change, and
// only such a change.
//
// # Registrant
//
// A change of the registrant (UpdateRegistrant) names a holder of the account (package holder) and
// carries a copy of its data, for which the TLD's rules were checked; the data are checked again
// and sent as they are, whatever the holder has by then. When the change is done, the domain gets
// the copy, and its former registrant is kept in its history, in one transaction.
//
//	registry               what happens there
//	stores no registrants  nothing; the change is done at once
//	stores contacts        a new contact is created, assigned to every role of the old one, and
//	                       the old one is deleted; if the registry refuses, the new one is
//	                       deleted again
//
// Of two requests at once, one is stored and the other gets ChangeInProgress, also if the first one
// was done meanwhile: a change is stored only for the registrant that the domain had when it was
// prepared, whose contact it replaces.
//
// A contact belongs to one domain. Former and new registrant are notified at their addresses,
// unless that is the customer's, who gets the mail about every change.
//
// A domain that was transferred to us has the contacts of its former registrar. Package provision
// stores a change of the registrant when it activates the domain; the transfer lock follows it,
// also if the registry refuses the change. If the lock of a payment dispute refuses it, it is stored
// again once the lock is lifted (RepeatDisputed).
package domainchange
