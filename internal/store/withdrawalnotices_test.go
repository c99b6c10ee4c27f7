package store

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

func TestWithdrawalNotice_StoredWithMailsAndHandledOnce(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		service, err := withdrawal.New(withdrawal.Config{Store: db, OperatorEmail: "post@kontor.example", Now: atTestTime, Clock: atTestTime})
		if err != nil {
			t.Fatal(err)
		}
		made, err := service.Submit(ctx, registrar.Actor{Kind: registrar.ActorPerson}, withdrawal.Notice{
			Kind: withdrawal.Termination, Name: "Erika", Email: "erika@example.de", Contract: "kaffee.de", Ground: withdrawal.Ordinary, End: "2099-12-31",
		})
		if err != nil {
			t.Fatal(err)
		}
		list, err := db.ListWithdrawalNotices(ctx, "", 10)
		if err != nil || len(list) != 1 || list[0] != made || !list[0].DoneAt.IsZero() {
			t.Fatalf("%+v, %v, want %+v", list, err, made)
		}
		if after, err := db.ListWithdrawalNotices(ctx, made.ID, 10); err != nil || len(after) != 0 {
			t.Errorf("after the last: %v, %v", after, err)
		}
		due := listDueMails(t, db, testTime.Add(time.Hour))
		if len(due) != 2 || due[0].Data["number"] != made.ID || !strings.Contains(due[0].To+due[1].To, "erika@example.de") {
			t.Errorf("%+v", due)
		}
		if open, err := db.CountOpenWithdrawalNotices(ctx); err != nil || open != 1 {
			t.Errorf("%d open, %v", open, err)
		}
		// Two operators close it at once.
		results := make(chan error)
		for _, name := range []string{"cus_anna", "cus_bert"} {
			go func() {
				results <- service.Close(ctx, registrar.Actor{Kind: registrar.ActorOperator, Through: name}, made.ID, withdrawal.Closing{Note: "erstattet von " + name})
			}()
		}
		if codes := []registrar.Code{registrar.CodeOf(<-results), registrar.CodeOf(<-results)}; codes[0]+codes[1] != withdrawal.AlreadyHandled {
			t.Errorf("closing twice: %q", codes)
		}
		closed, found, err := db.GetWithdrawalNotice(ctx, made.ID)
		if err != nil || !found || closed.DoneNote != "erstattet von "+closed.DoneBy || !closed.DoneAt.Equal(testTime) {
			t.Errorf("%+v, %t, %v", closed, found, err)
		}
		events, err := db.ListAuditEvents(ctx, "", "", 10)
		if err != nil || len(events) != 1 || events[0].Action != withdrawal.NoticeHandled || events[0].Object != made.ID || events[0].Actor.Through != closed.DoneBy {
			t.Errorf("audit: %+v, %v", events, err)
		}
		if open, err := db.ListOpenWithdrawalNotices(ctx, 10); err != nil || len(open) != 0 {
			t.Errorf("still open: %+v, %v", open, err)
		}
		if handled, err := db.ListHandledWithdrawalNotices(ctx, "", 10); err != nil || len(handled) != 1 || handled[0] != closed {
			t.Errorf("handled: %+v, %v", handled, err)
		}
		operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}
		if err := service.Close(ctx, operator, "dcl_none", withdrawal.Closing{Note: "x"}); registrar.CodeOf(err) != withdrawal.NoSuchNotice {
			t.Errorf("an unknown notice: %v", err)
		}
	})
}

func TestAddWithdrawalNotice_RepetitionIsOneNotice(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna, now := t.Context(), newCustomer(t, db, "anna"), testTime
		service, err := withdrawal.New(withdrawal.Config{
			Store: db, OperatorEmail: "post@kontor.example", Now: func() time.Time { return now }, Clock: func() time.Time { return now },
		})
		if err != nil {
			t.Fatal(err)
		}
		submit := func() string {
			made, err := service.Submit(ctx, registrar.Actor{Kind: registrar.ActorPerson}, withdrawal.Notice{
				Kind: withdrawal.Withdrawal, Name: "Anna", Email: "anna@example.com", Contract: "laden.org",
			})
			if err != nil {
				t.Error(err)
			}
			return made.ID
		}
		sent := make(chan string)
		for range 4 { // a double click, twice
			go func() { sent <- submit() }()
		}
		first := <-sent
		for range 3 {
			if id := <-sent; id != first {
				t.Errorf("a repetition is %s, not %s", id, first)
			}
		}
		if mails := listDueMails(t, db, now.Add(time.Hour)); len(mails) != 2 {
			t.Errorf("%d mails", len(mails))
		}
		operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}
		last := first
		for reason, change := range map[string]func() error{
			"it was handled":         func() error { return service.Close(ctx, operator, last, withdrawal.Closing{Note: "erstattet"}) },
			"it came on another day": func() error { now = now.AddDate(0, 0, 1); return nil },
			"an order was paid since": func() error {
				o := addOrder(t, db, testOrder(anna, "laden.org"))
				execStatement(t, db, fmt.Sprintf(`UPDATE orders SET paid_at = %d WHERE id = '%s'`, micros(now), o.ID))
				return nil
			},
		} {
			if err := change(); err != nil {
				t.Fatal(err)
			}
			next := submit()
			if next == last || submit() != next {
				t.Errorf("although %s, it is %s again", reason, next)
			}
			last = next
		}
	})
}

func TestAddWithdrawalNotice_EveryNewlyHeldDomainIsMailed(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		var names []string
		for i := range registrar.MaxJoinedMails + 50 {
			names = append(names, addDomain(t, db, anna, fmt.Sprintf("laden-%03d", i), registrar.DomainActive, testTime.AddDate(1, 0, 0)).Name)
		}
		execStatement(t, db, `UPDATE domains SET at_term_end = 'renew'`)
		some, all := addOrder(t, db, testOrder(anna, names[:registrar.MaxJoinedMails]...)), addOrder(t, db, testOrder(anna, names...))
		execStatement(t, db, `UPDATE order_items SET domain_id = (SELECT domains.id FROM domains WHERE domains.name = order_items.name)`)
		for i, test := range []struct {
			order string
			want  []string
		}{
			{some.ID, []string{"100"}},
			{all.ID, []string{"50"}}, // none of them is on the first page
			{all.ID, nil},
		} {
			execStatement(t, db, `DELETE FROM mails`)
			notice := withdrawal.Notice{
				ID: fmt.Sprintf("dcl_%d", i), Kind: withdrawal.Termination, Customer: anna, Email: "anna@example.com", Contract: test.order,
				At: testTime.Add(time.Hour), Language: "de",
			}
			if err := db.AddWithdrawalNotice(ctx, notice, nil, testTime); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, mail := range listDueMails(t, db, testTime.Add(time.Minute)) {
				got = append(got, mail.Data["items"])
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("notice %d: mails about %q domains, want %q", i, got, test.want)
			}
		}
	})
}

// Only as many pages of notices are read as are needed.
func TestVisitNotices_EndsWhenVisitorIsDone(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		domain := addDomain(t, db, anna, "laden", registrar.DomainActive, testTime.AddDate(1, 0, 0))
		execStatement(t, db, `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
			INSERT INTO withdrawal_notices (id, kind, name, email, contract, ground, reason, end_day, language, created_at, customer_id)
			SELECT 'dcl_' || CAST(10000 + i AS TEXT), 'termination', 'Anna', 'anna@example.com', 'laden.org', '', '', '', 'de', 2000000000000000, '' FROM n`)
		for _, all := range []bool{false, true} {
			pages, want := 0, 1
			if all {
				want = 3
			}
			err := visitNotices(ctx, db.read(), anna, []string{domain.ID}, time.Time{}, func(about map[string][]withdrawal.Notice) bool {
				if pages++; len(about[domain.ID]) == 0 {
					t.Error("a page has no notice about the domain")
				}
				return all
			})
			if err != nil || pages != want {
				t.Errorf("%d pages, want %d, %v", pages, want, err)
			}
		}
	})
}

func TestListNoticesAbout_OnlyThoseOfTheAccountThatMentionIt(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		service, err := withdrawal.New(withdrawal.Config{Store: db, Now: func() time.Time { return testTime }, Clock: func() time.Time { return testTime }})
		if err != nil {
			t.Fatal(err)
		}
		erika := newCustomer(t, db, "erika")
		for _, sent := range []struct {
			actor  registrar.Actor
			notice withdrawal.Notice
		}{
			{registrar.Actor{}, withdrawal.Notice{Kind: withdrawal.Withdrawal, Email: "Erika@example.com", Contract: "Bestellung ord_1 vom Montag"}},
			{registrar.Actor{}, withdrawal.Notice{Kind: withdrawal.Withdrawal, Email: "erika@example.com", Contract: "www.müller.de"}},
			{registrar.Actor{}, withdrawal.Notice{Kind: withdrawal.Withdrawal, Email: "otto@example.com", Contract: "ord_1"}},
			{personActor(erika), withdrawal.Notice{Kind: withdrawal.Termination, Ground: withdrawal.Ordinary, Email: "buero@example.com", Contract: "ord_1"}},
		} {
			sent.notice.Name, sent.notice.Language = "Erika", "de"
			if _, err := service.Submit(ctx, sent.actor, sent.notice); err != nil {
				t.Fatal(err)
			}
		}
		for _, test := range []struct {
			since       time.Time
			order, name string
			want        int
		}{
			{testTime, "ord_1", "tee.de", 2},
			{testTime, "ord_2", "xn--mller-kva.de", 1},
			{testTime, "ord_1", "xn--mller-kva.de", 3},
			{testTime, "ord_2", "tee.de", 0},
			{testTime.Add(time.Hour), "ord_1", "xn--mller-kva.de", 2}, // the name before the order is about an earlier contract
		} {
			about, err := db.ListNoticesAbout(ctx, erika, withdrawal.Contract{Domain: "itm_1", Name: test.name, Orders: []string{test.order}, Since: test.since},
				withdrawal.Contract{Domain: "itm_2", Name: "mehr.de", Orders: []string{test.order}, Since: test.since})
			if err != nil || len(about) != test.want || !slices.IsSortedFunc(about, func(a, b withdrawal.Notice) int { return strings.Compare(b.ID, a.ID) }) {
				t.Errorf("%+v: %+v, %v", test, about, err)
			}
		}
	})
}

func TestListRelatedOrders_ByNumberOrPaidDomain(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		given := order.Consent{At: testTime, Wording: "2026-11-de"}
		o := mustUpdateOrder(t, db, addOrder(t, db, testOrder(anna, "kaffee.org", "tee.org")), toPaying("pay_1"))
		o = mustUpdateOrder(t, db, o, func(o *order.Order, m *order.Transition) {
			toPaid(o, m)
			o.Consent = given
		})
		waiting := addOrder(t, db, testOrder(anna, "kaffee.org"))
		want := withdrawal.RelatedOrder{ID: o.ID, Customer: o.Customer, Name: o.Items[0].Name, PaidAt: o.PaidAt, ConsentAt: given.At, ConsentVersion: given.Wording, Gross: o.Totals.Gross, Named: o.Totals.Gross, Consumer: "consumer", Items: 2, ByNumber: true}
		coffee, tea := want, want
		coffee.Named, coffee.Items, coffee.ByNumber = o.Items[0].Gross, 1, false
		tea.Name, tea.Named, tea.Items, tea.ByNumber = "tee.org", o.Items[1].Gross, 1, false
		wanted := map[string][]withdrawal.RelatedOrder{
			"tee.org": {tea}, "kaffee.org": {coffee}, o.ID: {want}, waiting.ID: {{ID: waiting.ID, Customer: anna, Name: "kaffee.org", Gross: waiting.Totals.Gross, Named: waiting.Totals.Gross, Consumer: "business", Items: 1, ByNumber: true}}, "milch.org": nil, "ord_none": nil, "\xff": nil,
		}
		all, err := db.ListRelatedOrders(ctx, slices.Collect(maps.Keys(wanted)), 3)
		if err != nil {
			t.Fatal(err)
		}
		for mention, want := range wanted {
			if !slices.Equal(all[mention], want) {
				t.Errorf("%q among others: %+v, want %+v", mention, all[mention], want)
			}
			if got, err := db.ListRelatedOrders(ctx, []string{mention}, 3); err != nil || !slices.Equal(got[mention], want) {
				t.Errorf("%q alone: %+v, %v, want %+v", mention, got, err, want)
			}
		}
		if got, err := db.ListRelatedOrders(ctx, []string{"tee.org"}, 0); err != nil || len(got) != 0 {
			t.Errorf("with limit zero: %v, %v", got, err)
		}
		bert := newCustomer(t, db, "bert")
		second := mustUpdateOrder(t, db, mustUpdateOrder(t, db, addOrder(t, db, testOrder(bert, "tee.org")), toPaying("pay_2")), toPaid)
		if got, err := db.ListRelatedOrders(ctx, []string{"tee.org", "kaffee.org"}, 1); err != nil || len(got["kaffee.org"]) != 1 || len(got["tee.org"]) != 1 || got["tee.org"][0].ID != max(o.ID, second.ID) {
			t.Errorf("the newest one: %+v, %v", got, err)
		}
	})
}
