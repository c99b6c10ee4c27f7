// Package idempotency lets a request be sent twice and carried out once.
//
// A caller gives a request a key of its own. The first with a key runs; whoever
// comes with the same key later gets the answer of the first, word for word. It
// promises:
//
//   - The same key with another body is a conflict, and nothing is carried out.
//     Bodies are compared as JSON values: the order of members, white space and the
//     spelling of numbers and letters do not count. What is no plain JSON (broken,
//     or with a member twice) is compared by its bytes.
//   - While the first still runs, others hear that it does, and when to ask again.
//   - An answer is kept for Kept, and never one that blames us (5xx) or that was
//     dropped: after those the same key may try again.
//   - If the process dies in the middle, the key is free for the same request when
//     its node starts again, or after a lease. What was half done is then for those
//     behind it to recognise, as after any crash; Run.Resumed says so.
//
// Keys belong to a scope, which the caller makes of who asks and for what, so
// nobody meets another's keys. Of scope, key and body only hashes are stored. The
// answer is sealed: it may hold links that open an order, and those are nowhere
// else in the database either.
//
// The memory is the database's, so it holds on every node.
package idempotency
