// Package portal serves the customers' pages: registration, sign-in, profile, tokens and
// domains.
//
// A handler parses the form, calls one method of a domain service and renders or
// redirects. The services decide who may do what, and another customer's object looks
// like one that does not exist. GET never changes anything that matters: mail scanners
// open links, so a link shows a button and the button acts.
//
// A secret is shown once, in the response to the request that created it: it is in no
// URL, no cookie and no second page. Passwords are never rendered, not even in a form
// that is shown again.
//
// All texts are in texts.go, overviewtexts.go, activitytexts.go and domaintexts.go, by key.
package portal
