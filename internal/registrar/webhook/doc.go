// Package webhook notifies agents of changes to the orders that they have checked out.
//
// An agent is notified from the payment on: of the order itself, then of each change that
// it can see, such as a provisioned item or a refund. The transaction of the change also
// records that there is an event to deliver, so no change is lost and none is reported
// that did not happen.
//
// There is one row per order, not per change. It counts the events and how many of them
// were delivered; a message carries the whole order as it was when it was claimed. So an agent
// never sees an older state after a newer one, an agent that was down is not flooded when
// it returns, and the table does not outgrow the orders.
//
//	idle ──event──► due ──claim──► leased ──delivered, no new event──► idle
//	 ▲               ▲               │ │ └───delivered, new events────► due
//	 │               └───backoff─────┘ │
//	 └──failed for a day, or the endpoint was removed
//
// A claim moves the due times of a batch to the end of a lease; nodes skip rows that another
// one is claiming. An event during the lease is only counted and delivered afterwards. If a
// node dies, the others take the row when the lease expires. Delivery is at least once: a
// message is repeated, with the same Request-Id, if a node dies between the agent's response
// and the update of the row.
//
// A slow agent does not block others: few deliveries per agent run at a time, and after a
// failure all deliveries to that agent back off.
//
// Messages are signed with a shared secret; see Sign. Neither URLs nor contents are
// logged.
package webhook
