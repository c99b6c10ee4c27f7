// Package ui is the frame of every page: session, language, headers and errors. All page
// packages use it, and it depends on none of them.
//
// A page is a function that takes a Request and returns an error. The frame has
// already determined the language and the visitor and parsed the form. It guarantees
// that
//
//   - a page is rendered completely before its status line is written;
//   - every response carries the headers that keep it out of frames, caches and
//     foreign scripts;
//   - a cross-site POST is rejected before its body is read;
//   - no error text reaches a page: texts are chosen by kind and code;
//   - a secret in a cookie, a query or a form reaches no log.
//
// Pages work without script. They load nothing from other hosts and link to none, so
// that the secret in a mailed link does not leave the service.
//
// Every text is written in German and English. A page is in the language
//
//  1. of the account that is signed in;
//  2. that the visitor has chosen with the switch in the header: the next sign-in stores it
//     in the account;
//  3. of the account that was last used in this browser, or whose mailed link was opened;
//  4. of the path, if it has one;
//  5. of the browser.
//
// A cookie has 2 or 3.
package ui
