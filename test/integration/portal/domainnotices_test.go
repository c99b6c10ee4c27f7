package portal

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
	"github.com/dotkontor/dotkontor/internal/web/portal"
)

func TestDomainPage_ShowsNoticesThatWereSent(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	id := s.addDomain(erika.ID, "laufend", registrar.DomainActive)
	for i, accepted := range []int{1, 0, 1, 1} {
		kind := "expiring_month"
		if i > 1 {
			kind = string(registrar.MailItemFailed)
		}
		_, err := s.db.SQL().Writer().ExecContext(t.Context(), `INSERT INTO sent_notices
			(id, customer_id, domain_id, name, term_end, kind, recipient, subject, body, queued_at, sent_at, accepted, response)
			VALUES ($1, $2, $3, 'laufend.de', 1, $8, 'erika@example.org', $4, $5, 1, $6, $7, '250 ok')`,
			"mai_"+string(rune('a'+i)), erika.ID, id, "Betreff "+string(rune('A'+i)), []string{"Text <b>A", "Text <b>B", "Gescheitert:\n\nlaufend.de\n", "Gescheitert:\n\nandere.de\n"}[i], time.Now().UnixMicro(), accepted, kind)
		must(t, err)
	}
	page := s.signedInBrowser("erika@example.org").get("/portal/domains/" + id).body
	for _, part := range []string{"Betreff A", "Betreff B", "Text &lt;b&gt;A", "vom Mailserver angenommen", "nicht zugestellt", "Betreff C"} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q: %s", part, page)
		}
	}
	if strings.Contains(page, "Betreff D") {
		t.Error("the page has a mail about another domain of the order")
	}
}

// Receipts belong to no account, because anyone can submit any address.
func TestDomainPage_ListsReceiptsOfOwnNoticesOnly(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, func(s *env, pages *portal.Config) {
		(&fakeOrders{}).install(s, pages)
		pages.ContractNotices = s.db.ListContractNotices
	})
	erika := s.newMember("erika@example.org")
	id := s.addDomain(erika.ID, "laufend", registrar.DomainActive)
	s.clock.advance(time.Hour)
	service, err := withdrawal.New(withdrawal.Config{Store: s.db, Now: s.clock.now})
	must(t, err)
	for i, email := range []string{"erika@example.org", "fremd@example.org"} {
		declared, err := service.Submit(t.Context(), registrar.Actor{Kind: registrar.ActorPerson}, withdrawal.Notice{
			Kind: withdrawal.Termination, Ground: withdrawal.Ordinary, Name: "Erika Muster", Email: email, Contract: "laufend.de",
		})
		must(t, err)
		s.exec(`INSERT INTO sent_notices (id, customer_id, domain_id, name, term_end, kind, recipient, subject, body, queued_at, sent_at, accepted, response)
			VALUES ($1, '', $2, '', 0, 'termination', $3, 'Eingangsbestätigung', $4, 1, 2, 1, '250 ok')`, "mail_"+email, declared.ID, email, "Beleg "+string(rune('A'+i)))
	}
	if page := s.signedInBrowser("erika@example.org").get("/portal/domains/" + id).body; !strings.Contains(page, "Beleg A") || strings.Contains(page, "Beleg B") {
		t.Errorf("%s", page)
	}
}

// addNotice stores a notice of erika@example.org.
func (s *env) addNotice(kind withdrawal.Kind, contract string, handled bool) withdrawal.Notice {
	s.t.Helper()
	notice := withdrawal.Notice{
		ID: registrar.NewID("dcl_", s.clock.now()), Kind: kind, Name: "Erika", Email: "Erika@example.org", Contract: contract, Language: "de",
		At: s.clock.now().Truncate(time.Second),
	}
	must(s.t, s.db.AddWithdrawalNotice(s.t.Context(), notice, nil, time.Now()))
	if handled {
		notice.DoneAt = s.clock.now()
		err := s.db.StoreOutcome(s.t.Context(), withdrawal.Outcome{Notice: notice, AuditEvent: registrar.AuditEvent{Actor: operator, Action: withdrawal.NoticeHandled, Object: notice.ID, At: notice.DoneAt}})
		must(s.t, err)
	}
	return notice
}

// All pages follow the rule by which automatic renewal is refused.
func TestPages_NoticeThatNamesAnOrderIsAboutItsDomains(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, func(s *env, pages *portal.Config) {
		(&fakeOrders{}).install(s, pages)
		pages.OpenNotices, pages.ContractNotices = s.db.ListOpenNotices, s.db.ListContractNotices
	})
	erika := s.newMember("erika@example.org")
	id := s.addDomain(erika.ID, "laufend", registrar.DomainActive)
	b := s.signedInBrowser("erika@example.org")
	page, turnOn := "/portal/domains/"+id, "/portal/domains/"+id+"/auto-renew\""
	if !strings.Contains(b.get(page).body, turnOn) {
		t.Fatal("automatic renewal is not offered without a notice")
	}
	bought, _ := s.addPaidOrder(erika.ID)
	s.exec(`UPDATE order_items SET name = 'laufend.de', domain_id = $1 WHERE order_id = $2`, id, bought.ID)
	notice := s.addNotice(withdrawal.Termination, "Auftrag "+bought.ID, false)
	s.exec(`INSERT INTO sent_notices (id, customer_id, domain_id, name, term_end, kind, recipient, subject, body, queued_at, sent_at, accepted, response)
		VALUES ('mail_x', '', $1, '', 0, 'termination', 'erika@example.org', 'Eingangsbestätigung', 'Beleg X', 1, 2, 1, '250 ok')`, notice.ID)
	const badge = `<span class="badge warn">gekündigt</span>`
	for path, part := range map[string]string{page: "Beleg X", "/portal/domains": badge, "/portal": badge} {
		if body := b.get(path).body; !strings.Contains(body, part) || strings.Contains(body, turnOn) {
			t.Errorf("%s lacks %q or offers automatic renewal: %s", path, part, body)
		}
	}
	if body := b.get(page).body; !strings.Contains(body, "Ihre Kündigung vom ") {
		t.Errorf("the domain's page has no notice: %s", body)
	}
}

func TestTermEnd_RenewalOnHoldWhileNoticeIsOpen(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, func(s *env, pages *portal.Config) {
		(&fakeOrders{}).install(s, pages)
		pages.OpenNotices, pages.ContractNotices = s.db.ListOpenNotices, s.db.ListContractNotices
	})
	erika := s.newMember("erika@example.org")
	id := s.addDomain(erika.ID, "laufend", registrar.DomainActive)
	s.exec(`UPDATE domains SET at_term_end = 'renew' WHERE id = $1`, id)
	b := s.signedInBrowser("erika@example.org")
	const renews, onHold = "Verlängert sich automatisch; Abbuchung am ", "Automatische Verlängerung wegen des Widerrufs ausgesetzt; bezahlt bis "
	paths := []string{"/portal/domains/" + id, "/portal/domains", "/portal"}
	for _, path := range paths {
		if body := b.get(path).body; !strings.Contains(body, renews) || strings.Contains(body, onHold) {
			t.Errorf("%s without a notice: %s", path, body)
		}
	}
	s.addNotice(withdrawal.Withdrawal, "laufend.de", false)
	for _, path := range paths {
		if body := b.get(path).body; strings.Contains(body, renews) || !strings.Contains(body, onHold) {
			t.Errorf("%s with a notice: %s", path, body)
		}
	}
	page := b.post("/portal/domain-actions", url.Values{"action": {"auto_renew_off"}, "id": {id}}).body
	if strings.Contains(page, renews) || !strings.Contains(page, onHold) {
		t.Errorf("in bulk: %s", page)
	}
}

func TestDomainPage_NamesWithdrawalAndTermination(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 16, 9, 0, 0, 0, time.UTC)
	s := newEnvWith(t, func(s *env, pages *portal.Config) {
		(&fakeOrders{orders: []order.Order{{ID: "ord_1", Items: []order.Item{{ID: "itm_1", Name: "laufend.de"}, {ID: "itm_2", Name: "andere.de"}}, Refunds: []order.Refund{{
			ID: "ref_1", Source: order.ByOperator, Amount: 1000, Provider: "re_1", MadeAt: at.AddDate(0, 0, 2), Notice: "dcl_2",
			Parts: []order.RefundPart{{Item: "itm_1", Gross: 700}, {Item: "itm_2", Gross: 300}},
		}}}}}).install(s, pages)
		pages.ContractNotices = func(context.Context, string, string) ([]withdrawal.Notice, error) {
			return []withdrawal.Notice{
				{ID: "dcl_1", Kind: withdrawal.Withdrawal, At: at, DoneAt: at.AddDate(0, 0, 1)},
				{ID: "dcl_2", Kind: withdrawal.Withdrawal, At: at, DoneAt: at.AddDate(0, 0, 2)},
				{ID: "dcl_3", Kind: withdrawal.Termination, Ground: withdrawal.Ordinary, At: at},
				{ID: "dcl_4", Kind: withdrawal.Termination, Ground: withdrawal.Ordinary, At: at.AddDate(0, 0, 1), End: "2026-12-31"},
				{ID: "dcl_5", Kind: withdrawal.Termination, Ground: withdrawal.Extraordinary, At: at.AddDate(0, 0, 2)},
				{ID: "dcl_6", Kind: withdrawal.Termination, Ground: withdrawal.Ordinary, At: at.AddDate(2, 0, 0), End: "2028-12-31"}, // after the term
				{ID: "dcl_7", Kind: withdrawal.Termination, Ground: withdrawal.Ordinary, At: at.AddDate(0, 0, 3)},                    // repeats dcl_3
			}, nil
		}
	})
	erika := s.newMember("erika@example.org")
	id := s.addDomain(erika.ID, "laufend", registrar.DomainActive)
	s.exec(`UPDATE domains SET at_term_end = 'renew' WHERE id = $1`, id)
	ends := "Der Vertrag über diese Domain endet frühestens mit der bezahlten Laufzeit am " + s.clock.now().UTC().AddDate(0, 0, 90).Format("02.01.2006") + "."
	page := s.signedInBrowser("erika@example.org").get("/portal/domains/" + id).body
	for _, part := range []string{
		"Sie haben am 16.11.2026 den Vertrag über diese Domain widerrufen. Wir haben den Widerruf am 17.11.2026 bearbeitet.",
		"Sie haben am 16.11.2026 den Vertrag über diese Domain widerrufen. Wir haben dafür am 18.11.2026 7,00\u00a0€ erstattet. Die Domain bleibt bei Ihnen, bezahlt bis ",
		"Ihre Kündigung vom 16.11.2026 ist eingegangen. " + ends + " Wann der Vertrag endet, bestätigen wir Ihnen in Kürze per E\u2011Mail.",
		"Ihre Kündigung vom 17.11.2026 ist eingegangen. " + ends + " Wann der Vertrag endet, bestätigen wir Ihnen in Kürze per E\u2011Mail.",
		"Ihre Kündigung vom 16.11.2028 ist eingegangen. Wann der Vertrag endet, bestätigen wir Ihnen in Kürze per E\u2011Mail.",
		"Ihre Kündigung vom 18.11.2026 ist eingegangen. Wir prüfen den Grund und antworten Ihnen per E\u2011Mail. Die automatische Verlängerung ist ausgesetzt: Abgebucht wird nichts, solange das offen ist.",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("the page lacks %q", part)
		}
	}
	if repeated := "Ihre Kündigung vom 19.11.2026"; strings.Contains(page, repeated) {
		t.Errorf("the page has %q", repeated)
	}
}

func TestDomainPage_ApologisesForLateWithdrawal(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, func(s *env, pages *portal.Config) {
		(&fakeOrders{}).install(s, pages)
		pages.ContractNotices = func(context.Context, string, string) ([]withdrawal.Notice, error) {
			return []withdrawal.Notice{{ID: "dcl_1", Kind: withdrawal.Withdrawal, At: time.Date(2025, 11, 16, 9, 0, 0, 0, time.UTC)}}, nil
		}
	})
	id := s.addDomain(s.newMember("erika@example.org").ID, "laufend", registrar.DomainActive)
	page := s.signedInBrowser("erika@example.org").get("/portal/domains/" + id).body
	if late := "Sie haben am 16.11.2025 den Vertrag über diese Domain widerrufen. Bis 30.11.2025 hätten wir den Widerruf bearbeiten müssen."; !strings.Contains(page, late) {
		t.Errorf("the page lacks %q", late)
	}
}

func TestDomainPage_HandledTerminationNamesEndAndReply(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 16, 9, 0, 0, 0, time.UTC)
	s := newEnvWith(t, func(s *env, pages *portal.Config) {
		(&fakeOrders{}).install(s, pages)
		pages.ContractNotices = func(context.Context, string, string) ([]withdrawal.Notice, error) {
			return []withdrawal.Notice{{
				ID: "dcl_1", Kind: withdrawal.Termination, Ground: withdrawal.Extraordinary, At: at, DoneAt: at.AddDate(0, 0, 1),
				DoneReply: "Wir <bedauern> das.", DoneEnds: "2026-11-16",
			}}, nil
		}
	})
	erika := s.newMember("erika@example.org")
	id := s.addDomain(erika.ID, "laufend", registrar.DomainActive)
	b := s.signedInBrowser("erika@example.org")
	const renewing = "Der Vertrag über diese Domain endet am 16.11.2026, wie bestätigt."
	for choice, ends := range map[string]bool{"expire": true, "": false} { // "" is what a renewal leaves
		s.exec(`UPDATE domains SET at_term_end = $1 WHERE id = $2`, choice, id)
		page := b.get("/portal/domains/" + id).body
		for _, part := range []string{
			"Wir haben die Kündigung am 17.11.2026 bearbeitet. Als Ende des Vertrags haben wir den 16.11.2026 bestätigt.",
			`<br>Unsere Antwort: <span class="verbatim">Wir &lt;bedauern&gt; das.</span>`, "/renew\"",
		} {
			if !strings.Contains(page, part) {
				t.Errorf("the page lacks %q", part)
			}
		}
		if strings.Contains(page, renewing) != ends {
			t.Errorf("with the choice %q, the renewal's warning is %v", choice, !ends)
		}
	}
}

func TestAutoRenew_RefusedWhileNoticeIsOpen(t *testing.T) {
	t.Parallel()
	s := newEnvWith(t, (&fakeOrders{}).install)
	erika := s.newMember("erika@example.org")
	s.saveMethod(erika.ID)
	id, other := s.addDomain(erika.ID, "gekuendigt", registrar.DomainActive), s.addDomain(erika.ID, "laufend", registrar.DomainActive)
	b, page := s.signedInBrowser("erika@example.org"), "/portal/domains/"+id+"/auto-renew"
	shown := consentForm(b.get(page).body)
	bulkForm := url.Values{"action": {"auto_renew_on"}, "id": {id, other}}
	inBulk := consentForm(b.post("/portal/domain-actions", bulkForm).body)
	inBulk["offer"] = []string{id + "." + shown.Get("gross") + "." + shown.Get("charge_day")}
	// The notice arrives after the offers were shown.
	notice := withdrawal.Notice{ID: "dcl_1", Kind: withdrawal.Termination, Name: "Erika", Email: "Erika@example.org", Contract: "meine Domain www.gekuendigt.de", Language: "de", At: s.clock.now()}
	must(t, s.db.AddWithdrawalNotice(t.Context(), notice, nil, time.Now()))
	const reason = "Für diese Domain liegt eine Kündigung oder ein Widerruf vor."
	for what, got := range map[string]pageResponse{"the offer": b.get(page), "the form": b.post(page, shown)} {
		if got.status != http.StatusConflict || !strings.Contains(got.body, reason) {
			t.Errorf("%s: %d %s", what, got.status, got.body)
		}
	}
	if got := b.get(b.post("/portal/domain-actions", inBulk).location()).body; !strings.Contains(got, "Nicht möglich: ") || !strings.Contains(got, reason) {
		t.Errorf("the result in bulk: %s", got)
	}
	got := b.post("/portal/domain-actions", bulkForm).body
	if !strings.Contains(got, "nicht einschalten: gekuendigt.de</p>") || !strings.Contains(got, other) || strings.Contains(got, id+".") {
		t.Errorf("the offers in bulk: %s", got)
	}
	if off := b.get("/portal/domains?auto=off").body; !strings.Contains(off, id) {
		t.Error("automatic renewal is on")
	}
	notice.DoneAt = s.clock.now()
	err := s.db.StoreOutcome(t.Context(), withdrawal.Outcome{Notice: notice, AuditEvent: registrar.AuditEvent{Actor: operator, Action: withdrawal.NoticeHandled, Object: notice.ID, At: notice.DoneAt}})
	must(t, err)
	if got := b.post(page, shown); got.status != http.StatusSeeOther {
		t.Errorf("after the notice was handled: %d %s", got.status, got.body)
	}
}

func TestDomainList_NamesOpenWithdrawalAndTerminationWithOneQuery(t *testing.T) {
	t.Parallel()
	asked := 0
	s := newEnvWith(t, func(s *env, pages *portal.Config) {
		(&fakeOrders{}).install(s, pages)
		pages.OpenNotices = func(ctx context.Context, customer string, domains []string) (map[string][]withdrawal.Kind, error) {
			asked++
			return s.db.ListOpenNotices(ctx, customer, domains)
		}
	})
	erika := s.newMember("erika@example.org")
	s.addNotice(withdrawal.Termination, "neu.de", false) // of an earlier contract
	s.clock.advance(time.Hour)
	for _, label := range []string{"gekuendigt", "erledigt", "neu"} {
		s.addDomain(erika.ID, label, registrar.DomainActive)
	}
	s.clock.advance(time.Hour)
	s.addNotice(withdrawal.Termination, "gekuendigt.de", false)
	s.addNotice(withdrawal.Withdrawal, "Ich widerrufe gekuendigt.de", false)
	s.addNotice(withdrawal.Withdrawal, "erledigt.de", true)
	b := s.signedInBrowser("erika@example.org")
	page := b.get("/portal/domains").body
	for _, badge := range []string{`<span class="badge warn">gekündigt</span>`, `<span class="badge warn">widerrufen</span>`} {
		if strings.Count(page, badge) != 1 || strings.Count(b.get("/portal").body, badge) == 0 {
			t.Errorf("%s is not on the list once and on the overview: %s", badge, page)
		}
	}
	if asked != 3 {
		t.Errorf("three pages needed %d queries", asked)
	}
}
