// Package agent knows the agents that check out for customers: programs of others
// that an operator has let in, which make orders and pay them with their buyers'
// money (Agentic Commerce Protocol).
//
// # Who it is
//
// An agent has a bearer key, which says who it is, and one or two secrets, with
// which it signs. Of the key a hash is stored; the secrets are sealed, because a
// signature can't be verified without them. Two are live while an agent changes
// from one to the next; a third one ends the oldest.
//
// Authenticate promises:
//
//   - A key, where it is sent, names the agent, and a signature beside it must be
//     that agent's. Without a key the live agents are tried; there are at most
//     MaxLive. An agent that signs in another profile than ours must send its key:
//     what it signs is not meant for us alone.
//   - A completion, which moves money, must be signed, whatever else is sent. Every
//     other request needs the key or a signature.
//   - The signature of a completion is good for one path. Coming a second time
//     with the same path it is a repetition, which those behind it answer as they
//     did before; with another one it is refused. The memory is the database's, so
//     it holds on every node, and for as long as the signature's time is good.
//   - Whoever is refused learns that the signature is missing, stale or invalid,
//     and never which agents there are.
//
// Signatures are judged by true time, also in a sandbox whose clock is moved.
//
// # What it may
//
// An agent has its own sessions. The orders that a customer has made elsewhere are
// closed to it until the customer links it, in the portal, after a sign-in that is
// not old; an operator can do the same. Linking and its end are in the customer's
// audit. Nothing here reads or changes orders.
//
// It refuses to let agents register themselves, and to count bad signatures: that
// is the transport's.
package agent
