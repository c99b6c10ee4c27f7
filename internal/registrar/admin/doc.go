// Package office is what operators do by hand: they lock domains, look at work that
// does not get on, and look at customers.
//
// # What it promises
//
// Every method takes the operator as its actor and refuses everybody else. Whatever
// an operator does to a customer, looking included, is written into that customer's
// audit before it happens, and the customer can read it there.
//
// # Locks
//
// A lock says why something may not be done with a domain (a chargeback, a UDRP
// complaint, a court, abuse), what exactly, and when somebody has to look at it
// again. It ends only when an operator lifts it: a forgotten date must not open a
// domain that a court has closed. A lock that is due is shown until somebody has
// looked.
//
//	block        forbids
//	transfer     unlocking, the auth code, another holder
//	nameservers  other nameservers, DS records
//	renewal      ordering a renewal
//
// No block is about giving a domain up, because nothing here does: an account that holds
// domains is not closed, and declarations are carried out by operators.
//
// A lock that blocks transfers has the registry keep the domain: by its own transfer
// lock, and by a new auth code that nobody is told, so that one which is out already is
// worth nothing.
//
// Those who carry such things out ask Bars before they write the intent, and again
// before they send it. The holder is told by mail, and the domain's page names the lock.
//
// # Work
//
// Lines, orders, changes, mails and messages to agents are rows with a time at which
// they are due. Here they are read with why they did not get on, and can be made due
// now; nothing that somebody has in hand is touched. A change that waits for a registry
// account which is not ours any more can be given up.
package admin
