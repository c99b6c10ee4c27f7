package tidings

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/duty"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	batch  = 64
	atOnce = 16
	// poll is how often rows are looked for that others stored or left.
	poll = time.Second

	defaultDeadline = 10 * time.Second
	// storing bounds what follows a sending, also while the service stops.
	storing = 5 * time.Second
	// grace is how long a message under way may take when the service stops.
	grace = 5 * time.Second

	firstPause = 5 * time.Second
	longPause  = time.Hour
	giveUp     = 24 * time.Hour
)

// Outcome is what became of an attempt.
type Outcome string

// The outcomes.
const (
	Sent    Outcome = "sent"
	Failed  Outcome = "failed" // and tried again, unless given up too
	GivenUp Outcome = "given_up"
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
	// Counted is told what became of each attempt; nil means that nobody counts.
	Counted func(Outcome)
	// SetBack is told of which order an agent has not heard yet, and why; nil means that
	// nobody asks.
	SetBack func(ctx context.Context, order string, code registrar.Code)
}

// Runner tells what is due.
type Runner struct {
	cfg   Config
	doors doors
	loop  *duty.Loop[Tiding]
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
	if cfg.Counted == nil {
		cfg.Counted = func(Outcome) {}
	}
	if cfg.SetBack == nil {
		cfg.SetBack = func(context.Context, string, registrar.Code) {}
	}
	r := &Runner{cfg: cfg, doors: doors{agents: make(map[string]door)}}
	r.loop = &duty.Loop[Tiding]{
		Due: func(ctx context.Context, limit int) ([]Tiding, error) {
			return r.cfg.Store.DueTidings(ctx, r.now(), limit)
		},
		Key:    func(t Tiding) string { return t.Order },
		Do:     r.tell,
		Failed: duty.Report(cfg.Logger, "agent events"),
		Every:  poll, Batch: batch, AtOnce: atOnce,
	}
	return r, nil
}

// now is in the precision in which times are stored.
func (r *Runner) now() time.Time { return r.cfg.Now().Truncate(time.Microsecond) }

// Wake says that there is something to tell. It never waits.
func (r *Runner) Wake() { r.loop.Wake() }

// Run tells agents until ctx ends, and lets what is under way finish.
func (r *Runner) Run(ctx context.Context) { r.loop.Run(ctx) }

// tell claims one row, sends, and settles what becomes of it.
func (r *Runner) tell(ctx context.Context, due Tiding) {
	// The lease outlives everything below, so that nobody else sends meanwhile.
	lease := r.now().Add(r.cfg.Deadline + 2*storing + time.Minute)
	t, mine, err := r.cfg.Store.ClaimTiding(ctx, due.Order, due.DueAt, lease)
	if err != nil || !mine {
		if err != nil && ctx.Err() == nil {
			r.cfg.Logger.ErrorContext(ctx, "a message to an agent can't be claimed", "order", due.Order, "error", err.Error())
		}
		return
	}
	wait := r.doors.enter(t.Agent, r.now())
	if wait == 0 {
		err = r.send(ctx, t)
		r.doors.leave(t.Agent, r.now(), err)
	}
	settling, cancel := context.WithTimeout(context.WithoutCancel(ctx), storing)
	defer cancel()
	if wait > 0 {
		err = r.postpone(settling, t, lease, wait)
	} else {
		err = r.settle(settling, t, lease, err)
	}
	if err != nil {
		r.cfg.Logger.ErrorContext(settling, "what became of a message to an agent can't be stored", "order", t.Order, "error", err.Error())
	}
}

// errNobody says that there is nobody to tell any more.
var errNobody = errors.New("the agent is gone or wants to hear nothing")

// send writes the message and hands it over. When the service stops, it has a short
// time left: a message that the agent took and that is not noted would be sent again.
func (r *Runner) send(ctx context.Context, t Tiding) error {
	sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.cfg.Deadline)
	defer cancel()
	stopping := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(grace):
			cancel()
		case <-sending.Done():
		}
	})
	defer stopping()
	hook, found, err := r.cfg.Agents.Hook(sending, t.Agent)
	if err != nil {
		return &registrar.Error{Kind: registrar.KindInternal, Code: "agent_not_read", Detail: err.Error(), Err: err}
	}
	if !found {
		return errNobody
	}
	body, err := r.cfg.Orders.Event(sending, t.Order, hook.Version, t.Told == 0)
	if err != nil {
		return &registrar.Error{Kind: registrar.KindInternal, Code: "order_not_read", Detail: err.Error(), Err: err}
	}
	at := r.cfg.Now()
	return r.cfg.Sender.Send(sending, Message{
		URL: hook.URL, ID: fmt.Sprintf("%s.%d", t.Order, t.Changes), At: at, Signature: Sign(hook.Secret, at, body), Body: body,
	})
}

func (r *Runner) settle(ctx context.Context, t Tiding, lease time.Time, sendErr error) error {
	now := r.now()
	if sendErr == nil {
		r.cfg.Counted(Sent)
		return r.cfg.Store.SettleTiding(ctx, t.Order, lease, t.Changes, t.Changes, now)
	}
	if errors.Is(sendErr, errNobody) {
		return r.cfg.Store.SettleTiding(ctx, t.Order, lease, t.Changes, t.Told, now)
	}
	t.Attempts++
	r.cfg.Counted(Failed)
	log := r.cfg.Logger.With("agent", t.Agent, "order", t.Order, "attempts", t.Attempts,
		"reason", registrar.KindOf(sendErr).String(), "code", string(registrar.CodeOf(sendErr)), "cause", registrar.CauseOf(sendErr))
	if now.Sub(t.Since) >= giveUp {
		return r.giveUp(ctx, t, lease, log)
	}
	wait := duty.Pause(t.Attempts, firstPause, longPause)
	var failure *registrar.Error
	if errors.As(sendErr, &failure) {
		wait = min(max(wait, failure.RetryAfter), longPause)
	}
	r.cfg.SetBack(ctx, t.Order, registrar.CodeOf(sendErr))
	log.WarnContext(ctx, "an agent did not take a message", "again_in", wait.String())
	return r.cfg.Store.PostponeTiding(ctx, t.Order, lease, now.Add(wait), t.Attempts)
}

// postpone is for a row whose agent is not to be called now.
func (r *Runner) postpone(ctx context.Context, t Tiding, lease time.Time, wait time.Duration) error {
	now := r.now()
	if now.Sub(t.Since) >= giveUp {
		return r.giveUp(ctx, t, lease, r.cfg.Logger.With("agent", t.Agent, "order", t.Order, "attempts", t.Attempts))
	}
	return r.cfg.Store.PostponeTiding(ctx, t.Order, lease, now.Add(wait), t.Attempts)
}

// giveUp leaves an agent without this message. It hears of the order again when
// something else happens to it, and can ask for it at any time.
func (r *Runner) giveUp(ctx context.Context, t Tiding, lease time.Time, log *slog.Logger) error {
	r.cfg.Counted(GivenUp)
	log.ErrorContext(ctx, "a message to an agent was given up")
	return r.cfg.Store.SettleTiding(ctx, t.Order, lease, t.Changes, t.Told, r.now())
}
