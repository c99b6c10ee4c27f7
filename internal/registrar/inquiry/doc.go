// Package inquiry accepts messages from the contact form and lets operators handle them.
//
// Anyone may write, with or without an account. An inquiry is stored in one transaction with
// the acknowledgement to its sender and, if configured, a mail to the operator. Its id is the
// reference number that all of them name. Operators reply from their own mailbox and close the
// inquiry with a note.
//
// # States
//
//	state     becomes   when
//	open      handled   an operator closes it with a note about what was done
//	handled   deleted   a year later, or when its customer closes the account
//
// Closing is a compare-and-swap in one transaction with its audit event. Of two operators who
// close the same inquiry, the second gets AlreadyHandled and changes nothing.
//
// # Deadlines
//
//	topic     reply within
//	privacy   a month: requests about personal data (Art. 12 Abs. 3 GDPR)
//	abuse     a day: our own aim
//	others    three days: our own aim
//
// No page promises these to the sender. The earliest is listed first.
//
// # Duplicates
//
// A form that is sent twice on one day (a double click, a reload, a response that was lost) is
// one inquiry: a unique index over a digest of sender, content and day finds the stored one. Its
// number is returned again, and nothing is mailed.
//
// # Abuse
//
// The acknowledgement goes to an address that anyone may have entered. It therefore contains
// nothing that the sender wrote, only our own sentences and the reference number. Inquiries are
// rate limited by network, by recipient and in total, and texts have maximum lengths. A field
// that people don't see catches programs that fill in every field; a form with it filled in is
// refused, not dropped, so that a person whose browser filled it in can send it again.
package inquiry
