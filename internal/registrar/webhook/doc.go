// Package tidings tells agents what becomes of the orders that they have checked
// out.
//
// An agent hears of an order from its payment on: that it exists, and then of
// each change that the agent can see, such as a line that was carried out or
// money that went back. That there is something to tell is written in the
// transaction of the change itself, so no change is lost and none is told that
// did not happen.
//
// There is one row for an order, not one for each change. It counts the changes
// and how many of them the agent knows; a message carries the whole order as it
// is when the message leaves. So an agent never hears of an older state after a
// newer one, an agent that was away for an hour is not drowned when it comes
// back, and the table does not outgrow the orders.
//
//	nothing ──change──► due ──claim──► leased ──taken, nothing new──► nothing
//	   ▲                 ▲               │ │ ├──taken, more happened──► due
//	   │                 └──back-off─────┘ │
//	   └────────failed for a day, or nobody to tell any more
//
// A claim is a compare-and-swap on the time at which the row is due: it moves
// that time to the end of a lease. A change during the lease only counts, and is
// told afterwards. A node that dies leaves the row to the others. So each change
// is told at least once, and the same message twice if a node dies between the
// agent's yes and the note of it; its Request-Id is the same then.
//
// An agent that does not answer holds nobody up: few messages to one agent are
// under way at a time, and after a failure all others to it wait as well.
//
// The message is signed with a secret that the agent and we share; Sign has the
// form. Neither addresses nor contents are logged.
package webhook
