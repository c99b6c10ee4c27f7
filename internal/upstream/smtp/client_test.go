package smtp_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"mime"
	"mime/quotedprintable"
	"net"
	netmail "net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	upstreamsmtp "github.com/dotkontor/dotkontor/internal/upstream/smtp"
)

// fakeServer is a scripted mail server.
type fakeServer struct {
	address string
	roots   *x509.CertPool

	mu      sync.Mutex
	rcptErr error // the response to RCPT
	dataErr error // the response to the message
	users   []string
	sender  string
	to      []string
	texts   []string
	conns   []net.Conn // one for each greeting
}

// startServer starts a server; implicit means TLS from the first byte.
func startServer(t *testing.T, offerTLS, implicit bool) *fakeServer {
	t.Helper()
	s := &fakeServer{}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.address = listener.Addr().String()
	daemon := smtp.NewServer(s)
	daemon.Domain = "mail.example"
	daemon.ReadTimeout, daemon.WriteTimeout = 10*time.Second, 10*time.Second
	if offerTLS || implicit {
		var pair tls.Certificate
		pair, s.roots = certificate(t)
		daemon.TLSConfig = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	if implicit {
		listener = tls.NewListener(listener, daemon.TLSConfig)
	}
	go func() { _ = daemon.Serve(listener) }()
	t.Cleanup(func() { _ = daemon.Close() })
	return s
}

func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sheet := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mail.example"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, sheet, sheet, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

func (s *fakeServer) NewSession(conn *smtp.Conn) (smtp.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.conns = append(s.conns, conn.Conn())
	return &fakeSession{s}, nil
}

type fakeSession struct{ *fakeServer }

func (*fakeSession) Reset()        {}
func (*fakeSession) Logout() error { return nil }

func (s *fakeSession) AuthMechanisms() []string { return []string{"PLAIN"} }

func (s *fakeSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if password != "geheim" {
			return smtp.ErrAuthFailed
		}
		s.users = append(s.users, user)
		return nil
	}), nil
}

func (s *fakeSession) Mail(from string, _ *smtp.MailOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sender = from
	return nil
}

func (s *fakeSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to = append(s.to, to)
	return s.rcptErr
}

func (s *fakeSession) Data(r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.texts = append(s.texts, string(text))
	return s.dataErr
}

func message() mailer.Message {
	return mailer.Message{
		ID: "mail_1.2", Kind: registrar.MailPasswordReset, To: "erika@kundin.example", Language: "de",
		At: time.Date(2026, 11, 15, 9, 5, 0, 0, time.UTC), Link: "https://domains.example/portal/reset/new?link=dotkontor_link_" + strings.Repeat("x", 49),
		LinkExpiresAt: time.Date(2026, 11, 15, 10, 5, 0, 0, time.UTC),
	}
}

func newClient(t *testing.T, opts upstreamsmtp.Options) *upstreamsmtp.Client {
	t.Helper()
	if opts.From == "" {
		opts.From = "dotkontor <post@domains.example>"
	}
	opts.Portal = "https://domains.example/portal"
	c, err := upstreamsmtp.New(opts)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSend_PlainTextWithAutoSubmittedHeaders(t *testing.T) {
	t.Parallel()
	s := startServer(t, true, false)
	c := newClient(t, upstreamsmtp.Options{
		Server: s.address, Roots: s.roots, User: "dotkontor", Password: "geheim", ReplyTo: "hilfe@domains.example",
		Now: func() time.Time { return time.Date(2026, 11, 15, 9, 6, 0, 0, time.UTC) },
	})
	delivery, err := c.Send(t.Context(), message())
	if err != nil {
		t.Fatal(err)
	}
	if delivery.Subject != "Neues Passwort wählen" || !strings.Contains(delivery.Text, message().Link) || delivery.Response == "" {
		t.Errorf("the delivery is %+v", delivery)
	}
	if len(s.texts) != 1 || s.sender != "post@domains.example" || len(s.to) != 1 || s.to[0] != "erika@kundin.example" || len(s.users) != 1 {
		t.Fatalf("from %s to %v by %v: %d mails", s.sender, s.to, s.users, len(s.texts))
	}
	parsed, err := netmail.ReadMessage(strings.NewReader(s.texts[0]))
	if err != nil {
		t.Fatal(err)
	}
	for header, want := range map[string]string{
		"From": `"dotkontor" <post@domains.example>`, "To": "<erika@kundin.example>", "Reply-To": "<hilfe@domains.example>", "Message-Id": "<mail_1.2@domains.example>",
		"Auto-Submitted": "auto-generated", "Content-Language": "de", "Content-Type": "text/plain; charset=UTF-8",
		"Date": "Sun, 15 Nov 2026 09:06:00 +0000", "User-Agent": "", "X-Mailer": "",
	} {
		if got := parsed.Header.Get(header); got != want {
			t.Errorf("%s: %q, want %q", header, got, want)
		}
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(parsed.Header.Get("Subject"))
	if err != nil || subject != "Neues Passwort wählen" {
		t.Errorf("the subject is %q: %v", subject, err)
	}
	body, err := io.ReadAll(quotedprintable.NewReader(parsed.Body))
	if err != nil || !strings.Contains(string(body), message().Link) || strings.Contains(string(body), "<") {
		t.Errorf("%v:\n%s", err, body)
	}
}

func TestSend_EndsWithSeller(t *testing.T) {
	t.Parallel()
	s := startServer(t, true, false)
	seller := upstreamsmtp.Seller{
		Name: "Kontor GmbH", Street: "Kai 1", PostalCode: "20457", City: "Hamburg", Representative: "Geschäftsführerin Erika Muster",
		Register: "Amtsgericht Hamburg, HRB 123456", VATID: "DE123456789",
	}
	for _, test := range []struct {
		language string
		edit     func(*upstreamsmtp.Seller)
		want     string
	}{
		{"de", func(*upstreamsmtp.Seller) {}, "oder Ihren Codes.\n\nKontor GmbH, Kai 1, 20457 Hamburg\nVertreten durch: Geschäftsführerin Erika Muster\nAmtsgericht Hamburg, HRB 123456, USt-IdNr. DE123456789\n"},
		{"en", func(s *upstreamsmtp.Seller) { s.Representative, s.Register = "", "" }, "by email.\n\nKontor GmbH, Kai 1, 20457 Hamburg, Germany\nVAT ID DE123456789\n"},
		{"de", func(s *upstreamsmtp.Seller) { s.Representative, s.VATID = "", "" }, "Hamburg\nAmtsgericht Hamburg, HRB 123456\n"},
		{"de", func(s *upstreamsmtp.Seller) { *s = upstreamsmtp.Seller{} }, "oder Ihren Codes.\n"},
	} {
		from, mail := seller, message()
		test.edit(&from)
		mail.Language = test.language
		delivery, err := newClient(t, upstreamsmtp.Options{Server: s.address, Roots: s.roots, Seller: from}).Send(t.Context(), mail)
		if err != nil || !strings.HasSuffix(delivery.Text, test.want) {
			t.Errorf("%v, no %q at the end:\n%s", err, test.want, delivery.Text)
		}
	}
}

func TestSend_SenderDomainIsPunycode(t *testing.T) {
	t.Parallel()
	s := startServer(t, true, false)
	c := newClient(t, upstreamsmtp.Options{Server: s.address, Roots: s.roots, From: "dotkontor <post@müller.example>"})
	if _, err := c.Send(t.Context(), message()); err != nil {
		t.Fatal(err)
	}
	if len(s.texts) != 1 || s.sender != "post@xn--mller-kva.example" || !strings.Contains(s.texts[0], ".2@xn--mller-kva.example>") {
		t.Errorf("from %s: %q", s.sender, s.texts)
	}
}

func TestSend_NeverFallsBackToPlaintext(t *testing.T) {
	t.Parallel()
	plain, secure, implicit := startServer(t, false, false), startServer(t, true, false), startServer(t, false, true)
	for name, test := range map[string]struct {
		server *fakeServer
		opts   upstreamsmtp.Options
		sent   bool
	}{
		"no STARTTLS offered":       {plain, upstreamsmtp.Options{Server: plain.address}, false},
		"an untrusted certificate":  {secure, upstreamsmtp.Options{Server: secure.address}, false},
		"STARTTLS":                  {secure, upstreamsmtp.Options{Server: secure.address, Roots: secure.roots}, true},
		"implicit":                  {implicit, upstreamsmtp.Options{Server: implicit.address, Roots: implicit.roots, TLS: upstreamsmtp.ImplicitTLS}, true},
		"implicit, untrusted CA":    {implicit, upstreamsmtp.Options{Server: implicit.address, TLS: upstreamsmtp.ImplicitTLS}, false},
		"plaintext on this machine": {plain, upstreamsmtp.Options{Server: plain.address, TLS: upstreamsmtp.NoTLS}, true},
	} {
		test.server.mu.Lock()
		before := len(test.server.texts)
		test.server.mu.Unlock()
		_, err := newClient(t, test.opts).Send(t.Context(), message())
		test.server.mu.Lock()
		arrived := len(test.server.texts) - before
		test.server.mu.Unlock()
		if (err == nil) != test.sent || (arrived == 1) != test.sent {
			t.Errorf("%s: %v, %d arrived", name, err, arrived)
		}
	}
}

func TestSend_CauseNamesServerAndOmitsItsText(t *testing.T) {
	t.Parallel()
	plain, secure := startServer(t, false, false), startServer(t, true, false)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nowhere := closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	for class, opts := range map[string]upstreamsmtp.Options{
		"tls_not_offered":       {Server: plain.address},
		"tls_unknown_authority": {Server: secure.address},
		"connection_refused":    {Server: nowhere},
		"login_refused":         {Server: secure.address, Roots: secure.roots, User: "dotkontor", Password: "canary"},
	} {
		_, err := newClient(t, opts).Send(t.Context(), message())
		got, _, _ := strings.Cut(registrar.CauseOf(err), " (")
		if want := "smtp: send at " + opts.Server + ": " + class; got != want || strings.Contains(registrar.CauseOf(err), "canary") {
			t.Errorf("got %q, want %q", registrar.CauseOf(err), want)
		}
	}
}

func TestNew_RefusesPlaintextSettings(t *testing.T) {
	t.Parallel()
	for name, opts := range map[string]upstreamsmtp.Options{
		"none to another machine": {Server: "mail.example:25", TLS: upstreamsmtp.NoTLS},
		"none with a password":    {Server: "127.0.0.1:25", TLS: upstreamsmtp.NoTLS, User: "a", Password: "b"},
		"an unknown mode":         {Server: "mail.example:25", TLS: "maybe"},
		"no port":                 {Server: "mail.example"},
		"half a pair":             {Server: "mail.example:25", User: "a"},
		"a wrong sender":          {Server: "mail.example:25", From: "dotkontor"},
	} {
		if opts.From == "" {
			opts.From = "post@domains.example"
		}
		if _, err := upstreamsmtp.New(opts); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func TestSend_HeaderAndRecipientInjectionIsRefused(t *testing.T) {
	t.Parallel()
	s := startServer(t, false, false)
	c := newClient(t, upstreamsmtp.Options{Server: s.address, TLS: upstreamsmtp.NoTLS})
	for _, to := range []string{
		"", "erika", "a@b.example, c@d.example", "Erika <a@b.example>", "<a@b.example>", "a@b.example\r\nBcc: c@d.example",
		"a@b.example\n", "a b@c.example", `"a b"@c.example`, "a@b.example (comment)", "ä@b.example", "a@[127.0.0.1]", "a@b..example",
		"a\x00@b.example", strings.Repeat("a", 65) + "@b.example", "a@b.example>\r\nRCPT TO:<c@d.example",
	} {
		m := message()
		m.To = to
		if _, err := c.Send(t.Context(), m); registrar.CodeOf(err) != mailer.Undeliverable {
			t.Errorf("%q: %v", to, err)
		}
	}
	if len(s.to) != 0 {
		t.Errorf("the server received %q", s.to)
	}
	m := message()
	m.To, m.Kind = "erika@bücher.example", registrar.MailTokenCreated
	m.Data = map[string]string{"name": "x\r\nBcc: evil@d.example\r\n\r\n.\r\nRCPT TO:<evil@d.example>"}
	if _, err := c.Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if len(s.to) != 1 || s.to[0] != "erika@xn--bcher-kva.example" {
		t.Errorf("recipients %q", s.to)
	}
	if parsed, err := netmail.ReadMessage(strings.NewReader(s.texts[0])); err != nil || parsed.Header.Get("Bcc") != "" {
		t.Errorf("a value became a header: %v", err)
	}
}

func TestSend_MapsSMTPRepliesToFaultCodes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		recipient, data *smtp.SMTPError
		want            registrar.Code
	}{
		"no such mailbox": {&smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "erika@kundin.example unknown"}, nil, mailer.Undeliverable},
		"greylisting":     {&smtp.SMTPError{Code: 450, EnhancedCode: smtp.EnhancedCode{4, 7, 1}, Message: "erika@kundin.example later"}, nil, registrar.FaultThrottled},
		"no relaying":     {&smtp.SMTPError{Code: 554, EnhancedCode: smtp.EnhancedCode{5, 7, 1}, Message: "erika@kundin.example denied"}, nil, registrar.FaultRefused},
		"text refused":    {nil, &smtp.SMTPError{Code: 554, EnhancedCode: smtp.EnhancedCode{5, 6, 0}, Message: "no"}, registrar.FaultRefused},
		"try later":       {nil, &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "no"}, registrar.FaultThrottled},
	} {
		s := startServer(t, false, false)
		if test.recipient != nil {
			s.rcptErr = test.recipient
		}
		if test.data != nil {
			s.dataErr = test.data
		}
		_, err := newClient(t, upstreamsmtp.Options{Server: s.address, TLS: upstreamsmtp.NoTLS}).Send(t.Context(), message())
		if registrar.CodeOf(err) != test.want || strings.Contains(err.Error(), "erika") {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
	s := startServer(t, true, false)
	_, err := newClient(t, upstreamsmtp.Options{Server: s.address, Roots: s.roots, User: "dotkontor", Password: "falsch"}).Send(t.Context(), message())
	if registrar.CodeOf(err) != registrar.FaultRefused || len(s.texts) != 0 {
		t.Errorf("a wrong password: %v", err)
	}
	if err != nil && strings.Contains(err.Error(), "falsch") {
		t.Error("the error contains the password")
	}
}

func TestSend_SilentServerTimesOut(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	left := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			_, err = io.Copy(io.Discard, conn) // until the client hangs up
		}
		left <- err
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = newClient(t, upstreamsmtp.Options{Server: listener.Addr().String(), TLS: upstreamsmtp.NoTLS}).Send(ctx, message())
	if registrar.CodeOf(err) != registrar.FaultTimeout {
		t.Errorf("%v", err)
	}
	_ = listener.Close() // on a busy machine the deadline may come before the connection
	if err := <-left; err != nil && !errors.Is(err, io.EOF) {
		t.Logf("the connection ended with %v", err)
	}
}

func TestSend_SessionServesSeveralMails(t *testing.T) {
	t.Parallel()
	s := startServer(t, false, false)
	c := newClient(t, upstreamsmtp.Options{Server: s.address, TLS: upstreamsmtp.NoTLS})
	for range 3 {
		if _, err := c.Send(t.Context(), message()); err != nil {
			t.Fatal(err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conns) != 1 || len(s.texts) != 3 || len(s.to) != 3 {
		t.Errorf("%d mails to %d recipients over %d connections, want 3, 3, 1", len(s.texts), len(s.to), len(s.conns))
	}
}

func TestSend_ClosedIdleSessionIsReplaced(t *testing.T) {
	t.Parallel()
	s := startServer(t, false, false)
	c := newClient(t, upstreamsmtp.Options{Server: s.address, TLS: upstreamsmtp.NoTLS})
	for range 2 {
		if _, err := c.Send(t.Context(), message()); err != nil {
			t.Fatal(err)
		}
		s.mu.Lock()
		_ = s.conns[len(s.conns)-1].Close()
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conns) != 2 || len(s.texts) != 2 {
		t.Errorf("%d mails over %d connections, want 2 and 2", len(s.texts), len(s.conns))
	}
}

func TestSend_RefusedMailEndsItsSession(t *testing.T) {
	t.Parallel()
	s := startServer(t, false, false)
	c := newClient(t, upstreamsmtp.Options{Server: s.address, TLS: upstreamsmtp.NoTLS})
	s.rcptErr = &smtp.SMTPError{Code: 450, EnhancedCode: smtp.EnhancedCode{4, 2, 0}, Message: "later"}
	if _, err := c.Send(t.Context(), message()); err == nil {
		t.Fatal("the refused mail was sent")
	}
	s.mu.Lock()
	s.rcptErr = nil
	s.mu.Unlock()
	if _, err := c.Send(t.Context(), message()); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.conns) != 2 || len(s.texts) != 1 {
		t.Errorf("%d mails over %d connections, want 1 and 2", len(s.texts), len(s.conns))
	}
}
