package admin_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/admin"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// nilStore panics on every call.
type nilStore struct{ admin.Store }

func TestService_RefusesNonOperators(t *testing.T) {
	t.Parallel()
	service, err := admin.New(admin.Config{Store: nilStore{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, actor := range []registrar.Actor{
		{},
		{Kind: registrar.ActorPerson, Customer: "cus_1", Through: "ses_1"},
		{Kind: registrar.ActorToken, Customer: "cus_1", Through: "tok_1"},
		{Kind: registrar.ActorOperator}, // without an account
	} {
		ctx := t.Context()
		_, _, setErr := service.SetLock(ctx, actor, admin.LockRequest{})
		_, previewErr := service.PreviewLock(ctx, actor, admin.LockRequest{})
		_, liftErr := service.LiftLock(ctx, actor, "lck_1")
		_, _, locksErr := service.ListLocks(ctx, actor)
		_, workErr := service.ListJobs(ctx, actor, admin.JobOrder, true)
		_, needsErr := service.ListOpenIssues(ctx, actor)
		_, ordersErr := service.ListOrders(ctx, actor, admin.OrderFilter{}, "")
		_, paymentsErr := service.ListPayments(ctx, actor, "", "")
		_, refundsErr := service.ListRefunds(ctx, actor, admin.AllRefunds, "")
		_, _, findErr := service.FindOrder(ctx, actor, "ord_1")
		_, paidErr := service.PaidForItem(ctx, actor, "prv_1")
		_, orderJobsErr := service.ListOrderJobs(ctx, actor, "cus_1", "ord_1")
		for name, err := range map[string]error{
			"SetLock": setErr, "PreviewLock": previewErr, "LiftLock": liftErr, "Locks": locksErr, "Work": workErr, "Needs": needsErr,
			"Orders": ordersErr, "Payments": paymentsErr, "Refunds": refundsErr, "FindOrder": findErr, "OrderJobs": orderJobsErr, "PaidForItem": paidErr,
			"Secure": service.Secure(ctx, actor, "lck_1"), "Retry": service.Retry(ctx, actor, admin.JobOrder, "ord_1"),
			"GiveUp": service.AbandonJob(ctx, actor, admin.JobChange, "chg_1"),
			"Look":   service.RecordAccountView(ctx, actor, "cus_1", ""),
		} {
			if registrar.CodeOf(err) != registrar.OperatorsOnly {
				t.Errorf("%s by %q: %v", name, actor.Kind, err)
			}
		}
	}
}

func TestSetLock_RejectsInvalidRequest(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	service, err := admin.New(admin.Config{Store: nilStore{}, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	good := admin.LockRequest{
		Name: "streit.de", Cause: admin.UDRP, Reason: "D2026-0815", Restrictions: []admin.Restriction{admin.Transfer}, ReviewAt: now.Add(time.Hour),
	}
	for want, corrupt := range map[registrar.Code]func(*admin.LockRequest){
		admin.BadCause:        func(w *admin.LockRequest) { w.Cause = "whim" },
		admin.BadReason:       func(w *admin.LockRequest) { w.Reason = " \t" },
		admin.BadRestrictions: func(w *admin.LockRequest) { w.Restrictions = []admin.Restriction{admin.Transfer, "everything"} },
		admin.BadReviewDate:   func(w *admin.LockRequest) { w.ReviewAt = now },
	} {
		request := good
		corrupt(&request)
		_, _, err := service.SetLock(t.Context(), registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}, request)
		if registrar.CodeOf(err) != want || registrar.KindOf(err) != registrar.KindInvalid {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// failedJobsStore has one failed job of every kind.
type failedJobsStore struct{ admin.Store }

func (failedJobsStore) ListJobs(_ context.Context, kind admin.JobKind, _ bool, _ int) ([]admin.Job, error) {
	return []admin.Job{{Kind: kind, ID: string(kind) + "_1", Attempts: 1}}, nil
}

func (failedJobsStore) GetJobError(context.Context, admin.JobKind, string) (admin.JobError, bool, error) {
	return admin.JobError{Code: "no_registry_account"}, true, nil
}

func (failedJobsStore) ListFailedItems(context.Context, registrar.Code, time.Time, int) ([]admin.FailedItem, error) {
	return nil, nil
}

func (failedJobsStore) ListPendingRefunds(context.Context, int) ([]admin.Refund, error) {
	return nil, nil
}

func (failedJobsStore) ListAllRefunds(context.Context, admin.RefundFilter, string, int) ([]admin.RefundEntry, error) {
	return nil, nil
}

func (failedJobsStore) ListActiveDomainLocks(context.Context, int) ([]admin.Lock, error) {
	return nil, nil
}

// A blocked change never ends by itself, and its customer can't resolve it.
func TestListOpenIssues_IncludesFailedOrdersItemsAndChanges(t *testing.T) {
	t.Parallel()
	service, err := admin.New(admin.Config{Store: failedJobsStore{}})
	if err != nil {
		t.Fatal(err)
	}
	issues, err := service.ListOpenIssues(t.Context(), registrar.Actor{Kind: registrar.ActorOperator, Through: "root"})
	if err != nil || len(issues.Orders) != 1 || len(issues.Items) != 1 || len(issues.Changes) != 1 || issues.Changes[0].ID != "change_1" {
		t.Errorf("got %+v, %v", issues, err)
	}
}

// unfundedOrderStore has an order of which an item waits for funds.
type unfundedOrderStore struct{ failedJobsStore }

func (unfundedOrderStore) ListOrderJobs(context.Context, string, string, int) ([]admin.Job, error) {
	return []admin.Job{{Kind: admin.JobOrder, ID: "ord_1", Attempts: 1}, {Kind: admin.JobWebhook, ID: "ord_1", Attempts: 1}}, nil
}

func (unfundedOrderStore) GetJobError(context.Context, admin.JobKind, string) (admin.JobError, bool, error) {
	return admin.JobError{}, false, nil
}

func (unfundedOrderStore) ListFailedItems(context.Context, registrar.Code, time.Time, int) ([]admin.FailedItem, error) {
	return []admin.FailedItem{{Order: "ord_1"}}, nil
}

func TestListOrderJobs_OrderSaysThatItemWaitsForFunds(t *testing.T) {
	t.Parallel()
	service, err := admin.New(admin.Config{Store: unfundedOrderStore{}})
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := service.ListOrderJobs(t.Context(), registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}, "cus_1", "ord_1")
	if err != nil || len(jobs) != 2 || jobs[0].WaitsFor != provision.Billing || jobs[1].WaitsFor != "" {
		t.Errorf("got %+v, %v", jobs, err)
	}
}

// pendingJobsStore has an item that is due in a minute of real time and was paid at a business time.
type pendingJobsStore struct {
	failedJobsStore
	due, paid time.Time
	recorded  *admin.JobError
}

func (s pendingJobsStore) ListJobs(context.Context, admin.JobKind, bool, int) ([]admin.Job, error) {
	return []admin.Job{{Kind: admin.JobItem, ID: "prv_1", DueAt: s.due, Since: s.paid}}, nil
}

func (s pendingJobsStore) PutJobError(_ context.Context, _ admin.JobKind, _ string, failure admin.JobError, _ time.Time) error {
	*s.recorded = failure
	return nil
}

// paidJobsStore has an item whose last attempt failed.
type paidJobsStore struct {
	failedJobsStore
	paid time.Time
}

func (s paidJobsStore) ListOrderJobs(context.Context, string, string, int) ([]admin.Job, error) {
	return []admin.Job{{Kind: admin.JobOrder, Since: s.paid, Attempts: 1}, {Kind: admin.JobItem, Since: s.paid, Attempts: 1}}, nil
}

func TestListOrderJobs_ItemMayBeGivenUpAMinuteAfterItsPayment(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	for age, want := range map[time.Duration]bool{59 * time.Second: false, time.Minute: true} {
		service, err := admin.New(admin.Config{Store: paidJobsStore{paid: now.Add(-age)}, Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		jobs, err := service.ListOrderJobs(t.Context(), registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}, "cus_1", "ord_1")
		if err != nil || len(jobs) != 2 || jobs[0].MayGiveUp || jobs[1].MayGiveUp != want {
			t.Errorf("%s after the payment: %+v, %v", age, jobs, err)
		}
	}
}

// A sandbox may be a year ahead of the machine whose clock the jobs are due by.
func TestListJobs_TimesAreBusinessTimes(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	business := now.AddDate(1, 0, 0)
	var recorded admin.JobError
	store := pendingJobsStore{due: now.Add(time.Minute), paid: business.Add(-5 * time.Minute), recorded: &recorded}
	service, err := admin.New(admin.Config{Store: store, Now: func() time.Time { return now }, Business: func() time.Time { return business }})
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := service.ListJobs(t.Context(), registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}, admin.JobItem, false)
	if err != nil || len(jobs) != 1 || !jobs[0].DueAt.Equal(business.Add(time.Minute)) || jobs[0].Overdue {
		t.Errorf("got %+v, %v", jobs, err)
	}
	if err := service.RecordJobError(t.Context(), admin.JobItem, "prv_1", "timeout"); err != nil || !recorded.At.Equal(business) {
		t.Errorf("recorded %+v, %v", recorded, err)
	}
}

// locksStore has locks on domains named after their secure status.
type locksStore struct {
	failedJobsStore
	locks []admin.Lock
}

func (l locksStore) ListActiveDomainLocks(context.Context, int) ([]admin.Lock, error) {
	return l.locks, nil
}

// fakeHolds has set the hold of one domain; the registry has refused the other.
type fakeHolds struct{ admin.Holds }

func (fakeHolds) LastChangeFor(_ context.Context, _ registrar.Actor, domain, _ string, _, _ domainchange.ChangeKind) (domainchange.Change, bool, error) {
	change := domainchange.Change{Kind: domainchange.Hold, State: domainchange.StatusDone}
	if domain == "refused" {
		change.State, change.Failure = domainchange.StatusRefused, registrar.RegistryDenied
	}
	return change, true, nil
}

// The service may stop between lock and registry, and an issued auth code stays valid
// until the domain is secured.
func TestListOpenIssues_IncludesUnsecuredAndOverdueLocks(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	lock := func(domain string, restriction admin.Restriction, review time.Time) admin.Lock {
		return admin.Lock{ID: "lck_" + domain, Domain: domain, Restrictions: []admin.Restriction{restriction}, ReviewAt: review}
	}
	later := now.Add(time.Hour)
	service, err := admin.New(admin.Config{
		Store: locksStore{locks: []admin.Lock{
			lock("open", admin.Transfer, later), lock("kept", admin.Transfer, later), lock("asked", admin.Transfer, later),
			lock("renewal", admin.Renewal, later), lock("kept", admin.Transfer, now), lock("held", admin.Hold, later), lock("refused", admin.Hold, later),
		}},
		Holds: fakeHolds{},
		SecuredFor: func(_ context.Context, domain, _ string) (secured, inProgress bool, err error) {
			return domain == "kept", domain == "asked", nil
		},
		Now: func() time.Time { return now },
	})
	if err != nil {
		t.Fatal(err)
	}
	issues, err := service.ListOpenIssues(t.Context(), registrar.Actor{Kind: registrar.ActorOperator, Through: "root"})
	if err != nil || len(issues.Locks) != 3 || issues.Locks[0].Domain != "open" || issues.Locks[1].Domain != "kept" || !issues.Locks[1].ReviewAt.Equal(now) ||
		issues.Locks[2].Domain != "refused" || issues.Locks[2].HoldStatus != admin.NotHeld || issues.Locks[2].HoldFailure != registrar.RegistryDenied {
		t.Errorf("got %+v, %v", issues.Locks, err)
	}
}

// movedStore has a lock and a refund of the business time.
type movedStore struct {
	failedJobsStore
	reviewAt, since time.Time
	counted         *time.Time // since when refunds are overdue
}

func (m movedStore) ListActiveDomainLocks(context.Context, int) ([]admin.Lock, error) {
	return []admin.Lock{{ID: "lck_1", ReviewAt: m.reviewAt}}, nil
}

func (m movedStore) ListPendingRefunds(context.Context, int) ([]admin.Refund, error) {
	return []admin.Refund{{ID: "ref_1", Since: m.since}}, nil
}

func (m movedStore) ListAllRefunds(context.Context, admin.RefundFilter, string, int) ([]admin.RefundEntry, error) {
	return []admin.RefundEntry{{CreatedAt: m.since.Add(time.Hour)}, {CreatedAt: m.since}}, nil
}

func (m movedStore) CountFailedJobs(_ context.Context, since time.Time) (map[admin.JobKind]int, int, error) {
	*m.counted = since
	return nil, 0, nil
}

func TestOpenIssues_LocksAndRefundsFollowBusinessTime(t *testing.T) {
	t.Parallel()
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	for _, moved := range []time.Time{now.AddDate(0, 0, 30), now.AddDate(0, 0, -30)} {
		for _, due := range []bool{true, false} {
			store := movedStore{reviewAt: moved.Add(time.Minute), since: moved.Add(-time.Minute), counted: new(time.Time)}
			if due {
				store.reviewAt, store.since = moved.Add(-time.Minute), moved.Add(-time.Hour)
			}
			service, err := admin.New(admin.Config{
				Store: store, Now: func() time.Time { return now }, Business: func() time.Time { return moved },
				SecuredFor: func(context.Context, string, string) (secured, inProgress bool, err error) { return true, false, nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			issues, err := service.ListOpenIssues(t.Context(), operator)
			if err != nil || (len(issues.Locks) == 1) != due || (len(issues.Refunds) == 1) != due || len(issues.Undecided) != 2 || !issues.Undecided[1].CreatedAt.Equal(store.since) {
				t.Errorf("%s, due %t: %+v, %v", moved, due, issues, err)
			}
			if _, _, err := service.CountOpen(t.Context(), operator); err != nil || store.counted.After(moved) || store.counted.Before(moved.Add(-time.Hour)) {
				t.Errorf("refunds are overdue since %s, %v", store.counted, err)
			}
		}
	}
}

// listStore refuses to list before the view is audited.
type listStore struct {
	admin.Store
	audited []string
	at      time.Time // of the last event
	full    error     // of the disk
}

func (s *listStore) RecordAuditEvent(_ context.Context, event registrar.AuditEvent) error {
	s.audited, s.at = append(s.audited, string(event.Action)+" "+event.Object), event.At
	return s.full
}

func (s *listStore) ListAllOrders(context.Context, admin.OrderFilter, string, int) ([]admin.OrderEntry, error) {
	rows := make([]admin.OrderEntry, len(s.audited))
	for i := range rows {
		rows[i] = admin.OrderEntry{ID: "ord_1", Subject: admin.Subject{Name: "laden.de", Email: "erika@example.org"}}
	}
	return rows, nil
}

// The lists contain customers' addresses.
func TestLists_EachPageIsAuditedFirst(t *testing.T) {
	t.Parallel()
	store := &listStore{}
	moved := time.Now().AddDate(0, 0, 30) // jobs are due by the real time, events are shown with business
	service, err := admin.New(admin.Config{Store: store, Business: func() time.Time { return moved }})
	if err != nil {
		t.Fatal(err)
	}
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}
	orders, err := service.ListOrders(t.Context(), operator, admin.OrderFilter{}, "")
	if err != nil || len(orders.Rows) != 1 || len(store.audited) != 1 || store.audited[0] != "order_list_viewed orders" || orders.Unaudited || orders.Rows[0].Email == "" {
		t.Errorf("%+v, audited %q, %v", orders, store.audited, err)
	}
	if !store.at.Equal(moved) {
		t.Errorf("audited at %s, not at the business time", store.at)
	}
	// Without an audit event the operator sees the list, but nobody's address.
	store.full = errors.New("disk full")
	orders, err = service.ListOrders(t.Context(), operator, admin.OrderFilter{}, "")
	if err != nil || len(orders.Rows) != 2 || !orders.Unaudited || orders.Rows[0].Name != "laden.de" || orders.Rows[0].Email+orders.Rows[1].Email != "" {
		t.Errorf("on a full disk: %+v, %v", orders, err)
	}
}
