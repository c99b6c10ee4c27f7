// Package clientmeta fetches OAuth Client ID Metadata Documents: the metadata that
// an application publishes at the URL that is its client id.
//
// The URL is untrusted, so the client protects the internal network from SSRF:
//
//   - It uses only https on port 443 and GET, without proxy, redirects or cookies.
//   - It checks the address after resolution, when dialling, so DNS rebinding has no
//     effect: private, loopback, link-local, shared, reserved and multicast networks
//     are refused, also as IPv4 embedded in IPv6.
//   - A response is limited to five seconds and 64 KiB, and few are fetched at a time.
//   - Documents are cached as long as they allow, from a minute to a day, failures
//     for ten seconds, both in bounded number. One host is called at most 30 times a
//     minute, whatever the path.
//
// Validating the metadata is left to package oauth.
package clientmeta
