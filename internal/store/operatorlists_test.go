package store

import (
	"slices"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/invoice"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/store/query"
)

func TestOperatorLists_PagesOfAllCustomersByStateAndName(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		anna, bert := newCustomer(t, db, "anna"), newCustomer(t, db, "bert")
		open := addOrder(t, db, testOrder(anna, "offen.org", "zwei.org"))
		paid := addPaidOrder(t, db, bert, "bezahlt.org")
		refunded := refundFirstItem(t, db, addPaidOrder(t, db, anna, "weg.org"), "ref_1")
		all := []string{open.ID, paid.ID, refunded.ID}
		slices.Sort(all)
		slices.Reverse(all)

		// Page by page, with one order each.
		var got []string
		for before := ""; ; {
			page, err := db.ListAllOrders(ctx, admin.OrderFilter{}, before, 1)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			before = page[0].ID
			got = append(got, before)
		}
		if !slices.Equal(got, all) {
			t.Errorf("%q, want %q", got, all)
		}
		waiting, err := db.ListAllOrders(ctx, admin.OrderFilter{State: string(order.AwaitingPayment)}, "", 10)
		if err != nil || len(waiting) != 1 || waiting[0].ID != open.ID || waiting[0].Name != "offen.org" || waiting[0].Items != 2 || waiting[0].Email != "anna@example.com" || waiting[0].Customer != anna ||
			waiting[0].Gross != open.Totals.Gross || !waiting[0].CreatedAt.Equal(testTime) {
			t.Errorf("%+v, %v", waiting, err)
		}
		named, err := db.ListAllOrders(ctx, admin.OrderFilter{Name: "zwei.org"}, "", 10)
		if err != nil || len(named) != 1 || named[0].ID != open.ID {
			t.Errorf("by name: %+v, %v", named, err)
		}
		captured, err := db.ListAllPayments(ctx, string(order.PaymentCaptured), "", 10)
		if err != nil || len(captured) != 2 || captured[0].ID <= captured[1].ID || captured[1].Order != paid.ID || captured[1].Intent != "pi_pay_bezahlt.org" || captured[1].Refunded != 0 || captured[0].Refunded != 1428 || captured[0].Withdrawn != 0 ||
			captured[1].Subject != (admin.Subject{Name: "bezahlt.org", Items: 1, Email: "bert@example.com"}) {
			t.Errorf("payments: %+v, %v", captured, err)
		}
		if older, err := db.ListAllPayments(ctx, "", captured[0].ID, 10); err != nil || len(older) != 1 || older[0] != captured[1] {
			t.Errorf("older payments: %+v, %v", older, err)
		}
		refunds, err := db.ListAllRefunds(ctx, admin.AllRefunds, "", 10)
		if err != nil || len(refunds) != 1 || refunds[0].Order != refunded.ID || refunds[0].Provider != "re_1" ||
			refunds[0].Subject != (admin.Subject{Name: "weg.org", Items: 1, Email: "anna@example.com"}) {
			t.Errorf("refunds: %+v, %v", refunds, err)
		}
		if pending, err := db.ListAllRefunds(ctx, admin.PendingRefunds, "", 10); err != nil || len(pending) != 0 {
			t.Errorf("pending refunds: %+v, %v", pending, err)
		}
		for _, number := range []string{paid.ID, "pay_bezahlt.org", "pi_pay_bezahlt.org", "cs_pay_bezahlt.org"} {
			if id, found, err := db.FindOrderID(ctx, number); err != nil || !found || id != paid.ID {
				t.Errorf("%s: %q, %t, %v", number, id, found, err)
			}
		}
		if id, found, err := db.FindOrderID(ctx, "ref_1"); err != nil || !found || id != refunded.ID {
			t.Errorf("by refund: %q, %t, %v", id, found, err)
		}
		jobs, err := db.ListOrderJobs(ctx, bert, paid.ID, 10)
		if err != nil || len(jobs) != 1 || jobs[0].Kind != admin.JobItem || jobs[0].ID != paid.Items[0].ProvisionItem {
			t.Errorf("jobs: %+v, %v", jobs, err)
		}
		if err := db.write(ctx, func(q *query.Queries) error {
			for _, id := range []string{paid.ID, open.ID} {
				if err := enqueueMail(ctx, q, registrar.Mail{Kind: registrar.MailOrderPaid, Customer: bert, Data: map[string]string{"order": id}}, testTime); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if jobs, err = db.ListOrderJobs(ctx, bert, paid.ID, 10); err != nil || len(jobs) != 2 || jobs[1].Kind != admin.JobMail || jobs[1].What != string(registrar.MailOrderPaid) {
			t.Errorf("jobs with a mail: %+v, %v", jobs, err)
		}
	})
}

func TestRevenue_SumsOfPastDaysAreStoredOnce(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		putTestRegistrant(t, db, anna, "Weg 1")
		refundFirstItem(t, db, addPaidOrder(t, db, anna, "weg.org"), "ref_1")
		addPaidOrder(t, db, anna, "da.org")
		for _, due := range listPendingDocuments(t, db) {
			if issued, err := issueDocument(t, db, due, documentFor(due, anna, 1428)); err != nil || !issued {
				t.Fatal(issued, err)
			}
		}
		now := testTime.AddDate(0, 0, 3)
		revenue, err := invoice.NewRevenue(db, func() time.Time { return now })
		if err != nil {
			t.Fatal(err)
		}
		operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}
		for range 2 { // the second call reads the stored sums
			year, err := revenue.Of(ctx, operator, testTime.Year())
			if err != nil {
				t.Fatal(err)
			}
			month := year.Months[testTime.Month()-1]
			if month.Invoices.Documents != 2 || month.Corrections.Documents != 1 || month.Gross() != 1428 || year.Total().Gross() != 1428 {
				t.Errorf("%+v", month)
			}
		}
		days, err := db.ListRevenueDays(ctx, "2000-01-01", "2100-01-01")
		if err != nil || len(days) != 3 || days[0].Invoices.Gross != 2856 || days[1].Invoices.Documents != 0 {
			t.Errorf("%+v, %v", days, err)
		}
		if err := db.AddRevenueDays(ctx, days[:1]); err != nil { // as another node would
			t.Error(err)
		}
	})
}

// A job that was tried without an error only waits.
func TestCountFailedJobs_OnlyJobsWithErrorsAndOverdueRefunds(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		anna := newCustomer(t, db, "anna")
		failed, polling := addOrder(t, db, testOrder(anna, "fehler.org")), addOrder(t, db, testOrder(anna, "wartet.org"))
		addOrder(t, db, testOrder(anna, "neu.org"))
		execStatement(t, db, "UPDATE orders SET due_at = 1, attempts = 2 WHERE id IN ($1, $2)", failed.ID, polling.ID)
		if err := db.PutJobError(ctx, admin.JobOrder, failed.ID, admin.JobError{Code: "epp_login", At: testTime}, testTime); err != nil {
			t.Fatal(err)
		}
		refunded := refundFirstItem(t, db, addPaidOrder(t, db, anna, "weg.org"), "ref_1")
		execStatement(t, db, "UPDATE refunds SET provider = '' WHERE order_id = $1", refunded.ID)
		for since, want := range map[time.Time]int{testTime.Add(time.Hour): 1, testTime.Add(-time.Hour): 0} {
			jobs, refunds, err := db.CountFailedJobs(ctx, since)
			if err != nil || jobs[admin.JobOrder] != 1 || jobs[admin.JobItem] != 0 || jobs[admin.JobMail] != 0 || refunds != want {
				t.Errorf("%v: %v, %d refunds, %v", since, jobs, refunds, err)
			}
		}
		list, err := db.ListJobs(ctx, admin.JobOrder, true, 10)
		if err != nil || len(list) != 2 || list[0].Name == "" {
			t.Errorf("jobs name no domain: %+v, %v", list, err)
		}
	})
}
