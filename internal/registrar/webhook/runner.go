package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	batch       = 64
	concurrency = 16
	// pollInterval is how often rows are looked for that others stored or left.
	pollInterval = time.Second

	defaultDeadline = 10 * time.Second
	// storeTimeout bounds what follows a sending, also while the service stops.
	storeTimeout = 5 * time.Second
	// shutdownGrace is how long a message under way may take when the service stops.
	shutdownGrace = 5 * time.Second

	minBackoff = 5 * time.Second
	maxBackoff = time.Hour
	maxAge     = 24 * time.Hour
)

// Outcome is what became of an attempt.
type Outcome string

// The outcomes.
const (
	Sent      Outcome = "sent"
	Failed    Outcome = "failed" // and tried again, unless given up too
	Abandoned Outcome = "given_up"
)

// Config is what a Runner is made of. Store, Agents, Orders and Sender are required.
type Config struct {
	Store  Store
	Agents Agents
	Orders Orders
	Sender Sender
	// Deadline bounds one sending; 0 means 10 s.
	Deadline time.Duration
	// Now is the true time; nil means time.Now.
	Now    func() time.Time
	Logger *slog.Logger
	// OnAttempt is told what became of each attempt; nil means that nobody counts.
	OnAttempt func(Outcome)
	// RecordError is told of which order an agent has not heard yet, and why; nil means that
	// nobody asks.
	RecordError func(ctx context.Context, order string, code registrar.Code)
}

// Runner tells what is due.
type Runner struct {
	cfg      Config
	throttle agentThrottle
	loop     *jobs.Loop[Delivery]
}

// New returns a Runner that does nothing until Run.
func New(cfg Config) (*Runner, error) {
	if cfg.Store == nil || cfg.Agents == nil || cfg.Orders == nil || cfg.Sender == nil {
		return nil, errors.New("tidings: a store, agents, orders and a sender are needed")
	}
	if cfg.Deadline == 0 {
		cfg.Deadline = defaultDeadline
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.OnAttempt == nil {
		cfg.OnAttempt = func(Outcome) {}
	}
	if cfg.RecordError == nil {
		cfg.RecordError = func(context.Context, string, registrar.Code) {}
	}
	r := &Runner{cfg: cfg, throttle: agentThrottle{agents: make(map[string]agentState)}}
	r.loop = &jobs.Loop[Delivery]{
		ListDue: func(ctx context.Context, limit int) ([]Delivery, error) {
			return r.cfg.Store.ListDueDeliveries(ctx, r.now(), limit)
		},
		Key:      func(t Delivery) string { return t.Order },
		Do:       r.deliver,
		OnError:  jobs.ErrorLogger(cfg.Logger, "agent events"),
		Interval: pollInterval, BatchSize: batch, Concurrency: concurrency,
	}
	return r, nil
}

// now is in the precision in which times are stored.
func (r *Runner) now() time.Time { return r.cfg.Now().Truncate(time.Microsecond) }

// Wake says that there is something to tell. It never waits.
func (r *Runner) Wake() { r.loop.Wake() }

// Run tells agents until ctx ends, and lets what is under way finish.
func (r *Runner) Run(ctx context.Context) { r.loop.Run(ctx) }

// deliver claims one row, sends, and settles what becomes of it.
func (r *Runner) deliver(ctx context.Context, due Delivery) {
	// The lease outlives everything below, so that nobody else sends meanwhile.
	lease := r.now().Add(r.cfg.Deadline + 2*storeTimeout + time.Minute)
	t, mine, err := r.cfg.Store.ClaimDelivery(ctx, due.Order, due.DueAt, lease)
	if err != nil || !mine {
		if err != nil && ctx.Err() == nil {
			r.cfg.Logger.ErrorContext(ctx, "a message to an agent can't be claimed", "order", due.Order, "error", err.Error())
		}
		return
	}
	wait := r.throttle.acquire(t.Agent, r.now())
	if wait == 0 {
		err = r.send(ctx, t)
		r.throttle.release(t.Agent, r.now(), err)
	}
	storeCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
	defer cancel()
	if wait > 0 {
		err = r.postpone(storeCtx, t, lease, wait)
	} else {
		err = r.recordResult(storeCtx, t, lease, err)
	}
	if err != nil {
		r.cfg.Logger.ErrorContext(storeCtx, "what became of a message to an agent can't be stored", "order", t.Order, "error", err.Error())
	}
}

// errNoRecipient says that there is nobody to tell any more.
var errNoRecipient = errors.New("the agent is gone or wants to hear nothing")

// send writes the message and hands it over. When the service stops, it has a short
// time left: a message that the agent took and that is not noted would be sent again.
func (r *Runner) send(ctx context.Context, t Delivery) error {
	sendCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.cfg.Deadline)
	defer cancel()
	stopping := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(shutdownGrace):
			cancel()
		case <-sendCtx.Done():
		}
	})
	defer stopping()
	endpoint, found, err := r.cfg.Agents.Endpoint(sendCtx, t.Agent)
	if err != nil {
		return &registrar.Error{Kind: registrar.KindInternal, Code: "agent_not_read", Detail: err.Error(), Err: err}
	}
	if !found {
		return errNoRecipient
	}
	body, err := r.cfg.Orders.Event(sendCtx, t.Order, endpoint.Version, t.DeliveredCount == 0)
	if err != nil {
		return &registrar.Error{Kind: registrar.KindInternal, Code: "order_not_read", Detail: err.Error(), Err: err}
	}
	at := r.cfg.Now()
	return r.cfg.Sender.Send(sendCtx, Message{
		URL: endpoint.URL, ID: fmt.Sprintf("%s.%d", t.Order, t.EventCount), At: at, Signature: Sign(endpoint.Secret, at, body), Body: body,
	})
}

func (r *Runner) recordResult(ctx context.Context, t Delivery, lease time.Time, sendErr error) error {
	now := r.now()
	if sendErr == nil {
		r.cfg.OnAttempt(Sent)
		return r.cfg.Store.CompleteDelivery(ctx, t.Order, lease, t.EventCount, t.EventCount, now)
	}
	if errors.Is(sendErr, errNoRecipient) {
		return r.cfg.Store.CompleteDelivery(ctx, t.Order, lease, t.EventCount, t.DeliveredCount, now)
	}
	t.Attempts++
	r.cfg.OnAttempt(Failed)
	log := r.cfg.Logger.With("agent", t.Agent, "order", t.Order, "attempts", t.Attempts,
		"reason", registrar.KindOf(sendErr).String(), "code", string(registrar.CodeOf(sendErr)), "cause", registrar.CauseOf(sendErr))
	if now.Sub(t.PendingSince) >= maxAge {
		return r.abandon(ctx, t, lease, log)
	}
	wait := jobs.Backoff(t.Attempts, minBackoff, maxBackoff)
	var failure *registrar.Error
	if errors.As(sendErr, &failure) {
		wait = min(max(wait, failure.RetryAfter), maxBackoff)
	}
	r.cfg.RecordError(ctx, t.Order, registrar.CodeOf(sendErr))
	log.WarnContext(ctx, "an agent did not take a message", "again_in", wait.String())
	return r.cfg.Store.PostponeDelivery(ctx, t.Order, lease, now.Add(wait), t.Attempts)
}

// postpone is for a row whose agent is not to be called now.
func (r *Runner) postpone(ctx context.Context, t Delivery, lease time.Time, wait time.Duration) error {
	now := r.now()
	if now.Sub(t.PendingSince) >= maxAge {
		return r.abandon(ctx, t, lease, r.cfg.Logger.With("agent", t.Agent, "order", t.Order, "attempts", t.Attempts))
	}
	return r.cfg.Store.PostponeDelivery(ctx, t.Order, lease, now.Add(wait), t.Attempts)
}

// abandon leaves an agent without this message. It hears of the order again when
// something else happens to it, and can ask for it at any time.
func (r *Runner) abandon(ctx context.Context, t Delivery, lease time.Time, log *slog.Logger) error {
	r.cfg.OnAttempt(Abandoned)
	log.ErrorContext(ctx, "a message to an agent was given up")
	return r.cfg.Store.CompleteDelivery(ctx, t.Order, lease, t.EventCount, t.DeliveredCount, r.now())
}
