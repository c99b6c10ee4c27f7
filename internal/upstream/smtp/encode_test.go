package smtp_test

import (
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	netmail "net/mail"
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	upstreamsmtp "github.com/dotkontor/dotkontor/internal/upstream/smtp"
)

func TestSend_AttachedFilesArriveUnchanged(t *testing.T) {
	t.Parallel()
	s := startServer(t, false, false)
	m := receipt()
	for size := range 3 { // around the length of a line
		m.Attachments = append(m.Attachments, mailer.Attachment{Name: "Über/\"uns\".txt", Type: "text/plain", Content: m.Attachments[0].Content[:56+size]})
	}
	delivery, err := newClient(t, upstreamsmtp.Options{Server: s.address, TLS: upstreamsmtp.NoTLS}).Send(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	parsed, err := netmail.ReadMessage(strings.NewReader(s.texts[0]))
	if err != nil {
		t.Fatal(err)
	}
	_, params, err := mime.ParseMediaType(parsed.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	parts := multipart.NewReader(parsed.Body, params["boundary"])
	text, err := parts.NextPart()
	if err != nil {
		t.Fatal(err)
	}
	if body, err := io.ReadAll(text); err != nil || strings.ReplaceAll(string(body), "\r\n", "\n") != delivery.Text {
		t.Errorf("%v:\n%s", err, body)
	}
	for _, file := range m.Attachments {
		part, err := parts.NextPart()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, part))
		name, nameErr := new(mime.WordDecoder).DecodeHeader(part.FileName())
		if err != nil || nameErr != nil || !slices.Equal(content, file.Content) || name != strings.NewReplacer("/", "_", `"`, "_").Replace(file.Name) {
			t.Errorf("%s is %q of %d bytes: %v", file.Name, name, len(content), err)
		}
	}
	if _, err := parts.NextPart(); err != io.EOF {
		t.Errorf("another part: %v", err)
	}
}

func TestSend_LinesAreShort(t *testing.T) {
	t.Parallel()
	s := startServer(t, false, false)
	from := "dotkontor, " + strings.Repeat("Domains für alle ", 10)
	m := receipt()
	m.Data["item1_name"] = "xn--" + strings.Repeat("lang", 10) + "-kva.example"
	if _, err := newClient(t, upstreamsmtp.Options{Server: s.address, TLS: upstreamsmtp.NoTLS, From: `"` + from + `" <post@domains.example>`}).Send(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for line := range strings.SplitSeq(s.texts[0], "\r\n") {
		if len(line) > 78 || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%d characters: %q", len(line), line)
		}
	}
	parsed, err := netmail.ReadMessage(strings.NewReader(s.texts[0]))
	if err != nil {
		t.Fatal(err)
	}
	if sender, err := new(mime.WordDecoder).DecodeHeader(parsed.Header.Get("From")); err != nil || sender != from+" <post@domains.example>" {
		t.Errorf("%v: from %s", err, sender)
	}
}
