// Package clientdoc fetches what an application says about itself at the address
// that is its client id (OAuth Client ID Metadata Documents).
//
// The address comes from a stranger, so whoever knows our network could try to
// make us call into it. What it promises against that:
//
//   - only https on port 443, only GET, no proxy, no redirect, no cookie;
//   - the address that a connection really goes to is checked after resolution,
//     at the moment of dialling, so a name that changes its mind in between gains
//     nothing: private, loopback, link-local, shared, reserved and multicast
//     networks are refused, also inside IPv6's ways of writing IPv4;
//   - an answer has five seconds and 64 KiB, and few are fetched at a time;
//   - documents are kept as long as they say, at least a minute and at most a
//     day, failures for ten seconds, and both in bounded number, and one host is
//     called 30 times a minute at most, whatever the path: nobody makes us knock
//     at one door all the time.
//
// What a document means is not decided here.
package clientmeta
