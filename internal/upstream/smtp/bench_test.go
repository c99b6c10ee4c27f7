package smtp_test

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
)

// receipt is the confirmation of an order with an invoice and terms of usual sizes.
func receipt() mailer.Message {
	m, invoice := message(), make([]byte, 26<<10)
	_, _ = rand.NewChaCha8([32]byte{}).Read(invoice) // never fails
	m.Kind, m.Link, m.LinkExpiresAt = registrar.MailOrderPaid, "", time.Time{}
	m.Data = map[string]string{
		"order": "ord_01jd3c4v5w6x7y8z9abcdefghj", "items": "1", "net": "6.90", "vat": "1.31", "gross": "8.21", "vat_rate": "1900",
		"vat_rule": "domestic", "vat_country": "DE", "item1_name": "neu.de", "item1_kind": "register", "item1_years": "1", "item1_net": "6.90",
		"item1_gross": "8.21", "withdraw_until": "2026-11-29", "consent": "Ich stimme ausdrücklich zu, dass Sie vor Ablauf der Frist beginnen.",
		"consent_at": "2026-11-15T09:05:00Z",
	}
	m.Attachments = []mailer.Attachment{
		{Kind: mailer.InvoiceFile, Name: "RE-2026-000042.pdf", Type: "application/pdf", Content: invoice},
		{Kind: mailer.ConsumerTermsFile, Name: "AGB-und-Widerrufsbelehrung.txt", Type: "text/plain; charset=utf-8", Content: bytes.Repeat([]byte("Geschäftsbedingungen\r\n"), 1000)},
	}
	return m
}

func BenchmarkSend(b *testing.B) {
	s, m := startScripted(b, true, nil), receipt()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.client.Send(b.Context(), m); err != nil {
			b.Fatal(err)
		}
	}
}
