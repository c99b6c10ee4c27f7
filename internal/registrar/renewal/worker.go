package renewal

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/internal/registrar/withdrawal"
)

const (
	// pollInterval is short because the queries are indexed and a sandbox's clock moves by
	// months at a time. Announcements read all renewing domains of two weeks each time, so
	// they run less often.
	pollInterval     = 5 * time.Second
	announceInterval = 15 * time.Second
	batchSize        = 64
	concurrency      = 8
	// domainsPerSecond bounds the charges, as package provision does the renewals at registries.
	domainsPerSecond = 50
	storeTimeout     = 10 * time.Second
)

// Outcome is what became of a renewal; the metrics count them.
type Outcome string

// The outcomes.
const (
	OutcomeAnnounced Outcome = "announced"
	OutcomeCharged   Outcome = "charged"
	OutcomeDeclined  Outcome = "declined" // another attempt follows
	OutcomeFailed    Outcome = "failed"   // none does
	OutcomeStopped   Outcome = "stopped"
	OutcomePostponed Outcome = "postponed" // a registry or the payment provider could not be asked
)

// Outcomes returns all outcomes.
func Outcomes() []Outcome {
	return []Outcome{OutcomeAnnounced, OutcomeCharged, OutcomeDeclined, OutcomeFailed, OutcomeStopped, OutcomePostponed}
}

// ActionFailed is audited when the last attempt of a renewal has failed. Its object is the
// domain's name.
const ActionFailed registrar.Action = "renewal_failed"

// Window bounds the ends of terms.
type Window struct{ From, Until time.Time }

// Candidate is a domain whose charge is to be announced.
type Candidate struct {
	Domain, Name, TLD string
	TermEnd           time.Time
	Years             int             // of the consent
	Shown             registrar.Cents // the gross that the customer was shown last, for those years
	Premium           bool            // the registry is queried for its price
}

// DueCustomer is a customer with due renewals.
type DueCustomer struct {
	ID    string
	Since time.Time // the longest overdue
}

// Announcement is what AnnounceRenewals stores.
type Announcement struct {
	Renewals []Renewal // of one customer
	Mails    []registrar.Mail
	// Now is the business time, At the wall clock.
	Now, At time.Time
}

// Change is a transition of one renewal.
type Change struct{ From, To Renewal }

// Update is what UpdateRenewals stores.
type Update struct {
	Changes     []Change
	Mails       []registrar.Mail
	AuditEvents []registrar.AuditEvent
	// Now is the business time, At the wall clock.
	Now, At time.Time
}

// WorkerStore persists renewals.
type WorkerStore interface {
	// ListCustomersToAnnounce and ListDomainsToAnnounce return domains that renew
	// automatically, whose term ends within the window and has no renewal yet.
	ListCustomersToAnnounce(ctx context.Context, window Window, limit int) ([]string, error)
	ListDomainsToAnnounce(ctx context.Context, customer string, window Window, limit int) ([]Candidate, error)
	// AnnounceRenewals stores all renewals and mails. It returns false and stores nothing if a
	// domain has changed or its term has a renewal.
	AnnounceRenewals(ctx context.Context, announcement Announcement) (bool, error)
	// ListCustomersDue and ListDueRenewals return the longest overdue first.
	ListCustomersDue(ctx context.Context, now time.Time, limit int) ([]DueCustomer, error)
	ListDueRenewals(ctx context.Context, customer string, dueBy time.Time, limit int) ([]Renewal, error)
	// ListOpenNotices is that of ConsentStore.
	ListOpenNotices(ctx context.Context, customer string, domains []string) (map[string][]withdrawal.Kind, error)
	ListRenewalsOfOrder(ctx context.Context, order string) ([]Renewal, error)
	// UpdateRenewals stores all transitions. It returns false and stores nothing if one of the
	// renewals has another state, order or time.
	UpdateRenewals(ctx context.Context, update Update) (bool, error)
	// GetMethods is that of ConsentStore.
	GetMethods(ctx context.Context, customer string, limit int) (Methods, error)
	// GetPaymentMethod returns false if none is saved.
	GetPaymentMethod(ctx context.Context, customer string) (order.PaymentMethod, bool, error)
}

// WorkerConfig configures a Worker. Store and Orders are required.
type WorkerConfig struct {
	Store  WorkerStore
	Orders *order.Service
	// Stopped reports whether the brake is engaged, which ends announcements and charges; nil
	// means never.
	Stopped func(ctx context.Context) (bool, error)
	// Now is the business time, Clock the wall clock. nil means time.Now.
	Now, Clock func() time.Time
	Logger     *slog.Logger
	// MailQueued is called after mails were stored, OnOutcome for each renewal, and
	// OnOldestDue with the age of the renewal that is overdue the longest. All may be nil.
	MailQueued  func()
	OnOutcome   func(Outcome)
	OnOldestDue func(time.Duration)
}

// Worker announces and charges renewals.
type Worker struct {
	cfg      WorkerConfig
	announce *jobs.Loop[string]
	charge   *jobs.Loop[DueCustomer]
	unpriced backoffs // customers whose announcement failed
	pace     *jobs.Pace
}

// NewWorker returns a Worker that does nothing until Run.
func NewWorker(cfg WorkerConfig) (*Worker, error) {
	if cfg.Store == nil || cfg.Orders == nil {
		return nil, errors.New("renewal: WorkerConfig.Store and Orders are required")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	registrar.Default(&cfg.Stopped, func(context.Context) (bool, error) { return false, nil })
	registrar.Default(&cfg.Now, time.Now)
	registrar.Default(&cfg.Clock, time.Now)
	registrar.Default(&cfg.MailQueued, func() {})
	registrar.Default(&cfg.OnOutcome, func(Outcome) {})
	registrar.Default(&cfg.OnOldestDue, func(time.Duration) {})
	w := &Worker{cfg: cfg, pace: jobs.NewPace(domainsPerSecond)}
	w.announce = &jobs.Loop[string]{
		Name: "renewal announcements", ListDue: w.listToAnnounce, Key: func(customer string) string { return customer },
		Do: func(ctx context.Context, customer string) {
			err := w.Announce(ctx, customer)
			if err != nil {
				w.unpriced.add(customer, w.cfg.Clock().Add(announceBackoff))
			}
			w.logFailure(ctx, "announcement", customer, err)
		},
		OnError: jobs.ErrorLogger(cfg.Logger, "renewal announcements"), Interval: announceInterval, BatchSize: batchSize, Concurrency: 2,
	}
	w.charge = &jobs.Loop[DueCustomer]{
		Name: "renewals", ListDue: w.listDue, Key: func(customer DueCustomer) string { return customer.ID },
		Do: func(ctx context.Context, customer DueCustomer) {
			if w.pace.Wait(ctx) != nil {
				return // shutting down
			}
			w.logFailure(ctx, "charge", customer.ID, w.Charge(ctx, customer.ID))
		},
		OnError: jobs.ErrorLogger(cfg.Logger, "renewals"), Interval: pollInterval, BatchSize: batchSize, Concurrency: concurrency,
	}
	return w, nil
}

// RunAnnouncements announces charges until ctx ends, and RunCharges charges.
func (w *Worker) RunAnnouncements(ctx context.Context) { w.announce.Run(ctx) }

// RunCharges makes due charges until ctx ends.
func (w *Worker) RunCharges(ctx context.Context) { w.charge.Run(ctx) }

// Wake makes the worker look for announcements and charges soon. It never blocks. A nil Worker
// ignores it.
func (w *Worker) Wake() {
	if w != nil {
		w.announce.Wake()
		w.charge.Wake()
	}
}

func (w *Worker) logFailure(ctx context.Context, what, customer string, err error) {
	var cause *registrar.Cause
	if err == nil || ctx.Err() != nil || errors.As(err, &cause) && cause.Outage {
		return
	}
	level := slog.LevelError
	if registrar.IsTransient(err) && registrar.KindOf(err) != registrar.KindInternal {
		level = slog.LevelWarn
	}
	w.cfg.Logger.Log(ctx, level, "automatic renewal not processed, will retry", "what", what, "customer", customer, registrar.LogFailure(err))
}

// now has the precision of the store, so that it compares equal to stored times.
func (w *Worker) now() time.Time { return w.cfg.Now().Truncate(time.Microsecond) }

func (w *Worker) listToAnnounce(ctx context.Context, limit int) ([]string, error) {
	if stopped, err := w.cfg.Stopped(ctx); err != nil || stopped {
		return nil, err
	}
	// Customers whose VAT ID can't be validated now stay on the list; they must not fill it.
	waiting := w.unpriced.active(w.cfg.Clock())
	customers, err := w.cfg.Store.ListCustomersToAnnounce(ctx, AnnounceWindow(w.now()), limit+len(waiting))
	customers = slices.DeleteFunc(customers, func(customer string) bool { return waiting[customer] })
	customers = customers[:min(len(customers), limit)]
	shuffle(customers)
	return customers, err
}

const (
	// A customer who could not be announced anything waits for announceBackoff. maxWaiting
	// bounds how many are remembered.
	announceBackoff = 10 * time.Minute
	maxWaiting      = 10_000
)

// backoffs remembers customers who have to wait.
type backoffs struct {
	mu    sync.Mutex
	until map[string]time.Time
}

func (b *backoffs) add(customer string, until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.until == nil || len(b.until) >= maxWaiting {
		b.until = make(map[string]time.Time)
	}
	b.until[customer] = until
}

// active returns those who still wait, and forgets the others.
func (b *backoffs) active(now time.Time) map[string]bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	waiting := make(map[string]bool, len(b.until))
	for customer, until := range b.until {
		if now.Before(until) {
			waiting[customer] = true
		} else {
			delete(b.until, customer)
		}
	}
	return waiting
}

func (w *Worker) listDue(ctx context.Context, limit int) ([]DueCustomer, error) {
	if stopped, err := w.cfg.Stopped(ctx); err != nil || stopped {
		return nil, err
	}
	now := w.now()
	customers, err := w.cfg.Store.ListCustomersDue(ctx, now, limit)
	if err != nil {
		return nil, err
	}
	oldest := time.Duration(0)
	if len(customers) > 0 {
		oldest = max(0, now.Sub(customers[0].Since))
	}
	w.cfg.OnOldestDue(oldest)
	shuffle(customers)
	return customers, nil
}

// shuffle lets several nodes begin with different customers. If two meet, the store lets one
// of them charge.
func shuffle[T any](list []T) {
	rand.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] }) //nolint:gosec // need not be unpredictable
}

// update stores transitions and counts them, unless the outcome is empty. If a renewal has
// changed meanwhile it stores nothing: the next run decides.
func (w *Worker) update(ctx context.Context, update Update, outcome Outcome) error {
	if len(update.Changes) == 0 {
		return nil
	}
	update.Now, update.At = w.now(), w.cfg.Clock().Truncate(time.Microsecond)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	stored, err := w.cfg.Store.UpdateRenewals(ctx, update)
	if err != nil || !stored {
		return err
	}
	if outcome != "" {
		for range update.Changes {
			w.cfg.OnOutcome(outcome)
		}
	}
	if len(update.Mails) > 0 {
		w.cfg.MailQueued()
	}
	return nil
}
