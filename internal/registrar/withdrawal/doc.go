// Package withdrawal accepts legal notices from customers without sign-in: withdrawals
// from a contract and terminations of one.
//
// By law both must be as easy as ordering. Anyone may use the form, and nothing is checked against
// accounts: a response that depended on a contract would disclose it. A notice is stored as
// submitted, with its time, in one transaction with the confirmation to the sender and, if
// configured, a mail to the operator. The operator decides what follows; until then the notice is
// open. For that decision the operator is shown which orders a notice may concern, whether their
// consumers consented to an early start, and which domains it names: those that a customer holds,
// whether they were ordered, transferred here or imported.
//
// # States
//
//	state     becomes   when
//	open      handled   an operator closes it with a note about what was done, the refunds that were
//	                    ordered for it are made and leave nothing of what it is about (package
//	                    order), or Terminate ends the contracts
//
// A withdrawn contract has ended once something was refunded for its notice, also if a part is kept for
// the days before: when the notice is closed, automatic renewal ends for these domains. So it does for
// those of a termination that is closed with its day. In all other cases the contracts go on, with the
// automatic renewal that the open notice has put on hold.
//
// With the note, the operator may write to the sender and state the day on which a contract ends.
// Then, and only then, closing mails the sender, whose receipt has promised an answer. The day is not
// before the notice arrived, and not after the end of the longest paid term of the domains that it is
// about, if any is known: the mail confirms it at once (EndDays).
//
//	state     becomes   when
//	handled   open      the bank returned a refund for it, which leaves something of what it is about:
//	                    it is open until the customer has the money
//	          -         otherwise it stays as evidence: who closed it, when, the note, the reply and the
//	                    days on which contracts end
//
// # Actions
//
// The operator does what a notice asks from its page. Each action has a preview first, and closes
// the notice itself; a partial refund leaves it open.
//
//	notice        action      effect
//	withdrawal    refund      money, credit note and mail (package order); with a deletion, if the
//	                          operator chooses it
//	termination   Terminate   the chosen domains expire at the end of their paid terms, consents to
//	                          automatic renewal end, announced charges stop, and each account gets a
//	                          mail with the days
//
// Terminate is one transaction with its audit events and mails. It changes nothing while a charge
// is in flight (renewal.InProgress), and if a domain has changed since the preview. The mail goes to
// the account, not to the sender, whose address nothing has verified: a customer who did not
// terminate takes it back in the portal. The page says if the addresses differ, and if a term ends
// before the day that the notice states; it does not choose such a domain by itself. Nor does it choose
// one for a termination for cause, which takes effect at once: Terminate is for one without a good
// cause, and its mail says so. One with a good cause is refunded on the order's page, and closed with
// the day on which the contract has ended.
//
// Closing is a compare-and-swap in one transaction with its audit event. Of two operators who
// close the same notice, the second gets AlreadyHandled and changes nothing.
//
// # Deadlines
//
//	notice        handle by
//	withdrawal    14 days after it arrived: payments are returned by then (§ 357 Abs. 1 BGB,
//	              Art. 13 Abs. 1 Directive 2011/83/EU)
//	termination   at once: the day on which the contract ends is confirmed (§ 312k Abs. 4 BGB)
//
// The day for which a termination is declared is no deadline of ours:
//
//	termination               takes effect
//	for a day                 on that day
//	without a day             as early as possible (§ 312k Abs. 5 BGB)
//	for cause                 when it arrives; a day in the form is not used
//
// The day of arrival is that of UTC, which is never after the one in Germany: a deadline is never
// shown later than it is. Weekends, which would extend it (§ 193 BGB), are ignored for that reason.
//
// # Duplicates
//
// A form that is sent twice on one day (a double click, a reload, a response that was lost) is one
// notice while the first one is open: the digest of sender, content, day and the orders that it may
// concern is claimed in the transaction that stores it. Its number is returned again, and nothing is
// mailed. A form that arrives on another day, after the first notice was handled, or after another order
// was paid may mean something else, so it is a new notice with its own receipt.
//
// Because the confirmation goes to an arbitrary address, notices are rate limited by
// network and by recipient.
package withdrawal
