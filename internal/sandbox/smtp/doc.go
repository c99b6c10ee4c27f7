// Package inbox is everybody's mailbox in the sandbox: a mail server that takes
// every letter to whomever, and a web page that shows them. Nothing leaves the
// machine, and nothing is kept longer than the process lives.
//
// It shares no code with the client that sends to it; both meet on a socket
// (RFC 5321). It reads letters as a mail program would: headers, encoded words,
// quoted-printable and base64, plain text alone.
//
// It listens on the loopback address only, and its page answers only to hosts
// that are names of that address, so that a web page from outside can't read
// the letters by giving its own name this address (DNS rebinding). Everything
// in a letter is text to the page: it is escaped, and a link is made of nothing
// but http and https addresses.
//
// It is hostile on request: Options.Chaos is the share of letters that are put
// off with a temporary failure (450 for the recipient, 451 after the text, or a
// connection that breaks), which a sender has to try again.
package smtp
