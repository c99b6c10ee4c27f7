// Package steward lets holders look after their domains at the registry:
// nameservers, DNSSEC, the transfer lock, the auth code and the holder's contact.
//
// # What it promises
//
// The registry has the last word. What is shown was read there and says when; what
// is changed is changed there first. Only whoever holds a domain sees or changes
// it, and whatever could take a domain away from its holder (all but setting the
// lock) asks for a sign-in of the last minutes, is written into the audit and tells
// the holder by mail. An order that nobody has claimed hangs on an account to which
// nobody can sign in, so nobody can change its domains either.
//
// # A change is a row
//
// A change says what shall be so, never what shall be done: these nameservers and
// no others, this DS record among them, this lock. So carrying it out begins with a
// question to the registry, sends what is missing, and can be repeated by anybody
// at any time. A domain has at most one open change; an index says so.
//
//	state    means, and what may have happened outside        next
//	open     the intent is stored; the command may have been  done, refused, or
//	         carried out                                      pending if the registry says 1001
//	pending  the registry has it and will decide              done, or refused if it decides against it
//	done     the registry has what was wanted                 (end)
//	refused  the registry said no, and why is stored; or an   (end)
//	         operator gave it up
//
// Whoever asks for a change waits for its first try. If the registry does not
// answer, the row stays and a loop goes on with it, with longer pauses each time;
// the page says so meanwhile. A row is taken by a compare-and-swap on its state and
// due time, as the lines of package provision are.
//
// # Boundaries between intent and effect
//
// Each name is a place where a test kills the process.
//
//	#  boundary         committed before it   the call beside it    after a crash there
//	1  change_written   open                  domain update next    domain info, then what is missing
//	2  change_carried   open                  domain update was     domain info finds nothing to do
//	3  change_ended     done or refused       (none)                nothing is left to do
//
// # The auth code
//
// It is shown once, in the answer to the one who asked, and kept nowhere longer
// than it takes to set it: each time it is asked for it is a new one, and the one
// before stops working. A crash after it was set and before it was shown costs
// nothing but asking again.
//
// # What operators do
//
// Where a dispute or a court says that a domain stays (Secure), the registry is asked
// for its transfer lock and for a new auth code in one command. The code is told to
// nobody. So one that the holder has got before opens nothing any more, also at a
// registry that has no such lock. Where the registry chooses codes by itself there is
// only the lock.
//
// A change whose registry account was taken out of the configuration can't be carried
// out, and asking for another one would be refused as long as it is open. An operator
// can give it up, and nothing else: what some account can carry out is not given up.
//
// # The holder
//
// A contact at a registry belongs to one domain. Taking over the holder's present
// data makes a new contact, puts it into every role of the old one and deletes the
// old one; if the registry refuses, the new one is deleted again.
package domainchange
