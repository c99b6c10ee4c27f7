package office

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
	JobLine   JobKind = "line"
	JobOrder  JobKind = "order"
	JobChange JobKind = "change"
	JobMail   JobKind = "mail"
	JobEvent  JobKind = "event"
)

// JobKinds are all of them.
func JobKinds() []JobKind { return []JobKind{JobOrder, JobLine, JobChange, JobMail, JobEvent} }

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
	// Setback is why it did not get on the last time; its code is empty if nobody
	// knows.
	Setback Setback
}

// Setback is why a job did not get on.
type Setback struct {
	Code registrar.Code
	At   time.Time
}

// Refund is money that has not gone back yet.
type Refund struct {
	ID, Order string
	Amount    registrar.Cents
	Since     time.Time
}

// keepSetbacks is how long a setback is remembered: longer than anything is tried.
const keepSetbacks = 30 * 24 * time.Hour

// KeepSetback remembers why a job did not get on. Those who do the work call it.
func (s *Service) KeepSetback(ctx context.Context, kind JobKind, id string, code registrar.Code) error {
	now := s.cfg.Now()
	return s.cfg.Store.KeepSetback(ctx, kind, id, Setback{Code: code, At: now}, now.Add(-keepSetbacks))
}

// Work is what is not done of a kind: what was tried, most often first, or what is
// due next.
func (s *Service) Work(ctx context.Context, operator registrar.Actor, kind JobKind, tried bool) ([]Job, error) {
	if err := requireOperator(operator); err != nil {
		return nil, err
	}
	if !slices.Contains(JobKinds(), kind) {
		return nil, missing(NoSuchJob)
	}
	jobs, err := s.cfg.Store.Work(ctx, kind, tried, listed)
	if err != nil {
		return nil, err
	}
	for i := range jobs {
		if jobs[i].Attempts == 0 {
			continue
		}
		if jobs[i].Setback, _, err = s.cfg.Store.Setback(ctx, kind, jobs[i].ID); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// Retry makes a job due now.
func (s *Service) Retry(ctx context.Context, operator registrar.Actor, kind JobKind, id string) error {
	if err := requireOperator(operator); err != nil {
		return err
	}
	if !slices.Contains(JobKinds(), kind) {
		return missing(NoSuchJob)
	}
	now := s.cfg.Now().Truncate(time.Microsecond)
	deed := registrar.Deed{Actor: operator, Action: Retried, Object: id, At: now}
	hurried, err := s.cfg.Store.HurryJob(ctx, kind, id, now, deed)
	if err != nil {
		return err
	}
	if !hurried {
		return &registrar.Error{Kind: registrar.KindConflict, Code: JobInHand}
	}
	s.cfg.Woken(kind)
	return nil
}

// GiveUp ends a job that nobody can do any more. Only changes of domains come to that:
// everything else can be done as long as the service runs.
func (s *Service) GiveUp(ctx context.Context, operator registrar.Actor, kind JobKind, id string) error {
	if err := requireOperator(operator); err != nil {
		return err
	}
	if kind != JobChange {
		return missing(NoSuchJob)
	}
	return s.cfg.GiveUp(ctx, operator, id)
}

// refundPatience is how long a refund may be due before somebody should look.
const refundPatience = 15 * time.Minute

// Needs is what asks for a person.
type Needs struct {
	// Orders were tried and wait; Lines and Changes too. Refunds are due for too long.
	Orders, Lines, Changes []Job
	Refunds                []Refund
	// Locks are due for another look, or their registry does not keep the domain: it has
	// refused, or the service stopped before it was asked.
	Locks []Lock
}

// Needs is what asks for a person.
func (s *Service) Needs(ctx context.Context, operator registrar.Actor) (Needs, error) {
	var needs Needs
	var err error
	if needs.Orders, err = s.stuck(ctx, operator, JobOrder); err != nil {
		return needs, err
	}
	if needs.Lines, err = s.stuck(ctx, operator, JobLine); err != nil {
		return needs, err
	}
	if needs.Changes, err = s.stuck(ctx, operator, JobChange); err != nil {
		return needs, err
	}
	now := s.cfg.Now()
	if needs.Refunds, err = s.cfg.Store.WaitingRefunds(ctx, listed); err != nil {
		return needs, err
	}
	needs.Refunds = slices.DeleteFunc(needs.Refunds, func(r Refund) bool { return now.Sub(r.Since) < refundPatience })
	if needs.Locks, err = s.inForce(ctx); err != nil {
		return needs, err
	}
	needs.Locks = slices.DeleteFunc(needs.Locks, func(l Lock) bool { return l.ReviewAt.After(now) && l.Securing != NotSecured })
	return needs, nil
}

// stuck are jobs that have failed and wait. A row that is only asked about again and
// again, such as a transfer, has no setback.
func (s *Service) stuck(ctx context.Context, operator registrar.Actor, kind JobKind) ([]Job, error) {
	jobs, err := s.Work(ctx, operator, kind, true)
	return slices.DeleteFunc(jobs, func(j Job) bool { return j.Setback.Code == "" }), err
}
