// Package acp is the agentic checkout: the five operations of the Agentic
// Commerce Protocol on our orders.
//
//	POST /api/acp/checkout_sessions                 create     201
//	GET  /api/acp/checkout_sessions/{id}            read       200
//	POST /api/acp/checkout_sessions/{id}            update     200
//	POST /api/acp/checkout_sessions/{id}/complete   pay        200
//	POST /api/acp/checkout_sessions/{id}/cancel     cancel     200
//
// A request is read once, completely, into one model; an order becomes one view;
// and each of three shapes has one reader and one writer for them: our own, for
// clients that send no API-Version, and the protocol's versions 2025-09-29 and
// 2026-04-17, whose objects are closed. So a rule can't hold in one shape and be
// forgotten in another.
//
// The order of refusals is part of the promise: 401 who asks, 404 which session,
// 400 what was written, and then what the order says. A body is judged before
// its session is looked for, because that costs nothing; but before a 400 is
// sent for a session, the session is looked for, so that a stranger's mistakes
// tell nothing about sessions that are not theirs.
//
// A key in Idempotency-Key makes a POST repeatable: what was answered once is
// answered again, and a key is never spent on an answer that was our own fault.
// A request goes on when its client hangs up, because a charge must not depend
// on somebody listening; it ends by a deadline instead. Only the wait of a completion
// for another one of its session ends with the client.
//
// The package refuses to guess. A key that stands twice in an object, a number
// where a text belongs, bytes that are no UTF-8: 400, in every shape. Fields that
// a version does not know are refused in that version and ignored in our own
// shape. Prices that a client sends are never looked at.
package acp
