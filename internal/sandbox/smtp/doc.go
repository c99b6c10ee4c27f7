// Package smtp is the sandbox's mail server: it accepts mail to any recipient and
// shows it on a web page. Nothing leaves the machine, and nothing outlives the
// process.
//
// It shares no code with the client; both meet on a socket (RFC 5321). It decodes
// mail like a mail program: headers, encoded words, quoted-printable and base64,
// plain text only.
//
// It listens only on loopback, and its page accepts only loopback host names, which
// prevents DNS rebinding. Mail content is escaped, and only http and https URLs
// become links.
//
// Options.Chaos is the share of mails that get a temporary failure (450 for the
// recipient, 451 after the text, or a broken connection), which the sender has to
// retry.
package smtp
