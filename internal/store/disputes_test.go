package store

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/dispute"
	"github.com/dotkontor/dotkontor/internal/registrar/mailer"
)

// addDispute stores a dispute of a payment intent that is due.
func addDispute(t *testing.T, db *DB, id, intent string, status dispute.Status) dispute.Dispute {
	t.Helper()
	subject, _, err := db.FindDisputedPayment(t.Context(), intent)
	if err != nil {
		t.Fatal(err)
	}
	d := dispute.Dispute{
		Report: dispute.Report{
			ID: id, Charge: "ch_" + id, Intent: intent, Status: status, Reason: "fraudulent", Currency: "eur", Amount: 1428, Withdrawn: 1428, Fee: 2000,
			Charged: 1428, Refundable: true, DueBy: testTime.Add(time.Hour), OpenedAt: testTime,
		},
		Payment: subject.Payment, Order: subject.Order, Lock: dispute.LockNone, OpenWork: status.Open(), DueAt: testTime, StoredAt: testTime, UpdatedAt: testTime,
	}
	if subject.Captured {
		d.Lock = dispute.LockActive
	}
	if stored, err := db.StoreDispute(t.Context(), dispute.Update{Now: d, At: testTime}); err != nil || !stored {
		t.Fatal(stored, err)
	}
	stored, found, err := db.GetDispute(t.Context(), id)
	if err != nil || !found {
		t.Fatal(found, err)
	}
	return stored
}

// addPaidDomain stores a paid order with a domain that it provisioned, and returns the domain.
func addPaidDomain(t *testing.T, db *DB, customer, name, payment string) (order, domain string) {
	t.Helper()
	o := mustUpdateOrder(t, db, mustUpdateOrder(t, db, addOrder(t, db, testOrder(customer, name)), toPaying(payment)), toPaid)
	domain = addHeldDomain(t, db, customer, name, registrar.DomainActive)
	execStatement(t, db, `UPDATE provision_items SET domain_id = $1, state = 'active', due_at = 0 WHERE payment = $2`, domain, "order:"+o.ID)
	return o.ID, domain
}

func TestStoreDispute_RoundTripAndLockOfPaidDomains(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		order, domain := addPaidDomain(t, db, anna, "eins.org", "pay_1")
		_, other := addPaidDomain(t, db, anna, "zwei.org", "pay_2")
		d := addDispute(t, db, "du_1", "pi_pay_1", dispute.NeedsResponse)
		if d.Order != order || d.Payment != "pay_1" || d.Customer != anna || d.Version != 1 || d.Fee != 2000 || !d.DueBy.Equal(testTime.Add(time.Hour)) {
			t.Errorf("stored %+v", d)
		}
		domains, err := db.ListDisputedDomains(ctx, order)
		if err != nil || len(domains) != 1 || domains[0].ID != domain || domains[0].Customer != anna {
			t.Errorf("domains %+v, %v", domains, err)
		}
		for id, want := range map[string]bool{domain: true, other: false} {
			if disputed, err := db.IsDomainDisputed(ctx, id); err != nil || disputed != want {
				t.Errorf("%s is disputed: %v, %v", id, disputed, err)
			}
		}
		if locking, err := db.ListLockingDisputes(ctx, 10); err != nil || len(locking) != 1 || locking[0].ID != d.ID || locking[0].Customer != anna {
			t.Errorf("locking: %+v, %v", locking, err)
		}
		payments, err := db.ListAllPayments(ctx, "", "", 10)
		if err != nil || len(payments) != 2 || payments[0].Withdrawn != 0 || payments[1].Order != order || payments[1].Withdrawn != 1428 {
			t.Errorf("payments %+v, %v", payments, err)
		}
		lifted := d
		lifted.Status, lifted.Lock, lifted.OpenWork = dispute.Won, dispute.LockLifted, false
		if stored, err := db.StoreDispute(ctx, dispute.Update{Was: d, Now: lifted, At: testTime}); err != nil || !stored {
			t.Fatal(stored, err)
		}
		if disputed, err := db.IsDomainDisputed(ctx, domain); err != nil || disputed {
			t.Errorf("after a win: %v, %v", disputed, err)
		}
		if locking, err := db.ListLockingDisputes(ctx, 10); err != nil || len(locking) != 0 {
			t.Errorf("locking after a win: %+v, %v", locking, err)
		}
		if all, err := db.ListOrderDisputes(ctx, order); err != nil || len(all) != 1 || all[0].Status != dispute.Won {
			t.Errorf("of the order: %+v, %v", all, err)
		}
		for _, test := range []struct {
			customer, first, last string
			want                  int
		}{{anna, order, order, 1}, {anna, "", order, 1}, {anna, "", "", 0}, {"cus_other", order, order, 0}} {
			if all, err := db.ListCustomerDisputes(ctx, test.customer, test.first, test.last); err != nil || len(all) != test.want {
				t.Errorf("of %+v: %+v, %v", test, all, err)
			}
		}
	})
}

// The receipt is about the order, a reminder about one of its domains.
func TestListSentNoticesOfOrder_ItsOwnAndThoseOfItsDomains(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, anna := t.Context(), newCustomer(t, db, "anna")
		order := mustUpdateOrder(t, db, mustUpdateOrder(t, db, addOrder(t, db, testOrder(anna, "eins.org", "drei.org")), toPaying("pay_1")), toPaid).ID
		domain, second := addHeldDomain(t, db, anna, "eins.org", registrar.DomainActive), addHeldDomain(t, db, anna, "drei.org", registrar.DomainActive)
		for name, id := range map[string]string{"eins.org": domain, "drei.org": second} {
			execStatement(t, db, "UPDATE provision_items SET domain_id = $1 WHERE name = $2", id, name)
		}
		other, otherDomain := addPaidDomain(t, db, anna, "zwei.org", "pay_2")
		for i, data := range []map[string]string{
			{"order": order},
			{"order": other},
			{registrar.NoticeDomain: otherDomain, "domain": "zwei.org"},
			{registrar.NoticeDomain: domain, "domain": "eins.org"},
			{"items": "2", "item1_" + registrar.NoticeDomain: domain, "item2_" + registrar.NoticeDomain: second},
		} {
			id := fmt.Sprintf("mail_%d", i)
			if err := db.DeleteMail(ctx, id, &mailer.Evidence{
				Mail: mailer.QueuedMail{ID: id, Kind: registrar.MailOrderPaid, Customer: anna, Data: data, CreatedAt: testTime}, At: testTime.Add(time.Duration(i)), Accepted: true,
			}); err != nil {
				t.Fatal(err)
			}
		}
		notices, err := db.ListSentNoticesOfOrder(ctx, order, 10)
		if err != nil || len(notices) != 3 || notices[0].ID != "mail_0" || notices[1].ID != "mail_3" || notices[2].ID[:6] != "mail_4" {
			t.Errorf("%+v, %v", notices, err)
		}
	})
}

func TestStoreDispute_SecondWriterOfVersionChangesNothing(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		anna := newCustomer(t, db, "anna")
		addPaidDomain(t, db, anna, "eins.org", "pay_1")
		d := addDispute(t, db, "du_1", "pi_pay_1", dispute.NeedsResponse)
		won, lost := d, d
		won.Status, lost.Status = dispute.Won, dispute.Lost
		event := registrar.AuditEvent{Actor: operatorActor(), Action: dispute.ActionWon, Customer: anna, Object: d.Order, At: testTime}
		mail := registrar.Mail{Kind: registrar.MailPaymentDispute, Customer: anna}
		if stored, err := db.StoreDispute(ctx, dispute.Update{Was: d, Now: won, AuditEvent: &event, Mail: &mail, At: testTime}); err != nil || !stored {
			t.Fatal(stored, err)
		}
		if stored, err := db.StoreDispute(ctx, dispute.Update{Was: d, Now: lost, AuditEvent: &event, Mail: &mail, At: testTime}); err != nil || stored {
			t.Errorf("a second writer: %v, %v", stored, err)
		}
		if stored, err := db.StoreDispute(ctx, dispute.Update{Now: lost, Mail: &mail, At: testTime}); err != nil || stored {
			t.Errorf("a second insert: %v, %v", stored, err)
		}
		if now, _, err := db.GetDispute(ctx, d.ID); err != nil || now.Status != dispute.Won || now.Version != 2 {
			t.Errorf("stored %+v, %v", now, err)
		}
		if n := count(t, db, `SELECT count(*) FROM mails WHERE kind = 'payment_dispute'`); n != 1 {
			t.Errorf("%d mails", n)
		}
	})
}

func TestListDisputes_OpenAndEndedPagesNewestFirst(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx := t.Context()
		for _, id := range []string{"du_1", "du_2", "du_3"} {
			addDispute(t, db, id, "", dispute.NeedsResponse)
		}
		addDispute(t, db, "du_4", "", dispute.Won)
		ids := func(open bool, before string, limit int) (all []string) {
			disputes, err := db.ListDisputes(ctx, open, before, limit)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range disputes {
				all = append(all, d.ID)
			}
			return all
		}
		if got := ids(true, "", 2); !slices.Equal(got, []string{"du_3", "du_2"}) {
			t.Errorf("first page %v", got)
		}
		if got := ids(true, "du_2", 2); !slices.Equal(got, []string{"du_1"}) {
			t.Errorf("second page %v", got)
		}
		if got := ids(false, "", 2); !slices.Equal(got, []string{"du_4"}) {
			t.Errorf("ended %v", got)
		}
		if n, err := db.CountOpenDisputes(ctx); err != nil || n != 3 {
			t.Errorf("%d open, %v", n, err)
		}
	})
}

func TestDisputeListing_OneNodeAtATimeAndDueAgain(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, lease := t.Context(), testTime.Add(time.Minute)
		if until, claimed, err := db.ClaimDisputeListing(ctx, "stripe", testTime, lease); err != nil || !claimed || !until.IsZero() {
			t.Fatal(until, claimed, err)
		}
		if _, claimed, err := db.ClaimDisputeListing(ctx, "stripe", testTime, lease); err != nil || claimed {
			t.Errorf("claimed twice: %v", err)
		}
		if err := db.FinishDisputeListing(ctx, "stripe", lease, testTime, testTime.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if until, claimed, err := db.ClaimDisputeListing(ctx, "stripe", testTime.Add(time.Hour), lease.Add(time.Hour)); err != nil || !claimed || !until.Equal(testTime) {
			t.Errorf("due again: %v, %v, %v", until, claimed, err)
		}
	})
}

func TestPostponeDispute_KeepsRowThatWasMadeDueMeanwhile(t *testing.T) {
	t.Parallel()
	eachEngine(t, func(t *testing.T, db *DB) {
		ctx, lease := t.Context(), testTime.Add(time.Minute)
		addDispute(t, db, "du_1", "", dispute.NeedsResponse)
		claimed, err := db.ClaimDueDisputes(ctx, testTime, lease, 10)
		if err != nil || len(claimed) != 1 || claimed[0].Attempts != 1 {
			t.Fatal(claimed, err)
		}
		due := claimed[0]
		due.DueAt = testTime
		if stored, err := db.StoreDispute(ctx, dispute.Update{Was: claimed[0], Now: due, At: testTime}); err != nil || !stored {
			t.Fatal(stored, err)
		}
		if err := db.PostponeDispute(ctx, "du_1", lease, testTime.Add(time.Hour), 0); err != nil {
			t.Fatal(err)
		}
		if again, err := db.ClaimDueDisputes(ctx, testTime, lease, 10); err != nil || len(again) != 1 {
			t.Errorf("%d rows are due, %v", len(again), err)
		}
	})
}
