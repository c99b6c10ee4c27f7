// Package customer is about people: accounts, proofs of who somebody is, and
// the sessions that follow from them.
package customer
