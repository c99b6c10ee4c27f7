// Package admin is the operators' service: they lock domains, inspect jobs that do not
// progress, list orders, payments and refunds, and view customer accounts.
//
// # Guarantees
//
// Every method takes the operator as its actor and refuses every other actor. Whatever an
// operator does to a customer, viewing included, is recorded in that customer's audit log
// before it happens, where the customer can read it.
//
// # Locks
//
// A lock states why a domain is restricted (a chargeback, a UDRP complaint, a court
// order, abuse), what is forbidden, and when it must be reviewed. It ends only when an
// operator lifts it: a missed date must not release a domain that a court has locked. A
// lock due for review is listed until it has been reviewed.
//
//	restriction  forbids
//	transfer     unlocking, auth codes, registrant changes
//	nameservers  nameserver and DS changes
//	renewal      ordering a renewal
//
// No restriction covers deletion, because no customer action deletes a domain: an account
// with domains can't be closed, and operators process withdrawals.
//
// A lock that restricts transfers also secures the domain at the registry: by the
// registry's transfer lock, and by a new auth code that is disclosed to no one, so that
// issued codes stop working.
//
// Services that change domains call Forbids before they store the intent, and again
// before they send it. The customer is notified by mail, and the domain's page shows the
// lock.
//
// # Jobs
//
// Order items, orders, domain changes, mails and webhook deliveries are rows with a due
// time. They are listed here with their last error, and can be made due now unless a node
// holds the lease. A change whose registry account is no longer configured can be
// abandoned. A paid item whose attempts fail can be given up, which refunds it, unless the
// registry has executed it (package provision).
//
// # Lists
//
// Orders, payments and refunds are listed newest first, a page at a time, each continuing at
// the last id of the page before. The lists contain numbers, domains and amounts, but no
// personal data, so reading them is not recorded; opening an order is.
package admin
