package smtp

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/inquiry"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
	"github.com/dotkontor/dotkontor/internal/registrar/retention"
)

// accountKinds are mails about account actions, orderKinds those about orders and
// domains.
var (
	kinds         = slices.Concat(accountKinds, orderKinds, renewalKinds, termKinds, transferKinds, checkKinds, disputeKinds)
	checkKinds    = []registrar.MailKind{registrar.MailContactCheck, registrar.MailContactWarning, registrar.MailContactSuspended, registrar.MailContactConfirmed}
	disputeKinds  = []registrar.MailKind{registrar.MailPaymentDispute}
	transferKinds = []registrar.MailKind{registrar.MailTransferAway, registrar.MailTransferAwayEnded}
	renewalKinds  = []registrar.MailKind{
		registrar.MailRenewalUpcoming, registrar.MailRenewalPriceRise, registrar.MailRenewalDeclined, registrar.MailRenewalFailed,
	}
	termKinds = []registrar.MailKind{
		registrar.MailExpiringMonth, registrar.MailExpiringWeek, registrar.MailExpired, registrar.MailDomainHeld,
		registrar.MailDomainDeleted, registrar.MailDomainClosed, registrar.MailDomainRestored, registrar.MailDataReminder, registrar.MailHolderExpiry,
	}
	orderKinds = []registrar.MailKind{
		registrar.MailOrderDelayed, registrar.MailItemFailed, registrar.MailOrderPaid, registrar.MailOrderEnded, registrar.MailOrderCompleted, registrar.MailPaymentRefunded, registrar.MailOrderRefunded, registrar.MailRefundReturned, registrar.MailRefundSettled, registrar.MailClaim,
		registrar.MailDomainChanged, registrar.MailNameserversRefused, registrar.MailNameserversCanceled, registrar.MailHolderNotice, registrar.MailAuthCode, registrar.MailDomainLock,
		registrar.MailWithdrawal, registrar.MailTermination, registrar.MailContractEnds, registrar.MailNoticeHandled, registrar.MailNoticeReceived,
	}
)

var accountKinds = []registrar.MailKind{
	registrar.MailConfirm, registrar.MailAlreadyRegistered, registrar.MailPasswordReset, registrar.MailSignIn, registrar.MailNoAccount,
	registrar.MailChangeEmail, registrar.MailEmailChanging, registrar.MailPasswordChanged,
	registrar.MailTokenCreated, registrar.MailSecondFactor, registrar.MailRegistrantChanged, registrar.MailPasskey, registrar.MailApplicationConnected,
	registrar.MailApplicationReplayed,
	registrar.MailAgentLinked, registrar.MailAccountClosed,
}

var contactKinds = []registrar.MailKind{registrar.MailInquiryConfirmed, registrar.MailInquiryReceived, registrar.MailDisputeReceived}

var (
	placeholder   = regexp.MustCompile(`\.[A-Z][a-z]+`)
	informalWords = regexp.MustCompile(`\b(du|dich|dir|dein\w*)\b`)
)

// hasText reports whether a mail has a text, wherever its lines break.
func hasText(mail, text string) bool {
	words := strings.Join(strings.Fields(text), " ")
	return strings.Contains(mail, text) || words != "" && strings.Contains(strings.Join(strings.Fields(mail), " "), words)
}

func TestMailTexts_ClosedAccountHasAllRetentionPeriods(t *testing.T) {
	t.Parallel()
	for years, lang := range map[string]language{" Jahre": german, " years": english} {
		want := make(map[string]int)
		for _, rule := range retention.RulesOfKept() {
			want[": "+strconv.Itoa(rule.Years)+years]++
		}
		for period, n := range want {
			if got := strings.Count(lang.accountMails[registrar.MailAccountClosed].body, period); got != n {
				t.Errorf("%s has %q %d times, want %d", lang.code, period, got, n)
			}
		}
	}
}

func TestMailTexts_BothLanguagesShareKindsAndPlaceholders(t *testing.T) {
	t.Parallel()
	for _, lang := range []language{german, english} {
		if got := slices.Sorted(maps.Keys(lang.accountMails)); !slices.Equal(got, slices.Sorted(slices.Values(accountKinds))) {
			t.Errorf("%s has the mails %v", lang.code, got)
		}
		if got := slices.Sorted(maps.Keys(lang.orderMails)); !slices.Equal(got, slices.Sorted(slices.Values(orderKinds))) {
			t.Errorf("%s has the order mails %v", lang.code, got)
		}
		if got := slices.Sorted(maps.Keys(lang.renewalMails)); !slices.Equal(got, slices.Sorted(slices.Values(renewalKinds))) {
			t.Errorf("%s has the renewal mails %v", lang.code, got)
		}
		if got := slices.Sorted(maps.Keys(lang.termMails)); !slices.Equal(got, slices.Sorted(slices.Values(termKinds))) {
			t.Errorf("%s has the mails about terms %v", lang.code, got)
		}
		if got := slices.Sorted(maps.Keys(lang.contactMails)); !slices.Equal(got, slices.Sorted(slices.Values(contactKinds))) {
			t.Errorf("%s has the contact mails %v", lang.code, got)
		}
		for _, topic := range inquiry.Topics() {
			if lang.topics[string(topic)] == "" {
				t.Errorf("%s has no word for the topic %s", lang.code, topic)
			}
		}
	}
	used := func(text string) []string {
		all := slices.Sorted(slices.Values(placeholder.FindAllString(text, -1)))
		return slices.CompactFunc(all, func(a, b string) bool { return a == ".More" && b == a }) // the languages have plurals in other places
	}
	for _, kind := range kinds {
		de, en := german.allMails()[kind], english.allMails()[kind]
		if a, b := used(de.body), used(en.body); !slices.Equal(a, b) {
			t.Errorf("%s: German mentions %v, English %v", kind, a, b)
		}
		if de.subject == "" || en.subject == "" || !slices.Equal(used(de.subject), used(en.subject)) {
			t.Errorf("%s: a subject is empty, or the languages have other placeholders", kind)
		}
		if strings.Contains(de.body+en.body, `\`) {
			t.Errorf("%s shows a backslash to its reader", kind)
		}
		if informalWords.MatchString(strings.ToLower(de.body)) {
			t.Errorf("%s is not polite: %s", kind, de.body)
		}
		if !slices.Contains(accountKinds, kind) {
			continue
		}
		if !strings.Contains(de.body, "{{.At}}") {
			t.Errorf("%s does not state the time", kind)
		}
		// A mistyped new address belongs to a third party, who must not learn the
		// customer's IP address.
		if got, want := strings.Contains(de.body, "{{with .Address}}"), kind != registrar.MailChangeEmail; got != want {
			t.Errorf("%s contains the IP address: %t, want %t", kind, got, want)
		}
		if !strings.Contains(de.body, "Waren Sie das nicht?") || !strings.Contains(en.body, "If this wasn't you") {
			t.Errorf("%s does not say what to do if it was not the customer", kind)
		}
		linked := kind == registrar.MailConfirm || kind == registrar.MailPasswordReset || kind == registrar.MailSignIn || kind == registrar.MailChangeEmail
		if got := strings.Contains(de.body, "{{.Link}}") && strings.Contains(de.body, "{{.Until}}"); got != linked {
			t.Errorf("%s: a link with its expiry is present: %t, want %t", kind, got, linked)
		}
	}
}

func TestMailTexts_LinesAreAtMost79Characters(t *testing.T) {
	t.Parallel()
	parsed, err := parseTemplates()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range accountKinds {
		for _, lang := range []string{"de", "en"} {
			for _, change := range []string{"on", "off", "renewed", "used", "added", "removed", ""} {
				_, body, err := parsed.render(mailer.Message{
					Kind: kind, Language: lang, At: time.Date(2026, 7, 30, 23, 59, 0, 0, time.UTC),
					Link: "https://domains.example/portal/x?link=y", LinkExpiresAt: time.Date(2026, 7, 30, 23, 59, 0, 0, time.UTC),
					Data: map[string]string{"address": "203.0.113.255", "name": "Laptop", "host": "assistant.example", "email": "neu@kundin.example", "change": change},
				}, "https://domains.example/portal")
				if err != nil {
					t.Fatal(err)
				}
				for line := range strings.Lines(body) {
					if utf8.RuneCountInString(line) > 79 || strings.HasSuffix(line, " \n") {
						t.Errorf("%s in %s has a bad line: %q", kind, lang, line)
					}
				}
				if hasText(body, "\n\n\n") || hasText(body, "<no value>") {
					t.Errorf("%s in %s has gaps:\n%s", kind, lang, body)
				}
			}
		}
	}
}

func TestRender_StatesTimeAddressAndData(t *testing.T) {
	t.Parallel()
	parsed, err := parseTemplates()
	if err != nil {
		t.Fatal(err)
	}
	message := mailer.Message{
		Kind: registrar.MailTokenCreated, Language: "de", At: time.Date(2026, 11, 15, 9, 5, 0, 0, time.UTC),
		Data: map[string]string{"address": "203.0.113.7", "name": "Laptop im Büro"},
	}
	_, body, err := parsed.render(message, "https://domains.example/portal")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"15.11.2026, 10:05 Uhr MEZ", "203.0.113.7", "Name: Laptop im Büro", "https://domains.example/portal", "widerrufen"} {
		if !hasText(body, want) {
			t.Errorf("the mail does not contain %q:\n%s", want, body)
		}
	}
	message.Language, message.Data = "fr", nil
	_, body, err = parsed.render(message, "")
	if err != nil || !hasText(body, "Guten Tag") || hasText(body, "von der IP-Adresse") || hasText(body, "Name:") {
		t.Errorf("without data and in an unsupported language: %v\n%s", err, body)
	}
}

func TestRender_SecurityMailsSayWhatHappened(t *testing.T) {
	t.Parallel()
	parsed, err := parseTemplates()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		kind                     registrar.MailKind
		data                     map[string]string
		language, subject, wants string
	}{
		{registrar.MailPasswordChanged, map[string]string{"change": "set"}, "de", "Ihr Konto hat jetzt ein Passwort", "erstmals ein Passwort festgelegt"},
		{registrar.MailPasswordChanged, map[string]string{"change": "set"}, "en", "Your account now has a password", "A first password was set"},
		{registrar.MailPasswordChanged, map[string]string{"change": "changed"}, "de", "Ihr Passwort wurde geändert", "geändert. Alle"},
		{registrar.MailPasswordChanged, nil, "en", "Your password was changed", "was changed on"},
		{registrar.MailSecondFactor, map[string]string{"change": "used", "left": "9"}, "de", "Ein Wiederherstellungscode wurde benutzt", "Sie haben noch 9 Codes."},
		{registrar.MailSecondFactor, map[string]string{"change": "used", "left": "1"}, "en", "A recovery code was used", "You have one code left."},
		{registrar.MailSecondFactor, map[string]string{"change": "used", "left": "0"}, "de", "Ein Wiederherstellungscode wurde benutzt", "Es war Ihr letzter."},
		{registrar.MailSecondFactor, map[string]string{"change": "off"}, "en", "Your second factor was changed", "turned\noff"},
		{registrar.MailTokenCreated, map[string]string{"expires_at": "2027-11-15T23:59:59Z"}, "de", "Ein neues Zugangstoken für Ihr Konto", "Gültig bis: 15.11.2027\n"},
		{registrar.MailTokenCreated, map[string]string{"expires_at": "never"}, "en", "A new access token for your account", "The token does not expire."},
	} {
		subject, body, err := parsed.render(mailer.Message{Kind: test.kind, Language: test.language, Data: test.data}, "https://domains.example/portal")
		if err != nil || subject != test.subject || !hasText(body, test.wants) {
			t.Errorf("%s %v: %v, subject %q, want %q and %q:\n%s", test.kind, test.data, err, subject, test.subject, test.wants, body)
		}
	}
}

func TestResetMail_NamesNoPasswordThatIsNotSet(t *testing.T) {
	t.Parallel()
	parsed, err := parseTemplates()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		language                  string
		none                      bool
		subject, requested, stays string
	}{
		{"de", false, "Neues Passwort wählen", "ein neues Passwort angefordert", "Ihr Passwort bleibt, wie es ist."},
		{"de", true, "Passwort festlegen", "ein Link zum Festlegen eines Passworts angefordert", "Ihr Konto bleibt, wie es ist."},
		{"en", false, "Choose a new password", "A new password for your account", "your password stays the same."},
		{"en", true, "Set a password", "A link to set a password for your account", "your account stays the same."},
	} {
		subject, body, err := parsed.render(mailer.Message{Kind: registrar.MailPasswordReset, Language: test.language, NoPassword: test.none}, "https://domains.example/portal")
		if err != nil || subject != test.subject || !hasText(body, test.requested) || !hasText(body, test.stays) {
			t.Errorf("%+v: %v, %q\n%s", test, err, subject, body)
		}
	}
}

func TestTerminationMail_NamesEarliestEndAndPromptReply(t *testing.T) {
	t.Parallel()
	data := map[string]string{"number": "dcl_1", "declared": "termination", "name": "Erika", "contract": "kaffee.de", "ground": "ordinary", "end": "2027-01-31"}
	for language, want := range map[string][2]string{
		"de": {"endet frühestens mit der Laufzeit, die bezahlt ist", "bestätigen wir in Kürze per E-Mail"},
		"en": {"ends with the paid term at the earliest", "We will shortly confirm the day on which the contract ends"},
	} {
		if body := renderMail(t, registrar.MailTermination, language, data); !hasText(body, want[0]) || !hasText(body, want[1]) {
			t.Errorf("%s:\n%s", language, body)
		}
		soon := map[string]string{"number": "dcl_1", "declared": "termination", "name": "Erika", "contract": "kaffee.de", "ground": "ordinary"}
		if body := renderMail(t, registrar.MailTermination, language, soon); !hasText(body, want[1]) {
			t.Errorf("%s, without a day:\n%s", language, body)
		}
		soon["ground"] = "extraordinary" // it may end at once
		if body := renderMail(t, registrar.MailTermination, language, soon); hasText(body, want[0]) {
			t.Errorf("%s, for cause:\n%s", language, body)
		}
	}
}

func TestSanitizeValue_StaysOneHarmlessLine(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"Laptop":                           "Laptop",
		"a\r\nBcc: x@evil.example\r\n\r\n": "a Bcc: x@evil.example",
		"a\u2028b\u2029c\u0085d":           "a b c d",
		"\u202egnp.exe\u200b":              "gnp.exe",
		"\x00\x1b[31mred":                  "[31mred",
		strings.Repeat("ä", 300):           strings.Repeat("ä", 100) + "…",
	} {
		if got := sanitizeValue(value); got != want {
			t.Errorf("%q became %q, want %q", value, got, want)
		}
	}
}

func TestRender_NamesBusinessTimeOfWhatItReports(t *testing.T) {
	t.Parallel()
	parsed, err := parseTemplates()
	if err != nil {
		t.Fatal(err)
	}
	data := map[string]string{"number": "dcl_1", "declared": "withdrawal", "name": "Erika", "contract": "kaffee.de", "refund_by": "2027-02-15", registrar.MailOccurredAt: "2027-02-01T12:00:00Z"}
	subject, body, err := parsed.render(mailer.Message{Kind: registrar.MailWithdrawal, Language: "de", At: time.Date(2026, 11, 30, 23, 59, 0, 0, time.UTC), Data: data}, "https://x/")
	if err != nil || !strings.Contains(subject, "vom 01.02.2027") || !hasText(body, "Eingang: 01.02.2027, 13:00 Uhr MEZ") || !hasText(body, "spätestens am 15.02.2027") || hasText(body, "2026") {
		t.Errorf("%s: %s, %v", subject, body, err)
	}
}

func TestNoticeMail_RepeatsWholeNotice(t *testing.T) {
	t.Parallel()
	data := map[string]string{
		"number": "dcl_1", "declared": "termination", "name": "Erika Mustermann", "email": "erika@kundin.example", "contract": "kaffee.de",
		"ground": "extraordinary", "reason": strings.Repeat("weil ", 150) + "darum", "end": "2026-12-31",
	}
	parsed, err := parseTemplates()
	if err != nil {
		t.Fatal(err)
	}
	for kind, words := range map[registrar.MailKind][]string{
		registrar.MailTermination:    {"dcl_1", "01.12.2026, 00:59 Uhr MEZ", "Erika Mustermann", "kaffee[.]de", "außerordentlich", "weil darum", "Tag des Eingangs"},
		registrar.MailWithdrawal:     {"dcl_1", "01.12.2026, 00:59 Uhr MEZ", "Erika Mustermann", "kaffee[.]de"},
		registrar.MailNoticeReceived: {"dcl_1", "/operator/notices/dcl_1", "gekündigt", "erika@kundin.example", "weil darum"},
	} {
		_, body, err := parsed.render(mailer.Message{Kind: kind, Language: "de", At: time.Date(2026, 11, 30, 23, 59, 0, 0, time.UTC), Data: data}, "https://x/")
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range words {
			if !hasText(body, word) {
				t.Errorf("%s does not contain %q: %s", kind, word, body)
			}
		}
		if hasText(body, "\n\n\n") {
			t.Errorf("%s has a gap: %s", kind, body)
		}
	}
}

func TestContractEndsMail_NamesDayOfEachDomain(t *testing.T) {
	t.Parallel()
	data := map[string]string{
		"number": "dcl_1", "received_at": "2026-11-15T09:05:00Z", "domain": "kaffee.de", "domain_id": "dom_1", "paid_until": "2027-03-01",
		"items": "1", "item1_name": "kaffee.de", "item1_paid_until": "2027-03-01",
	}
	for language, want := range map[string][]string{
		"de": {"15.11.2026, 10:05 Uhr MEZ", "Ende des Vertrags: 01.03.2027", "/domains/dom_1\n"},
		"en": {"15 November 2026", "Contract ends: 1 March 2027", "/domains/dom_1\n"},
	} {
		body := renderMail(t, registrar.MailContractEnds, language, data)
		for _, text := range append(want, "dcl_1", "kaffee.de") {
			if !hasText(body, text) {
				t.Errorf("%s: no %q: %s", language, text, body)
			}
		}
	}
	data["items"], data["item2_name"], data["item2_paid_until"] = "2", "tee.de", "2027-05-02"
	if body := renderMail(t, registrar.MailContractEnds, "de", data); !hasText(body, "tee.de\n  Ende des Vertrags: 02.05.2027") || !hasText(body, "/portal/domains\n") {
		t.Errorf("two domains: %s", body)
	}
}

func TestNoticeHandledMail_HasReplyAndEndOfContract(t *testing.T) {
	t.Parallel()
	data := map[string]string{
		"number": "dcl_1", "declared": "termination", "ground": "extraordinary", "occurred_at": "2026-11-15T09:05:00Z", "contract": "kaffee.de",
		"end": "2026-11-15", "reply": "Der Grund ist wichtig.\n\nWir erstatten den Rest.",
	}
	for language, want := range map[string][]string{
		"de": {"Ihre Kündigung vom 15.11.2026, 10:05 Uhr MEZ", "Ende des Vertrags: 15.11.2026"},
		"en": {"your cancellation of 15 November 2026", "Contract ends: 15 November 2026"},
	} {
		body := renderMail(t, registrar.MailNoticeHandled, language, data)
		for _, text := range append(want, "dcl_1", "Der Grund ist wichtig.\n\nWir erstatten den Rest.\n") {
			if !hasText(body, text) {
				t.Errorf("%s: no %q: %s", language, text, body)
			}
		}
	}
	data["declared"], data["end"] = "withdrawal", ""
	if body := renderMail(t, registrar.MailNoticeHandled, "de", data); strings.Contains(body, "Ende des Vertrags") || !hasText(body, "Ihr Widerruf vom 15.11.2026, 10:05 Uhr MEZ ist bearbeitet.") {
		t.Errorf("a withdrawal: %s", body)
	}
}

func TestNoticeAndDisputeMails_SubjectsNameDomains(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		kind            registrar.MailKind
		data            map[string]string
		german, english string
	}{
		{registrar.MailNoticeHandled, map[string]string{"domain": "kaffee.de", "items": "3", "end": "2026-11-20"}, "Ihre Kündigung vom 15.11.2026 für kaffee.de und 2 weitere: Ihr Vertrag endet am 20.11.2026", "Your cancellation of 15 November 2026 for kaffee.de and 2 more: your contract ends on 20 November 2026"},
		{registrar.MailNoticeHandled, nil, "Ihre Kündigung vom 15.11.2026: unsere Antwort", "Your cancellation of 15 November 2026: our reply"},
		{registrar.MailNoticeReceived, map[string]string{"domain": "kaffee.de", "items": "1"}, "Kündigung dcl_1 vom 15.11.2026: kaffee.de", "Termination dcl_1 of 15 November 2026: kaffee.de"},
		{registrar.MailPaymentDispute, map[string]string{"change": "lost", "gross": "40.34", "items": "2", "item1_name": "kaffee.de", "item2_name": "tee.de"}, "kaffee.de und 1 weitere: Zahlung über 40,34 EUR nicht mehr bei uns, Sperre bleibt", "kaffee.de and 1 more: Payment of 40.34 EUR taken back, the lock stays"},
		{registrar.MailPaymentDispute, map[string]string{"change": "denied", "gross": "40.34", "items": "2", "item1_name": "kaffee.de", "item2_name": "tee.de"}, "kaffee.de und 1 weitere: Zahlung über 40,34 EUR offen, Umzüge abgelehnt", "kaffee.de and 1 more: Payment of 40.34 EUR outstanding, transfers denied"},
		{registrar.MailPaymentDispute, map[string]string{"change": "denied", "state": "held", "gross": "40.34", "items": "2", "item1_name": "kaffee.com", "item1_held": "true", "item2_name": "tee.de"}, "kaffee.com ist nicht mehr erreichbar: Zahlung über 40,34 EUR offen", "kaffee.com is offline: payment of 40.34 EUR outstanding"},
		{registrar.MailPaymentDispute, map[string]string{"change": "denied", "state": "held", "gross": "40.34", "items": "2", "item1_name": "kaffee.com", "item1_held": "true", "item2_name": "tee.com", "item2_held": "true"}, "kaffee.com und 1 weitere sind nicht mehr erreichbar: Zahlung über 40,34 EUR offen", "kaffee.com and 1 more are offline: payment of 40.34 EUR outstanding"},
		{registrar.MailPaymentDispute, map[string]string{"change": "kept", "state": "released", "gross": "40.34", "items": "2", "item1_name": "kaffee.com", "item1_held": "true", "item2_name": "tee.de"}, "kaffee.com kommt wieder ins DNS, Umzüge bleiben gesperrt", "kaffee.com is going back into the DNS, transfers stay locked"},
		{registrar.MailPaymentDispute, map[string]string{"change": "lifted", "state": "released", "gross": "40.34", "items": "1", "item1_name": "kaffee.com", "item1_held": "true"}, "kaffee.com: Sperre wegen der Zahlung aufgehoben", "kaffee.com: Lock because of the payment lifted"},
		{registrar.MailDisputeReceived, map[string]string{"change": "lost", "gross": "40.34", "domain": "kaffee.de", "items": "2"}, "Reklamation verloren über 40,34 EUR: kaffee.de und 1 weitere", "Dispute lost, 40.34 EUR: kaffee.de and 1 more"},
	} {
		data := map[string]string{"number": "dcl_1", "declared": "termination", "occurred_at": "2026-11-15T09:05:00Z", "contract": "fremder.text"}
		maps.Copy(data, test.data)
		parsed, err := parseTemplates()
		if err != nil {
			t.Fatal(err)
		}
		for language, want := range map[string]string{"de": test.german, "en": test.english} {
			subject, _, err := parsed.render(mailer.Message{Kind: test.kind, Language: language, At: time.Date(2026, 11, 17, 5, 1, 0, 0, time.UTC), Data: data}, "https://domains.example/portal")
			if err != nil || strings.ReplaceAll(subject, "\u00a0", " ") != want {
				t.Errorf("%s: %q, want %q, %v", test.kind, subject, want, err)
			}
		}
	}
}

func TestNoticeMails_ApologiseForLateness(t *testing.T) {
	t.Parallel()
	for _, kind := range []registrar.MailKind{registrar.MailNoticeHandled, registrar.MailContractEnds} {
		for language, want := range map[string]string{"de": "Bitte entschuldigen Sie, dass Sie darauf so lange warten mussten.", "en": "We are sorry that you had to wait so long for this."} {
			data := map[string]string{
				"number": "dcl_1", "declared": "termination", "occurred_at": "2026-11-15T09:05:00Z", "received_at": "2026-11-15T09:05:00Z", "contract": "kaffee.de", "reply": "Ja.",
				"domain": "kaffee.de", "domain_id": "dom_1", "paid_until": "2027-03-01", "items": "1", "item1_name": "kaffee.de", "item1_paid_until": "2027-03-01",
			}
			if kind == registrar.MailContractEnds {
				delete(data, "declared")
			}
			if body := renderMail(t, kind, language, data); hasText(body, want) {
				t.Errorf("%s in time: %s", kind, body)
			}
			data["late"] = "true"
			if body := renderMail(t, kind, language, data); !hasText(body, want) {
				t.Errorf("%s: no %q: %s", kind, want, body)
			}
		}
	}
}

func TestExpiryMails_MentionDENICOnlyForItsDomains(t *testing.T) {
	t.Parallel()
	data := map[string]string{
		"number": "dcl_1", "received_at": "2026-11-15T09:05:00Z", "domain": "kaffee.io", "domain_id": "dom_1", "paid_until": "2027-03-01",
		"items": "1", "item1_name": "kaffee.io", "item1_paid_until": "2027-03-01",
	}
	// The previous release queued mails that don't say what happens.
	for unpaid, want := range map[string]struct{ handed, deleted bool }{"delete": {false, true}, "": {true, true}, "expire": {false, true}, "transit": {true, false}, "mixed": {true, true}} {
		ends := map[string]string{"de": " Bis zur Übergabe ", "en": " Until we hand it over, "}
		switch {
		case want.handed && want.deleted:
			ends = map[string]string{"de": " Bis zur Übergabe oder Löschung ", "en": " Until it is handed over or deleted, "}
		case want.deleted:
			ends = map[string]string{"de": " Bis zur Löschung ", "en": " Until it is deleted, "}
		}
		for _, kind := range []registrar.MailKind{registrar.MailContractEnds, registrar.MailLetExpire} {
			for language, deleted := range map[string]string{"de": "aus dem DNS genommen und gelöscht", "en": "taken out of the DNS and deleted"} {
				data["unpaid"] = unpaid
				body := strings.Join(strings.Fields(renderMail(t, kind, language, data)), " ")
				if strings.Contains(body, "DENIC") != want.handed || strings.Contains(body, deleted) != want.deleted || !strings.Contains(body, ends[language]) {
					t.Errorf("%s in %s, %q: %s", kind, language, unpaid, body)
				}
			}
		}
	}
}

func TestContractEndsMail_SeveralDomainsArePlural(t *testing.T) {
	t.Parallel()
	data := map[string]string{
		"number": "dcl_1", "received_at": "2026-11-15T09:05:00Z", "domain": "kaffee.io", "paid_until": "2027-03-01",
		"items": "2", "item1_name": "kaffee.io", "item1_paid_until": "2027-03-01", "item2_name": "tee.io", "item2_paid_until": "2027-04-01",
	}
	for unpaid, want := range map[string]map[string][]string{
		"delete": {
			"de": {"werden die Domains aus dem DNS genommen und gelöscht; danach kann sie", "oder möchten Sie eine Domain behalten"},
			"en": {"the domains are taken out of the DNS and deleted; after that, anyone can register them.", "keep a domain? Until they are deleted"},
		},
		"transit": {"de": {"übergeben wir die Domains an"}, "en": {"hand the domains over", "Until we hand them over"}},
		"mixed":   {"de": {"Die anderen werden aus dem DNS genommen und gelöscht"}, "en": {"The others are taken out", "Until they are handed over or deleted"}},
	} {
		data["unpaid"] = unpaid
		for language, texts := range want {
			body := strings.Join(strings.Fields(renderMail(t, registrar.MailContractEnds, language, data)), " ")
			for _, text := range texts {
				if !strings.Contains(body, text) {
					t.Errorf("%s, %s: no %q in %s", unpaid, language, text, body)
				}
			}
		}
	}
}

func TestSecurityMails_LinkContactForm(t *testing.T) {
	t.Parallel()
	parsed, err := parseTemplates()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range append(slices.Collect(maps.Keys(securityMails)), registrar.MailDomainChanged, registrar.MailDomainLock) {
		for lang, page := range map[string]string{"de": " uns:\n\nhttps://domains.example/kontakt\n", "en": " us:\n\nhttps://domains.example/contact\n"} {
			_, body, err := parsed.render(mailer.Message{Kind: kind, Language: lang}, "https://domains.example/portal")
			if err != nil || !hasText(body, page) {
				t.Errorf("%s in %s has no link: %v %s", kind, lang, err, body)
			}
		}
	}
}

// Anyone may have entered the recipient of the first one.
func TestInquiryMails_QuoteSenderToOperatorOnly(t *testing.T) {
	t.Parallel()
	data := map[string]string{
		"number": "inq_1", "topic": "abuse", "name": "https://evil.example", "email": "erika@kundin.example", "about": strings.Repeat("kaffee.de ", 10),
		"message": "Guten Tag,\n\nhttps://evil.example " + strings.Repeat("x", 300),
	}
	for _, lang := range []string{"de", "en"} {
		if body := renderMail(t, registrar.MailInquiryConfirmed, lang, data); !hasText(body, "inq_1") ||
			hasText(body, "evil") || hasText(body, "kaffee") || hasText(body, "Guten Tag,\n\nhttps") {
			t.Errorf("%s", body)
		}
		body := renderMail(t, registrar.MailInquiryReceived, lang, data)
		for _, want := range []string{"inq_1", "erika@kundin.example", "> Guten Tag,", "https[:]//evil[.]example", "https://domains.example/operator/inquiries/inq_1"} {
			if !hasText(body, want) {
				t.Errorf("no %q: %s", want, body)
			}
		}
		for line := range strings.Lines(body) {
			if utf8.RuneCountInString(line) > 80 || strings.Contains(line, "evil") && !strings.HasPrefix(line, "> ") {
				t.Errorf("bad line: %q", line)
			}
		}
	}
}

func TestConfirmMail_NamesDomainsOfBasket(t *testing.T) {
	t.Parallel()
	parsed, err := parseTemplates()
	if err != nil {
		t.Fatal(err)
	}
	render := func(language string, data map[string]string) string {
		_, body, err := parsed.render(mailer.Message{Kind: registrar.MailConfirm, Language: language, Link: "https://domains.example/l", Data: data}, "https://domains.example/portal")
		if err != nil || hasText(body, "\n\n\n") {
			t.Errorf("%s: %v\n%s", language, err, body)
		}
		return body
	}
	for language, want := range map[string]string{
		"de": "jemand anderes eingetippt hat):\n\n  laden[.]de\n  tee[.]de\n\nBitte bestätigen Sie",
		"en": "clickable in this email):\n\n  laden[.]de\n  tee[.]de\n\nPlease confirm",
	} {
		if body := render(language, map[string]string{"items": "2", "item1_name": "laden.de", "item2_name": "tee.de"}); !hasText(body, want) {
			t.Errorf("%s:\n%s", language, body)
		}
		if body := render(language, nil); hasText(body, "arenkorb") || hasText(body, "basket") {
			t.Errorf("%s without a basket:\n%s", language, body)
		}
	}
}

func TestDisputeMail_TellsOperatorDeadlineAndCase(t *testing.T) {
	t.Parallel()
	data := map[string]string{"number": "du_1", "order": "ord_1", "gross": "12.90", "change": "opened", "evidence_due": "2026-12-09"}
	for lang, words := range map[string][]string{"de": {"reklamiert", "ord_1", "09.12.2026", "/operator/disputes/du_1"}, "en": {"disputed", "ord_1", "9 December 2026", "/operator/disputes/du_1"}} {
		body := renderMail(t, registrar.MailDisputeReceived, lang, data)
		for _, word := range words {
			if !hasText(body, word) {
				t.Errorf("%s: %q is missing in:\n%s", lang, word, body)
			}
		}
	}
}

func TestMails_GermanQuotesAreGerman(t *testing.T) {
	t.Parallel()
	actions := regexp.MustCompile(`{{.*?}}`)
	for kind, mail := range german.allMails() {
		if text := actions.ReplaceAllString(mail.subject+mail.body+german.help+german.footer, ""); strings.Contains(text, `"`) {
			t.Errorf("%s has a straight quotation mark:\n%s", kind, text)
		}
	}
}

func TestNameserverPlanMails_SayWhatIsLeftToDo(t *testing.T) {
	t.Parallel()
	one := map[string]string{"domain": "laden.de", "domain_id": "dom_1", "nameservers": "ns1.neu.example"}
	several := map[string]string{"domain": "laden.de", "items": "2", "item1_name": "laden.de", "item2_name": "cafe.de", "bulk": "blk_1", "nameservers": "ns1.neu.example"}
	for _, test := range []struct {
		kind     registrar.MailKind
		language string
		data     map[string]string
		want     []string
	}{
		{registrar.MailNameserversRefused, "de", one, []string{"DNSSEC kann deshalb aus sein", "auf der Seite der Domain", "/portal/domains/dom_1"}},
		{registrar.MailNameserversRefused, "de", several, []string{"Die Gründe sehen Sie auf der Seite unten", "/portal/domain-actions/blk_1"}},
		{registrar.MailNameserversRefused, "en", one, []string{"Requested nameservers: ns1.neu.example", "DNSSEC may be off", "The domain's page shows the reason.", "/portal/domains/dom_1"}},
		{registrar.MailNameserversRefused, "en", several, []string{"The page below shows the reasons.", "/portal/domain-actions/blk_1"}},
		{registrar.MailNameserversCanceled, "de", one, []string{"wurde die geplante Änderung der Nameserver abgebrochen. Betroffen ist laden.de.", "Geplant waren: ns1.neu.example", "Auf der Seite der Domain", "/portal/domains/dom_1", "Waren Sie das nicht?"}},
		{registrar.MailNameserversCanceled, "de", several, []string{"Betroffen sind: cafe.de laden.de", "Auf der Seite jeder Domain", "/portal/domain-actions/blk_1"}},
		{registrar.MailNameserversCanceled, "en", one, []string{"was cancelled for laden.de.", "on the domain's page", "/portal/domains/dom_1", "If this wasn't you"}},
		{registrar.MailNameserversCanceled, "en", several, []string{"was cancelled for these domains:", "on each domain's page", "/portal/domain-actions/blk_1"}},
	} {
		body := renderMail(t, test.kind, test.language, test.data)
		for _, want := range test.want {
			if !hasText(body, want) {
				t.Errorf("%s has no %q:\n%s", test.language, want, body)
			}
		}
	}
}
