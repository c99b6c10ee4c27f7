// Package agent manages checkout agents: third-party programs, admitted by an operator,
// that create orders and pay them with their buyers' money (Agentic Commerce Protocol).
//
// # Authentication
//
// An agent has a bearer key, which identifies it, and one or two signing secrets. The
// key is stored as a hash; the secrets are sealed, because verifying an HMAC needs them.
// Two secrets are live during a rotation; a third one ends the oldest.
//
// Authenticate guarantees:
//
//   - A bearer key, if sent, identifies the agent, and a signature must then be that
//     agent's. Without a key, the secrets of all live agents are tried; there are at most
//     MaxLiveAgents. An agent with a signing profile other than signing.Ours must send
//     its key, because what it signs may not be intended for this service alone.
//   - A completion, which moves money, must be signed. Any other request needs the key or
//     a signature.
//   - The signature of a completion is valid for one path. Repeated with the same path,
//     it is an idempotent retry; with another path it is refused. Seen signatures are
//     stored in the database, so this holds on every node, for as long as the
//     signature's timestamp is accepted.
//   - A refusal says whether the signature is missing, stale or invalid, and never which
//     agents exist.
//
// Signatures are checked against real time, even in a sandbox whose clock is shifted.
//
// # Authorization
//
// An agent sees its own sessions. A customer's other orders are inaccessible to it until the
// customer links it in the portal, after a recent sign-in; an operator can do the same. Linking and
// unlinking appear in the customer's audit log. This package neither reads nor changes orders.
//
// Agents can't register themselves. Limiting bad signatures is up to the transport.
package agent
