package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// StopReason is why the brake is engaged.
type StopReason string

// The reasons. They are stored.
const (
	ByVolume StopReason = "volume"
	ByClock  StopReason = "clock"
)

// BrakeStatus is the stored state of the brake.
type BrakeStatus struct {
	// StartedAt is the first run, LastRun the last one, both in business time.
	StartedAt, LastRun time.Time
	// Actions are the holds and deletions begun on Day (days since 1970); Allowed is how
	// many an operator has allowed on it, 0 if the limit applies.
	Day              int64
	Actions, Allowed int
	StoppedAt        time.Time // zero: running
	Reason           StopReason
	ConfirmedBy      string
	ConfirmedAt      time.Time
}

// Engaged reports whether holds and deletions are stopped.
func (s BrakeStatus) Engaged() bool { return !s.StoppedAt.IsZero() }

// StoppedByClock reports whether notices, announcements and charges are stopped as well.
func (s BrakeStatus) StoppedByClock() bool { return s.Engaged() && s.Reason == ByClock }

// remaining returns how many actions may begin on a day.
func (s BrakeStatus) remaining(day int64, limit int) int {
	if s.Day < day {
		return limit
	}
	return max(limit, s.Allowed) - s.Actions
}

const (
	// maxClockStep is how far the business time may be from that of the last run.
	maxClockStep = 24 * time.Hour
	// minDayLimit and dayLimitShare are the actions per day that need no confirmation: the
	// greater of an absolute number and a share (one in so many) of all domains.
	minDayLimit, dayLimitShare = 20, 100
	// runInterval is how much later a run is stored than the one before: every run would be
	// a write every few seconds.
	runInterval = time.Minute
	// statusMaxAge is how long a node relies on what it has read of the brake, and
	// limitMaxAge on the number of domains.
	statusMaxAge = 5 * time.Second
	limitMaxAge  = time.Hour
)

// DayOf returns the number of a day since 1970, as the brake counts actions.
func DayOf(now time.Time) int64 { return now.Unix() / int64(day/time.Second) }

// BrakeConfig configures a Brake. Store is required.
type BrakeConfig struct {
	Store BrakeStore
	// Now is the business time, Clock the real time. nil means time.Now.
	Now, Clock func() time.Time
	Logger     *slog.Logger
}

// Brake is the safety brake as one node sees it. It is safe for concurrent use.
type Brake struct {
	cfg BrakeConfig

	seen      atomic.Pointer[BrakeStatus] // for health checks, which must not wait for the database
	mu        sync.Mutex
	status    BrakeStatus
	readAt    time.Time // real time; zero: never
	limit     int
	countedAt time.Time
}

// NewBrake returns a Brake.
func NewBrake(cfg BrakeConfig) (*Brake, error) {
	if cfg.Store == nil {
		return nil, errors.New("lifecycle: BrakeConfig.Store is required")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	registrar.Default(&cfg.Now, time.Now)
	registrar.Default(&cfg.Clock, time.Now)
	return &Brake{cfg: cfg}, nil
}

// StoppedByClock reports whether the clock rule has stopped notices and charges. Jobs call
// it with the business time by which they look for work, before they look. It is cheap:
// the database is queried every few seconds, or if the time has jumped.
func (b *Brake) StoppedByClock(ctx context.Context, now time.Time) (bool, error) {
	status, err := b.check(ctx, now, statusMaxAge)
	return status.StoppedByClock(), err
}

// check records a run at the business time now and returns the brake. The first run
// initialises it.
func (b *Brake) check(ctx context.Context, now time.Time, maxAge time.Duration) (BrakeStatus, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	clock := b.cfg.Clock()
	if age := clock.Sub(b.readAt); !b.readAt.IsZero() && age >= 0 && age < maxAge && now.Sub(b.status.LastRun).Abs() < 2*runInterval {
		return b.status, nil
	}
	status, err := b.run(ctx, now)
	if err == nil {
		b.status, b.readAt = status, clock
		b.seen.Store(&status)
	}
	return status, err
}

func (b *Brake) run(ctx context.Context, now time.Time) (BrakeStatus, error) {
	for {
		status, found, err := b.cfg.Store.GetBrake(ctx)
		if err != nil {
			return BrakeStatus{}, err
		}
		if !found {
			if err := b.cfg.Store.StartBrake(ctx, now); err != nil {
				return BrakeStatus{}, err
			}
			continue
		}
		if now.Before(status.LastRun) { // the caller may have read a sandbox's clock before it was advanced
			if current := b.cfg.Now(); current.After(now) {
				now = current
			}
		}
		step := now.Sub(status.LastRun)
		jumped := step.Abs() > maxClockStep && !status.StoppedByClock()
		// Nodes' clocks differ a little, so a time before the last run is stored only while
		// the clock rule has stopped everything: then an operator may have corrected it.
		if !jumped && step < runInterval && (step > -runInterval || !status.StoppedByClock()) {
			return status, nil
		}
		stored, err := b.cfg.Store.SetBrakeRun(ctx, status.LastRun, now, jumped)
		if err != nil {
			return BrakeStatus{}, err
		}
		if stored && jumped {
			b.cfg.Logger.ErrorContext(ctx, "safety brake engaged by the clock rule, operator action required", "last_run", status.LastRun, "now", now)
		}
		if stored {
			status.LastRun = now
			if jumped {
				status.StoppedAt, status.Reason = now, ByClock
			}
			return status, nil
		}
		if ctx.Err() != nil { // another node stored a run: read again
			return BrakeStatus{}, ctx.Err()
		}
	}
}

// Status returns the stored brake; false if nothing has run yet.
func (b *Brake) Status(ctx context.Context) (BrakeStatus, bool, error) {
	return b.cfg.Store.GetBrake(ctx)
}

// LastSeen returns the brake as this node has read it last.
func (b *Brake) LastSeen() BrakeStatus {
	if seen := b.seen.Load(); seen != nil {
		return *seen
	}
	return BrakeStatus{}
}

// dayLimit returns how many holds and deletions a day need no confirmation.
func (b *Brake) dayLimit(ctx context.Context) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if clock := b.cfg.Clock(); b.countedAt.IsZero() || clock.Sub(b.countedAt).Abs() > limitMaxAge {
		held, err := b.cfg.Store.CountHeldDomains(ctx)
		if err != nil {
			return 0, err
		}
		b.limit, b.countedAt = max(minDayLimit, held/dayLimitShare), clock
	}
	return b.limit, nil
}

// Budget records a run and returns the brake, how many actions may begin now, and how many a day
// need no confirmation. Jobs of other packages call it before they take domains out of the DNS.
func (b *Brake) Budget(ctx context.Context, now time.Time) (status BrakeStatus, remaining, limit int, err error) {
	if status, err = b.check(ctx, now, statusMaxAge); err != nil || status.Engaged() {
		return status, 0, 0, err
	}
	limit, err = b.dayLimit(ctx)
	return status, status.remaining(DayOf(now), limit), limit, err
}

// StopByVolume engages the brake.
func (b *Brake) StopByVolume(ctx context.Context, now time.Time) error {
	return b.stopByVolume(ctx, now)
}

// stopByVolume engages the brake.
func (b *Brake) stopByVolume(ctx context.Context, now time.Time) error {
	engaged, err := b.cfg.Store.StopBrakeByVolume(ctx, now)
	if engaged {
		b.cfg.Logger.ErrorContext(ctx, "safety brake engaged by the volume rule, operator action required")
	}
	b.forget()
	return err
}

// forget makes the next check read the stored brake.
func (b *Brake) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.readAt = time.Time{}
}
