// Package page is the frame of every page that people see: who is there, in
// which language, with which headers, and what a failure looks like. The portal
// and the consent page stand in it, and it knows neither.
//
// A page is a function that takes a Visit and returns an error. The frame has
// read the request by then: the language, the visitor, the form. It promises
// that
//
//   - a page is rendered whole before its status line is written;
//   - every answer carries the headers that keep it out of frames, caches and
//     other people's scripts;
//   - a POST that another site caused is refused before anything is read;
//   - no error's text reaches a page: sentences are chosen by kind and code;
//   - a secret in a cookie, a query or a form reaches no log.
//
// Pages work without script. Nothing on them comes from elsewhere, and no link
// leads elsewhere, so that the secret in the address of a mailed link stays
// here.
//
// Texts live in two tables with the same keys, German and English. German is
// what a stranger sees; English is a choice, which a cookie or the account
// remembers.
package ui
