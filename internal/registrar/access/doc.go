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
package access
