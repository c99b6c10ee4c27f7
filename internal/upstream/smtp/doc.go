// Package smtp renders mails and delivers them to a mail server by SMTP.
//
// A mail is plain text in German or English with short lines: what happened, when,
// from where, and what to do if it was not the customer. There is no HTML, no image
// and no tracking. Prose is wrapped once its values are known, and lists of domains are
// sorted. Below the footer, every mail names the seller. The German and English files are tables of the same keys with
// the same placeholders; a test compares them.
//
// The connection is encrypted and the server's certificate verified, with STARTTLS
// (RFC 3207) or implicit TLS (RFC 8314). A server without encryption gets nothing,
// unless it is on this machine and the operator configured it; a password is never
// sent in plaintext. A session that is idle for less than five seconds serves the next
// mail. The commands of a mail are sent together if the server allows it (RFC 2920).
//
// Customer input can reach a body (the name of a token) but never a header:
// subjects have no placeholders, and an address that is not exactly one plain
// mailbox is rejected. Values lose their control characters and are cut to one
// line, so that they can't imitate our own text.
//
// Errors contain the server's name and the class of the fault, never its message,
// which often quotes the recipient.
package smtp
