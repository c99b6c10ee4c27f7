// Package stripe takes payments and verifies identities with Stripe. It implements
// the port order.Provider and parses Stripe's webhook events.
//
// # Guarantees
//
//   - The same id is the same page, refund or verification: our id is the
//     idempotency key of the creating call. Stripe forgets keys after a day, so
//     before a refund is repeated, Stripe is queried for one with our id.
//   - An error of KindUpstream decides nothing and can be retried: no response, an
//     unreadable one, an overloaded or failing Stripe, a call with the same key in
//     progress, and a rejected API key, which the operator must fix. Every other
//     kind is Stripe's decision about the request.
//   - A page counts as paid if its payment succeeded, and the amount is the amount
//     received. The order compares it with the expected one.
//   - Every call ends: seven seconds per attempt, sixteen with all retries.
//   - Stripe's messages never reach a log or an error, because they quote the
//     request, which may contain personal data. Codes, parameter names and request
//     ids do: Stripe's support asks for them.
//
// # Restrictions
//
// Webhook events are not trusted: only their ids are read. Redirects are not
// followed, because they would receive the API key. Currencies are not converted,
// and payment methods that can fail after the page is left are not offered.
//
// The library's own retries are disabled: they would repeat an HTML page but not a
// proper error 500, sleep past the end of the context, and ignore Retry-After. The
// library's API version is sent with each call, so the account's default version
// does not matter.
package stripe
