package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/portfolio"
	"github.com/dotkontor/dotkontor/internal/registrar/renewal"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

func atTestTime() time.Time { return testTime }

func newNotices(t *testing.T, db *DB) *withdrawal.Service {
	t.Helper()
	service, err := withdrawal.New(withdrawal.Config{Store: db, Now: atTestTime, Clock: atTestTime})
	if err != nil {
		t.Fatal(err)
	}
	return service
}

func submitTermination(t *testing.T, service *withdrawal.Service, email, contract, end string) withdrawal.Notice {
	t.Helper()
	notice, err := service.Submit(t.Context(), registrar.Actor{Kind: registrar.ActorPerson}, withdrawal.Notice{
		Kind: withdrawal.Termination, Name: "Anna", Email: email, Contract: contract, Ground: withdrawal.Ordinary, End: end,
	})
	if err != nil {
		t.Fatal(err)
	}
	return notice
}

func TestListNamedDomains_FindsTransferredAndImportedOnes(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna, bert := t.Context(), newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		until := testTime.AddDate(1, 0, 0)
		imported := addDomain(t, db, anna, "importiert", registrar.DomainActive, until) // nobody ordered it
		addDomain(t, db, anna, "weg", registrar.DomainTransferredOut, until)
		ordered := addDomain(t, db, anna, "bestellt", registrar.DomainExpired, until)
		addDomain(t, db, bert, "zwei", registrar.DomainActive, until)
		o := addOrder(t, db, testOrder(anna, "bestellt.org", "zwei.org")) // Bert holds the second one
		service := newNotices(t, db)
		notices := []withdrawal.Notice{
			submitTermination(t, service, "Anna@Example.com", "importiert.org, weg.org", ""),
			submitTermination(t, service, "fremd@example.com", o.ID+" bestellt.org", ""),
			submitTermination(t, service, "fremd@example.com", "nichts", ""),
		}
		named, err := service.ListNamedDomains(ctx, notices...)
		if err != nil || len(named[0]) != 1 || len(named[1]) != 1 || len(named[2]) != 0 {
			t.Fatalf("%+v, %v", named, err)
		}
		if d := named[0][0]; d.ID != imported.ID || d.TLD != ".org" || d.Customer != anna || !d.PaidUntil.Equal(until) || !d.Endable() || !d.SentBy(notices[0]) || d.SentBy(notices[1]) {
			t.Errorf("imported: %+v", d)
		}
		if d := named[1][0]; d.ID != ordered.ID || d.Status != registrar.DomainExpired {
			t.Errorf("by order: %+v", d)
		}
		if got, err := db.ListNamedDomains(ctx, []string{"\xff"}, 1); err != nil || len(got) != 0 {
			t.Errorf("unstorable: %v, %v", got, err)
		}
	})
}

func TestTerminate_EndsRenewalConfirmsAndClosesNoticeOnce(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		until := testTime.AddDate(0, 0, 40)
		renewing, other := addDomain(t, db, anna, "alt", registrar.DomainActive, until), addDomain(t, db, anna, "neu", registrar.DomainActive, until)
		saveMethod(t, db, anna)
		consents := newConsents(t, db)
		for range 2 {
			if err := agree(t, consents, anna, renewing); err != nil {
				t.Fatal(err)
			}
		}
		service, operator := newNotices(t, db), operatorActor()
		notice := submitTermination(t, service, "anna@example.com", "alt.org neu.org", "")
		request := withdrawal.TerminationRequested{Notice: notice.ID, Domains: []string{renewing.ID, other.ID}, Note: "beendet"}
		preview, err := service.PreviewTermination(ctx, operator, request)
		if err != nil || len(preview.Domains) != 2 {
			t.Fatalf("%+v, %v", preview, err)
		}
		request.Seen = preview.Seen
		unchanged := func(what string) {
			t.Helper()
			if n := count(t, db, `SELECT count(*) FROM domains WHERE at_term_end = 'expire'`); n != 0 || count(t, db, `SELECT count(*) FROM withdrawal_notices WHERE done_at > 0`) != 0 {
				t.Errorf("%s ended %d contracts", what, n)
			}
		}
		unchanged("the preview")
		// A charge is in flight.
		if _, err := db.sql.Writer().ExecContext(ctx, `UPDATE renewals SET state = 'charging'`); err != nil {
			t.Fatal(err)
		}
		wantCode(t, service.Terminate(ctx, operator, request), registrar.KindConflict, renewal.InProgress)
		unchanged("a charge in flight")
		if _, err := db.sql.Writer().ExecContext(ctx, `UPDATE renewals SET state = 'announced'`); err != nil {
			t.Fatal(err)
		}
		// The customer changes a domain after the preview.
		if err := consents.LetExpire(ctx, personActor(anna), other.ID); err != nil {
			t.Fatal(err)
		}
		wantCode(t, service.Terminate(ctx, operator, request), registrar.KindConflict, withdrawal.TerminationChanged)
		if err := consents.KeepOpen(ctx, personActor(anna), other.ID); err != nil {
			t.Fatal(err)
		}
		unchanged("an outdated preview")
		// Two operators confirm at once.
		results := make(chan error)
		for range 2 {
			go func() { results <- service.Terminate(ctx, operator, request) }()
		}
		codes := []registrar.Code{registrar.CodeOf(<-results), registrar.CodeOf(<-results)}
		// The second may have read the notice before the first was done, and its domains after.
		if second := codes[0] + codes[1]; second != withdrawal.AlreadyHandled && second != withdrawal.TerminationChanged {
			t.Errorf("confirming twice: %q", codes)
		}
		for what, text := range map[string]string{
			"domains that renew":      `SELECT count(*) FROM domains WHERE at_term_end <> 'expire'`,
			"consents in force":       `SELECT count(*) FROM renewal_consents WHERE ended_at = 0`,
			"announced charges":       `SELECT count(*) FROM renewals WHERE state = 'announced'`,
			"consents of the reason":  `SELECT 1 - count(*) FROM renewal_consents WHERE end_reason = 'terminated'`,
			"audit events too few":    `SELECT 2 - count(*) FROM audit_events WHERE action = 'contract_terminated'`,
			"mails other than one":    `SELECT 1 - count(*) FROM mails WHERE kind = 'contract_ends'`,
			"notices that stay open":  `SELECT count(*) FROM withdrawal_notices WHERE done_at = 0 OR done_note <> 'beendet'`,
			"events of closing twice": `SELECT 1 - count(*) FROM audit_events WHERE action = 'declaration_handled'`,
		} {
			if n := count(t, db, text); n != 0 {
				t.Errorf("%s: %d", what, n)
			}
		}
		confirmed := 0
		for _, mail := range listDueMails(t, db, testTime.Add(time.Hour)) {
			if mail.Kind != registrar.MailContractEnds {
				continue
			}
			if confirmed++; mail.To != "anna@example.com" || mail.Data["items"] != "2" || mail.Data["item1_domain"] == "" || mail.Data["unpaid"] != "delete" || mail.Data["item2_paid_until"] != until.Format(time.DateOnly) {
				t.Errorf("%+v", mail)
			}
		}
		if confirmed != 1 {
			t.Errorf("%d confirmations", confirmed)
		}
	})
}

func TestTerminate_RefusesBadRequests(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		domain := addDomain(t, db, anna, "alt", registrar.DomainActive, testTime.AddDate(1, 0, 0))
		lost := addDomain(t, db, anna, "verloren", registrar.DomainRedemption, testTime.AddDate(0, -1, 0))
		foreign := addDomain(t, db, newCustomer(t, db, "bert"), "fremd", registrar.DomainActive, testTime.AddDate(1, 0, 0))
		service := newNotices(t, db)
		notice := submitTermination(t, service, "anna@example.com", "alt.org verloren.org", "2099-12-31")
		named, err := service.ListNamedDomains(ctx, notice)
		if err != nil || len(named[0]) != 2 || !named[0][0].EndsTooEarly(notice) {
			t.Errorf("%+v, %v", named, err)
		}
		for code, request := range map[registrar.Code]withdrawal.TerminationRequested{
			withdrawal.NothingChosen:      {Notice: notice.ID, Note: "x"},
			withdrawal.BadNote:            {Notice: notice.ID, Domains: []string{domain.ID}},
			withdrawal.NoSuchNotice:       {Notice: "dcl_none", Domains: []string{domain.ID}, Note: "x"},
			withdrawal.TerminationChanged: {Notice: notice.ID, Domains: []string{lost.ID}, Note: "x"},
		} {
			if err := service.Terminate(ctx, operatorActor(), request); registrar.CodeOf(err) != code {
				t.Errorf("%s: %v", code, err)
			}
		}
		for what, request := range map[string]withdrawal.TerminationRequested{
			"a domain that the notice does not name": {Notice: notice.ID, Domains: []string{foreign.ID}, Note: "x"},
			"without a preview":                      {Notice: notice.ID, Domains: []string{domain.ID}, Note: "x"},
		} {
			if err := service.Terminate(ctx, operatorActor(), request); registrar.CodeOf(err) != withdrawal.TerminationChanged {
				t.Errorf("%s: %v", what, err)
			}
		}
		if err := service.Terminate(ctx, personActor(anna), withdrawal.TerminationRequested{Notice: notice.ID}); registrar.CodeOf(err) != registrar.OperatorsOnly {
			t.Errorf("a customer: %v", err)
		}
		if n := count(t, db, `SELECT count(*) FROM domains WHERE at_term_end <> ''`); n != 0 {
			t.Errorf("%d domains changed", n)
		}
	})
}

func TestGetDeclared_OpenNoticeOrOneThatEndsTheTerm(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		until := testTime.AddDate(0, 0, 40)
		domain, other := addDomain(t, db, anna, "alt", registrar.DomainActive, until), addDomain(t, db, anna, "neu", registrar.DomainActive, until)
		want := func(what string, domain portfolio.Domain, end time.Time, cancelled bool) {
			t.Helper()
			if got, err := db.GetDeclared(ctx, anna, domain.ID, end); err != nil || got.CancelledAt.IsZero() == cancelled || !got.WithdrawnAt.IsZero() {
				t.Errorf("%s: %+v, %v", what, got, err)
			}
		}
		want("no notice", domain, until, false)
		service, operator := newNotices(t, db), operatorActor()
		notice := submitTermination(t, service, "anna@example.com", "alt.org", "")
		want("an open notice", domain, until, true)
		want("another domain", other, until, false)
		request := withdrawal.TerminationRequested{Notice: notice.ID, Domains: []string{domain.ID}, Note: "beendet"}
		preview, err := service.PreviewTermination(ctx, operator, request)
		if err != nil {
			t.Fatal(err)
		}
		request.Seen = preview.Seen
		if err := service.Terminate(ctx, operator, request); err != nil {
			t.Fatal(err)
		}
		want("a terminated contract", domain, until, true)
		want("a later term", domain, until.AddDate(2, 0, 0), false)
		if err := newConsents(t, db).KeepOpen(ctx, personActor(anna), domain.ID); err != nil {
			t.Fatal(err)
		}
		want("taken back", domain, until, false)
	})
}

func TestGetDeclared_WithdrawalCountsWhileItIsOpen(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		until := testTime.AddDate(0, 0, 40)
		domain := addDomain(t, db, anna, "alt", registrar.DomainActive, until)
		notice := withdrawal.Notice{
			ID: registrar.NewID("dcl_", testTime), Kind: withdrawal.Withdrawal, Name: "Anna", Email: "anna@example.com", Contract: "alt.org",
			Language: "de", At: testTime.Add(time.Hour),
		}
		if err := db.AddWithdrawalNotice(ctx, notice, nil, testTime); err != nil {
			t.Fatal(err)
		}
		if got, err := db.GetDeclared(ctx, anna, domain.ID, until); err != nil || !got.WithdrawnAt.Equal(notice.At) || !got.CancelledAt.IsZero() {
			t.Errorf("open: %+v, %v", got, err)
		}
		notice.DoneAt, notice.DoneBy = testTime.Add(2*time.Hour), "ops"
		event := registrar.AuditEvent{Actor: operatorActor(), Action: withdrawal.NoticeHandled, Object: notice.ID, At: notice.DoneAt}
		if err := db.StoreOutcome(ctx, withdrawal.Outcome{Notice: notice, AuditEvent: event}); err != nil {
			t.Fatal(err)
		}
		if got, err := db.GetDeclared(ctx, anna, domain.ID, until); err != nil || !got.WithdrawnAt.IsZero() {
			t.Errorf("handled: %+v, %v", got, err)
		}
	})
}

func TestKeepOpen_RefusedOnceTheTermCanNotBeRenewed(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna, consents := t.Context(), newCustomer(t, db, "anna"), newConsents(t, db)
		domain := addDomain(t, db, anna, "alt", registrar.DomainActive, testTime.AddDate(0, 1, 0))
		if err := consents.LetExpire(ctx, personActor(anna), domain.ID); err != nil {
			t.Fatal(err)
		}
		if _, err := db.sql.Writer().ExecContext(ctx, "UPDATE domains SET tld = '.eu', status = 'expired', paid_until = $1", testTime.Add(-time.Hour).UnixMicro()); err != nil {
			t.Fatal(err)
		}
		wantCode(t, consents.KeepOpen(ctx, personActor(anna), domain.ID), registrar.KindConflict, renewal.RenewalOver)
		if _, err := db.sql.Writer().ExecContext(ctx, "UPDATE domains SET tld = '.org'"); err != nil {
			t.Fatal(err)
		}
		if err := consents.KeepOpen(ctx, personActor(anna), domain.ID); err != nil {
			t.Errorf("a domain that can be renewed late: %v", err)
		}
	})
}

// The refund may close the withdrawal or leave it to an operator; without one, the contract goes on.
func TestWithdrawal_RefundEndsRenewalAndRefusalDoesNot(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		until := testTime.AddDate(1, 0, 0)
		o := mustUpdateOrder(t, db, mustUpdateOrder(t, db, addOrder(t, db, testOrder(anna, "kaffee.org", "tee.org", "mate.org")), toPaying("pay_1")), toPaid)
		saveMethod(t, db, anna)
		consents, service := newConsents(t, db), newNotices(t, db)
		for _, item := range o.Items {
			if err := agree(t, consents, anna, addDomain(t, db, anna, strings.TrimSuffix(item.Name, ".org"), registrar.DomainActive, until)); err != nil {
				t.Fatal(err)
			}
		}
		var notices []string
		for i, gross := range []registrar.Cents{o.Items[0].Gross, 1, 0} { // all, a part, nothing
			id := fmt.Sprint("dcl_", i)
			notices = append(notices, id)
			notice := withdrawal.Notice{ID: id, Kind: withdrawal.Withdrawal, Email: "anna@example.com", Contract: o.Items[i].Name, Language: "de", At: testTime}
			if err := db.AddWithdrawalNotice(ctx, notice, nil, testTime); err != nil {
				t.Fatal(err)
			}
			if gross == 0 {
				continue
			}
			o = mustUpdateOrder(t, db, o, func(o *order.Order, _ *order.Transition) {
				o.Refunds = append(o.Refunds, order.Refund{
					ID: "ref_" + id, Payment: "pay_1", Amount: gross, Source: order.ByOperator, Reason: "withdrawal", Note: "x", By: "root", Notice: id,
					Provider: "re_" + id, CreatedAt: testTime, MadeAt: testTime, Parts: []order.RefundPart{{Item: o.Items[i].ID, Gross: gross}},
				})
			})
		}
		renewing := func(want ...string) {
			t.Helper()
			for _, item := range o.Items {
				renews := count(t, db, "SELECT count(*) FROM domains JOIN renewal_consents ON domain_id = domains.id AND ended_at = 0 WHERE domains.name = $1 AND at_term_end = 'renew'", item.Name) == 1
				if renews != slices.Contains(want, item.Name) {
					t.Errorf("%s renews: %t", item.Name, renews)
				}
			}
		}
		renewing("tee.org", "mate.org")
		for _, id := range notices[1:] {
			if err := service.Close(ctx, operatorActor(), id, withdrawal.Closing{Note: "x", Reply: "Geprüft."}); err != nil {
				t.Fatal(err)
			}
		}
		renewing("mate.org")
		for name, want := range map[string]int{"kaffee.org": 1, "tee.org": 1, "mate.org": 0} {
			if n := count(t, db, "SELECT count(*) FROM audit_events WHERE action = 'contract_withdrawn' AND object = $1", name); n != want {
				t.Errorf("%s: %d events", name, n)
			}
		}
	})
}
