package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/dotkontor/dotkontor/internal/jobs"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/order"
)

const (
	concurrency     = 16
	defaultDeadline = 10 * time.Second

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
	Abandoned Outcome = "abandoned"
)

// Config configures the worker. Store, OpenWebhook, Event and Sender are required.
type Config struct {
	Store Store
	// OpenWebhook unseals the secret of an agent's webhook.
	OpenWebhook func(agent string, sealed agent.SealedWebhook) (agent.Webhook, error)
	// Event returns the message about an order, in the format of a protocol version. first
	// means that the agent does not know the order yet.
	Event       func(o order.Order, version string, first bool) ([]byte, error)
	Sender      Sender
	Deadline    time.Duration    // of one delivery; 0 means 10 s
	Now         func() time.Time // the real time; nil means time.Now
	Logger      *slog.Logger
	OnAttempt   func(Outcome)                                                // called with the outcome of each attempt; optional
	RecordError func(ctx context.Context, order string, code registrar.Code) // why a delivery failed; optional
}

// runner delivers what is due.
type runner struct {
	cfg      Config
	throttle agentThrottle
	worker   *jobs.Worker[Delivery]
}

// New returns the worker that delivers webhooks.
func New(cfg Config) (*jobs.Worker[Delivery], error) {
	if cfg.Store == nil || cfg.OpenWebhook == nil || cfg.Event == nil || cfg.Sender == nil {
		return nil, errors.New("webhook: Config.Store, OpenWebhook, Event and Sender are required")
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	registrar.Default(&cfg.Now, time.Now)
	registrar.Default(&cfg.OnAttempt, func(Outcome) {})
	r := &runner{cfg: cfg, throttle: agentThrottle{agents: make(map[string]agentState)}}
	r.worker = &jobs.Worker[Delivery]{
		Name: "webhook deliveries", Logger: cfg.Logger, Clock: cfg.Now, ClaimDue: cfg.Store.ClaimDueDeliveries,
		Key: func(t Delivery) string { return t.Order }, Attempts: func(t Delivery) int { return t.Attempts },
		Handle: r.deliver, Postpone: r.postpone, RecordError: cfg.RecordError,
		OnRetry: func(ctx context.Context, log *slog.Logger, t Delivery, _ error) {
			log.WarnContext(ctx, "webhook delivery failed, will retry", "agent", t.Agent, "order", t.Order)
		},
		Deadline: cmp.Or(cfg.Deadline, defaultDeadline), MinBackoff: minBackoff, MaxBackoff: maxBackoff, RetryAfter: true,
		Concurrency: concurrency,
	}
	return r.worker, nil
}

// deliver sends one delivery, unless its agent is throttled, and records what the agent
// has received.
func (r *runner) deliver(ctx context.Context, t Delivery) (Delivery, error) {
	var (
		err     error
		failure slog.Attr
	)
	if wait := r.throttle.acquire(t.Agent, r.worker.Now()); wait > 0 {
		err = jobs.Again(wait)
	} else {
		err = r.send(ctx, t)
		r.throttle.release(t.Agent, r.worker.Now(), err)
		switch {
		case err == nil:
			r.cfg.OnAttempt(Sent)
			t.DeliveredCount = t.EventCount
		case !errors.Is(err, errNoRecipient):
			r.cfg.OnAttempt(Failed)
			t.Attempts++
			failure = registrar.LogFailure(err)
		}
	}
	if err != nil && !errors.Is(err, errNoRecipient) {
		if r.worker.Now().Sub(t.PendingSince) < maxAge {
			return t, err
		}
		// The agent is notified again with the order's next event, and can query the order at
		// any time.
		r.cfg.OnAttempt(Abandoned)
		r.cfg.Logger.ErrorContext(ctx, "webhook delivery abandoned", "agent", t.Agent, "order", t.Order, "attempts", t.Attempts, failure)
	}
	storeCtx, cancel := r.worker.StoreContext(ctx)
	defer cancel()
	r.logNotStored(ctx, t, r.cfg.Store.CompleteDelivery(storeCtx, t.Order, t.DueAt, t.EventCount, t.DeliveredCount, r.worker.Now()))
	return t, nil
}

func (r *runner) postpone(ctx context.Context, t Delivery, due time.Time) {
	r.logNotStored(ctx, t, r.cfg.Store.PostponeDelivery(ctx, t.Order, t.DueAt, due, t.Attempts))
}

func (r *runner) logNotStored(ctx context.Context, t Delivery, err error) {
	if err != nil {
		r.cfg.Logger.ErrorContext(ctx, "webhook result not stored", "order", t.Order, "error", err.Error())
	}
}

// errNoRecipient means that the agent has no webhook any more.
var errNoRecipient = errors.New("agent has no webhook")

// send builds and posts the message. A message that the agent accepted but that is not
// recorded is sent again.
func (r *runner) send(ctx context.Context, t Delivery) error {
	sendCtx, cancel := r.worker.CallContext(ctx)
	defer cancel()
	switch {
	case t.Target.URL == "":
		return errNoRecipient
	case t.Snapshot == nil:
		return &registrar.Error{Kind: registrar.KindInternal, Code: order.NoSuchOrder}
	}
	target, err := r.cfg.OpenWebhook(t.Agent, t.Target)
	if err != nil {
		return &registrar.Error{Kind: registrar.KindInternal, Code: "agent_not_read", Detail: err.Error(), Err: err}
	}
	body, err := r.cfg.Event(*t.Snapshot, target.Version, t.DeliveredCount == 0)
	if err != nil {
		return &registrar.Error{Kind: registrar.KindInternal, Code: "event_not_encoded", Detail: err.Error(), Err: err}
	}
	at := r.cfg.Now()
	return r.cfg.Sender.Send(sendCtx, Message{
		URL: target.URL, ID: fmt.Sprintf("%s.%d", t.Order, t.EventCount), At: at, Signature: Sign(target.Secret, at, body), Body: body,
	})
}
