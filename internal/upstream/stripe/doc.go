// Package stripe has orders paid and people verified by Stripe. It implements the
// ports order.Payments and order.Identities and reads the messages that Stripe
// sends.
//
// # What it promises
//
//   - The same id is the same page, refund or verification: our id is the
//     idempotency key of the call that makes it. Stripe forgets keys after a day;
//     so before a refund is repeated, Stripe is asked for one that carries our id.
//   - An error of KindUpstream decides nothing and is worth repeating: no answer, an
//     answer that can't be read, an overloaded or broken Stripe, a call with the same
//     key that is still under way, and also a key of ours that Stripe does not take,
//     because that is mended by the operator and not by giving the order up. Every
//     other kind is Stripe's word about what we asked.
//   - A page counts as paid if its payment has succeeded, and the amount is what was
//     really received. Whether that is what the order asked for is the order's
//     business.
//   - Every wait ends: seven seconds for an attempt, sixteen for a call with its
//     repetitions.
//   - Nothing of Stripe's sentences reaches a log or an error, because they quote what
//     was sent, and that can be somebody's address. Codes, parameters' names and
//     Stripe's number of the request do: they are what Stripe's support asks for.
//
// # What it refuses
//
// It does not believe messages: of one, only the ids are read. It follows no
// redirect, because the key would go along. It does not convert currencies and
// offers no means of payment that may fail after the page was left.
//
// The library repeats nothing here: it would repeat an HTML page but not a proper
// error 500, sleep through the end of the context, and not heed Retry-After. Its
// version of the interface is sent with each call, so what the account is set to at
// Stripe does not matter.
package stripe
