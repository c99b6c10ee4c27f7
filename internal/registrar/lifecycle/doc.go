// Package lifecycle follows a domain to the end of its paid term and beyond: it notifies the
// customer in time, and acts at the registry when nobody has paid.
//
// # Notices
//
// Each term has three notices: about a month before its end, about a week before, and
// within days after it, as ICANN's Expired Registration Recovery Policy requires; they
// are sent for every TLD. Each is sent once: the last notice is stored with the domain,
// updated by a compare-and-swap in the transaction that queues the mail, and reset when a
// renewal extends the term. A missed notice is not sent late: the one that fits the day
// is sent.
//
//	days to the end   notice    effect on the domain
//	more than 30      none
//	30 to 7           month
//	7 to 0            week
//	past the end      expired   becomes expired, with a row in term_ends
//
// At the end of the term, the domain is also due for a comparison with its registry (package provision),
// so that pages show what that has done. Where that renews by itself, a domain that waits for
// consent or an operator runs on unpaid: its customer is reminded after 14, 30, 60 and 90 days, by the
// expired notice marked as a reminder, unless they let it expire.
//
// While a paid item is open for the domain, such as a renewal waiting for its registry,
// no notice is sent and nothing expires: the customer has paid.
//
// Once a year the customer is asked to check their registrant data (ICANN WDRP).
//
// # The end of a term
//
// termpolicy.csv has what each registry does at the end of a term and what we do about a
// domain that is not paid, each with its source. A gTLD domain, with T the end of its term:
//
//	T        the registry renews it and charges us
//	T+10     hold: out of the DNS, still renewable, and back at once when paid
//	T+35     deleted within the registry's grace: the registry refunds its charge
//	to T+65  redemption: can be restored, at the restore price
//
// An unpaid term is one row. Each transition is a compare-and-swap; the intent is stored
// before the command, and a node that finds an intent asks the registry first.
//
//	state       meaning, and what may have happened upstream    next
//	unpaid      the term ended; the domain is renewable         holding, deleting, redemption ¹, closed ¹, paid
//	holding     clientHold may be set                           held, unpaid ⁴, redemption ¹, closed ¹, releasing ²
//	held        out of the DNS, renewable                       deleting, releasing ²
//	deleting    the delete command may have been executed       redemption, closed, held ⁴ or unpaid ⁴
//	redemption  deleted, can be restored                        closed, paid ³, unpaid ⁵
//	releasing   renewed; clientHold may still be set            paid
//	closed      it no longer is the customer's: deleted for     (final)
//	            good, handed over to the registry (transit),
//	            or transferred to another registrar
//	paid        renewed or restored                             (final)
//
//	¹ If the registry has deleted it, or another registrar has it.
//	² By a renewal. The hold may have been sent while the renewal was provisioned, so the
//	  worker asks the registry once more.
//	³ By a restore.
//	⁴ If the registry refuses the command.
//	⁵ If it was restored at the registry, not by an order; it waits for an operator.
//
// A renewal or restore ends the row in its own transaction (package provision). Before each
// command, the store locks the domain and compares its term again: a renewal that is paid
// or being paid comes first, and while a domain is being deleted, none can be provisioned.
// Between hold and deletion there are always eight days, also after an outage. When a row
// is closed, the registrant's contact is deleted and the domain leaves the customer's list;
// its history stays in the audit log, the sent notices and here, from where the portal shows it as a
// former domain (package portfolio). Mails about the term name the customer's cancellation, if there
// is one.
//
// A registration that was refunded may be deleted before its term ends (package order). Its row
// begins as deleting, with the cause refund: no notice, consent or brake applies, because an operator
// decided on it. If the registry refuses, the row waits and is tried again every day. The fee that
// the registry returns is stored with the transition to redemption or closed, once (package cost).
//
// A domain that its registry deleted after its term, and that has no open row, gets one in state
// redemption from the comparison with the registry, also if its term had ended before the first run. It
// is only followed, so that pages know until when it can be restored and it is closed when it is gone.
//
// What needs an operator waits (waits_for), is listed with its reason, and is checked again
// every day:
//
//	operator  the policy is "operator", or an automatic renewal of the term could not be
//	          charged although the card was not declined
//	consent   the policy is "consent", and the customer did not choose to let it expire
//	notices   the mail server accepted no notice before the end of the term, or none after
//	          it: nobody loses a domain without them
//	locked    an operator locked the domain
//	refused   the registry refused a command
//	restored  the registry shows a deleted domain as registered
//	left      an operator decided to leave it alone; not checked again
//
// An operator decides: delete (or hand over, where that is the policy), or leave. A
// deletion by decision needs no notices and no consent, and is not limited by the brake; a
// renewal and a lock still come first.
//
// # Brake
//
// One row in brakes guards all nodes. Storing the intent of a hold or a deletion counts it
// in the same transaction; the suspensions of package contactcheck count, too. The brake stops
//
//	volume  more than max(20, 1 %) of all domains in a day would be held or deleted
//	clock   the business time is more than 24 hours ahead of the last run, or behind it by
//	        more than 24 hours
//
// The volume is checked before the first action of a batch, and again with each. A stop by
// volume ends holds and deletions; what has begun is finished. A stop by the clock also
// ends notices, announcements and charges, and leaves begun commands alone; meanwhile the
// last run follows the clock, so that a corrected clock stops nothing again. An operator
// sees the preview, the list of what would happen now, and confirms it. The confirmation
// allows as many actions that day as the preview had rows; if there are more by then, it
// is refused. Terms that had ended before the first run are listed for the operator and
// never acted on, unless the operator starts the procedure.
//
// # Failpoints
//
//	failpoint         committed before       call next to it      after a crash there
//	hold_written      holding                update: next         info, then update
//	hold_made         holding                update: done         info shows clientHold
//	delete_written    deleting               delete: next         info, then delete
//	delete_made       deleting               delete: done         info shows redemption, or nothing:
//	                                                              the registration's fee was returned
//
// Days follow the business time, which a sandbox can move.
package lifecycle
