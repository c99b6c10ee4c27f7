// Package provision turns a paid line of an order into a registered, transferred
// or renewed domain, or into a failed line that is marked for a refund; never into
// both, never into neither.
//
// # The line is the record
//
// A line is one row. There is no queue beside it: the row says how far the line
// has come, when it is due, and which node works on it (docs/decisions/0006). A
// step is taken by a compare-and-swap on the state and the due time together, so
// of two nodes that hold the same line one finds nothing to change and stops.
//
//	state      means, and what may have happened outside       next                on a refusal
//	paid       nothing has happened yet                        contacts ¹          failed
//	contacts   the handle is chosen; the contact may exist     hosts ¹             undoing
//	hosts      the contact exists; nameservers may             requested           undoing
//	requested  the create, transfer or renewal may have been   active, or pending  undoing
//	           carried out                                     if the registry
//	                                                           says 1001
//	pending    the registry has it and will decide             active              undoing ²
//	undoing    refused for good, and marked for a refund; the  failed              (waits)
//	           contact may still exist
//	active     the domain is registered: its row is active     (end)
//	failed     nothing of it is left at the registry           (end)
//
//	¹ States that an extension has no use for are left out: .com has no contacts,
//	  .de has no host objects, and a transfer or a renewal brings its own of both.
//	² If the registry decides against it.
//
// With the first step the customer's domain appears as pending; with the last it
// becomes active or disappears again. A renewal is about a domain that is there:
// with its last step the paid term grows, and if it fails nothing changes.
//
// A renewal is recognised by the registry's expiry: the one at which it begins is
// read and stored before the command, which names it too. If the registry has
// renewed by itself, as many do at the end of a term, nothing is sent and only the
// customer's term grows. A domain that had expired becomes active again, and is
// put back into the zone if we had taken it out.
//
// A failure of the connection, a registry that is closed, an account without
// money: these are not the customer's fault. The line waits, with longer pauses
// each time, and is never given up; an account without money is an error in the
// log and a figure for an alarm. What the registry refuses for good (the name is
// gone, it is reserved, the auth code is wrong) fails the line.
//
// # Boundaries between intent and effect
//
// Before each call that changes something the intent is committed, with every id
// that the call will use: the contact's handle, the auth code (sealed), and the
// line's own id, from which the transaction ids follow. Whoever finds a line in a
// state does not know whether its call was sent, so it asks before it repeats.
// Each name below is a place where a test kills the process.
//
//	 #  boundary          committed before it        the call beside it     after a crash there
//	 1  taken             contacts (or later)        contact create next    contact info, then create
//	 2  contact_made      contacts                   contact create was     contact info finds it
//	 3  contact_known     hosts (or requested)       host create next       host create: 2302 is fine
//	 4  hosts_made        hosts                      host create was        host create: 2302 is fine
//	 5  requested         (requested)                domain create,         domain info or transfer query,
//	                                                 transfer or renew      then the command
//	                                                 next
//	 6  answered          requested                  domain create,         domain info or transfer query
//	                                                 transfer or renew was  finds it
//	 7  pending           (pending)                  (the registry's)       domain info or transfer query
//	 8  decided           pending                    info or query was      the same question again
//	 9  undoing           undoing, refund due        contact delete next    contact delete: 2303 is fine
//	10  undone            undoing, refund due        contact delete was     contact delete: 2303 is fine
//	11  message_stored    the message, and what it   acknowledge next       the message comes again and is
//	                      makes due                                         known
//	12  message_gone      the same                   acknowledge was        nothing
//
// A domain that is found counts as the line's only if it carries the line's auth
// code or its contact: the same name may have been registered through the same
// account for somebody else.
//
// # What the registry knows
//
// The registry's messages are stored, and what they are about is made due for a
// look, before they are acknowledged. Domains are looked at after a message and
// once a day. The registry's own fields follow it: its status words, its expiry,
// and with them a domain that has left for another registrar or waits in
// redemption. Every other difference is drift: it is reported and nothing is
// changed, because which side is right is for a person to say.
package provision
