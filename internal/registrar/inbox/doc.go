// Package inbox holds the poll messages of registries (RFC 5730, 2.9.2.3) and lets operators
// read them.
//
// A message is stored, with its kind, its details, the domain it is about and whether an
// operator has to read it, in the transaction that makes the domain and its open order items
// due. Only then is it acknowledged. A message that is delivered twice is stored once.
//
// # Who reads what
//
// The program handles what its own orders and the registry sync follow, and stores it as read.
// Everything else is unread until an operator marks it as read, with or without a note:
//
//	kind             about                                           stored as
//	transfer         pending, requested by another registrar         read: package transferaway follows it
//	                 pending, requested by us                        read: the order follows it
//	                 ended, of our order or of a domain we hold      read: the order or the sync follows it
//	                 a contact or a host                             unread
//	pending_action   performed                                       read: the order or the sync follows it
//	                 refused                                         unread
//	redemption       grace periods only                              read
//	                 deleted by us, or being restored by an order    read
//	                 deleted by someone else                         unread
//	update           a domain, e.g. renewed by the registry          read: the sync follows it
//	                 a contact or a host                             unread
//	change           by the registry or a court (RFC 8590)           unread
//	balance          low credit of the registry account              unread
//	maintenance      of the registry (RFC 9167)                      unread
//	text             nothing but a text                              unread
//	unparsed         nothing that the program understands            unread
//
// A message about a domain that we neither hold nor have ever ordered is always unread.
//
// # What is not understood
//
// A response may have parts that the program does not understand, beside others that it does.
// Its kind is that of the understood part; the raw frame is stored with it, without auth codes
// and up to MaxRaw. A frame that is no valid response at all is stored if it has a readable
// message id, so that it does not block the queue.
//
// # Balance
//
// A registry that announces Verisign's balance mapping is asked for the balance of the account
// every hour, by the poller; registry_balances has the last answer. Of it and the newest balance
// message, the newer one counts: for the alert of a low balance, the metric and the books. It is an
// alert while less is available than the registry's threshold, or nothing without one; a balance
// below zero is one, too. Reading the message does not end it. A newer answer that is not low does,
// and so do deposits and statements that an operator has recorded since the message, if they lift
// the balance above the threshold. An unread message is an alert in any case.
//
// # One poller
//
// Of all nodes, one polls an account: it holds a lease in registry_pollers, which it renews
// every few seconds (package provision). A node that stops releases it; the lease of a killed
// node ends after 20 seconds, or when the node restarts.
package inbox
