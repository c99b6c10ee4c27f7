package lookup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Catalogue says which extensions we carry, and at which price.
type Catalogue interface {
	Extension(tld string) (registrar.Extension, bool)
}

// Config is what an Engine needs. Catalogue and DNS are required; a missing
// source is a rung that is skipped.
type Config struct {
	Catalogue Catalogue
	EPP       Records
	RDAP      Records
	WHOIS     Records
	DNS       Delegations

	// Deadline bounds one whole answer. The contract promises an answer within
	// six seconds; the default leaves half a second for everything else.
	Deadline time.Duration
	// KeepFree, KeepTaken and KeepUnknown say how long an answer is reused.
	KeepFree    time.Duration
	KeepTaken   time.Duration
	KeepUnknown time.Duration
	// MaxKept bounds the number of answers in memory.
	MaxKept int
	// MaxUnderWay bounds the number of names about which sources are being
	// asked at one moment. More are refused at once rather than queued.
	MaxUnderWay int

	Now    func() time.Time
	Logger *slog.Logger
	// Observe is told about every question to a source: which one, how it ended
	// ("ok" or the fault's code), and how long it took.
	Observe func(source Source, outcome string, took time.Duration)
	// Disagreed is told the extension whenever two sources contradict each
	// other about a name.
	Disagreed func(tld string)
}

// Engine answers questions about names. It is safe for concurrent use.
type Engine struct {
	catalogue        Catalogue
	epp, rdap, whois Records
	dns              Delegations
	deadline         time.Duration
	kept             *otter.Cache[string, verdict]
	records          *otter.Cache[string, known]
	underWay         chan struct{}
	now              func() time.Time
	logger           *slog.Logger
	observer         func(source Source, outcome string, took time.Duration)
	disagreed        func(tld string)
}

// New checks cfg, fills in what is zero and returns an Engine.
func New(cfg Config) (*Engine, error) {
	if cfg.Catalogue == nil || cfg.DNS == nil {
		return nil, errors.New("lookup needs a catalogue and a DNS")
	}
	cfg.Deadline = orDefault(cfg.Deadline, 5500*time.Millisecond)
	cfg.KeepFree = orDefault(cfg.KeepFree, 30*time.Second)
	cfg.KeepTaken = orDefault(cfg.KeepTaken, 120*time.Second)
	cfg.KeepUnknown = orDefault(cfg.KeepUnknown, 5*time.Second)
	cfg.MaxKept = orDefault(cfg.MaxKept, 100_000)
	cfg.MaxUnderWay = orDefault(cfg.MaxUnderWay, 4096)

	kept, err := otter.New(&otter.Options[string, verdict]{
		MaximumSize: cfg.MaxKept,
		ExpiryCalculator: otter.ExpiryWritingFunc(func(entry otter.Entry[string, verdict]) time.Duration {
			switch entry.Value.availability {
			case Available:
				return cfg.KeepFree
			case Taken:
				return cfg.KeepTaken
			default:
				return cfg.KeepUnknown
			}
		}),
	})
	if err != nil {
		return nil, fmt.Errorf("the memory of answers: %w", err)
	}
	records, err := newRecordMemory(cfg)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		catalogue: cfg.Catalogue,
		epp:       cfg.EPP, rdap: cfg.RDAP, whois: cfg.WHOIS, dns: cfg.DNS,
		deadline: cfg.Deadline,
		kept:     kept,
		records:  records,
		underWay: make(chan struct{}, cfg.MaxUnderWay),
		now:      cfg.Now,
		logger:   cfg.Logger,
		observer: cfg.Observe,

		disagreed: cfg.Disagreed,
	}
	if e.disagreed == nil {
		e.disagreed = func(string) {}
	}
	if e.now == nil {
		e.now = time.Now
	}
	if e.logger == nil {
		e.logger = slog.New(slog.DiscardHandler)
	}
	return e, nil
}

// Close ends what runs in the background. Questions under way still get their
// answers.
func (e *Engine) Close() {
	e.kept.StopAllGoroutines()
	e.records.StopAllGoroutines()
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

func (e *Engine) listed(tld string) bool {
	_, ok := e.catalogue.Extension(tld)
	return ok
}

// Check answers for one full domain name. An extension that we do not carry is
// an error of KindUnsupported, and the Answer then holds the extension alone.
// No source is asked in that case.
func (e *Engine) Check(ctx context.Context, domain string) (Answer, error) {
	name, err := registrar.ParseName(domain, e.listed)
	if err != nil {
		return Answer{TLD: name.TLD()}, err
	}
	return e.answer(ctx, name)
}

// answer finds out about one well-formed name. On failure the Answer still
// names the domain.
func (e *Engine) answer(ctx context.Context, name registrar.Name) (Answer, error) {
	answer := Answer{Domain: name.String(), TLD: name.TLD()}
	ext, ok := e.catalogue.Extension(name.TLD())
	if !ok { // the catalogue was replaced a moment ago
		return answer, &registrar.Error{Kind: registrar.KindUnsupported, Code: registrar.ExtensionNotCarried}
	}
	found, err := e.find(ctx, ext, name)
	if err != nil {
		return answer, err
	}
	answer.Availability = found.availability
	answer.Source = found.source
	answer.Reason = found.reason
	answer.Premium = found.premium
	answer.CheckedAt = found.at
	answer.MinYears, answer.Requires = ext.Term(), ext.Requires
	answer.Order = orderOf(ext.Sale, found)
	if !found.premium { // a premium name has a price of its own, which only EPP knows
		answer.Prices = &Prices{Register: ext.Register, Renew: ext.Renew, Transfer: ext.Transfer, Restore: ext.Restore}
	}
	return answer, nil
}

// find returns what is remembered, or climbs the ladder.
func (e *Engine) find(ctx context.Context, ext registrar.Extension, name registrar.Name) (verdict, error) {
	return once(ctx, e, e.kept, name, func(ctx context.Context) (verdict, error) { return e.climb(ctx, ext, name) })
}

// handOver is for an answer that comes at the very end of its time.
const handOver = 100 * time.Millisecond

// once returns what memory holds about name, or asks, once for all who ask at the
// same time, and no more names at a time than is allowed.
//
// The asking is not tied to the caller who happened to come first: others may be
// waiting for it. But it ends when that caller's time is up, and so does the
// waiting: what failed after its first asker had left is begun again by one who
// waited for it, who then has only the rest of his own time.
func once[V any](ctx context.Context, e *Engine, memory *otter.Cache[string, V], name registrar.Name,
	ask func(ctx context.Context) (V, error),
) (V, error) {
	if found, ok := memory.GetIfPresent(name.ASCII()); ok {
		return found, nil
	}
	deadline := time.Now().Add(e.deadline)
	ctx, cancel := context.WithDeadline(ctx, deadline.Add(handOver))
	defer cancel()
	found, err := memory.Get(ctx, name.ASCII(), otter.LoaderFunc[string, V](func(ctx context.Context, _ string) (_ V, err error) {
		defer func() {
			if problem := recover(); problem != nil {
				err = e.caught(ctx, problem)
			}
		}()
		select {
		case e.underWay <- struct{}{}:
			defer func() { <-e.underWay }()
		default:
			var nothing V
			return nothing, registrar.Fault(registrar.FaultBusy, "too many names under way", nil)
		}
		ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
		defer cancel()
		return ask(ctx)
	}))
	if registrar.KindOf(err) == registrar.KindInternal && ctx.Err() != nil {
		// The caller left, or waited longer than an answer may take.
		err = registrar.Fault(registrar.FaultTimeout, "lookup", err)
	}
	return found, err
}

// caught turns a panic into an error of ours. Sources are asked on goroutines
// where no transport could catch it, and one name must not end the process. The
// panic's own text may quote the name, so only the stack is logged.
func (e *Engine) caught(ctx context.Context, problem any) error {
	e.logger.ErrorContext(ctx, registrar.PanicRecovered, "where", "lookup", "stack", string(debug.Stack()))
	cause, _ := problem.(error)
	return &registrar.Error{Kind: registrar.KindInternal, Code: "panic", Err: cause}
}

func (e *Engine) observe(source Source, err error, took time.Duration) {
	if e.observer == nil {
		return
	}
	outcome := "ok"
	if err != nil {
		if outcome = string(registrar.CodeOf(err)); outcome == "" {
			outcome = "failed"
		}
	}
	e.observer(source, outcome, took)
}
