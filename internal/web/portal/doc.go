// Package portal is the part of the service that customers see in a browser:
// registration, sign-in, their profile, their tokens, their domains.
//
// A handler reads the form, calls one method of a domain service and shows or
// redirects. It decides nothing: who may do what is the services' business, and
// an object of somebody else looks like one that does not exist. GET never
// changes anything that matters; mail scanners open links, so a link shows a
// button and the button does it.
//
// A secret is shown once, on the very answer to the request that made it: it is
// in no address, no cookie and no second page. Passwords are never written into
// a page, also not into the form that is shown again.
//
// Every text is in german.go and english.go, by key.
package portal
