package smtp

import (
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestSettledMail_NamesAmountAndDay(t *testing.T) {
	t.Parallel()
	facts := orderMailData(map[string]string{
		"refund": "8.21", "parts": "1", "part1_name": "neu.de", "part1_gross": "8.21", "returned_on": "2026-11-20", registrar.MailOccurredAt: "2026-11-24T12:00:00Z",
	})
	for language, wants := range map[string][]string{
		"de": {"am 24.11.2026 8,21 EUR auf anderem Weg ausgezahlt", "Erstattung am 20.11.2026 zurückgegeben", "neu.de: 8,21 EUR", "https://domains.example/portal/orders/"},
		"en": {"On 24 November 2026 we paid you 8.21 EUR another way", "returned our refund on 20 November 2026", "neu.de: 8.21 EUR", "https://domains.example/portal/orders/"},
	} {
		body := renderMail(t, registrar.MailRefundSettled, language, facts)
		for _, want := range wants {
			if !hasText(body, want) {
				t.Errorf("%s does not say %q:\n%s", language, want, body)
			}
		}
	}
}
