// Package rest is the public REST interface: one check and one search, without
// a key, within a budget for each address.
//
// A request is answered in this order: path and method (404, 405: not counted),
// the budget (429: not counted), the body (400), the lookup (200, 502). What
// gets past the budget is counted, whatever comes of it.
package rest
