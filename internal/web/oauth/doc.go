// Package oauth serves the endpoints of the authorization server (OAuth 2.1): client
// registration, the consent page, the token endpoint and revocation. registrar/oauth
// makes the decisions; this package parses requests and writes responses.
//
// It guarantees that
//
//   - every path is served with and without its trailing slash and never redirects a
//     POST;
//   - machines get RFC 6749 error bodies in English, never cached, readable by scripts
//     of any origin, which never send credentials;
//   - repeated parameters, credentials in a query and HTTP Basic are rejected, so that
//     no intermediary can read a request differently;
//   - a browser is redirected only to a URI that the application registered, and only
//     with a signed-in customer. Every other error is a page of ours;
//   - the consent page shows an application's name as a claim, next to the host of its
//     redirect URI, and loads nothing from the application.
//
// The issuer is the base URL without a trailing slash, byte for byte the same in every
// response and document.
package oauth
