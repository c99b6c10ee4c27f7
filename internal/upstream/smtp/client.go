package smtp

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/wneessen/go-mail/smtp"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
)

// TLS modes.
const (
	StartTLS    = "starttls" // required, after the greeting
	ImplicitTLS = "implicit" // from the first byte
	NoTLS       = "none"     // plaintext, to this machine only
)

const defaultTimeout = 15 * time.Second

// Options configures a Client.
type Options struct {
	Server string // host:port of the mail server
	TLS    string // starttls, implicit or none; empty means starttls
	// User and Password are for servers that require authentication.
	User, Password string
	From           string           // the sender, "dotkontor <post@domains.example>"
	ReplyTo        string           // an address that people read; empty means From
	Portal         string           // the URL that mails link to
	Seller         Seller           // named at the end of every mail; none without a name
	Timeout        time.Duration    // limits one delivery; 0 means 15 s
	Now            func() time.Time // the Date of mails; nil means time.Now
	Roots          *x509.CertPool   // the trusted CAs; nil means the system's
}

// Seller is the company that mails end with, as on business letters (§ 35a GmbHG, § 37a HGB).
// Empty details are left out.
type Seller struct {
	Name, Street, PostalCode, City, Representative, Register, VATID string
}

// signature returns the last lines of a mail; empty without a name.
func (s Seller) signature(lang *language) string {
	if s.Name == "" {
		return ""
	}
	text := "\n"
	for _, line := range []string{
		strings.Join([]string{s.Name, s.Street, s.PostalCode + " " + s.City}, ", ") + lang.country, labelled(lang.represented, s.Representative),
		strings.Join(slices.DeleteFunc([]string{s.Register, labelled(lang.vatID, s.VATID)}, func(part string) bool { return part == "" }), ", "),
	} {
		for _, wrapped := range wrapLines(line, lineLength) {
			text += wrapped + "\n"
		}
	}
	return text
}

// labelled returns a value after its label; empty without a value.
func labelled(label, value string) string {
	if value == "" {
		return ""
	}
	return label + value
}

// Client sends mails.
type Client struct {
	opts Options
	host string
	from *netmail.Address

	mu   sync.Mutex
	idle []*session
}

var _ mailer.Sender = (*Client)(nil)

// New validates the options. It does no I/O.
func New(opts Options) (*Client, error) {
	opts.TLS = cmp.Or(opts.TLS, StartTLS)
	opts.Timeout = cmp.Or(opts.Timeout, defaultTimeout)
	if opts.Now == nil {
		opts.Now = time.Now
	}
	host, _, err := net.SplitHostPort(opts.Server)
	if err != nil || host == "" {
		return nil, fmt.Errorf("smtp: server %q is not host:port", opts.Server)
	}
	switch opts.TLS {
	case StartTLS, ImplicitTLS:
	case NoTLS:
		if !registrar.IsLoopbackHost(host) {
			return nil, errors.New("smtp: without encryption the server must be on this machine (127.0.0.1, [::1] or localhost)")
		}
		if opts.User != "" {
			return nil, errors.New("smtp: a password requires encryption")
		}
	default:
		return nil, fmt.Errorf("smtp: tls %q is not one of starttls, implicit, none", opts.TLS)
	}
	if (opts.User == "") != (opts.Password == "") {
		return nil, errors.New("smtp: user and password must be set together")
	}
	from, err := netmail.ParseAddress(opts.From)
	if err == nil {
		from.Address, err = parseMailbox(from.Address)
	}
	if err != nil || strings.ContainsFunc(from.Name, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return nil, errors.New("smtp: from is not an address like dotkontor <post@domains.example>")
	}
	if opts.ReplyTo != "" {
		if opts.ReplyTo, err = parseMailbox(opts.ReplyTo); err != nil {
			return nil, fmt.Errorf("smtp: reply-to is not an address: %w", err)
		}
	}
	return &Client{opts: opts, host: host, from: from}, nil
}

// parseMailbox accepts one plain address and returns it with the domain in
// A-labels. Display names, comments, quotes, a second address, and non-ASCII local
// parts, which few servers accept, are rejected.
func parseMailbox(text string) (string, error) {
	refused := &registrar.Error{Kind: registrar.KindInvalid, Code: mailer.Undeliverable}
	parsed, err := netmail.ParseAddress(text)
	if err != nil || parsed.Name != "" || parsed.Address != text {
		return "", refused
	}
	at := strings.LastIndexByte(text, '@')
	local, domain := text[:at], text[at+1:]
	unusual := func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),:;<>@[\]`, r) }
	host, err := registrar.ParseHost(domain)
	if err != nil || len(local) > 64 || strings.ContainsFunc(local, unusual) {
		return "", refused
	}
	return local + "@" + host, nil
}

// maxResponseLength limits the server's response that is kept as evidence.
const maxResponseLength = 200

// Send renders the mail and delivers it to the server.
func (c *Client) Send(ctx context.Context, message mailer.Message) (mailer.Delivery, error) {
	to, mail, delivery, err := c.compose(message)
	if err != nil {
		return delivery, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	response, err := c.deliver(ctx, to, mail)
	if err != nil {
		delivery.Response = sanitizeLine(err.Error(), maxResponseLength) // evidence quotes the recipient anyway
		return delivery, c.toFault(ctx, err)
	}
	delivery.Response = sanitizeLine(cmp.Or(response, "250"), maxResponseLength)
	return delivery, nil
}

// deliver transmits a mail over an idle session or a new one. Whether the server has closed an idle
// session shows only when the mail is sent.
func (c *Client) deliver(ctx context.Context, to string, mail []byte) (response string, err error) {
	for {
		s, err := c.acquire(ctx)
		if err != nil {
			return "", err
		}
		_ = s.conn.SetDeadline(time.Now().Add(c.opts.Timeout)) // also of release, which ctx does not limit
		err = s.interruptible(ctx, func() (err error) {
			response, err = s.transmit(c.from.Address, to, mail)
			return err
		})
		if err == nil {
			c.release(s)
			return response, nil
		}
		_ = s.conn.Close()
		if failed, is := errors.AsType[*transactionError](err); ctx.Err() != nil || !is || !failed.isClosed() || s.mails == 0 {
			return "", err
		}
	}
}

func (c *Client) compose(message mailer.Message) (to string, content []byte, delivery mailer.Delivery, err error) {
	parsed, err := parseTemplates()
	if err == nil {
		delivery.Subject, delivery.Text, err = parsed.render(message, c.opts.Portal)
		delivery.Text += c.opts.Seller.signature(languageOf(message))
	}
	if err != nil {
		return "", nil, delivery, &registrar.Error{Kind: registrar.KindInternal, Code: mailer.Undeliverable, Err: err}
	}
	to, err = parseMailbox(message.To)
	if err != nil {
		return "", nil, delivery, err
	}
	return to, c.encode(message, to, delivery.Subject, delivery.Text), delivery, nil
}

// Probe authenticates at the server and sends nothing.
func (c *Client) Probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	s, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer s.conn.Close()
	return s.interruptible(ctx, s.Quit)
}

func (c *Client) dial(ctx context.Context) (net.Conn, error) {
	if c.opts.TLS == ImplicitTLS {
		return (&tls.Dialer{Config: c.tlsConfig()}).DialContext(ctx, "tcp", c.opts.Server)
	}
	return new(net.Dialer).DialContext(ctx, "tcp", c.opts.Server)
}

func (c *Client) tlsConfig() *tls.Config {
	return &tls.Config{ServerName: c.host, MinVersion: tls.VersionTLS12, RootCAs: c.opts.Roots}
}

// authenticate uses PLAIN or LOGIN, which every server supports. The connection is
// encrypted: New rejects a user otherwise.
func (c *Client) authenticate(session *smtp.Client) error {
	if c.opts.User == "" {
		return nil
	}
	_, ways := session.Extension("AUTH")
	auth := smtp.PlainAuth("", c.opts.User, c.opts.Password, c.host, false)
	if known := strings.Fields(strings.ToUpper(ways)); !slices.Contains(known, "PLAIN") && slices.Contains(known, "LOGIN") {
		auth = smtp.LoginAuth(c.opts.User, c.opts.Password, c.host, false)
	}
	return session.Auth(auth)
}

// recipientFailureCodes are permanent failures of the recipient (RFC 3463, RFC
// 7505): unknown mailbox or system, moved or disabled address, domain without mail.
// All other failures may be a configuration error, so they are retried.
var recipientFailureCodes = []string{"5.1.1", "5.1.2", "5.1.3", "5.1.6", "5.1.10", "5.2.1"}

// toFault keeps the server's status code or the connection failure. The text is omitted
// because it quotes addresses.
func (c *Client) toFault(ctx context.Context, err error) error {
	var (
		reply   *textproto.Error
		network net.Error
		code    int
	)
	if errors.As(err, &reply) {
		code = reply.Code
	}
	cause := &registrar.Cause{Part: "smtp", Operation: "send", Target: c.opts.Server, Class: registrar.NetworkClass(err), Err: err}
	switch {
	case code == 530, code == 534, code == 535, code == 538: // RFC 4954, 6
		cause.Class = "login_refused"
	case code >= 500:
		cause.Class = "refused"
	case code >= 400:
		cause.Class = "refused_for_now"
	case ctx.Err() != nil:
		cause.Class = "timeout"
	case errors.Is(err, errNoSTARTTLS):
		cause.Class = "tls_not_offered"
	case cause.Class == "":
		cause.Class = "protocol_error"
	}
	if code > 0 {
		cause.Code = "SMTP " + strconv.Itoa(code)
	}
	failed, inTransaction := errors.AsType[*transactionError](err)
	switch {
	case inTransaction && !failed.isTemporary() && slices.Contains(recipientFailureCodes, failed.enhanced):
		return &registrar.Error{Kind: registrar.KindInvalid, Code: mailer.Undeliverable, Detail: c.host, Err: cause}
	case ctx.Err() != nil || errors.As(err, &network) && network.Timeout():
		return registrar.Fault(registrar.FaultTimeout, c.host, cause)
	case inTransaction && failed.isTemporary():
		return registrar.Fault(registrar.FaultThrottled, c.host, cause)
	default:
		return registrar.Fault(registrar.FaultRefused, c.host, cause)
	}
}

var errNoSTARTTLS = errors.New("smtp: server does not offer encryption")
