// Package mail writes letters and hands them to a mail server by SMTP.
//
// A letter is plain text of short lines in German or English: what happened,
// when, from where, and what to do if it was somebody else. There is no HTML,
// no picture and nothing that tells us whether it was read. german.go and
// english.go are tables of the same keys with the same placeholders; a test
// compares them.
//
// The connection is encrypted and the server's certificate checked, by STARTTLS
// (RFC 3207) or from the first byte (RFC 8314). A server that offers no
// encryption gets nothing, unless it is on this very machine and the operator
// said so; a password never travels in clear.
//
// What customers wrote can reach a letter (the name of a token) but never a
// header: subjects have no placeholders, and an address that is anything but one
// plain mailbox is refused. Facts lose their control characters and
// are cut to a line, so that they can't look like a text of ours.
//
// Errors carry the server's name and the class of the fault, never its words:
// servers like to quote the recipient.
package smtp
