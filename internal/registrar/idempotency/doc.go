// Package idempotency lets a client send a request twice and have it executed once.
//
// The client chooses a key per request. The first request with a key is executed; later
// ones with the same key get the stored response, byte for byte:
//
//   - The same key with another body is a conflict, and nothing is executed. Bodies are
//     compared as JSON values: member order, white space, number notation and string
//     escapes don't matter. The caller has decoded them once, and rejects what it can't decode;
//     unpaired surrogates are equal, because they decode to the same character.
//   - While the first request is running, others get InFlight with a RetryAfter.
//   - A response is stored for ResponseTTL, unless it is a server error (5xx) or was
//     released: the same key may then be used again.
//   - If the process dies meanwhile, the key is free for the same request once its node
//     restarts, or after a lease. The caller must then detect what was already done, as
//     after any crash; Run.Resumed reports this.
//
// Keys belong to a scope, which the caller derives from the client and the operation, so
// clients never share keys. Scope, key and body are stored as hashes. The response is
// sealed, because it may contain links that open an order and are stored nowhere else in
// clear.
//
// The state is in the database, so it holds on every node.
package idempotency
