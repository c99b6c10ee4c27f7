// Package account manages customer accounts: registration, sign-in, second factors,
// passkeys, sessions, registrant data, and the operator role.
//
// # Sessions
//
// A browser is in one of three states, stored in one row of sessions:
//
//	state          event                                next state     session
//	-------------  -----------------------------------  -------------  ----------------------------
//	anonymous      correct password, no second factor   open           new
//	anonymous      correct password, second factor on   second_factor  new, for ten minutes
//	anonymous      passkey                              open           new
//	anonymous      confirmation link                    open           new
//	anonymous      sign-in link (without a password)    open           new; second_factor if that is on
//	second_factor  correct code                         open           new, the old one is deleted
//	second_factor  fifth wrong code, or ten minutes     anonymous      none
//	open           password (and code), or passkey      open           new, the old one is deleted
//	open           sign-out, idle or absolute timeout   anonymous      none
//	open           password reset, account disabled     anonymous      none, in every browser
//	open           password or second factor changed    open           same; all others are deleted
//	open           passkey removed                      open           same; all others are deleted
//	open           enrolment link (operators)           open           new, the old one is deleted
//	open           operator role granted                anonymous      none, in every browser
//
// Every authentication issues a new session id and a new secret, which prevents session fixation. A
// passkey counts as both factors, because it requires the device and its unlock.
//
// # Operators
//
// A second factor or a passkey opens the operator pages, so on an operator account a
// password alone can't change one. Enrolling, replacing or removing an authenticator
// app, recovery codes or a passkey, and changing the email address, require a session
// opened with a code or a passkey. An operator without a factor enrols the first one
// with a password sign-in and a link that AddOperator issues at the command line. The
// link works once, for one hour; it is stored as a hash and never mailed.
//
// # Registration
//
// Registration takes only an email address. The password or passkey is chosen in the
// session that the mailed link opens. An attacker therefore can't pre-register a
// victim's address with a password of their own and wait for the victim to confirm it.
//
// Registration, password reset and failed sign-in don't reveal whether an address has
// an account: the response, the work (the same statements, one mail, one argon2 hash)
// and the limits are the same in both cases. Only the owner of the mailbox learns it, by
// mail. An account that is never confirmed is deleted after a week.
//
// # Wrong passwords
//
// Only wrong passwords count against a limit. A browser that has signed in to the
// account before carries a device cookie and has its own budget. Any other browser is
// subject to three: per address, per account and address, and per account across all
// unknown browsers. Exhausting the last one therefore doesn't lock out the owner's
// browsers. Passkeys and reset links are never limited by wrong passwords; the number of
// passkey challenges is limited per address, because each creates a row.
//
// Budgets are checked again just before the hash is computed, so parallel guesses exceed
// them by at most the number of concurrent hashes.
//
// Concurrent hashing is limited in total, per network, per IPv6 /48 and per account; see
// hasher. Known browsers, open sessions and reset links have a queue of their own that is
// served first, so an attack from many networks doesn't lock out existing customers. A
// request that would wait too long is refused with RetryAfter. A Deriver computes hashes
// in another process to keep latency low here; if it fails, the hash is computed locally.
//
// # Secrets
//
//	secret               held by            stored as          grants
//	session              cookie             SHA-256            the account, or EnterCode only
//	device               cookie, one year   SHA-256            nothing: selects a budget and a queue
//	link                 mail               SHA-256            one change, once
//	enrolment link       handed over        SHA-256            enrolling an operator's first factor, once
//	challenge            the page           SHA-256            one passkey response, once
//	password             the person         argon2id           the first factor
//	authenticator app    the person         AES-256-GCM        the second factor; each step once
//	recovery code        the person         SHA-256, salted    the second factor, once
//	passkey              the authenticator  its public key     both factors
//
// # Limits of this package
//
// It sends no mail itself: mails are rows written in the transaction of their cause. It
// handles neither cookies nor pages, and logs no address, name or secret.
package account
