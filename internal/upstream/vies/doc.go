// Package vies validates EU VAT IDs with VIES, the REST interface of the European
// Commission.
//
// VIES forwards each query to the ID's member state, which is often unavailable.
// The response is then false with a reason, or only the reason, so a naive client
// mistakes a valid ID for an invalid one. This package accepts a response only if it
// is about the queried ID and explicitly says valid or invalid. Everything else is
// an error: the validity is unknown.
//
// Results are stored through Cache: "valid" for a day, "invalid" for an hour,
// because a newly assigned ID becomes valid. Outages are not stored. A failing
// member state is paused on its own (package hostlimit), so that the others are not
// affected.
//
// The ID is sent in the body of a POST, because URLs end up in logs. Neither the ID
// nor the name and address that VIES returns are logged or stored.
package vies
