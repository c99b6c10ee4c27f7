package mail

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/letters"
)

// accountKinds are letters about what somebody did with an account, orderKinds
// those about orders and domains.
var (
	kinds      = slices.Concat(accountKinds, orderKinds)
	orderKinds = []registrar.LetterKind{
		registrar.LetterOrderPaid, registrar.LetterOrderDone, registrar.LetterPaymentReturned, registrar.LetterClaim,
		registrar.LetterExpiringMonth, registrar.LetterExpiringWeek, registrar.LetterExpired,
		registrar.LetterDomainChanged, registrar.LetterAuthCode, registrar.LetterDomainLock,
		registrar.LetterWithdrawal, registrar.LetterTermination, registrar.LetterDeclared,
	}
)

var accountKinds = []registrar.LetterKind{
	registrar.LetterConfirm, registrar.LetterAlreadyMember, registrar.LetterReset, registrar.LetterNoAccount,
	registrar.LetterChangeEmail, registrar.LetterEmailChanging, registrar.LetterPasswordChanged,
	registrar.LetterTokenCreated, registrar.LetterSecondFactor, registrar.LetterRegistrant, registrar.LetterPasskey, registrar.LetterApplication,
	registrar.LetterApplicationReplayed,
	registrar.LetterAgent, registrar.LetterAccountClosed,
}

var (
	placeholder = regexp.MustCompile(`\.[A-Z][a-z]+`)
	rudeWords   = regexp.MustCompile(`\b(du|dich|dir|dein\w*)\b`)
)

func TestEveryLetterIsWrittenInBothLanguagesWithTheSamePlaceholders(t *testing.T) {
	t.Parallel()
	for _, spoken := range []language{german, english} {
		if got := slices.Sorted(maps.Keys(spoken.letters)); !slices.Equal(got, slices.Sorted(slices.Values(accountKinds))) {
			t.Errorf("%s has the letters %v", spoken.code, got)
		}
		if got := slices.Sorted(maps.Keys(spoken.orders)); !slices.Equal(got, slices.Sorted(slices.Values(orderKinds))) {
			t.Errorf("%s has the letters about orders %v", spoken.code, got)
		}
	}
	used := func(text string) []string { return slices.Sorted(slices.Values(placeholder.FindAllString(text, -1))) }
	for _, kind := range kinds {
		de, en := german.letter(kind), english.letter(kind)
		if a, b := used(de.body), used(en.body); !slices.Equal(a, b) {
			t.Errorf("%s: German mentions %v, English %v", kind, a, b)
		}
		if de.subject == "" || en.subject == "" || strings.Contains(de.subject+en.subject, "{{") {
			t.Errorf("%s: a subject is empty or has placeholders", kind)
		}
		if rudeWords.MatchString(strings.ToLower(de.body)) {
			t.Errorf("%s is not polite: %s", kind, de.body)
		}
		if !slices.Contains(accountKinds, kind) {
			continue
		}
		if !strings.Contains(de.body, "{{.At}}") {
			t.Errorf("%s does not say when", kind)
		}
		// A mistyped new address belongs to a stranger, who must not learn where the
		// customer is.
		if got, want := strings.Contains(de.body, "{{with .Address}}"), kind != registrar.LetterChangeEmail; got != want {
			t.Errorf("%s names the network address: %t, want %t", kind, got, want)
		}
		if !strings.Contains(de.body, "Waren Sie das nicht?") || !strings.Contains(en.body, "Was that not you?") {
			t.Errorf("%s does not say what to do if it was somebody else", kind)
		}
		linked := kind == registrar.LetterConfirm || kind == registrar.LetterReset || kind == registrar.LetterChangeEmail
		if got := strings.Contains(de.body, "{{.Link}}") && strings.Contains(de.body, "{{.Until}}"); got != linked {
			t.Errorf("%s: a link with its time is there: %t, want %t", kind, got, linked)
		}
	}
}

func TestLinesOfALetterAreShort(t *testing.T) {
	t.Parallel()
	parsed, err := parseTexts()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range accountKinds {
		for _, spoken := range []string{"de", "en"} {
			for _, change := range []string{"on", "off", "renewed", "used", "added", "removed", ""} {
				_, body, err := parsed.write(letters.Message{
					Kind: kind, Language: spoken, At: time.Date(2026, 11, 30, 23, 59, 0, 0, time.UTC),
					Link: "https://domains.example/portal/x?link=y", LinkExpiresAt: time.Date(2026, 11, 30, 23, 59, 0, 0, time.UTC),
					Facts: map[string]string{"address": "203.0.113.255", "name": "Laptop", "host": "assistant.example", "email": "neu@kundin.example", "change": change},
				}, "https://domains.example/portal")
				if err != nil {
					t.Fatal(err)
				}
				for line := range strings.Lines(body) {
					if utf8.RuneCountInString(line) > 79 || strings.HasSuffix(line, " \n") {
						t.Errorf("%s in %s has a bad line: %q", kind, spoken, line)
					}
				}
				if strings.Contains(body, "\n\n\n") || strings.Contains(body, "<no value>") {
					t.Errorf("%s in %s has gaps:\n%s", kind, spoken, body)
				}
			}
		}
	}
}

func TestALetterTellsWhatAPersonNeedsToKnow(t *testing.T) {
	t.Parallel()
	parsed, err := parseTexts()
	if err != nil {
		t.Fatal(err)
	}
	message := letters.Message{
		Kind: registrar.LetterTokenCreated, Language: "de", At: time.Date(2026, 11, 15, 9, 5, 0, 0, time.UTC),
		Facts: map[string]string{"address": "203.0.113.7", "name": "Laptop im Büro"},
	}
	_, body, err := parsed.write(message, "https://domains.example/portal")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"15.11.2026, 09:05 Uhr UTC", "203.0.113.7", "Name: Laptop im Büro", "https://domains.example/portal", "widerrufen"} {
		if !strings.Contains(body, want) {
			t.Errorf("the letter does not say %q:\n%s", want, body)
		}
	}
	message.Language, message.Facts = "fr", nil
	_, body, err = parsed.write(message, "")
	if err != nil || !strings.Contains(body, "Guten Tag") || strings.Contains(body, "von der Adresse") || strings.Contains(body, "Name:") {
		t.Errorf("without facts and in a language that we do not write: %v\n%s", err, body)
	}
}

func TestFactsCanNotLookLikeATextOfOurs(t *testing.T) {
	t.Parallel()
	for fact, want := range map[string]string{
		"Laptop":                           "Laptop",
		"a\r\nBcc: x@evil.example\r\n\r\n": "a Bcc: x@evil.example",
		"a\u2028b\u2029c\u0085d":           "a b c d",
		"\u202egnp.exe\u200b":              "gnp.exe",
		"\x00\x1b[31mred":                  "[31mred",
		strings.Repeat("ä", 300):           strings.Repeat("ä", 100) + "…",
	} {
		if got := oneLine(fact); got != want {
			t.Errorf("%q became %q, want %q", fact, got, want)
		}
	}
}

func TestAConfirmationRepeatsTheWholeDeclaration(t *testing.T) {
	t.Parallel()
	facts := map[string]string{
		"number": "dcl_1", "declared": "termination", "name": "Erika Mustermann", "email": "erika@kundin.example", "contract": "kaffee.de",
		"ground": "extraordinary", "reason": strings.Repeat("weil ", 150) + "darum", "end": "2026-12-31",
	}
	parsed, err := parseTexts()
	if err != nil {
		t.Fatal(err)
	}
	for kind, words := range map[registrar.LetterKind][]string{
		registrar.LetterTermination: {"dcl_1", "30.11.2026, 23:59 Uhr UTC", "Erika Mustermann", "kaffee[.]de", "außerordentlich", "weil darum", "31.12.2026"},
		registrar.LetterWithdrawal:  {"dcl_1", "30.11.2026, 23:59 Uhr UTC", "Erika Mustermann", "kaffee[.]de"},
		registrar.LetterDeclared:    {"dcl_1", "gekündigt", "erika@kundin.example", "weil darum"},
	} {
		_, body, err := parsed.write(letters.Message{Kind: kind, Language: "de", At: time.Date(2026, 11, 30, 23, 59, 0, 0, time.UTC), Facts: facts}, "https://x/")
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range words {
			if !strings.Contains(body, word) {
				t.Errorf("%s does not say %q: %s", kind, word, body)
			}
		}
		if strings.Contains(body, "\n\n\n") {
			t.Errorf("%s has a hole: %s", kind, body)
		}
	}
}
