// Package oauth verifies bearer tokens, manages personal access tokens, and is the
// OAuth 2.1 authorization server for applications.
//
// # Personal access tokens
//
//   - A token is shown once, to the person who created it. Only its SHA-256 is stored,
//     so a copy of the database grants nothing.
//   - A customer has at most MaxActiveTokens active tokens, even under concurrent
//     requests: the count is in the customer's row and updated in the transaction that
//     inserts the token.
//   - A revoked token is refused from the next call on, on every node. Therefore nothing
//     about a token is cached: each call is one indexed read, which also sees a disabled
//     account.
//   - A malformed token costs no query: tokens carry a checksum.
//   - Creating a token requires a person with a recent sign-in and sends a mail to the
//     account. Revoking requires the person only and is idempotent. Both are audited. A
//     token can't create or revoke tokens, so a stolen one can't outlive its discovery.
//
// The last use of a token is buffered in memory and written by Run at most once a minute, because a
// write per call would cost more than the call. A crash loses up to a minute of it.
//
// # Applications
//
// An application obtains tokens by OAuth 2.1: a customer approves it on a consent page,
// it redeems an authorization code, and from then on rotates refresh tokens. All tokens
// issued from one code belong to one grant, a row of grants. A token is valid only as
// long as its grant, so revocation is a single update, and Verify, which reads token,
// grant and account in one query, sees it immediately.
//
//	state      event                       next       effect
//	(none)     consent page shown          pending    consent row: session, customer, request
//	pending    approved, once              approved   code for 60 s, bound to client, challenge, redirect
//	pending    denied, once                (none)
//	pending    10 minutes                  (none)
//	approved   redeemed, once              active     grant, token pair
//	approved   wrong verifier or redirect  (none)     the code is invalidated
//	approved   60 seconds                  (none)
//	active     refreshed                   active     refresh token marked used, next pair
//	active     code redeemed again         ended      mail
//	active     refresh token reused        ended      mail; see Refresh for the leeway
//	active     first sibling after leeway  active     next epoch: the other siblings are revoked
//	active     revoked sibling used        ended      mail
//	active     revoked by the application  ended
//	active     disconnected by customer    ended      all grants and open codes of the application end
//	active     30 days without refresh     expired
//
// Every transition is a compare-and-swap on its row, in one transaction with its audit event.
//
//	threat                                  mitigation
//	authorization code intercepted          PKCE S256 required; single use; 60 seconds; bound to its client
//	code or refresh token replayed          the second use ends the grant, in the same transaction
//	refresh token stolen                    rotation: the second of owner and thief to use it ends the grant
//	response redirected to an attacker      redirect URIs match exactly, except for the port on loopback
//	open redirector                         unknown clients and redirect URIs get a page; errors redirect after sign-in only
//	application impersonates another        the consent page shows the redirect host; names are unverified
//	consent forged or submitted twice       a secret in the form, bound to session and person, single use
//	token used at another resource          one audience, stored in the grant
//	scope escalation                        an access token has at most its grant's scope
//	database leaked                         only SHA-256 of 256 random bits is stored
//	SSRF by client metadata                 MetadataFetcher refuses private addresses when it dials
//	refreshes fill the disk                 rate limit per grant; expired tokens are deleted
//	registrations fill the disk             rate limit per address, size limits, deleted when unused for 30 days
package oauth
