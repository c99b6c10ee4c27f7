package admin

import (
	"context"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// JobKind is a kind of work that is done by itself.
type JobKind string

// The kinds.
const (
	JobItem    JobKind = "line"
	JobOrder   JobKind = "order"
	JobChange  JobKind = "change"
	JobMail    JobKind = "mail"
	JobWebhook JobKind = "event"
)

// JobKinds are all of them.
func JobKinds() []JobKind { return []JobKind{JobOrder, JobItem, JobChange, JobMail, JobWebhook} }

// Job is a piece of work that is not done.
type Job struct {
	Kind JobKind
	ID   string
	// What is its own kind (register, order_paid), State how far it has come, Name the
	// domain that it is about; each may be empty.
	What, State, Name string
	DueAt             time.Time
	// Node is who works on it; empty: nobody, or nobody says.
	Node     string
	Attempts int
	// LastError is why it did not get on the last time; its code is empty if nobody
	// knows.
	LastError JobError
}

// JobError is why a job did not get on.
type JobError struct {
	Code registrar.Code
	At   time.Time
}

// Refund is money that has not gone back yet.
type Refund struct {
	ID, Order string
	Amount    registrar.Cents
	Since     time.Time
}

// jobErrorRetention is how long a setback is remembered: longer than anything is tried.
const jobErrorRetention = 30 * 24 * time.Hour

// RecordJobError remembers why a job did not get on. Those who do the work call it.
func (s *Service) RecordJobError(ctx context.Context, kind JobKind, id string, code registrar.Code) error {
	now := s.cfg.Now()
	return s.cfg.Store.PutJobError(ctx, kind, id, JobError{Code: code, At: now}, now.Add(-jobErrorRetention))
}

// ListJobs is what is not done of a kind: what was tried, most often first, or what is
// due next.
func (s *Service) ListJobs(ctx context.Context, operator registrar.Actor, kind JobKind, retrying bool) ([]Job, error) {
	if err := operator.RequireOperator(); err != nil {
		return nil, err
	}
	if !slices.Contains(JobKinds(), kind) {
		return nil, notFound(NoSuchJob)
	}
	jobs, err := s.cfg.Store.ListJobs(ctx, kind, retrying, maxListed)
	if err != nil {
		return nil, err
	}
	for i := range jobs {
		if jobs[i].Attempts == 0 {
			continue
		}
		if jobs[i].LastError, _, err = s.cfg.Store.GetJobError(ctx, kind, jobs[i].ID); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// Retry makes a job due now.
func (s *Service) Retry(ctx context.Context, operator registrar.Actor, kind JobKind, id string) error {
	if err := operator.RequireOperator(); err != nil {
		return err
	}
	if !slices.Contains(JobKinds(), kind) {
		return notFound(NoSuchJob)
	}
	now := s.cfg.Now().Truncate(time.Microsecond)
	event := registrar.AuditEvent{Actor: operator, Action: JobRetried, Object: id, At: now}
	claimed, err := s.cfg.Store.RetryJobNow(ctx, kind, id, now, event)
	if err != nil {
		return err
	}
	if !claimed {
		return &registrar.Error{Kind: registrar.KindConflict, Code: JobClaimed}
	}
	s.cfg.WakeJobs(kind)
	return nil
}

// AbandonJob ends a job that nobody can do any more. Only changes of domains come to that:
// everything else can be done as long as the service runs.
func (s *Service) AbandonJob(ctx context.Context, operator registrar.Actor, kind JobKind, id string) error {
	if err := operator.RequireOperator(); err != nil {
		return err
	}
	if kind != JobChange {
		return notFound(NoSuchJob)
	}
	return s.cfg.AbandonChange(ctx, operator, id)
}

// refundGracePeriod is how long a refund may be due before somebody should look.
const refundGracePeriod = 15 * time.Minute

// OpenIssues is what asks for a person.
type OpenIssues struct {
	// Orders were tried and wait; Lines and Changes too. Refunds are due for too long.
	Orders, Items, Changes []Job
	Refunds                []Refund
	// Locks are due for another look, or their registry does not keep the domain: it has
	// refused, or the service stopped before it was asked.
	Locks []Lock
}

// ListOpenIssues is what asks for a person.
func (s *Service) ListOpenIssues(ctx context.Context, operator registrar.Actor) (OpenIssues, error) {
	var issues OpenIssues
	var err error
	if issues.Orders, err = s.listFailedJobs(ctx, operator, JobOrder); err != nil {
		return issues, err
	}
	if issues.Items, err = s.listFailedJobs(ctx, operator, JobItem); err != nil {
		return issues, err
	}
	if issues.Changes, err = s.listFailedJobs(ctx, operator, JobChange); err != nil {
		return issues, err
	}
	now := s.cfg.Now()
	if issues.Refunds, err = s.cfg.Store.ListPendingRefunds(ctx, maxListed); err != nil {
		return issues, err
	}
	issues.Refunds = slices.DeleteFunc(issues.Refunds, func(r Refund) bool { return now.Sub(r.Since) < refundGracePeriod })
	if issues.Locks, err = s.listActiveLocks(ctx); err != nil {
		return issues, err
	}
	issues.Locks = slices.DeleteFunc(issues.Locks, func(l Lock) bool { return l.ReviewAt.After(now) && l.SecureStatus != NotSecured })
	return issues, nil
}

// listFailedJobs are jobs that have failed and wait. A row that is only asked about again and
// again, such as a transfer, has no setback.
func (s *Service) listFailedJobs(ctx context.Context, operator registrar.Actor, kind JobKind) ([]Job, error) {
	jobs, err := s.ListJobs(ctx, operator, kind, true)
	return slices.DeleteFunc(jobs, func(j Job) bool { return j.LastError.Code == "" }), err
}
