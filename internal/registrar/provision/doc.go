// Package provision turns a paid order item into a registered, transferred or renewed
// domain, or into a failed item marked for a refund. Every item ends in exactly one of
// the two.
//
// # State
//
// An item is one row, and there is no separate queue: the row holds the state, the due
// time and the node that has the lease (docs/decisions/0006). Each transition is a
// compare-and-swap on state and due time together, so if two nodes hold the same item,
// the second one updates no row and stops.
//
//	state      meaning, and what may have happened upstream    next                if refused
//	paid       nothing has happened yet                        contacts ¹          failed
//	contacts   the handle is chosen; the contact may exist     hosts ¹             undoing
//	hosts      the contact exists; the host objects may        requested           undoing
//	requested  the create, transfer or renew command may have  active, or pending  undoing
//	           been executed                                   on result 1001
//	pending    the registry accepted it and decides later      active              undoing ²
//	undoing    refused for good and marked for a refund; the   failed              (retries)
//	           contact may still exist
//	active     the domain is registered, its row is active     (end)
//	failed     nothing is left at the registry                 (end)
//
//	¹ States that a TLD does not need are skipped: .com has no contacts, .de has no host
//	  objects, and transfers and renewals need neither.
//	² If the registry decides against it.
//
// The first transition adds the customer's domain as pending; the last one activates or
// removes it. Where the registry has a transfer lock (Rules.TransferLock), the transition that
// activates a registered or transferred domain also stores a domain change that locks it: an
// EPP create or transfer carries no status. Package domainchange executes and retries that
// change. The item has ended by then, so a lock that fails neither delays nor fails the order,
// and pages show the registry's statuses, never an assumed lock. A renewal works on an existing domain: its last transition extends the paid
// term, and a failure changes nothing.
//
// A renewal is recognised by the registry's expiry date, which is stored before the renew
// command and is part of it. If the registry has already renewed by itself, as many do at
// the end of a term, or has no renew command at all, no command is sent and only the
// customer's term is extended. An
// expired domain becomes active again, clientHold is removed at once if we had set it, and
// the last transition ends the unpaid term (package lifecycle).
//
// A restore is a renewal that begins with a restore request and, where the registry demands
// it, a restore report (RFC 3915). It adds no years if the domain was deleted during its
// paid term; otherwise it adds terms until the end lies in the future. What the registry
// shows (redemption, waiting for the report, restored) decides the next command, so a
// repetition sends none twice.
//
// A lost connection, a closed registry or an account without funds is not the customer's
// fault: the item is retried with exponential backoff and never abandoned. An account
// without funds is also logged as an error and counted. A final refusal (name taken, name
// reserved, wrong auth code) fails the item. GiveUpAfter its payment, an operator may give up
// an item that waits (GiveUp): in the states paid, contacts and hosts in any case, in requested and
// pending only if the registry reports that it has neither executed nor accepted the request. It
// then goes on as if refused.
//
// What customers and agents see of an item that waits does not depend on the cause, which they
// can't change. The order page, the portal and get_order_status say:
//
//	since the payment     register, renew, restore                       transfer
//	up to 15 minutes      being registered, renewed or restored; the     in progress, and how many days it may take
//	                      order page also says that it sometimes takes
//	                      longer, and what is refunded
//	after that            the same; it takes longer than usual, what     the same
//	                      was paid and when, nothing has to be done, and
//	                      what can't be completed is refunded in full
//	                      (order.Order.IsDelayed)
//	once it has failed    failed, why, and the refund                    failed, why, and the refund
//
// The domain is listed as pending all the time, and a renewed one with its old term. No mail is
// sent before the item has ended.
//
// # Failpoints
//
// Before each call with an effect the intent is committed, with every identifier that the
// call uses: the contact handle, the sealed auth code, and the item's id, from which the
// transaction ids are derived. A node that finds an item in a state cannot know whether
// its call was sent, so it queries the registry before it repeats the call. Tests kill
// the process at each of these points:
//
//	 #  failpoint         committed before it        call next to it        after a crash there
//	 1  taken             contacts (or later)        contact create next    contact info, then create
//	 2  contact_made      contacts                   contact create done    contact info finds it
//	 3  contact_known     hosts (or requested)       host create next       host create: 2302 is fine
//	 4  hosts_made        hosts                      host create done       host create: 2302 is fine
//	 5  requested         (requested)                domain create,         domain info or transfer query,
//	                                                 transfer or renew      then the command
//	                                                 next
//	 6  answered          requested                  domain create,         domain info or transfer query
//	                                                 transfer or renew      finds it
//	                                                 done
//	 7  pending           (pending)                  (the registry's)       domain info or transfer query
//	 8  decided           pending                    info or query done     the same query again
//	 9  lock_stored       active, the lock's change  lock next              package domainchange executes the
//	                                                                        change
//	10  undoing           undoing, refund due        contact delete next    contact delete: 2303 is fine
//	11  undone            undoing, refund due        contact delete done    contact delete: 2303 is fine
//	12  message_stored    the message, and the       acknowledge next       the message arrives again and is
//	                      rows it makes due                                 recognised
//	13  message_gone      the same                   acknowledge done       nothing
//
// A domain found at the registry counts as the item's only if it carries the item's auth
// code or contact: the same account may have registered the name for another customer.
//
// # Synchronisation with the registry
//
// Poll messages are stored, and the rows they concern made due, before they are
// acknowledged. A domain is compared with the registry after a message and once a day.
// Registry statuses and expiry are copied, and with them a domain that has been
// transferred out or is in redemption; one that was deleted after its term is then followed by package
// lifecycle. The whole record is stored beside the domain, for its
// customer's page and for RDAP. Every other difference is drift: it is reported and nothing
// else is changed, because an operator has to decide which side is right.
package provision
