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
//	hold         what transfer forbids; the domain is taken out of the DNS (clientHold)
//
// No restriction covers deletion, because no customer action deletes a domain: an account
// with domains can't be closed, and operators process withdrawals.
//
// A lock that restricts transfers also secures the domain at the registry: by the
// registry's transfer lock, and by a new auth code that is disclosed to no one, so that
// issued codes stop working.
//
// # Hold
//
// Some registries offer registrars no clientHold (domainchange.Capabilities.NoHold). Their domains can't
// be taken out of the DNS, so such a lock is refused with HoldUnsupported. Elsewhere the lock is the intent, stored
// before the registry is asked: a job compares every lock with a hold_step_at with its changes of package
// domainchange, which survive crashes, and stores one if it is missing.
//
//	lock    hold_step_at  meaning
//	active  set           the hold is being set, and is looked at every minute: one that a registry
//	                      refuses, as while a transfer is pending, is tried again after 20 hours; an expired
//	                      or deleted domain gets it when it is active again
//	lifted  set           the hold is being removed
//	lifted  0             it has ended
//
// The hold of a lock, that of a lost payment dispute (package dispute), and the suspension for an
// unconfirmed address (package contactcheck) are independent. Each is set for its own reference; one that
// ends leaves clientHold to the others (store.IsHeldOtherwise), also if another begins while the release is
// on its way, because a release asks again before it is sent.
//
//	while a domain is on hold by a lock
//	renewal, by hand or automatic    goes on, and leaves the hold: the name must not become free. The
//	                                 restriction renewal forbids orders
//	end of the term                  nothing is held or deleted while any lock is active (package lifecycle)
//	restore                          possible; the domain is put on hold after it
//	transfer to another registrar    clientTransferProhibited and a new auth code; an operator can't approve
//	                                 a pending one, and rejects it where the registry's rules allow that
//	change of the holder, auth code  refused
//	nameservers, DS                  possible, unless restricted: they don't end the hold
//	refund with deletion             not while any lock is active
//
//	failpoint     committed before     next                        after a crash there
//	lock_written  the lock, due now    hold at the registry        the row is due
//	lock_ended    lifted, due now      release at the registry     the row is due
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
