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
	// pollInterval is how often the loop looks for rows stored by other nodes.
	pollInterval = time.Second

	defaultDeadline = 10 * time.Second
	// storeTimeout bounds the write after a delivery, also during shutdown.
	storeTimeout = 5 * time.Second

	minBackoff = 5 * time.Second
	maxBackoff = time.Hour
	maxAge     = 24 * time.Hour
)

// Outcome is the result of a delivery attempt.
type Outcome string

// Outcomes of attempts.
const (
	Sent      Outcome = "sent"
	Failed    Outcome = "failed" // retried, unless abandoned too
	Abandoned Outcome = "given_up"
)

// Config configures a Runner. Store, Agents, Orders and Sender are required.
type Config struct {
	Store  Store
	Agents Agents
	Orders Orders
	Sender Sender
	// Deadline bounds one delivery; 0 means 10 s.
	Deadline time.Duration
	// Now is the real time; nil means time.Now.
	Now    func() time.Time
	Logger *slog.Logger
	// OnAttempt is called with the outcome of each attempt; optional.
	OnAttempt func(Outcome)
	// RecordError stores why an order's delivery failed; optional.
	RecordError func(ctx context.Context, order string, code registrar.Code)
}

// Runner delivers what is due.
type Runner struct {
	cfg      Config
	throttle agentThrottle
	loop     *jobs.Loop[Delivery]
}

// New returns a Runner that does nothing until Run.
func New(cfg Config) (*Runner, error) {
	if cfg.Store == nil || cfg.Agents == nil || cfg.Orders == nil || cfg.Sender == nil {
		return nil, errors.New("webhook: Config.Store, Agents, Orders and Sender are required")
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
		OnError:  jobs.ErrorLogger(cfg.Logger, "webhook deliveries"),
		Interval: pollInterval, BatchSize: batch, Concurrency: concurrency,
	}
	return r, nil
}

// now returns the time in stored precision.
func (r *Runner) now() time.Time { return r.cfg.Now().Truncate(time.Microsecond) }

// Wake makes Run look for due deliveries. It never blocks.
func (r *Runner) Wake() { r.loop.Wake() }

// Run delivers until ctx ends, and lets deliveries in flight finish.
func (r *Runner) Run(ctx context.Context) { r.loop.Run(ctx) }

// deliver claims one delivery, sends it and records the result.
func (r *Runner) deliver(ctx context.Context, due Delivery) {
	lease := jobs.LeaseEnd(r.now(), r.cfg.Deadline, storeTimeout)
	t, mine, err := r.cfg.Store.ClaimDelivery(ctx, due.Order, due.DueAt, lease)
	if err != nil || !mine {
		if err != nil && ctx.Err() == nil {
			r.cfg.Logger.ErrorContext(ctx, "webhook delivery not claimed", "order", due.Order, "error", err.Error())
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
		r.cfg.Logger.ErrorContext(storeCtx, "webhook result not stored", "order", t.Order, "error", err.Error())
	}
}

// errNoRecipient means that the agent has no webhook any more.
var errNoRecipient = errors.New("agent has no webhook")

// send builds and posts the message. A message that the agent accepted but that is not
// recorded is sent again.
func (r *Runner) send(ctx context.Context, t Delivery) error {
	sendCtx, cancel := jobs.CallContext(ctx, r.cfg.Deadline)
	defer cancel()
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
	log.WarnContext(ctx, "webhook delivery failed, will retry", "retry_in", wait.String())
	return r.cfg.Store.PostponeDelivery(ctx, t.Order, lease, now.Add(wait), t.Attempts)
}

// postpone reschedules a delivery whose agent is throttled.
func (r *Runner) postpone(ctx context.Context, t Delivery, lease time.Time, wait time.Duration) error {
	now := r.now()
	if now.Sub(t.PendingSince) >= maxAge {
		return r.abandon(ctx, t, lease, r.cfg.Logger.With("agent", t.Agent, "order", t.Order, "attempts", t.Attempts))
	}
	return r.cfg.Store.PostponeDelivery(ctx, t.Order, lease, now.Add(wait), t.Attempts)
}

// abandon drops the pending events. The agent is notified again with the order's next
// event, and can query the order at any time.
func (r *Runner) abandon(ctx context.Context, t Delivery, lease time.Time, log *slog.Logger) error {
	r.cfg.OnAttempt(Abandoned)
	log.ErrorContext(ctx, "webhook delivery abandoned")
	return r.cfg.Store.CompleteDelivery(ctx, t.Order, lease, t.EventCount, t.DeliveredCount, r.now())
}
