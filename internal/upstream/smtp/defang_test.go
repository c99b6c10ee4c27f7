package smtp

import (
	"regexp"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

// linkPattern matches what mail programs turn into links: schemes, host names and
// addresses.
var linkPattern = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*://|\b(?:mailto|tel|javascript):\S|\bwww\.\S|[a-z0-9-]\.[a-z]{2,}|[a-z0-9]@[a-z0-9]`)

const phishingText = "Sie haben gewonnen! Klicken Sie https://evil.example/login oder http://1.2.3.4/x, www.evil.example, evil.co.uk, " +
	"mailto:eve@evil.example javascript:alert(1) evil。example \u202Emoc.live\u202C"

func TestNoticeMail_QuotedTextHasNoLinks(t *testing.T) {
	t.Parallel()
	for _, kind := range []registrar.MailKind{registrar.MailWithdrawal, registrar.MailTermination, registrar.MailNoticeReceived} {
		for _, language := range []string{"de", "en"} {
			text := renderMail(t, kind, language, map[string]string{
				"number": "dcl_1", "declared": "termination", "ground": "extraordinary", "name": "https://evil.example", "email": "erika@kundin.example",
				"contract": "teeladen.de, http://evil.example, " + strings.Repeat("z", 60), "reason": strings.Repeat(phishingText+" ", 3) + strings.Repeat("x", 300),
			})
			inQuote := 0
			for line := range strings.Lines(text) {
				line = strings.TrimRight(line, "\n")
				if strings.ContainsAny(line, "\u202E\u202C\r") {
					t.Errorf("%s in %s changes the text direction: %q", kind, language, line)
				}
				if len([]rune(line)) > 79 {
					t.Errorf("%s in %s has a line of %d characters", kind, language, len([]rune(line)))
				}
				if strings.HasPrefix(line, "> ") {
					inQuote++
				} else if strings.Contains(line, "evil") || strings.Contains(line, "gewonnen") || strings.Contains(line, "xxxx") {
					t.Errorf("%s in %s shows quoted text as its own: %q", kind, language, line)
				}
				if strings.HasPrefix(line, "> ") && linkPattern.MatchString(line) {
					t.Errorf("%s in %s has a clickable link: %q", kind, language, linkPattern.FindString(line))
				}
			}
			if inQuote == 0 || inQuote > 40 {
				t.Errorf("%s in %s quotes %d lines", kind, language, inQuote)
			}
			if !hasText(text, "teeladen[.]de, http[:]//evil[.]example") { // the declared text stays readable
				t.Errorf("%s in %s does not name its subject:\n%s", kind, language, text)
			}
		}
	}
}

func TestMails_ForeignNamesAreDefanged(t *testing.T) {
	t.Parallel()
	for kind, data := range map[registrar.MailKind]map[string]string{
		registrar.MailApplicationConnected: {"name": "Gewinn: https://evil.example", "host": "evil.example"},
		registrar.MailConfirm:              {"items": "1", "item1_name": "evil-gewinn.com"},
		registrar.MailClaim:                orderMailData(map[string]string{"item1_name": "evil-gewinn.com"}),
	} {
		for _, language := range []string{"de", "en"} {
			parsed, err := parseTemplates()
			if err != nil {
				t.Fatal(err)
			}
			_, text, err := parsed.render(mailer.Message{Kind: kind, Language: language, Link: "https://domains.example/l", Data: data}, "https://domains.example")
			if err != nil {
				t.Fatal(err)
			}
			if hasText(text, "evil.example") || hasText(text, "https://evil") || hasText(text, "evil-gewinn.com") || !hasText(text, "evil") {
				t.Errorf("%s in %s:\n%s", kind, language, text)
			}
		}
	}
}

func TestDefang_KeepsTextWithoutLinks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Rechnung 4711, z.B. vom 1.2.2026, 1.000,00 EUR.": "Rechnung 4711, z.B. vom 1.2.2026, 1.000,00 EUR.",
		"Grund: Umzug. Danke":                             "Grund: Umzug. Danke",
		"teeladen.de":                                     "teeladen[.]de",
		"eve@evil.example":                                "eve[@]evil[.]example",
		"HTTPS://Evil.Example":                            "HTTPS[:]//Evil[.]Example",
		"1.2.3.4/login":                                   "1[.]2[.]3[.]4/login",
		"v1.2.3, 10.5.1":                                  "v1.2.3, 10.5.1",
		"www.a.b":                                         "www[.]a.b",
	} {
		if got := defang(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	if got := quotedLines(strings.Repeat("y", withdrawal.MaxReason)); strings.Count(got, "\n") > 16 {
		t.Errorf("%d lines", strings.Count(got, "\n"))
	}
}
