// Package contactcheck makes sure that the email address of every registrant was confirmed by its
// owner, within 15 days of a registration, an incoming transfer or a change of the address (ICANN
// RAA, WHOIS accuracy specification; § 49 BSIG).
//
// # What has to be confirmed
//
//	address of the registrant                         what happens
//	the confirmed one of the account                  nothing; it counts, and no mail is sent
//	confirmed here before, for the same account       nothing
//	the same as before a change of other data         nothing changes
//	any other, and always that of a guest             a check
//
// A renewal needs no check. A guest who claims an order with the link from a mail has confirmed
// the address, too; so the mail about the purchase asks first, and a check is opened only if it
// was not answered for a day. Domains from before this package are checked when their address
// changes.
//
// # A check is a row
//
// A row is about one address of one account, so that a customer with a hundred new domains for a
// client causes one mail and not a hundred. The domain has the id of its check: the statement that
// sets its registrant marks it as new, without another statement in a purchase, and a job opens
// the check or joins one whose first reminder is not sent yet. If the first mail of that one is sent,
// another mail names all of its domains, at most one an hour. Domains that come later get a check
// of their own, because each has its 15 days. All mails have the language of the first one.
//
//	state      meaning                                          next
//	pending    the address is asked; notices counts the mails   suspended, confirmed, obsolete
//	suspended  its domains are, or are being, put on hold        confirmed, obsolete
//	confirmed  by a link, the account, a claim or an operator   (final)
//	obsolete   it has no domain any more                        (final)
//
//	day  step, in business time, counted from the registration, transfer or change
//	0    the first mail; to a guest on day 1
//	5    a reminder
//	12   the last reminder; between it and the suspension are always three days. A warning to the
//	     customer goes out with it
//	15   the last day on which a confirmation helps, a whole one in Germany: mails and pages name it
//	then clientHold for each domain; a mail to the customer when the registries have decided
//
// # Suspension
//
// The intent is stored first: domains.contact_hold has the check. Then each domain gets a change
// of package domainchange, which survives crashes; it is stored only while the domain still waits
// for a confirmation. A confirmation clears domains.contact_check in its own transaction, and a
// domain with a hold but without a check is released. So a hold that was under way during the
// confirmation is removed as well.
//
// contact_hold stays the same until the domain is released, because it also names the changes at
// the registry. If the holder changes meanwhile to another unconfirmed address, before the hold
// was stored, the hold comes first and then the check of that address.
//
//	contact_check  contact_hold  meaning
//	empty          empty         nothing to do
//	new            any           its check is not opened yet
//	guest          empty         only the claim mail has asked yet
//	a check        empty         it waits for the confirmation
//	a check        a check       suspended, also after a change to another unconfirmed address
//	empty          a check       the hold is being removed
//
// Some registries, as EURid, accept no clientHold (domainchange.Capabilities.NoHold). Mails and pages
// say that such a domain stays in the DNS, and the warning names it apart; what then happens, an
// operator decides.
//
// The mail to the customer names the domains that are offline, never one whose hold was refused. If
// some were refused, there is another mail once all are on hold. Pages show a suspended check
// without a domain on hold as overdue.
//
// While a domain is suspended, neither a renewal nor a won payment dispute removes the hold; and a
// confirmation leaves the hold of a dispute alone.
//
// Suspensions count for the safety brake of package lifecycle, each domain as one, but for those that
// stay in the DNS, which its preview names apart: more than its
// limit per day wait until an operator has confirmed the preview. A stop by the clock also ends
// mails. What needs an operator waits (waits_for) and is tried again every day:
//
//	notices  the mail server did not accept all three mails: nobody is suspended without them
//	refused  a domain is not on hold: its registry refused it, its status forbids it, or no account
//	         serves it; the operators' page names domain and reason
//
// An operator can also confirm an address by hand, with a note about how it was verified.
//
// # Links
//
// Each mail has its own link; all of them work until they expire, and more than once. Opening a
// link changes nothing, because mail scanners open links: a button confirms. It needs no sign-in,
// creates no session, and its page names neither domains nor the customer, because the address may
// be a stranger's.
//
// # Evidence
//
// The row has when and how the address was confirmed, and from where. The mails are kept as sent,
// with the mail server's response and without their links; their subject is the check.
//
// # Failpoints
//
//	failpoint           committed before   next                       after a crash there
//	suspension_written  suspended          hold of the first domain   each domain is looked at again
//	contact_confirmed   confirmed          release of the first       the released domain is found by its columns
package contactcheck
