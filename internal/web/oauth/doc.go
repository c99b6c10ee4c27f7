// Package oauth is the authorization server's face (OAuth 2.1): where
// applications register, where a customer approves one, and where codes and
// tokens are exchanged and given up. What is decided is decided in
// registrar/access; this package reads requests whole, once, and words answers.
//
// It promises that
//
//   - every path is served with and without its trailing slash and never
//     redirects a POST;
//   - machines get RFC 6749's error bodies in English, never stored by a cache,
//     readable from scripts of any origin, which never come with credentials;
//   - a parameter that comes twice, credentials in a query and HTTP Basic are
//     refused, so that nobody in between can read a request in another way;
//   - a browser is sent elsewhere only to an address that the application
//     registered, and only with somebody signed in. Everything else is a page
//     of ours;
//   - the consent page shows an application's own name as the claim that it is,
//     beside the host that the answer goes to, and loads nothing of it.
//
// The issuer is the base address without a slash at its end, byte by byte the
// same in every answer and document.
package oauth
