package admin

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
)

// JobKind is a kind of background job.
type JobKind string

// Kinds of jobs.
const (
	JobItem    JobKind = "item"
	JobOrder   JobKind = "order"
	JobChange  JobKind = "change"
	JobMail    JobKind = "mail"
	JobWebhook JobKind = "webhook"
)

// JobKinds returns all kinds.
func JobKinds() []JobKind { return []JobKind{JobOrder, JobItem, JobChange, JobMail, JobWebhook} }

// Job is an unfinished job.
type Job struct {
	Kind JobKind
	ID   string
	// What is its subkind (register, order_paid), State its progress, Name the domain it is
	// about; each may be empty.
	What, State, Name string
	// Since is when it was stored; an item is stored when it is paid. Overdue means that an item
	// takes longer than customers expect. Times are business time, except for Since of mails and
	// webhook deliveries, and DueAt as a store returns it.
	Since     time.Time
	Overdue   bool
	MayGiveUp bool // it is an item whose last attempt failed, and a while has passed since its payment
	DueAt     time.Time
	Node      string // holds the lease; empty if none does or it is unknown
	Attempts  int
	LastError JobError // the error of the last attempt; its code is empty if unknown
	// WaitsFor is why items of an order wait, if the order itself has no error.
	WaitsFor registrar.Code
}

// JobError is why an attempt failed.
type JobError struct {
	Code registrar.Code
	At   time.Time
}

// Refund is a refund that is still due.
type Refund struct {
	Subject   // without the address
	ID, Order string
	Amount    registrar.Cents
	Since     time.Time
}

// jobErrorRetention is how long an error is stored: longer than any job is retried.
const jobErrorRetention = 30 * 24 * time.Hour

// RecordJobError stores why a job's attempt failed. The job runners call it.
func (s *Service) RecordJobError(ctx context.Context, kind JobKind, id string, code registrar.Code) error {
	now := s.cfg.Business()
	return s.cfg.Store.PutJobError(ctx, kind, id, JobError{Code: code, At: now}, now.Add(-jobErrorRetention))
}

// ListJobs returns the unfinished jobs of a kind: retried ones, most attempts first, or
// the next ones due.
func (s *Service) ListJobs(ctx context.Context, operator registrar.Actor, kind JobKind, retrying bool) ([]Job, error) {
	if err := operator.RequireOperator(); err != nil {
		return nil, err
	}
	if !slices.Contains(JobKinds(), kind) {
		return nil, registrar.NotFound(NoSuchJob)
	}
	jobs, err := s.cfg.Store.ListJobs(ctx, kind, retrying, maxListed)
	if err != nil {
		return nil, err
	}
	now := s.cfg.Business()
	for i := range jobs {
		jobs[i].Overdue = jobs[i].isOverdue(now)
	}
	if err := s.addErrorsAndTimes(ctx, jobs); err != nil || kind != JobOrder {
		return jobs, err
	}
	return jobs, s.loadUnfunded(ctx, jobs)
}

// loadUnfunded marks the orders whose items wait for funds in a registry account, unless they have
// an error of their own.
func (s *Service) loadUnfunded(ctx context.Context, jobs []Job) error {
	items, err := s.cfg.Store.ListFailedItems(ctx, provision.Billing, s.cfg.Now(), maxUnfunded)
	for _, item := range items {
		for i := range jobs {
			if jobs[i].Kind == JobOrder && jobs[i].ID == item.Order && jobs[i].LastError.Code == "" {
				jobs[i].WaitsFor = provision.Billing
			}
		}
	}
	return err
}

// How long an item may take. Registries complete a transfer within five days, and some decide about
// a registration later.
const (
	itemPeriod    = 15 * time.Minute
	pendingPeriod = 7 * 24 * time.Hour
)

func (j Job) isOverdue(now time.Time) bool {
	period := itemPeriod
	if j.State == "pending" {
		period = pendingPeriod
	}
	return j.Kind == JobItem && now.Sub(j.Since) > period
}

// addErrorsAndTimes sets the last errors of jobs that were tried, and which items may be given up, and
// converts their due times.
func (s *Service) addErrorsAndTimes(ctx context.Context, jobs []Job) (err error) {
	now := s.cfg.Business()
	for i := range jobs {
		jobs[i].DueAt = s.BusinessTime(jobs[i].DueAt)
		if jobs[i].Attempts == 0 {
			continue
		}
		if jobs[i].LastError, _, err = s.cfg.Store.GetJobError(ctx, jobs[i].Kind, jobs[i].ID); err != nil {
			return err
		}
		jobs[i].MayGiveUp = jobs[i].Kind == JobItem && jobs[i].LastError.Code != "" && now.Sub(jobs[i].Since) >= provision.GiveUpAfter
	}
	return nil
}

// Retry makes a job due now.
func (s *Service) Retry(ctx context.Context, operator registrar.Actor, kind JobKind, id string) error {
	if err := operator.RequireOperator(); err != nil {
		return err
	}
	if !slices.Contains(JobKinds(), kind) {
		return registrar.NotFound(NoSuchJob)
	}
	now := s.cfg.Now().Truncate(time.Microsecond)
	event := registrar.AuditEvent{Actor: operator, Action: JobRetried, Object: id, At: s.cfg.Business()}
	claimed, err := s.cfg.Store.RetryJobNow(ctx, kind, id, now, event)
	if err != nil {
		return err
	}
	if !claimed {
		return registrar.Conflict(JobClaimed)
	}
	s.cfg.WakeJobs(kind)
	return nil
}

// maxUnfunded bounds the items that are retried at once.
const maxUnfunded = 1000

// FailedItem is an item whose last attempt failed.
type FailedItem struct {
	ID, Account string
	Order       string          // empty if it was added by hand
	Gross       registrar.Cents // what was paid for it; 0 if it was added by hand
}

// Unfunded counts the items that wait for funds of a registry account, and what was paid for them.
type Unfunded struct {
	Account string
	Items   int
	Gross   registrar.Cents
}

// ListUnfunded returns the registry accounts whose lack of funds delays items.
func (s *Service) ListUnfunded(ctx context.Context, operator registrar.Actor) (accounts []Unfunded, err error) {
	if err := operator.RequireOperator(); err != nil {
		return nil, err
	}
	items, err := s.cfg.Store.ListFailedItems(ctx, provision.Billing, s.cfg.Now(), maxUnfunded)
	if err != nil {
		return nil, err
	}
	sums := make(map[string]Unfunded)
	for _, item := range items {
		sum := sums[item.Account]
		sums[item.Account] = Unfunded{item.Account, sum.Items + 1, sum.Gross + item.Gross}
	}
	for _, account := range slices.Sorted(maps.Keys(sums)) {
		accounts = append(accounts, sums[account])
	}
	return accounts, nil
}

// RetryUnfunded makes the items due now that wait for funds of a registry account. Those that are
// due already, or being executed, are left alone, so a second call changes nothing.
func (s *Service) RetryUnfunded(ctx context.Context, operator registrar.Actor, account string) error {
	if err := operator.RequireOperator(); err != nil {
		return err
	}
	items, err := s.cfg.Store.ListFailedItems(ctx, provision.Billing, s.cfg.Now(), maxUnfunded)
	if err != nil {
		return err
	}
	for _, item := range items {
		if item.Account != account {
			continue
		}
		if err := s.Retry(ctx, operator, JobItem, item.ID); err != nil && registrar.CodeOf(err) != JobClaimed {
			return err
		}
	}
	return nil
}

// AbandonJob ends a job that can't be completed any more: a domain change, or a paid item, which
// is then refunded.
func (s *Service) AbandonJob(ctx context.Context, operator registrar.Actor, kind JobKind, id string) error {
	if err := operator.RequireOperator(); err != nil {
		return err
	}
	switch kind {
	case JobChange:
		return s.cfg.AbandonChange(ctx, operator, id)
	case JobItem:
		return s.cfg.GiveUpItem(ctx, operator, id)
	default:
		return registrar.NotFound(NoSuchJob)
	}
}

// PaidForItem returns what is refunded if an item is given up; 0 if it was added by hand.
func (s *Service) PaidForItem(ctx context.Context, operator registrar.Actor, id string) (registrar.Cents, error) {
	if err := operator.RequireOperator(); err != nil {
		return 0, err
	}
	paid, found, err := s.cfg.Store.PaidForItem(ctx, id)
	if err == nil && !found {
		err = registrar.NotFound(NoSuchJob)
	}
	return paid, err
}

// refundGracePeriod is how long a refund may be due before it is an issue.
const refundGracePeriod = 15 * time.Minute

// OpenIssues is what needs an operator.
type OpenIssues struct {
	// Orders, Items and Changes have failed attempts. Refunds are overdue.
	Orders, Items, Changes []Job
	Refunds                []Refund
	// Undecided are the refunds that wait for an operator's decision, the newest first, without
	// addresses.
	Undecided []RefundEntry
	// Locks are due for review, or not secured: the registry refused, or the service
	// stopped before asking it.
	Locks []Lock
}

// CountOpen returns how many jobs of each kind have failed and are unfinished, and how many
// refunds are overdue or wait for an operator. Each count stops at 100.
func (s *Service) CountOpen(ctx context.Context, operator registrar.Actor) (jobs map[JobKind]int, refunds int, err error) {
	if err := operator.RequireOperator(); err != nil {
		return nil, 0, err
	}
	return s.cfg.Store.CountFailedJobs(ctx, s.cfg.Business().Add(-refundGracePeriod))
}

// listOverdueRefunds returns the refunds that should have been made, the longest overdue first.
func (s *Service) listOverdueRefunds(ctx context.Context) ([]Refund, error) {
	now := s.cfg.Business() // by which refunds are created
	refunds, err := s.cfg.Store.ListPendingRefunds(ctx, maxListed)
	return slices.DeleteFunc(refunds, func(r Refund) bool { return now.Sub(r.Since) < refundGracePeriod }), err
}

// HasOverdueRefunds reports whether a refund should have been made.
func (s *Service) HasOverdueRefunds(ctx context.Context, operator registrar.Actor) (bool, error) {
	if err := operator.RequireOperator(); err != nil {
		return false, err
	}
	overdue, err := s.listOverdueRefunds(ctx)
	return len(overdue) > 0, err
}

// ListUndecided returns the refunds that wait for an operator's decision, the newest first and
// without addresses, because the view is not audited.
func (s *Service) ListUndecided(ctx context.Context, operator registrar.Actor) ([]RefundEntry, error) {
	if err := operator.RequireOperator(); err != nil {
		return nil, err
	}
	undecided, err := s.cfg.Store.ListAllRefunds(ctx, UndecidedRefunds, "", maxListed)
	for i := range undecided {
		undecided[i].Email = ""
	}
	return undecided, err
}

// ListOpenIssues returns what needs an operator.
func (s *Service) ListOpenIssues(ctx context.Context, operator registrar.Actor) (OpenIssues, error) {
	var issues OpenIssues
	var err error
	for kind, jobs := range map[JobKind]*[]Job{JobOrder: &issues.Orders, JobItem: &issues.Items, JobChange: &issues.Changes} {
		if *jobs, err = s.ListJobs(ctx, operator, kind, true); err != nil {
			return issues, err
		}
		// Jobs that only poll, such as a pending transfer, have no error.
		*jobs = slices.DeleteFunc(*jobs, func(j Job) bool { return j.LastError.Code == "" })
	}
	if issues.Refunds, err = s.listOverdueRefunds(ctx); err != nil {
		return issues, err
	}
	if issues.Undecided, err = s.ListUndecided(ctx, operator); err != nil {
		return issues, err
	}
	issues.Locks, err = s.ListDueLocks(ctx, operator)
	return issues, err
}
