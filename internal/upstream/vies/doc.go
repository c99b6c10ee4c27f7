// Package vies asks the EU's register whether a VAT id is valid (VIES, the REST
// interface of the European Commission).
//
// VIES passes each question on to the member state of the id, and often enough one
// of them does not answer. The interface then says false beside the reason, or only
// the reason; whoever reads no further takes a good id for a bad one. This package
// believes an answer only if it is about the id that was asked, and says valid or
// not valid in so many words. Everything else is an error: nobody could say.
//
// An answer is kept through Memory: "valid" for a day, "not valid" for an hour,
// because an id that was just granted becomes valid. Outages are not kept. A member
// state that fails is left alone for a while (package manners), each for itself, so
// that the others' businesses don't wait for it.
//
// The id travels in the body of a POST, because addresses end up in logs. Neither
// the id nor the name and address that VIES sends along are logged or kept.
package vies
