package smtp

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"mime"
	"mime/quotedprintable"
	netmail "net/mail"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
)

const (
	maxHeaderLine = 72
	base64Line    = 57 // bytes of a line of 76 characters (RFC 2045, 6.8)
)

// encode returns a mail as it is transmitted (RFC 5322, RFC 2045): ASCII that ends with CRLF.
func (c *Client) encode(message mailer.Message, to, subject, text string) []byte {
	_, domain, _ := strings.Cut(c.from.Address, "@")
	size := 2*len(text) + 2<<10
	for _, file := range message.Attachments {
		size += len(file.Content)*3/2 + 512
	}
	var out bytes.Buffer
	out.Grow(size)
	for _, header := range [][2]string{
		{"Auto-Submitted", "auto-generated"}, // RFC 3834: suppresses automatic replies
		{"Content-Language", languageOf(message).code},
		{"Date", c.opts.Now().Format(time.RFC1123Z)},
		{"MIME-Version", "1.0"},
		{"Message-ID", "<" + message.ID + "@" + domain + ">"},
		{"Subject", mime.QEncoding.Encode("UTF-8", subject)},
		{"From", c.from.String()},
		{"To", (&netmail.Address{Address: to}).String()},
	} {
		writeHeader(&out, header[0], header[1])
	}
	if c.opts.ReplyTo != "" {
		writeHeader(&out, "Reply-To", (&netmail.Address{Address: c.opts.ReplyTo}).String())
	}
	if len(message.Attachments) == 0 {
		writeText(&out, text)
		return out.Bytes()
	}
	boundary := rand.Text()
	fmt.Fprintf(&out, "Content-Type: multipart/mixed;\r\n boundary=%s\r\n\r\n--%[1]s\r\n", boundary)
	writeText(&out, text)
	for _, file := range message.Attachments {
		fmt.Fprintf(&out, "\r\n--%s\r\n", boundary)
		writeFile(&out, file)
	}
	fmt.Fprintf(&out, "\r\n--%s--\r\n", boundary)
	return out.Bytes()
}

// writeHeader writes a header and folds it at spaces.
func writeHeader(out *bytes.Buffer, name, value string) {
	out.WriteString(name + ":")
	length := len(name) + 1
	for word := range strings.SplitSeq(value, " ") {
		if length+1+len(word) > maxHeaderLine {
			out.WriteString("\r\n")
			length = 0
		}
		out.WriteString(" " + word)
		length += 1 + len(word)
	}
	out.WriteString("\r\n")
}

func writeText(out *bytes.Buffer, text string) {
	out.WriteString("Content-Transfer-Encoding: quoted-printable\r\nContent-Type: text/plain; charset=UTF-8\r\n\r\n")
	w := quotedprintable.NewWriter(out)
	_, _ = w.Write([]byte(text)) // it writes to memory and can't fail
	_ = w.Close()
}

func writeFile(out *bytes.Buffer, file mailer.Attachment) {
	name := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || strings.ContainsRune(`"/:<>?\|`, r) {
			return '_'
		}
		return r
	}, file.Name)
	name = mime.QEncoding.Encode("UTF-8", name)
	fmt.Fprintf(out, "Content-Disposition: attachment; filename=\"%s\"\r\nContent-Transfer-Encoding: base64\r\nContent-Type: %s; name=\"%[1]s\"\r\n\r\n", name, file.Type)
	for line := range slices.Chunk(file.Content, base64Line) {
		out.Write(append(base64.StdEncoding.AppendEncode(out.AvailableBuffer(), line), "\r\n"...))
	}
}
