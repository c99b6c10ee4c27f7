package admin

import (
	"context"
	"slices"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/domainchange"
)

// LockIDPrefix starts the id of every lock.
const LockIDPrefix = "lck_"

const (
	holdInterval, holdTimeout = 5 * time.Second, 10 * time.Second
	// holdPoll is how soon a change that has not ended is looked at again, holdRecheck how often the lock is
	// compared with its changes otherwise; business time.
	holdPoll, holdRecheck      = 5 * time.Second, time.Minute
	holdBatch, holdConcurrency = 64, 2
)

// Holds takes domains out of the DNS, locks them against transfers, and ends the former; *domainchange.Service does.
type Holds interface {
	HoldFor(ctx context.Context, customer, id, reference string) (domainchange.Progress, error)
	SecureFor(ctx context.Context, customer, id, reference string) (domainchange.Progress, error)
	ReleaseFor(ctx context.Context, customer, id, reference string) (domainchange.Progress, error)
	LacksHold(tld string) bool
	LastChangeFor(ctx context.Context, operator registrar.Actor, domain, reference string, kind, or domainchange.ChangeKind) (domainchange.Change, bool, error)
}

var _ Holds = (*domainchange.Service)(nil)

// HoldStatus is whether a lock's domain is out of the DNS.
type HoldStatus string

// Hold statuses; empty for a lock without a hold.
const (
	Held           HoldStatus = "held"
	HoldInProgress HoldStatus = "in_progress"
	NotHeld        HoldStatus = "not_held" // refused, or not possible yet
)

// HoldStatuses returns all of them.
func HoldStatuses() []HoldStatus { return []HoldStatus{Held, HoldInProgress, NotHeld} }

// Has reports whether the lock has a restriction.
func (l Lock) Has(restriction Restriction) bool { return slices.Contains(l.Restrictions, restriction) }

// Run sets and ends the holds of locks until ctx ends.
func (s *Service) Run(ctx context.Context) { s.holds.Run(ctx) }

func (s *Service) newHoldLoop() *jobs.Loop[Lock] {
	return &jobs.Loop[Lock]{
		Name: "lock holds", Key: func(lock Lock) string { return lock.ID }, Do: s.stepHold,
		ListDue: func(ctx context.Context, limit int) ([]Lock, error) {
			return s.cfg.Store.ListDueLockHolds(ctx, s.cfg.Business(), limit)
		},
		OnError: jobs.ErrorLogger(s.cfg.Logger, "lock holds"), Interval: holdInterval, BatchSize: holdBatch, Concurrency: holdConcurrency,
	}
}

// stepHold brings the registry closer to what a lock says. Every node may do so at any time: the changes
// are stored once per lock (package domainchange).
func (s *Service) stepHold(ctx context.Context, lock Lock) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), holdTimeout)
	defer cancel()
	var progress domainchange.Progress
	var err error
	if lock.LiftedAt.IsZero() {
		if progress, err = s.cfg.Holds.HoldFor(ctx, lock.Customer, lock.Domain, lock.ID); err == nil && progress != domainchange.InProgress {
			// SetLock has requested that, unless the process has died.
			progress, err = s.cfg.Holds.SecureFor(ctx, lock.Customer, lock.Domain, lock.ID)
		}
	} else {
		progress, err = s.cfg.Holds.ReleaseFor(ctx, lock.Customer, lock.Domain, lock.ID)
	}
	if registrar.CodeOf(err) == registrar.NoSuchDomain { // it has left, or a claim has given it another customer
		progress, err = domainchange.Blocked, nil
		if !lock.LiftedAt.IsZero() {
			progress = domainchange.Done
		}
	}
	if err == nil {
		var next time.Time
		switch now := s.cfg.Business().Truncate(time.Microsecond); {
		case progress == domainchange.InProgress:
			next = now.Add(holdPoll)
		case progress == domainchange.Blocked, lock.LiftedAt.IsZero():
			next = now.Add(holdRecheck)
		}
		_, err = s.cfg.Store.SetLockHoldStep(ctx, lock, next) // or the lock was lifted meanwhile, and is due
	}
	if err != nil {
		s.cfg.Logger.ErrorContext(ctx, "hold of a domain lock not applied, will retry", "lock", lock.ID, "error", err.Error())
	}
}

// loadHoldStatus sets an active lock's status from the registry changes.
func (s *Service) loadHoldStatus(ctx context.Context, operator registrar.Actor, lock *Lock) error {
	if s.cfg.Holds == nil || !lock.Has(Hold) {
		return nil
	}
	change, found, err := s.cfg.Holds.LastChangeFor(ctx, operator, lock.Domain, lock.ID, domainchange.Hold, domainchange.Release)
	switch {
	case found && change.Kind == domainchange.Hold && change.State == domainchange.StatusDone:
		lock.HoldStatus = Held
	case found && !change.State.Final(), !found && s.cfg.Business().Sub(lock.SetAt) < holdRecheck:
		lock.HoldStatus = HoldInProgress
	default:
		lock.HoldStatus, lock.HoldFailure = NotHeld, change.Failure
	}
	return err
}

// LocksOf returns the active locks of a customer's domain.
func (s *Service) LocksOf(ctx context.Context, actor registrar.Actor, domain string) ([]Lock, error) {
	locks, err := s.cfg.Store.ListActiveLocksOfDomain(ctx, domain)
	return slices.DeleteFunc(locks, func(l Lock) bool { return l.Customer != actor.Customer || actor.Customer == "" }), err
}
