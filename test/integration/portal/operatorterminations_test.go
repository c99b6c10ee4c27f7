package portal

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/cost"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

func TestOperatorTermination_PreviewThenContractsEndInBothLanguages(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	customer := s.newMember("erika@example.org") // the address of every notice
	until := s.clock.now().AddDate(0, 6, 0)
	for language, want := range map[string][]string{
		"de": {"<h1>Kündigung dcl_", "läuft am " + until.UTC().Format("02.01.2006") + " aus", "Adresse des Kontos", "mit dem Tag, an dem der Vertrag endet"},
		"en": {"<h1>Review termination dcl_", "expires on " + until.UTC().Format("2 January 2006"), "the account&#39;s address", "gets an email"},
	} {
		id := s.addDomainUntil(customer.ID, "kuendigen-"+language, until) // imported: nobody ordered it
		notice := s.submitNotice(withdrawal.Notice{Kind: withdrawal.Termination, Contract: "kuendigen-" + language + ".de", Ground: withdrawal.Ordinary})
		_, b := s.operatorBrowser("ops-" + language + "@example.org")
		s.exec("UPDATE customers SET language = '" + language + "' WHERE email = 'ops-" + language + "@example.org'")
		b.language = language
		path := "/operator/notices/" + notice.ID
		if page := b.get("/operator/notices").body; !strings.Contains(page, "/operator/customers/"+customer.ID) {
			t.Errorf("%s: the list does not link the domain: %s", language, page)
		}
		if page := b.get(path).body; !strings.Contains(page, `value="`+id+`" checked`) || !strings.Contains(page, path+`/end"`) {
			t.Fatalf("%s: the notice has no action: %s", language, page)
		}
		fields := url.Values{"domain": {id}, "end_note": {"beendet und bestätigt"}}
		preview := b.post(path+"/end", fields)
		for _, text := range want {
			if preview.status != http.StatusOK || !strings.Contains(preview.body, text) {
				t.Errorf("%s: %d, the preview has no %q: %s", language, preview.status, text, preview.body)
			}
		}
		domain := func() registrar.TermEndChoice {
			held, err := s.portfolio.Get(t.Context(), registrar.Actor{Kind: registrar.ActorPerson, Customer: customer.ID, Through: "ses_1"}, id)
			must(t, err)
			return held.AtTermEnd
		}
		if got := domain(); got != registrar.TermEndUndecided {
			t.Errorf("the preview changed the domain to %q", got)
		}
		fields.Set("seen", seenField.FindStringSubmatch(preview.body)[1])
		if got := b.post(path+"/end/confirm", fields); got.location() != "/operator/notices" {
			t.Fatalf("%s: %d %s", language, got.status, got.body)
		}
		if got := domain(); got != registrar.TermEndExpire {
			t.Errorf("the domain is %q", got)
		}
		if mail := s.waitForMail(registrar.MailContractEnds); mail.To != "erika@example.org" || mail.Data["item1_domain"] != "kuendigen-"+language+".de" || mail.Data["domain_id"] != id {
			t.Errorf("%+v", mail)
		}
		if _, closed, _ := strings.Cut(b.get(path).body, `id="closed"`); !strings.Contains(closed, `<time datetime="`+until.UTC().Format(time.DateOnly)) {
			t.Errorf("%s: the closed notice does not say when the contract ends: %s", language, closed)
		}
		// A second operator still has the preview open.
		if got := b.post(path+"/end/confirm", fields); got.status != http.StatusConflict || !strings.Contains(got.body, "beendet und bestätigt") {
			t.Errorf("%s: the second confirmation got %d %s", language, got.status, got.body)
		}
	}
}

func TestOperatorTermination_OtherSenderAndLaterDayAreNotChosen(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	until := s.clock.now().AddDate(0, 6, 0)
	foreign := s.addDomainUntil(s.newMember("anna@example.org").ID, "fremd", until)
	own := s.addDomainUntil(s.newMember("erika@example.org").ID, "eigen", until)
	notice := s.submitNotice(withdrawal.Notice{Kind: withdrawal.Termination, Contract: "fremd.de eigen.de", Ground: withdrawal.Ordinary, End: until.AddDate(0, 1, 0).Format(time.DateOnly)})
	path := "/operator/notices/" + notice.ID
	page := b.get(path).body
	if strings.Contains(page, " checked") || !strings.Contains(page, "andere Adresse als die des Kontos") || !strings.Contains(page, "Die Laufzeit endet vor dem Tag") || strings.Contains(page, "anna@example.org") {
		t.Errorf("the notice: %s", page)
	}
	if got := b.post(path+"/end", url.Values{"domain": {foreign}, "end_note": {"x"}}); got.status != http.StatusOK || !strings.Contains(got.body, "Prüfen Sie, ob der Absender kündigen darf") {
		t.Errorf("the preview: %d %s", got.status, got.body)
	}
	if got := b.post(path+"/end", url.Values{"end_note": {"x"}}); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, "mindestens eine Domain") {
		t.Errorf("no domain: %d %s", got.status, got.body)
	}
	got := b.post(path+"/end", url.Values{"domain": {own}, "end_note": {" "}})
	if got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, `id="end-note-problem"`) || strings.Contains(got.body, `id="note-problem"`) || !strings.Contains(got.body, `value="`+own+`" checked`) {
		t.Errorf("no note: %d %s", got.status, got.body)
	}
	// A withdrawal has its refund instead.
	other := s.submitNotice(withdrawal.Notice{Kind: withdrawal.Withdrawal, Contract: "eigen.de"})
	if page := b.get("/operator/notices/" + other.ID).body; strings.Contains(page, "/end") || !strings.Contains(page, "eigen.de</a>") {
		t.Errorf("the withdrawal: %s", page)
	}
}

func TestOperatorTermination_ForCauseIsClosedWithDayAndReply(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	until := s.clock.now().AddDate(0, 6, 0)
	customer := s.newMember("erika@example.org").ID
	id := s.addDomainUntil(customer, "eigen", until)
	o := s.addRefundableOrder(customer, "ord_grund")
	notice := s.submitNotice(withdrawal.Notice{Kind: withdrawal.Termination, Contract: "eigen.de " + o.ID, Ground: withdrawal.Extraordinary, Reason: "Ausfall"})
	path := "/operator/notices/" + notice.ID
	page := b.get(path).body
	for _, want := range []string{"Diese Kündigung ist aus wichtigem Grund", "Kein wichtiger Grund.", "/operator/orders/" + o.ID + "/refund?about=" + notice.ID + "&amp;reason=termination", "der Kunde sieht im Portal nur"} {
		if !strings.Contains(page, want) {
			t.Errorf("the notice has no %q: %s", want, page)
		}
	}
	if strings.Contains(page, `value="`+id+`" checked`) {
		t.Error("a termination for cause is prepared as an ordinary one")
	}
	if got := b.post(path+"/end", url.Values{"domain": {id}, "end_note": {"x"}}); !strings.Contains(got.body, "Diese Kündigung ist aus wichtigem Grund") {
		t.Errorf("the preview: %d %s", got.status, got.body)
	}
	item := o.Items[len(o.Items)-1]
	about := s.submitNotice(withdrawal.Notice{Kind: withdrawal.Termination, Contract: item.Name, Ground: withdrawal.Extraordinary, Reason: "Ausfall"})
	for _, selected := range []string{`value="termination" selected`, `value="` + item.ID + `" selected`} { // not the whole order
		if form := b.get("/operator/orders/" + o.ID + "/refund?reason=termination&about=" + about.ID).body; !strings.Contains(form, selected) {
			t.Errorf("the refund has no %q: %s", selected, form)
		}
	}
	if got := b.post(path+"/close", url.Values{"note": {"erstattet"}, "end": {"bald"}}); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, `id="end-day-problem"`) {
		t.Errorf("no day: %d %s", got.status, got.body)
	}
	if got := b.post(path+"/close", url.Values{"note": {"erstattet"}, "reply": {strings.Repeat("x", withdrawal.MaxReply+1)}}); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, `id="reply-problem"`) {
		t.Errorf("a long reply: %d %s", got.status, got.body)
	}
	day := s.clock.now().UTC().Format(time.DateOnly)
	if got := b.post(path+"/close", url.Values{"note": {"erstattet"}, "end": {day}, "reply": {"Das tut uns leid."}}); got.location() != "/operator/notices" {
		t.Fatalf("%d %s", got.status, got.body)
	}
	mail := s.waitForMail(registrar.MailNoticeHandled)
	if mail.To != "erika@example.org" || mail.Data["end"] != day || mail.Data["reply"] != "Das tut uns leid." || mail.Data["number"] != notice.ID {
		t.Errorf("%+v", mail)
	}
	closed := b.get(path).body
	for _, want := range []string{">" + s.clock.now().UTC().Format("02.01.2006") + "</time>", "Das tut uns leid.", "erstattet"} {
		if _, after, _ := strings.Cut(closed, `id="closed"`); !strings.Contains(after, want) {
			t.Errorf("the closed notice has no %q: %s", want, closed)
		}
	}
	if list := b.get("/operator/notices").body; !strings.Contains(list, `Ende des Vertrags: <time datetime="`+day) {
		t.Errorf("the list of handled notices has no end: %s", list)
	}
}

func TestOperatorNotice_RefusesEndThatContractCannotHave(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	now := s.clock.now().UTC()
	until := now.AddDate(0, 6, 0)
	s.addDomainUntil(s.newMember("anna@example.org").ID, "fremd", until)
	s.addDomainUntil(s.newMember("erika@example.org").ID, "eigen", until)
	notice := s.submitNotice(withdrawal.Notice{Kind: withdrawal.Termination, Contract: "eigen.de", Ground: withdrawal.Ordinary})
	path := "/operator/notices/" + notice.ID
	days := "vom " + now.Format("02.01.2006") + " bis zum " + until.Format("02.01.2006")
	for _, end := range []time.Time{now.AddDate(0, 0, -1), until.AddDate(0, 0, 1), now.AddDate(8, 0, 0)} {
		got := b.post(path+"/close", url.Values{"note": {"geprüft"}, "end": {end.Format(time.DateOnly)}})
		_, problem, _ := strings.Cut(got.body, `id="end-day-problem"`)
		if got.status != http.StatusUnprocessableEntity || !strings.Contains(problem, days) || !strings.Contains(got.body, `value="`+end.Format(time.DateOnly)+`"`) {
			t.Errorf("%s: %d %s", end, got.status, got.body)
		}
	}
	if stored, _, err := s.db.GetWithdrawalNotice(t.Context(), notice.ID); err != nil || !stored.Open() {
		t.Errorf("a refusal closed the notice: %+v, %v", stored, err)
	}
	const unmatched = "Die Kündigung kam nicht von der Adresse des Kontos"
	if page := b.get(path).body; strings.Contains(page, unmatched) || !strings.Contains(page, `max="`+until.Format(time.DateOnly)+`"`) {
		t.Errorf("the customer's notice: %s", page)
	}
	stranger := s.submitNotice(withdrawal.Notice{Kind: withdrawal.Termination, Contract: "fremd.de", Ground: withdrawal.Ordinary})
	if _, form, _ := strings.Cut(b.get("/operator/notices/"+stranger.ID).body, `id="close"`); !strings.Contains(form, unmatched) {
		t.Errorf("a stranger's notice is closed without a warning: %s", form)
	}
}

func TestOperatorTermination_EarlierDayIsRemarked(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	until := s.clock.now().AddDate(0, 6, 0)
	id := s.addDomainUntil(s.newMember("erika@example.org").ID, "eigen", until)
	for day, want := range map[string]bool{until.AddDate(0, -1, 0).UTC().Format(time.DateOnly): true, until.UTC().Format(time.DateOnly): false} {
		notice := s.submitNotice(withdrawal.Notice{Kind: withdrawal.Termination, Contract: "eigen.de", Ground: withdrawal.Ordinary, End: day})
		path := "/operator/notices/" + notice.ID
		for _, body := range []string{b.get(path).body, b.post(path+"/end", url.Values{"domain": {id}, "end_note": {"x"}}).body} {
			if strings.Contains(body, "Gewünscht ist ein früherer Tag") != want {
				t.Errorf("%s: %s", day, body)
			}
		}
	}
}

func TestOperatorOrders_FoundByCustomerAddress(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	s.addRefundableOrder(s.newMember("erika@example.org").ID, "ord_erika")
	s.addRefundableOrder(s.newMember("anna@example.org").ID, "ord_anna")
	got := b.post("/operator/orders", url.Values{"q": {" Erika@EXAMPLE.org "}})
	if got.status != http.StatusOK || !strings.Contains(got.body, "ord_erika") || strings.Contains(got.body, "ord_anna") || !strings.Contains(got.body, "Bestellungen von Erika@EXAMPLE.org.") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := b.post("/operator/orders", url.Values{"q": {"laden.org"}}); !strings.Contains(got.body, "Bestellungen mit laden.org.") {
		t.Errorf("by domain: %d %s", got.status, got.body)
	}
	for _, text := range []string{"erik@example.org", "@example.org", "erika@"} {
		if got := b.post("/operator/orders", url.Values{"q": {text}}); got.status != http.StatusNotFound || strings.Contains(got.body, "ord_") {
			t.Errorf("%q: %d", text, got.status)
		}
	}
}

func TestOperatorRevenue_FileHasMonthsOfYear(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	if page := b.get("/operator/revenue").body; !strings.Contains(page, "/operator/revenue.csv?year=") {
		t.Errorf("no link: %s", page)
	}
	_, document := s.addPaidOrder(s.newMember("erika@example.org").ID)
	if page := b.get("/operator/revenue?year=" + document.IssuedAt.Format("2006")).body; !strings.Contains(page, ">Jan</text>") || !strings.Contains(page, ">Dez</text>") {
		t.Errorf("the chart does not name the months: %s", page)
	}
	got := b.get("/operator/revenue.csv?year=" + document.IssuedAt.Format("2006"))
	lines := strings.Split(strings.TrimSpace(got.body), "\n")
	if got.status != http.StatusOK || len(lines) != 13 || !strings.HasPrefix(lines[0], "\ufeffmonat;rechnungen;rechnungen_netto_eur;") {
		t.Fatalf("%d %s", got.status, got.body)
	}
	month := document.IssuedAt.In(registrar.Germany())
	amounts := strings.ReplaceAll(document.Net.String()+";"+document.VAT.String()+";"+document.Gross.String()+";0;0.00;0.00;0.00;"+document.Net.String(), ".", ",")
	want := month.Format("2006-01") + ";1;" + amounts
	if line := lines[month.Month()]; !strings.HasPrefix(line, want) {
		t.Errorf("%s, want %s", line, want)
	}
}

func TestOperatorHome_LowBalanceStaysUntilFunded(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	_, b := s.operatorBrowser("ops@example.org")
	const warning = "Guthaben niedrig: Registry-Konto one"
	shown := func() bool {
		t.Helper()
		home, health := b.get("/operator").body, b.get("/operator/health").body
		if strings.Contains(home, warning) != strings.Contains(health, warning) || strings.Contains(home, warning) == strings.Contains(home, nothingToDo) {
			t.Errorf("home %s\nhealth %s", home, health)
		}
		return strings.Contains(home, warning)
	}
	s.storeMessage("one", inbox.Message{ID: "1", Kind: inbox.KindBalance, Queued: s.clock.now(), Details: inbox.Details{Balance: &inbox.Balance{Available: "40.00", Currency: "EUR", Threshold: "100.00"}}})
	if !shown() {
		t.Error("an unread message is no warning")
	}
	if got := b.post(messageLink.FindStringSubmatch(b.get("/operator").body)[1]+"/read", nil); got.location() == "" {
		t.Fatalf("marked: %d", got.status)
	}
	if !shown() {
		t.Error("reading the message ended the warning")
	}
	book := func(kind cost.FundsKind, amount registrar.Amount, currency string) {
		t.Helper()
		must(t, cost.AddFunds(t.Context(), s.db, cliOperator, cost.Funds{
			Account: "one", Kind: kind, Amount: registrar.Money{Amount: amount, Currency: currency}, At: s.clock.now().Add(time.Minute),
		}, s.clock.now()))
	}
	book(cost.Deposit, 500_0000, "USD")
	book(cost.Deposit, 59_0000, "EUR")
	if !shown() {
		t.Error("99 EUR ended the warning")
	}
	book(cost.Deposit, 1_0000, "EUR")
	if shown() {
		t.Error("a deposit did not end the warning")
	}
	must(t, s.db.StoreQueriedBalance(t.Context(), "one", inbox.Balance{Available: "12.00", Threshold: "100.00"}, s.clock.now().Add(time.Hour), s.clock.now().Add(time.Hour)))
	if !shown() {
		t.Error("a newer low balance is no warning")
	}
	if home := b.get("/operator").body; !strings.Contains(home, "12,00 EUR (Schwelle 100,00 EUR)") {
		t.Errorf("a balance without a currency lacks that of the deposits: %s", home)
	}
	must(t, s.db.StoreQueriedBalance(t.Context(), "two", inbox.Balance{Available: "12.00", Threshold: "100.00"}, s.clock.now(), s.clock.now()))
	if home := b.get("/operator").body; !strings.Contains(home, "12,00 in der Währung des Kontos (Schwelle 100,00).") {
		t.Errorf("a balance whose currency is not known: %s", home)
	}
	s.addChargeOf("two", s.newMember("konto@example.org").ID, "gebuehr", ".org", cost.Charge{
		Amount: registrar.Money{Amount: 8_0000, Currency: "USD"}, Source: cost.FromRegistry,
	})
	if home := b.get("/operator").body; !strings.Contains(home, "12,00 USD (Schwelle 100,00 USD).") {
		t.Errorf("a balance without a currency lacks that of the charges: %s", home)
	}
}
