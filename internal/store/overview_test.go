package store

import (
	"strconv"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/overview"
)

func TestOverviewFacts_OnlyTheAccountsOwn(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna, bert := newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		day := 24 * time.Hour
		soon := addDomain(t, db, anna, "soon", registrar.DomainActive, testTime.Add(10*day))
		addDomain(t, db, anna, "later", registrar.DomainActive, testTime.Add(300*day))
		addDomain(t, db, anna, "latest", registrar.DomainActive, testTime.Add(400*day))
		addDomain(t, db, anna, "gone", registrar.DomainTransferredOut, testTime.Add(10*day))
		addDomain(t, db, bert, "other", registrar.DomainActive, testTime.Add(10*day))
		change := newOpenChange(anna, soon.ID)
		if err := db.AddDomainChange(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		unpaid := addOrder(t, db, testOrder(anna, "a.org", "b.org"))
		paid := addPaidOrder(t, db, anna, "paid.org")
		refunded := refundFirstItem(t, db, addPaidOrder(t, db, anna, "refunded.org"), "ref_1")
		addPaidOrder(t, db, bert, "berts.org")
		execStatement(t, db, `INSERT INTO links (hash, kind, customer_id, email, expires_at) VALUES ('h', 'change_email', $1, 'new@example.org', $2)`, anna, micros(testTime.Add(day)))

		bounds := overview.Bounds{Clock: testTime, PaidBefore: testTime.Add(60 * day), DecideBefore: testTime.Add(30 * day), SpentSince: testTime.Add(-day)}
		for i := range bounds.Months {
			bounds.Months[i] = time.Date(2026, time.November+time.Month(i), 1, 0, 0, 0, 0, time.UTC)
		}
		bounds.Limit = 50
		facts, err := db.OverviewFacts(t.Context(), anna, bounds)
		if err != nil {
			t.Fatal(err)
		}
		if facts.HasRegistrant || facts.NewEmail != "new@example.org" || !facts.NewEmailUntil.Equal(testTime.Add(day)) {
			t.Errorf("account: %+v", facts)
		}
		orders := make(map[string]overview.Order)
		for _, o := range facts.Orders {
			orders[o.ID] = o
		}
		if open := orders[unpaid.ID]; len(orders) != 3 || open.Items != 2 || open.Name != "a.org" || open.ByName != "Laptop" ||
			orders[paid.ID].State != order.Provisioning || orders[refunded.ID].State != order.Provisioning {
			t.Errorf("orders: %+v", facts.Orders)
		}
		if len(facts.Changes) != 1 || facts.Changes[0].Domain != soon.ID || facts.Changes[0].Kind != string(change.Kind) {
			t.Errorf("changes: %+v", facts.Changes)
		}
		if len(facts.Deciding) != 1 || facts.Deciding[0].Name != "soon.org" || facts.DecidingCount != 1 || facts.ExpiringCount != 0 {
			t.Errorf("ending soon: %+v of %d, %+v of %d", facts.Deciding, facts.DecidingCount, facts.Expiring, facts.ExpiringCount)
		}
		if facts.Months != [12]int{0: 1, 10: 1} || facts.Later != 1 {
			t.Errorf("months: %v, later %d", facts.Months, facts.Later)
		}
		if len(facts.Spent) != 1 || facts.Spent[0].Spent != paid.Totals.Gross {
			t.Errorf("spent: %+v, want %d", facts.Spent, paid.Totals.Gross)
		}
		bounds.Limit = 1
		addDomain(t, db, anna, "soon-too", registrar.DomainExpired, testTime.Add(-day))
		if facts, err = db.OverviewFacts(t.Context(), anna, bounds); err != nil || len(facts.Deciding) != 1 || facts.Deciding[0].Name != "soon-too.org" || facts.DecidingCount != 2 {
			t.Errorf("beyond the limit: %+v of %d, %v", facts.Deciding, facts.DecidingCount, err)
		}
	})
}

func TestOverviewFacts_UndecidedDomainIsReadBehindManyRenewing(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna, day := newCustomer(t, db, "anna"), 24*time.Hour
		for i := range 5 {
			addDomain(t, db, anna, "renews-"+strconv.Itoa(i), registrar.DomainActive, testTime.Add(15*day))
		}
		failed := addDomain(t, db, anna, "failed", registrar.DomainActive, testTime.Add(20*day))
		execStatement(t, db, `UPDATE domains SET at_term_end = 'renew'`)
		execStatement(t, db, `INSERT INTO renewals (domain_id, term_end, customer_id, name, tld, state, years, gross, announced_at, charge_at, attempts, updated_at)
			VALUES ($1, $2, $3, $4, '.org', 'announced', 1, 1, 1, 1, 1, 1)`, failed.ID, micros(failed.PaidUntil), anna, failed.Name)
		addDomain(t, db, anna, "undecided", registrar.DomainActive, testTime.Add(28*day))
		addDomain(t, db, anna, "early", registrar.DomainActive, testTime.Add(31*day))
		for _, test := range []struct{ limit, deciding, expiring int }{{2, 2, 2}, {3, 2, 3}, {50, 2, 6}} {
			facts, err := db.OverviewFacts(t.Context(), anna, overview.Bounds{
				Clock: testTime, PaidBefore: testTime.Add(60 * day), DecideBefore: testTime.Add(30 * day), SpentSince: testTime, Limit: test.limit,
			})
			if err != nil || len(facts.Deciding) != test.deciding || facts.DecidingCount != 2 || len(facts.Expiring) != test.expiring || facts.ExpiringCount != 6 {
				t.Fatalf("limit %d: %d of %d need a decision, %d of %d others, %v", test.limit, len(facts.Deciding), facts.DecidingCount, len(facts.Expiring), facts.ExpiringCount, err)
			}
			if facts.Deciding[0].Name != "failed.org" || facts.Deciding[1].Name != "undecided.org" {
				t.Errorf("limit %d: %+v", test.limit, facts.Deciding)
			}
		}
	})
}

func TestOverviewFacts_OrdersAndChangesBeyondTheLimitAreCounted(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		unpaid := addOrder(t, db, testOrder(anna, "unpaid.org"))
		for _, name := range []string{"one", "two"} {
			addPaidOrder(t, db, anna, name+"-paid.org")
			domain := addDomain(t, db, anna, name, registrar.DomainActive, testTime.AddDate(1, 0, 0))
			if err := db.AddDomainChange(t.Context(), newOpenChange(anna, domain.ID)); err != nil {
				t.Fatal(err)
			}
		}
		facts, err := db.OverviewFacts(t.Context(), anna, overview.Bounds{Clock: testTime, SpentSince: testTime, Limit: 1})
		if err != nil || len(facts.Orders) != 1 || facts.Orders[0].ID != unpaid.ID || facts.OrderCount != 3 {
			t.Errorf("orders: %+v of %d, %v", facts.Orders, facts.OrderCount, err)
		}
		if len(facts.Changes) != 1 || facts.ChangeCount != 2 {
			t.Errorf("changes: %+v of %d", facts.Changes, facts.ChangeCount)
		}
		execStatement(t, db, `UPDATE domains SET status = 'redemption'`)
		facts, err = db.OverviewFacts(t.Context(), anna, overview.Bounds{Clock: testTime, SpentSince: testTime, Limit: 1})
		if err != nil || len(facts.Changes) != 0 || facts.ChangeCount != 0 {
			t.Errorf("changes of deleted domains: %+v of %d, %v", facts.Changes, facts.ChangeCount, err)
		}
	})
}

func TestOverviewFacts_PaymentTakenBackByTheBankIsNotSpent(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		for i, status := range []dispute.Status{dispute.Lost, dispute.Won} {
			payment := "pay_" + strconv.Itoa(i)
			addPaidDomain(t, db, anna, string(status)+".org", payment)
			addDispute(t, db, "du_"+strconv.Itoa(i), "pi_"+payment, status)
		}
		facts, err := db.OverviewFacts(t.Context(), anna, overview.Bounds{Clock: testTime, SpentSince: testTime, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if want := registrar.Cents(1428); len(facts.Spent) != 1 || facts.Spent[0].Spent != want {
			t.Errorf("spent: %+v, want %d", facts.Spent, want)
		}
	})
}

func TestOverviewFacts_RefundReturnedByTheBankIsSpentUntilSettled(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		anna := newCustomer(t, db, "anna")
		o := refundFirstItem(t, db, addPaidOrder(t, db, anna, "weg.org"), "ref_1")
		check := func(name string, refunded bool, spent registrar.Cents) {
			t.Helper()
			facts, err := db.OverviewFacts(t.Context(), anna, overview.Bounds{Clock: testTime, SpentSince: testTime.Add(-24 * time.Hour), Limit: 1})
			if err != nil || len(facts.Spent) != 1 || facts.Spent[0].Spent != spent {
				t.Errorf("%s: %+v, %v, want %d", name, facts.Spent, err, spent)
			}
			list, err := db.ListAllOrders(t.Context(), admin.OrderFilter{}, "", 1)
			if err != nil || len(list) != 1 || list[0].Refunded != refunded {
				t.Errorf("%s: %+v, %v", name, list, err)
			}
		}
		set := func(change func(o *order.Order)) {
			t.Helper()
			o = mustUpdateOrder(t, db, o, func(o *order.Order, _ *order.Transition) { change(o) })
		}
		check("made", true, 0)
		set(func(o *order.Order) {
			o.Refunds[0].Failure, o.Refunds[0].FailedAt, o.Refunds[0].Task = order.ReturnedByBank, testTime, order.TaskReturned
		})
		check("returned", false, o.Totals.Gross)
		again := order.Refund{
			ID: "ref_2", Payment: o.Payments[0].ID, Amount: o.Totals.Gross, Source: order.ByOperator, Replaces: "ref_1", CreatedAt: testTime,
			Parts: []order.RefundPart{{Item: o.Items[0].ID, Gross: o.Totals.Gross}},
		}
		set(func(o *order.Order) {
			o.Refunds[0].Task = order.TaskNone
			o.Refunds = append(o.Refunds, again)
		})
		check("due again", false, 0)
		set(func(o *order.Order) {
			o.Refunds[1].Failure, o.Refunds[1].FailedAt, o.Refunds[1].Task = order.ChargeDisputed, testTime, order.TaskRefused
		})
		check("refused", false, o.Totals.Gross)
		set(func(o *order.Order) { o.Refunds[1].Task = order.TaskNone })
		check("settled", false, 0)
	})
}
