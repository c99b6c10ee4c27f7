// Package customer is about people: their accounts, the proofs of who they are,
// and the sessions that follow from them.
//
// # Signing in
//
// A browser is in one of three states, kept in one row of sessions:
//
//	state          event                                next state     session
//	-------------  -----------------------------------  -------------  --------------------------
//	anonymous      right password, no second factor     open           new
//	anonymous      right password, second factor on     second_factor  new, for ten minutes
//	anonymous      passkey                              open           new
//	anonymous      confirmation link                    open           new
//	second_factor  right code                           open           new, the old one is deleted
//	second_factor  fifth wrong code, or ten minutes     anonymous      none
//	open           password (and code), or passkey      open           new, the old one is deleted
//	open           sign-out, idle or absolute limit     anonymous      none
//	open           password reset, disabled             anonymous      none, on every browser
//	open           password or second factor changed    open           kept; all others are deleted
//	open           passkey removed                      open           kept; all others are deleted
//	open           enrolment link (operators)           open           new, the old one is deleted
//	open           operator role granted                anonymous      none, on every browser
//
// Whenever somebody proves something, the session gets another id and another
// secret, so that nobody can have planted the one that becomes valuable. A
// passkey counts as both factors, because it wants the device and its lock.
//
// # Operators
//
// A factor opens the operators' pages, so on an operator account a password is not
// enough to change one. Enrolling, replacing or removing an authenticator app,
// recovery codes or a passkey, and changing the e-mail address, need a session that
// was opened with a code or a passkey. An operator without any factor enrols the
// first one with a password sign-in and a link that AddOperator issues at the
// command line: good once, for an hour, stored as a hash, never mailed.
//
// # Registration
//
// Registering takes nothing but an address. The password or the passkey is
// chosen by whoever opens the link in the mail, in the session that the link
// opens. So nobody can register a stranger's address with a password of their
// own and wait for the stranger to confirm it, and whoever registers an address
// last has no advantage either.
//
// Neither registering nor asking for another password nor a failed sign-in tells
// whether an address has an account: the answer, the work (the same statements,
// one letter, one argon2 hash) and the limits are the same. The owner of the
// mailbox learns it by mail. An account that was never confirmed is deleted
// after a week.
//
// # Wrong passwords
//
// Wrong passwords are counted, right ones are not. A browser that has signed in
// to the account before has a device cookie and a budget of its own. Any other
// browser has to fit into three budgets: that of its address, that of the
// account from this address, and that of the account from all unknown browsers.
// So an attacker who uses up the last one does not lock the owner's browsers
// out; and passkeys and reset links are never limited by wrong passwords. What
// is bounded with passkeys is how many ceremonies an address may begin, because
// each is a row that anybody can make.
// Budgets are looked at once more when the hash is about to be computed, so
// that guesses in parallel exceed them at most by the number of hashes that are
// computed at a time.
//
// Hashing is bounded, all in all, for one network, for one IPv6 /48 and for one
// account: see hasher. There are two queues: browsers that have signed in to the
// account before, sessions and reset links are served before everybody else, so an
// attacker from very many networks does not lock known customers out. Who waits too
// long is told to come back. A service has it done elsewhere, by a Deriver, so that
// it does not disturb what else is being answered; what fails there is done here.
//
// # Secrets
//
//	secret               where it is        stored as          opens
//	session              cookie             SHA-256            the account, or EnterCode only
//	device               cookie, a year     SHA-256            nothing: it picks a budget and a queue
//	link                 mail               SHA-256            one change, once
//	enrolment link       handed over        SHA-256            enrolling an operator's first factor, once
//	ceremony             the page           SHA-256            one answer of a passkey, once
//	password             the person         argon2id           the first factor
//	authenticator app    the person         AES-256-GCM        the second factor; each step once
//	recovery code        the person         SHA-256, salted    the second factor, once
//	passkey              the authenticator  its public key     both factors
//
// # What it refuses
//
// It sends no mail: letters are rows that are written together with their cause.
// It knows no cookies and no pages. It logs no address, name or secret.
package account
