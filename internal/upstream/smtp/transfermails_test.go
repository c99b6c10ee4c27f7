package smtp

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/registrar/transferaway"
)

func renderTransfer(t *testing.T, kind registrar.MailKind, lang string, data map[string]string) (subject, body string) {
	t.Helper()
	parsed, err := parseTemplates()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{
		"domain": "teeladen.com", "domain_id": "dom_1", "gaining": "nordlicht", "requested": "2026-11-17T05:00:00Z", "acts_at": "2026-11-22T05:00:00Z",
	}
	for key, value := range data {
		all[key] = value
	}
	subject, body, err = parsed.render(mailer.Message{Kind: kind, Language: lang, At: time.Date(2026, 11, 17, 5, 1, 0, 0, time.UTC), Data: all}, "https://domains.example/portal")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(body) {
		if utf8.RuneCountInString(line) > 79 || strings.HasSuffix(line, " \n") {
			t.Errorf("%s in %s has a bad line: %q", kind, lang, line)
		}
	}
	if hasText(body, "\n\n\n") {
		t.Errorf("%s in %s has gaps:\n%s", kind, lang, body)
	}
	return subject, body
}

func TestTransferAwayMail_SaysWhoUntilWhenAndHowToStop(t *testing.T) {
	t.Parallel()
	for lang, deadline := range map[string]string{"de": "22.11.2026, 06:00 Uhr MEZ", "en": "22 November 2026"} {
		_, body := renderTransfer(t, registrar.MailTransferAway, lang, map[string]string{"stoppable": "true"})
		for _, want := range []string{"teeladen.com", "nordlicht", deadline, "https://domains.example/portal/domains/dom_1/transfer"} {
			if !hasText(body, want) {
				t.Errorf("in %s %q is missing:\n%s", lang, want, body)
			}
		}
	}
	_, unstoppable := renderTransfer(t, registrar.MailTransferAway, "de", map[string]string{"stoppable": "false"})
	if strings.Contains(unstoppable, "stoppen Sie") || !strings.Contains(unstoppable, "nicht ablehnen") {
		t.Errorf("a registry without rejections:\n%s", unstoppable)
	}
	_, unknown := renderTransfer(t, registrar.MailTransferAway, "en", map[string]string{"gaining": "", "acts_at": "", "requested": "", "stoppable": "true"})
	if !strings.Contains(unknown, "not named by the registry") || strings.Contains(unknown, "Moves on") {
		t.Errorf("unknown details:\n%s", unknown)
	}
}

func TestTransferAwayMails_SubjectHasDayAndEndHasTime(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind                        registrar.MailKind
		lang, change, subject, time string
	}{
		{registrar.MailTransferAway, "de", "", "teeladen.com: Umzug zu einem anderen Anbieter beantragt, zieht am 22.11.2026 um", "22.11.2026, 06:00 Uhr MEZ"},
		{registrar.MailTransferAwayEnded, "de", "stopped", "teeladen.com bleibt bei uns: Umzug am 19.11.2026 gestoppt", "Beendet: 19.11.2026, 00:30 Uhr MEZ"},
		{registrar.MailTransferAwayEnded, "en", "completed", "teeladen.com moved to another provider on 19 November 2026", "Ended: 19 November 2026, 00:30"},
	} {
		subject, body := renderTransfer(t, test.kind, test.lang, map[string]string{"change": test.change, "at": "2026-11-18", "ended_at": "2026-11-18T23:30:00Z"})
		if subject != test.subject || !hasText(body, test.time) {
			t.Errorf("%s %s in %s: %q, want %q and %q:\n%s", test.kind, test.change, test.lang, subject, test.subject, test.time, body)
		}
	}
}

func TestTransferAwayEndedMail_EachEndHasItsOwnWords(t *testing.T) {
	t.Parallel()
	for _, lang := range []string{"de", "en"} {
		seen := make(map[string]string)
		changes := []string{"stop_refused", "approve_refused"}
		for _, state := range transferaway.States() {
			if state.Final() {
				changes = append(changes, string(state))
			}
		}
		for _, change := range changes {
			subject, body := renderTransfer(t, registrar.MailTransferAwayEnded, lang, map[string]string{"change": change, "at": "2026-11-20"})
			if other, used := seen[body]; used {
				t.Errorf("%s: %s and %s have the same text", lang, change, other)
			}
			seen[body] = change
			if stays := change == "stopped" || change == "cancelled" || change == "kept"; stays != (strings.Contains(subject, "bleibt") || strings.Contains(subject, "stays")) {
				t.Errorf("%s: the subject of %s is %q", lang, change, subject)
			}
		}
	}
	for _, reason := range transferaway.Reasons() {
		_, body := renderTransfer(t, registrar.MailTransferAwayEnded, "en", map[string]string{"change": "stopped", "reason": string(reason)})
		if !hasText(body, "Reason:") {
			t.Errorf("no reason for %s:\n%s", reason, body)
		}
	}
}
