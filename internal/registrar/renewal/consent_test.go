package renewal_test

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
)

const day = 24 * time.Hour

func TestFirstChargeOf_AlwaysThirtyDaysAfterAnnouncement(t *testing.T) {
	t.Parallel()
	now := time.Date(2027, 3, 1, 15, 4, 5, 0, time.UTC)
	for hours := range 24 * 100 {
		ends := now.Add(time.Duration(hours) * time.Hour)
		first := renewal.FirstChargeOf(now, ends, ".com", 1)
		left := ends.Sub(now)
		switch {
		case left >= 45*day: // announced 45 days before the end, charged 14 days before it
			if first.NextTerm || first.Announce || !first.At.Equal(ends.Add(-14*day)) || !first.TermEnd.Equal(ends) {
				t.Fatalf("%s left: %+v", left, first)
			}
		case first.NextTerm:
			if left > 32*day || first.Announce || !first.TermEnd.Equal(ends.AddDate(1, 0, 0)) || !first.At.Equal(first.TermEnd.Add(-14*day)) {
				t.Fatalf("%s left: %+v", left, first)
			}
		default: // the consent is the announcement
			if !first.Announce || first.At.Sub(now) < 30*day || first.At.After(ends.Add(-day)) || first.At.Before(ends.Add(-14*day)) {
				t.Fatalf("%s left: %+v", left, first)
			}
		}
	}
}

func TestConsentText_CurrentInBothLanguages(t *testing.T) {
	t.Parallel()
	for _, language := range []string{"de", "en", "fr"} {
		wording := renewal.ConsentWording(language)
		text := renewal.ConsentText(wording)
		if !renewal.IsCurrentWording(wording) || len(text) < 200 || !strings.Contains(text, "30") {
			t.Errorf("%s: %s %q", language, wording, text)
		}
	}
	if renewal.IsCurrentWording("2026-11b-en") || renewal.IsCurrentWording("") || renewal.IsCurrentWording("2020-01-de") || renewal.ConsentText("2020-01-de") != "" {
		t.Error("an unknown wording counts")
	}
}

// Consents store the wording's name, so published texts never change.
func TestConsentText_PublishedWordingsNeverChange(t *testing.T) {
	t.Parallel()
	for wording, want := range map[string]string{
		"2026-11-de":  "22358347b237668942a5bd8602d60480ca7ecd7153686684655e6080d6707d77",
		"2026-11-en":  "437bd3da75cf8ce6884cd6e2071bbfdd113a03776160a45e347461b57de04b88",
		"2026-11b-de": "ebeac8fd01c35816b16135998c7da90658ed23476c92587eaed5ef730a36b62c",
		"2026-11b-en": "aa59b3aeaaae5ea04cbb179f3c583782dbe7c86c12f0f7c46ea0fe6283b61018",
		"2026-11c-en": "a552670836ee541fca965a3cca66dc2b674c874c844b02120cf8865afc17825f",
	} {
		sum := sha256.Sum256([]byte(renewal.ConsentText(wording)))
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("%s is another text now (%s): add a version instead", wording, got)
		}
	}
}

func TestGive_EventHasTheDayOfTheConsent(t *testing.T) {
	t.Parallel()
	ordered := time.Date(2026, 11, 19, 9, 0, 0, 0, time.UTC)
	arrived := ordered.AddDate(0, 0, 6)
	terms := renewal.ConsentTerms{
		Domain: renewal.Domain{ID: "dom_1", Name: "umzug.com", TLD: ".com", PaidUntil: arrived.AddDate(1, 0, 0)}, Years: 1, Gross: 1190,
		GivenAt: ordered, Now: arrived, At: arrived,
	}
	if given := renewal.Give(terms); !given.AuditEvent.At.Equal(ordered) || !given.Consent.GivenAt.Equal(ordered) {
		t.Errorf("event at %s, consent at %s", given.AuditEvent.At, given.Consent.GivenAt)
	}
}
