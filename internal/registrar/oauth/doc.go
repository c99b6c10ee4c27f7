// Package access decides what a bearer token opens, and lets people make and
// revoke personal access tokens.
//
// What it promises:
//
//   - A token is shown once, to the person who made it. What is kept is its
//     SHA-256, so a copy of the database opens nothing. Lists show its name,
//     its age and when it was last used.
//   - A customer has at most MaxActive active tokens, however many requests
//     race: they are counted in the customer's own row, in the transaction that
//     inserts the token.
//   - Revoked means refused at the very next call, on every node. Therefore
//     nothing about a token is cached: each call is one indexed read. The same
//     read sees an account that was disabled.
//   - Nonsense costs no question to the store: a token carries a checksum.
//   - Making a token needs a person with a recent sign-in and is followed by a
//     letter to the account's address. Revoking one needs the person only, and
//     doing it twice is no error. Both stand in the audit. A token makes and
//     revokes no tokens: whoever finds one can't make it outlive its discovery.
//
// When a token was last used is remembered in memory and written by Run, once a
// minute at most for each, because a write for each call would cost more than
// the call. After a crash the last minute of it is missing, and nothing else.
//
// # Applications
//
// Applications get tokens by OAuth 2.1: a customer approves one on a consent
// page, it redeems a code, and from then on it rotates refresh tokens. All tokens
// that came out of one code are one family, a row of grants. A token is alive
// only as long as its family is, so whatever ends a family is one update, and
// Verify, which reads token, family and account in one question, sees it at once.
//
//	state      event                      next       what is written
//	(none)     question shown             asked      consent: session, customer, request
//	asked      approved, once             approved   code of 60 s, bound to client, challenge, redirect
//	asked      denied, once               (none)
//	asked      10 minutes                 (none)
//	approved   redeemed, once             connected  family, pair of tokens
//	approved   wrong verifier or redirect (none)     the code is burnt
//	approved   60 seconds                 (none)
//	connected  refreshed                  connected  used refresh token, next pair
//	connected  code redeemed again        ended      a mail
//	connected  refresh token reused       ended      a mail; but see Refresh for the leeway
//	connected  first sibling after leeway connected  next epoch: the other siblings are revoked
//	connected  revoked sibling used       ended      a mail
//	connected  revoked by the application ended
//	connected  disconnected by customer   ended      and every other family and open code of the application
//	connected  30 days without refresh    expired
//
// Every step is a compare-and-swap on its row and one transaction with its deed.
//
//	threat                                   answer
//	a code is stolen on its way              PKCE S256 always; one try; 60 seconds; bound to its client
//	a code or refresh token is replayed      the second use ends the family, in the transaction that sees it
//	a refresh token is copied                rotation: whoever comes second ends it for both
//	an answer is led to somebody else        redirect URIs match letter by letter, but for the loopback's port
//	we are used to redirect to a bad place   unknown clients and redirects get a page; errors redirect after sign-in only
//	an application calls itself a known one  the consent page names the redirect host; names are claims
//	consent is forged or clicked twice       a secret in the form, bound to session and person, good once
//	a token for us is used elsewhere         one audience; it is in the family's row
//	scope grows                              an access token has at most its family's scope
//	the database is copied                   only SHA-256 of 256 random bits is stored
//	we are made to fetch inside our network  Documents refuses private addresses when it dials
//	refreshes fill the disk                  limited by family; expired tokens are removed
//	registrations fill the disk              limited by address, bounded in size, removed when unused for 30 days
package oauth
