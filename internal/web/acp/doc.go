// Package acp serves agentic checkout: the five operations of the Agentic Commerce
// Protocol on our orders.
//
//	POST /api/acp/checkout_sessions                 create     201
//	GET  /api/acp/checkout_sessions/{id}            read       200
//	POST /api/acp/checkout_sessions/{id}            update     200
//	POST /api/acp/checkout_sessions/{id}/complete   pay        200
//	POST /api/acp/checkout_sessions/{id}/cancel     cancel     200
//
// A request is parsed once, completely, into one model, and an order is rendered from one
// view. Three shapes each have a reader and a writer for them: our own, for clients
// without API-Version, and the protocol's versions 2025-09-29 and 2026-04-17, whose
// objects are closed. So every rule applies to all shapes.
//
// The order of errors is guaranteed: 401 for the agent, 404 for the session, 400 for the
// body, and then those of the order. A body is parsed before its session is looked up,
// because that is cheap; but before a 400 is sent the session is looked up, so that
// errors reveal nothing about other agents' sessions.
//
// An Idempotency-Key makes a POST repeatable: the stored response is sent again, and a
// key is never used up by an internal error. A request continues when its client
// disconnects, because a charge must not depend on the connection; a deadline ends it.
// Only a completion that waits for another one of its session ends with the client.
//
// The package does not guess. A duplicate key in an object, a number instead of a string
// or invalid UTF-8 is a 400 in every shape. Unknown fields are rejected in the
// protocol's versions and ignored in our own shape. Prices sent by a client are ignored.
package acp
