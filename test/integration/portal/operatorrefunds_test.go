package portal

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

// addRefundableOrder stores a completed order of two items, 14.28 EUR each.
func (s *env) addRefundableOrder(customer, id string) order.Order {
	s.t.Helper()
	ctx, now := s.t.Context(), s.clock.now()
	o := order.Order{
		ID: id, Customer: customer, State: order.AwaitingPayment, Channel: order.ChannelPortal, By: registrar.Actor{Kind: registrar.ActorPerson}, Claimed: true,
		ItemsKey: id, PayLink: registrar.SecretHash("link-" + id),
		Totals:    order.Totals{Net: 2400, VAT: 456, Gross: 2856, RateBasisPoints: 1900, Rule: "domestic", Country: "DE"},
		CreatedAt: now, UpdatedAt: now, ExpiresAt: now.Add(time.Hour),
	}
	for _, name := range []string{"laden", "haus"} {
		o.Items = append(o.Items, order.Item{
			ID: id + "_" + name, Name: name + ".org", TLD: ".org", Kind: order.Register, Years: 1, Net: 1200, VAT: 228, Gross: 1428, State: order.ItemWaiting,
		})
	}
	stored, _, err := s.db.AddOrder(ctx, o, 10, registrar.AuditEvent{Action: order.ActionCreated, Customer: customer, At: now})
	must(s.t, err)
	move := order.Transition{From: stored, To: stored, At: now}
	move.To.State, move.To.PaidAt, move.To.Version = order.Completed, now, stored.Version+1
	move.To.Items = append([]order.Item(nil), stored.Items...)
	for i := range move.To.Items {
		move.To.Items[i].State = order.ItemActive
	}
	move.To.Payments = []order.Payment{{ID: "pay_" + id, Kind: order.ByPage, State: order.PaymentCaptured, Amount: 2856, Intent: "pi_" + id, CreatedAt: now, UpdatedAt: now}}
	if updated, err := s.db.UpdateOrder(ctx, move); err != nil || !updated {
		s.t.Fatalf("updated %t, %v", updated, err)
	}
	return s.storedOrder(id)
}

func (s *env) storedOrder(id string) order.Order {
	s.t.Helper()
	o, found, err := s.db.OrderByID(s.t.Context(), id)
	if err != nil || !found {
		s.t.Fatalf("found %t, %v", found, err)
	}
	return o
}

var seenField = regexp.MustCompile(`name="seen" value="([^"]*)"`)

func TestOperatorRefund_PreviewThenConfirmInBothLanguages(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	customer := s.newMember("erika@example.org")
	for language, want := range map[string][]string{
		"de": {"<h1>Erstattung von ", "4,20", "0,80", "Rechnungskorrektur", "Kulanz", "5,00"},
		"en": {"Review the refund of", "4.20", "0.80", "credit note", "goodwill", "5.00"},
	} {
		o := s.addRefundableOrder(customer.ID, "ord_"+language)
		_, b := s.operatorBrowser("ops-" + language + "@example.org")
		s.exec("UPDATE customers SET language = '" + language + "' WHERE email = 'ops-" + language + "@example.org'")
		b.language = language
		path := "/operator/orders/" + o.ID + "/refund"
		fields := url.Values{"item": {o.Items[0].ID}, "amount": {"5,00"}, "reason": {"goodwill"}, "note": {"zu langsam"}}
		preview := b.post(path, fields)
		if preview.status != http.StatusOK {
			t.Fatalf("%s: %d %s", language, preview.status, preview.body)
		}
		for _, text := range want {
			if !strings.Contains(preview.body, text) {
				t.Errorf("%s: the preview has no %q: %s", language, text, preview.body)
			}
		}
		if back := `name="next" value="` + path + "?"; !strings.Contains(preview.body, back) {
			t.Errorf("%s: a change of language does not lead to the form: %s", language, preview.body)
		}
		if refunds := s.storedOrder(o.ID).Refunds; len(refunds) != 0 {
			t.Errorf("the preview stored %+v", refunds)
		}
		fields.Set("seen", seenField.FindStringSubmatch(preview.body)[1])
		if got := b.post(path+"/confirm", fields); got.location() != "/operator/orders/"+o.ID {
			t.Fatalf("%d %s", got.status, got.body)
		}
		if refunds := s.storedOrder(o.ID).Refunds; len(refunds) != 1 || refunds[0].Amount != 500 || refunds[0].Parts[0].VAT != 80 || refunds[0].Note != "zu langsam" {
			t.Errorf("stored %+v", refunds)
		}
		// The second operator confirms an outdated preview.
		if got := b.post(path+"/confirm", fields); got.status != http.StatusConflict || len(s.storedOrder(o.ID).Refunds) != 1 {
			t.Errorf("the second confirmation got %d", got.status)
		}
		if got := b.get("/operator/orders/" + o.ID); got.status != http.StatusOK || !strings.Contains(got.body, "zu langsam") || !strings.Contains(got.body, `href="#pay_`+o.ID) {
			t.Errorf("the order: %d %s", got.status, got.body)
		}
		if got := b.get("/operator/refunds?state=pending"); !strings.Contains(got.body, "/operator/customers/"+customer.ID) || !strings.Contains(got.body, o.ID) {
			t.Errorf("the list: %s", got.body)
		}
	}
}

func TestOperatorRefund_SigningInAgainReturnsToFilledForm(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	o := s.addRefundableOrder(s.newMember("erika@example.org").ID, "ord_again")
	_, b := s.operatorBrowser("ops@example.org")
	fields := url.Values{"item": {o.Items[1].ID}, "amount": {"5,00"}, "reason": {"goodwill"}, "note": {"zu langsam & spät"}}
	s.clock.advance(registrar.RecentSignIn + time.Minute)
	again, err := url.Parse(b.post("/operator/orders/"+o.ID+"/refund/confirm", fields).location())
	if err != nil || again.Path != "/portal/sign-in-again" {
		t.Fatalf("confirming leads to %v, %v", again, err)
	}
	filled := b.get(again.Query().Get("next")).body
	for _, want := range []string{`value="` + o.Items[1].ID + `" selected`, `value="5,00"`, `value="goodwill" selected`, "zu langsam &amp; spät"} {
		if !strings.Contains(filled, want) {
			t.Errorf("the form has no %q: %s", want, filled)
		}
	}
	if refunds := s.storedOrder(o.ID).Refunds; len(refunds) != 0 {
		t.Errorf("refunded: %+v", refunds)
	}
}

func TestOperatorRefund_BadAmountsChangeNothing(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	o := s.addRefundableOrder(s.newMember("erika@example.org").ID, "ord_bad")
	_, b := s.operatorBrowser("ops@example.org")
	for amount, status := range map[string]int{"28,57": http.StatusUnprocessableEntity, "viel": http.StatusUnprocessableEntity, "-1": http.StatusUnprocessableEntity, "0": http.StatusUnprocessableEntity} {
		got := b.post("/operator/orders/"+o.ID+"/refund", url.Values{"amount": {amount}, "reason": {"goodwill"}, "note": {"x"}})
		if got.status != status || !strings.Contains(got.body, `aria-invalid="true"`) {
			t.Errorf("%q: %d %s", amount, got.status, got.body)
		}
	}
	if got := b.post("/operator/orders/"+o.ID+"/refund", url.Values{"reason": {"goodwill"}}); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, `id="note-problem"`) {
		t.Errorf("without a note: %d", got.status)
	}
	if after := s.storedOrder(o.ID); after.Version != o.Version {
		t.Errorf("changed to %+v", after)
	}
}

func TestOperatorRefund_WithdrawalIsCompletedByRefund(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	o := s.addRefundableOrder(s.newMember("erika@example.org").ID, "ord_widerruf")
	notice := s.submitNotice(withdrawal.Notice{Kind: withdrawal.Withdrawal, Contract: o.ID})
	_, b := s.operatorBrowser("ops@example.org")
	link := "/operator/orders/" + o.ID + "/refund?notice=" + notice.ID
	if got := b.get("/operator/notices/" + notice.ID); !strings.Contains(got.body, link) || !strings.Contains(got.body, "28,56") {
		t.Errorf("the notice: %s", got.body)
	}
	form := b.get(link)
	if !strings.Contains(form.body, notice.ID) || !strings.Contains(form.body, `value="withdrawal" selected`) || !strings.Contains(form.body, notice.Deadline().Format("02.01.2006")) {
		t.Errorf("the form: %s", form.body)
	}
	fields := url.Values{"reason": {"withdrawal"}, "note": {"Widerruf"}, "notice": {notice.ID}}
	fields.Set("amount", "1,00")
	if got := b.post("/operator/orders/"+o.ID+"/refund", fields); !strings.Contains(got.body, "Der Widerruf bleibt offen") {
		t.Errorf("a partial refund: %s", got.body)
	}
	fields.Del("amount")
	preview := b.post("/operator/orders/"+o.ID+"/refund", fields).body
	if !strings.Contains(preview, "Die Erstattung erledigt den Widerruf") {
		t.Errorf("the preview: %s", preview)
	}
	fields.Set("seen", seenField.FindStringSubmatch(preview)[1])
	if got := b.post("/operator/orders/"+o.ID+"/refund/confirm", fields); got.status != http.StatusSeeOther {
		t.Fatalf("%d %s", got.status, got.body)
	}
	open := func() bool {
		stored, _, err := s.db.GetWithdrawalNotice(t.Context(), notice.ID)
		must(t, err)
		return stored.Open()
	}
	if !open() {
		t.Error("the notice is handled before the money is back")
	}
	ordered := s.storedOrder(o.ID)
	move := order.Transition{From: ordered, To: ordered, At: s.clock.now()}
	move.To.Refunds = append([]order.Refund(nil), ordered.Refunds...)
	move.To.Refunds[0].Provider, move.To.Refunds[0].MadeAt, move.To.Version = "re_1", s.clock.now(), ordered.Version+1
	if updated, err := s.db.UpdateOrder(t.Context(), move); err != nil || !updated {
		t.Fatalf("updated %t, %v", updated, err)
	}
	if open() {
		t.Error("the refund did not complete the notice")
	}
}

// Otherwise the operator fills in the form, is sent to sign in at its end, and starts over.
func TestOperatorRefund_FormAsksForSignInFirst(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	o := s.addRefundableOrder(s.newMember("erika@example.org").ID, "ord_alt")
	notice := s.submitNotice(withdrawal.Notice{Kind: withdrawal.Withdrawal, Contract: o.ID})
	_, b := s.operatorBrowser("ops@example.org")
	form := "/operator/orders/" + o.ID + "/refund?notice=" + notice.ID
	again := "/portal/sign-in-again?next=" + url.QueryEscape(form)
	if got := b.get(form); strings.Contains(got.body, again) {
		t.Error("a recent sign-in is asked for another one")
	}
	s.clock.advance(registrar.RecentSignIn + time.Minute)
	if got := b.get(form); !strings.Contains(got.body, again) {
		t.Errorf("the form: %s", got.body)
	}
}

func TestOperatorHome_ReturnedRefundHasAmountAndDeadline(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	o := s.addRefundableOrder(s.newMember("erika@example.org").ID, "ord_karte")
	notice := s.submitNotice(withdrawal.Notice{Kind: withdrawal.Withdrawal, Contract: o.ID})
	s.clock.advance(12 * 24 * time.Hour)
	_, b := s.operatorBrowser("ops@example.org")
	move := order.Transition{From: o, To: o, At: s.clock.now()}
	move.To.Version = o.Version + 1
	move.To.Refunds = []order.Refund{{
		ID: "ref_karte", Payment: "pay_" + o.ID, Amount: 2856, Source: order.ByOperator, Reason: order.ReasonWithdrawal, Note: "x", By: "root", Notice: notice.ID, Provider: "re_1",
		Parts: []order.RefundPart{{Item: o.Items[0].ID, Gross: 1428}, {Item: o.Items[1].ID, Gross: 1428}}, CreatedAt: s.clock.now(), MadeAt: s.clock.now(),
	}}
	updated, err := s.db.UpdateOrder(t.Context(), move)
	must(t, err)
	if home := b.get("/operator").body; !updated || !strings.Contains(home, nothingToDo) {
		t.Fatalf("refunded: %t %s", updated, home)
	}
	move.From, move.To = s.storedOrder(o.ID), s.storedOrder(o.ID)
	move.To.Version++
	move.To.Refunds[0].Failure, move.To.Refunds[0].FailedAt, move.To.Refunds[0].Task = order.ReturnedByBank, s.clock.now(), order.TaskReturned
	_, err = s.db.UpdateOrder(t.Context(), move)
	must(t, err)
	const task = `href="/operator/orders/ord_karte#task-ref_karte"`
	home := b.get("/operator").body
	_, section, _ := strings.Cut(home, `id="undecided"`)
	for _, want := range []string{task, "28,56\u00a0€", notice.Deadline().Format("02.01.2006"), ">bald fällig<", "laden.org"} {
		if !strings.Contains(section, want) {
			t.Errorf("the start page has no %q: %s", want, home)
		}
	}
	if strings.Contains(section, "erika@example.org") {
		t.Error("the start page, which is not audited, has an address")
	}
	if page := b.get("/operator/notices/" + notice.ID).body; !strings.Contains(page, "Die Bank hat 28,56\u00a0€ zurückgegeben") || !strings.Contains(page, task) || !strings.Contains(page, `id="close"`) {
		t.Errorf("the withdrawal is not open: %s", page)
	}
	s.clock.advance(4 * 24 * time.Hour)
	if home := b.get("/operator/health").body; !strings.Contains(home, `<span class="count late">1<span class="unseen"> offen, überfällig`) {
		t.Errorf("the menu does not say that work is overdue: %s", home)
	}
}

func TestOperatorRefund_NamesAllDomainsOfTheWithdrawal(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	o := s.addRefundableOrder(s.newMember("erika@example.org").ID, "ord_zwei")
	_, b := s.operatorBrowser("ops@example.org")
	for _, contract := range []string{o.ID, "haus.org und laden.org"} {
		notice := s.submitNotice(withdrawal.Notice{Kind: withdrawal.Withdrawal, Contract: contract})
		if page := b.get("/operator/notices/" + notice.ID).body; !strings.Contains(page, "</a> und 1 weitere<br><a class=\"number\" href=\"/operator/orders/"+o.ID) {
			t.Errorf("%s: the notice names one domain of its order: %s", contract, page)
		}
		form := b.get("/operator/orders/" + o.ID + "/refund?notice=" + notice.ID).body
		for _, want := range []string{"<dt>Betrifft</dt><dd>laden.org, haus.org</dd>", `value="all" selected>Die ganze Bestellung, alle 2 Domains`} {
			if !strings.Contains(form, want) {
				t.Errorf("%s: the form has no %q: %s", contract, want, form)
			}
		}
		if preview := b.post("/operator/orders/"+o.ID+"/refund", url.Values{"item": {"all"}, "reason": {"withdrawal"}, "note": {"x"}, "notice": {notice.ID}}).body; !strings.Contains(preview, "Die ganze Bestellung: laden.org, haus.org") {
			t.Errorf("%s: the preview: %s", contract, preview)
		}
	}
}

// Who has paid the customer, when and how is evidence of a withdrawal that was handled.
func TestOperatorRefund_ReturnedIsClosedByWhoSettlesIt(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	o := s.addRefundableOrder(s.newMember("erika@example.org").ID, "ord_konto")
	notice := s.submitNotice(withdrawal.Notice{Kind: withdrawal.Withdrawal, Contract: o.ID})
	second, b := s.operatorBrowser("ops@example.org")
	move := order.Transition{From: o, To: o, At: s.clock.now()}
	move.To.Version = o.Version + 1
	move.To.Refunds = []order.Refund{{
		ID: "ref_konto", Payment: "pay_" + o.ID, Amount: 2856, Source: order.ByOperator, Reason: order.ReasonWithdrawal, Note: "Widerruf geprüft", By: "root", Notice: notice.ID, Provider: "re_1",
		Parts: []order.RefundPart{{Item: o.Items[0].ID, Gross: 1428}, {Item: o.Items[1].ID, Gross: 1428}}, CreatedAt: s.clock.now(), MadeAt: s.clock.now(),
	}}
	_, err := s.db.UpdateOrder(t.Context(), move)
	must(t, err)
	const completed = `<span class="badge">abgeschlossen</span>`
	if list := b.get("/operator/orders").body; !strings.Contains(list, completed) {
		t.Errorf("the list shows a refunded order as a good one: %s", list)
	}
	move.From, move.To = s.storedOrder(o.ID), s.storedOrder(o.ID)
	move.To.Version++
	move.To.Refunds[0].Failure, move.To.Refunds[0].FailedAt, move.To.Refunds[0].Task = order.ReturnedByBank, s.clock.now(), order.TaskReturned
	_, err = s.db.UpdateOrder(t.Context(), move)
	must(t, err)
	if page := b.get("/operator/orders/" + o.ID).body; strings.Contains(page, "brutto erstattet") || strings.Contains(page, "anders ausgezahlt<") {
		t.Errorf("money that the bank returned counts as refunded: %s", page)
	}
	if list := b.get("/operator/orders").body; strings.Contains(list, completed) {
		t.Errorf("the list shows an order as refunded whose money came back: %s", list)
	}
	settlement := url.Values{"note": {"Überwiesen per SEPA\r\n\r\nBeleg 17"}}
	if got := b.post("/operator/orders/"+o.ID+"/refunds/ref_konto/settle", settlement); got.status != http.StatusOK || !strings.Contains(got.body, "anderem Weg ausgezahlt. Zurücknehmen") || !strings.Contains(got.body, "Beleg 17") || !s.storedOrder(o.ID).Refunds[0].SettledAt.IsZero() {
		t.Errorf("settling asks first: %d %s", got.status, got.body)
	}
	settlement.Set("confirmed", "yes")
	if got := b.post("/operator/orders/"+o.ID+"/refunds/ref_konto/settle", settlement); got.status != http.StatusSeeOther {
		t.Fatalf("%d %s", got.status, got.body)
	}
	stored, _, err := s.db.GetWithdrawalNotice(t.Context(), notice.ID)
	if must(t, err); stored.Open() || stored.DoneBy != second.ID || stored.DoneNote != "Überwiesen per SEPA\n\nBeleg 17" {
		t.Errorf("the withdrawal: %+v", stored)
	}
	settled := s.storedOrder(o.ID).Refunds[0].SettledAt
	if mail := s.waitForMail(registrar.MailRefundSettled); mail.To != "erika@example.org" || mail.Data["refund"] != "28.56" || settled.IsZero() || mail.Data[registrar.MailOccurredAt] != settled.UTC().Format(time.RFC3339) {
		t.Errorf("the customer's mail: %+v", mail)
	}
	page := b.get("/operator/orders/" + o.ID).body
	for _, want := range []string{`<span class="badge good">anders ausgezahlt</span>`, "am " + registrar.FormatInGermany(s.clock.now(), "02.01.2006", "de") + " von ops@example.org: Überwiesen per SEPA\n\nBeleg 17", `<span class="hint">Widerruf geprüft</span>`, "14,28\u00a0€ brutto erstattet"} {
		if !strings.Contains(page, want) {
			t.Errorf("the order has no %q: %s", want, page)
		}
	}
	list := b.get("/operator/refunds").body
	_, made, _ := strings.Cut(list, `data-label="Erstattet am"`)
	if cell, _, _ := strings.Cut(made, "</td>"); !strings.Contains(list, `<span class="badge good">anders ausgezahlt</span>`) || !strings.Contains(cell, registrar.FormatInGermany(s.clock.now(), "02.01.2006", "de")) {
		t.Errorf("the list of refunds: %s", list)
	}
}

func TestOperatorRefund_DomainsOfOrderRefundedAtProviderAreDecidedOneByOne(t *testing.T) {
	t.Parallel()
	s := newEnv(t, true)
	o := s.addRefundableOrder(s.newMember("erika@example.org").ID, "ord_stripe")
	_, b := s.operatorBrowser("ops@example.org")
	move := order.Transition{From: o, To: o, At: s.clock.now()}
	move.To.Version = o.Version + 1
	move.To.Refunds = []order.Refund{{
		ID: "ref_stripe", Payment: "pay_" + o.ID, Amount: 2856, Source: order.ByProvider, Provider: "re_1", Task: order.TaskDomains,
		Parts: []order.RefundPart{{Item: o.Items[0].ID, Gross: 1428, VAT: 228}, {Item: o.Items[1].ID, Gross: 1428, VAT: 228}}, CreatedAt: s.clock.now(), MadeAt: s.clock.now(),
	}}
	_, err := s.db.UpdateOrder(t.Context(), move)
	must(t, err)
	page := "/operator/orders/" + o.ID
	items := page + "/refunds/ref_stripe/items/"
	body := b.get(page).body
	for _, item := range o.Items {
		if !strings.Contains(body, `action="`+items+item.ID+`/keep"`) || strings.Contains(body, `action="`+items+item.ID+`/delete"`) { // there is no such domain
			t.Errorf("%s: %s", item.Name, body)
		}
	}
	if asked := b.post(items+o.Items[0].ID+"/delete", nil); asked.status != http.StatusOK || !strings.Contains(asked.body, `name="confirmed"`) {
		t.Errorf("a deletion is not confirmed: %d %s", asked.status, asked.body)
	}
	if got := b.post(items+o.Items[0].ID+"/delete", url.Values{"confirmed": {"yes"}}); got.status != http.StatusConflict || !strings.Contains(got.body, "lässt sich nicht mehr löschen") {
		t.Errorf("what can't be deleted: %d %s", got.status, got.body)
	}
	for i, item := range o.Items {
		if got := b.post(items+item.ID+"/keep", url.Values{"note": {"zahlt per Rechnung " + item.Name}}); got.location() != page {
			t.Fatalf("%d %s", got.status, got.body)
		}
		if open := s.storedOrder(o.ID).Refunds[0].Task == order.TaskDomains; open != (i == 0) {
			t.Errorf("after %s: open %t", item.Name, open)
		}
	}
	body = b.get(page).body
	for _, want := range []string{"haus.org: nicht gelöscht", "zahlt per Rechnung haus.org"} {
		if !strings.Contains(body, want) {
			t.Errorf("the order has no %q: %s", want, body)
		}
	}
}
