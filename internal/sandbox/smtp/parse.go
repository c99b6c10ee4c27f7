package smtp

import (
	"bytes"
	"encoding/base64"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"regexp"
	"strings"
)

// urlPattern matches links, which end at white space, quotes and brackets.
var urlPattern = regexp.MustCompile(`https?://[^\s<>"'()\[\]{}]+`)

// parseMail decodes a received message. What can't be decoded is shown unchanged.
func parseMail(raw []byte) Mail {
	parsed, err := mail.ReadMessage(bytes.NewReader(raw))
	if err != nil {
		return withLinks(Mail{Text: strings.ToValidUTF8(string(raw), "�")})
	}
	header := textproto.MIMEHeader(parsed.Header)
	subject, err := new(mime.WordDecoder).DecodeHeader(header.Get("Subject"))
	if err != nil {
		subject = header.Get("Subject")
	}
	text := plainText(header, parsed.Body, 0)
	replyTo := ""
	if address, err := mail.ParseAddress(header.Get("Reply-To")); err == nil {
		replyTo = address.Address
	}
	return withLinks(Mail{
		ReplyTo:  replyTo,
		Subject:  strings.ToValidUTF8(subject, "�"),
		Language: strings.ToValidUTF8(header.Get("Content-Language"), "�"),
		Text:     strings.ReplaceAll(strings.ToValidUTF8(text, "�"), "\r\n", "\n"),
	})
}

func withLinks(m Mail) Mail {
	m.Links = []string{}
	for _, link := range urlPattern.FindAllString(m.Text, -1) {
		m.Links = append(m.Links, strings.TrimRight(link, ".,;:!?"))
	}
	return m
}

// plainText returns the first plain text of a part, decoded.
func plainText(header textproto.MIMEHeader, body io.Reader, depth int) string {
	kind, params, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err == nil && strings.HasPrefix(kind, "multipart/") && depth < 3 {
		parts := multipart.NewReader(body, params["boundary"])
		for {
			part, err := parts.NextRawPart()
			if err != nil {
				return ""
			}
			if text := plainText(part.Header, part, depth+1); text != "" {
				return text
			}
		}
	}
	if err == nil && kind != "text/plain" {
		return ""
	}
	switch strings.ToLower(header.Get("Content-Transfer-Encoding")) {
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	}
	text, _ := io.ReadAll(body) // a partial text is better than none
	return string(text)
}
