// Package rest is the public REST interface: one check and one search, without a key,
// within a budget per address.
//
// A request is checked in this order: path and method (404, 405: not counted), the
// budget (429: not counted), the body (400), the lookup (200, 502). A request within
// the budget is counted, whatever its outcome.
package rest
