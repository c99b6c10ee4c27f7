// Package transferaway follows transfers of our domains to other registrars: it notifies the
// registrant, lets them or an operator stop or approve a transfer, and records how it ended.
//
// # A transfer is a row
//
// The transaction that stores a registry's message about a transfer opens its row (package
// inbox has the messages). If the registry sends none, the registry sync opens it when a domain
// has the status pendingTransfer, or when another registrar sponsors it. A request has one row:
// a unique index on the domain, the time of the request and the gaining registrar refuses a
// second one.
//
//	state      meaning, and what may have happened upstream       next
//	new        the request is known; the registrant is not        pending, or ending
//	           notified yet
//	pending    the registrant is notified; the registry approves  stopping, approving, or an end that
//	           at ActsAt unless the transfer is stopped           the registry reports
//	stopping   the objection is stored; the rejection may have    stopped, pending if the registry
//	           been executed                                      refuses it, or another end
//	approving  the approval is stored and may have been executed  approved, pending, or another end
//	ending     the registry reports an end of a transfer that     an end
//	           was never pending here
//	stopped    we rejected it; the domain stays                   (end)
//	approved   we approved it; the domain has left                (end)
//	completed  the registry approved it, or the domain left       (end)
//	           without a pending phase
//	cancelled  the gaining registrar or the registry cancelled    (end)
//	           it; the domain stays
//	kept       it is no longer pending and the domain stays; the  (end)
//	           registry does not say why
//
// A decision is stored before its command. Execution starts with a query (transfer
// op="query"), so any node can repeat it at any time, and a row ends only as the registry
// reports it: a rejection that comes too late ends as completed, never as stopped. Of two
// decisions at the same time the first is stored; the second gets AlreadyDecided.
//
// The end of a transfer by which the domain has left makes the domain transferred out in the same
// transaction, whether it came by an order or was added by an operator.
//
// A row in new or ending that turns out to be the repetition of another one, or to be no
// transfer at all, is deleted: the sync may have read the registry before the transfer ended.
//
// # Evidence
//
// Stopping is the registrant's written objection (ICANN Transfer Policy, I.A.3.7.4). The row
// keeps who objected, when, from which address, and the sentence that they confirmed.
// It requires a recent sign-in, and so does approving. Operators reject for one of Reasons;
// package dispute rejects for non-payment. An approval is checked against locks and payment
// disputes when it is stored and again when it is executed. The
// notice to the registrant is kept as sent (registrar.MailKind.IsNotice).
//
// In this program the registrant's address is always the account's, so one mail is enough.
//
// # Registries
//
// Rules says whether a registry lets us answer. Where it does not, page and mail say so and name
// what the registrant can do instead. After registration, transfer or a change of the
// holder a transfer may be refused for some time: LocksOf, from transferlocks.csv.
//
// # Failpoints
//
// A build with the tag failpoint can be killed at each of these points:
//
//	#  failpoint           committed before it     call next to it      after a crash there
//	1  transfer_decided    stopping or approving   query next           query, then the answer
//	2  transfer_queried    stopping or approving   answer next          query, then the answer
//	3  transfer_answered   stopping or approving   answer done          query finds the end
//	4  transfer_ended      an end                  (none)               nothing is left to do
package transferaway
