// Package dispute follows payments that a customer's bank takes back or asks about: disputes
// (chargebacks), inquiries and returned debits.
//
// # Source
//
// The provider's webhooks only name a dispute; it is fetched, and what the provider then reports
// is stored (decision 0007). A row is read before the dispute is fetched and written by a
// compare-and-swap on its version, so that an older report never replaces a newer one. In case a
// webhook was lost, each open dispute is fetched once a day, and once a day the disputes created
// since the last time are listed, with an overlap of three days and at most MaxListed of them.
//
// # Statuses
//
// The statuses are the provider's:
//
//	status                  meaning                                next
//	warning_needs_response  an inquiry: the bank asks, no money    any
//	                        was taken
//	warning_under_review    we have answered it                    any
//	warning_closed          it ended without a dispute             needs_response, under_review, won, lost
//	prevented               refunded before it became a dispute    needs_response, under_review, won, lost
//	needs_response          the money is taken back; evidence is   under_review, won, lost, or closed
//	                        possible until DueBy                   without a decision
//	under_review            the bank decides                       needs_response, won, lost, or closed
//	won                     the money is returned                  lost ¹
//	lost                    the money is gone                      won ¹
//
//	¹ A bank may reverse its decision. A report that an ended dispute is open again is logged and
//	  ignored; reconciliation then names the difference.
//
// A bank return, such as a SEPA debit without funds, is a dispute that is lost from the start and
// can't be contested.
//
// # Policy
//
// A dispute locks the domains that its charge paid for: unlocking, auth codes and registrant
// changes are refused with domainchange.DomainDisputed, for every caller, and the registry gets the
// transfer lock, and a new auth code where it has no lock. The DNS, renewals and everything else
// stay possible.
//
//	status                       lock                         mail      open work
//	inquiry, open                none                         none      yes
//	warning_closed, prevented    lifted, if there was one     won ⁴     no
//	needs_response, under_review active                       opened    yes
//	won                          lifted                       won       no
//	lost, was open               stays                        lost      until an operator decides
//	lost from the start          active                       returned  until an operator decides
//	lost after won or closed     active again, also at the    lost      until an operator decides
//	                             registry
//	open after closed            active again, as above       opened    yes
//
//	⁴ Only if there was a lock.
//
// The lock is part of the dispute:
//
//	lock      meaning                                              next
//	none      an inquiry, or the charge paid for nothing here ²    active
//	active    set by the program                                   lifted, kept, denying
//	kept      an operator keeps it after a loss                    lifted, denying
//	denying   an operator denies transfers for non-payment: gTLD   denied, lifted
//	          domains are put on clientHold first, then pending
//	          transfers are rejected ³
//	denied    transfers are denied; the customer gets the mail     lifted, kept ⁵
//	lifted    by a win or by an operator                           active ¹
//
//	² The charge is unknown, or the payment is not the one that was captured for its order. Such a
//	  dispute is stored and shown to operators, nothing else happens.
//	³ ICANN's Transfer Policy (I.A.3.7) allows a denial for non-payment only if the domain is on
//	  hold before. ccTLD domains get no hold. A registry that refuses the hold, for example
//	  because a transfer is pending, is asked again every 20 hours; the dispute stays in denying,
//	  and the transfer is not rejected.
//	⁵ Both put the domains back into the DNS, and the customer gets a mail about it.
//
// A lock that a win lifts after an operator's decision leaves the decision as it was made. If the bank then
// reverses its own, the lock starts again, without a decision.
//
// Lifting removes clientHold, if it was set for this dispute. The registry's transfer lock stays;
// the customer can remove it. The holder of a domain that was transferred to us during the dispute is
// set then: the lock has refused that change.
//
// A lost dispute means that the order is unpaid. Invoice and order don't change: the operators'
// page shows the open claim, and the customer's page of the order says that the payment went back.
//
// # Failpoints
//
//	failpoint          committed before            call next to it           after a crash there
//	dispute_fetched    nothing                     fetch: done               the webhook is repeated, or
//	                                                                         the list finds it
//	dispute_stored     the row, due now            lock at the registry      the row is due
//	dispute_secured    a domain change             the row's next check      the change is found again
//	dispute_decided    the decision, due now       hold at the registry      the row is due
//	dispute_held       a domain change             the row's state           the change is found again
//
// What happens between a domain change and the registry is in package domainchange.
package dispute
