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

// Catalog says which extensions we carry, and at which price.
type Catalog interface {
	Extension(tld string) (registrar.Extension, bool)
}

// Config is what an Engine needs. Catalogue and DNS are required; a missing
// source is a rung that is skipped.
type Config struct {
	Catalog Catalog
	EPP     RecordSource
	RDAP    RecordSource
	WHOIS   RecordSource
	DNS     DelegationSource

	// Deadline bounds one whole answer. The contract promises an answer within
	// six seconds; the default leaves half a second for everything else.
	Deadline time.Duration
	// KeepFree, KeepTaken and KeepUnknown say how long an answer is reused.
	FreeTTL    time.Duration
	TakenTTL   time.Duration
	UnknownTTL time.Duration
	// MaxCached bounds the number of answers in memory.
	MaxCached int
	// MaxInFlight bounds the number of names about which sources are being
	// asked at one moment. More are refused at once rather than queued.
	MaxInFlight int

	Now    func() time.Time
	Logger *slog.Logger
	// Observe is told about every question to a source: which one, how it ended
	// ("ok" or the fault's code), and how long it took.
	Observe func(source Source, outcome string, took time.Duration)
	// OnDisagreement is told the extension whenever two sources contradict each
	// other about a name.
	OnDisagreement func(tld string)
}

// Engine answers questions about names. It is safe for concurrent use.
type Engine struct {
	catalog          Catalog
	epp, rdap, whois RecordSource
	dns              DelegationSource
	deadline         time.Duration
	verdicts         *otter.Cache[string, verdict]
	records          *otter.Cache[string, cachedRecord]
	inFlight         chan struct{}
	now              func() time.Time
	logger           *slog.Logger
	observer         func(source Source, outcome string, took time.Duration)
	onDisagreement   func(tld string)
}

// New checks cfg, fills in what is zero and returns an Engine.
func New(cfg Config) (*Engine, error) {
	if cfg.Catalog == nil || cfg.DNS == nil {
		return nil, errors.New("lookup needs a catalogue and a DNS")
	}
	cfg.Deadline = orDefault(cfg.Deadline, 5500*time.Millisecond)
	cfg.FreeTTL = orDefault(cfg.FreeTTL, 30*time.Second)
	cfg.TakenTTL = orDefault(cfg.TakenTTL, 120*time.Second)
	cfg.UnknownTTL = orDefault(cfg.UnknownTTL, 5*time.Second)
	cfg.MaxCached = orDefault(cfg.MaxCached, 100_000)
	cfg.MaxInFlight = orDefault(cfg.MaxInFlight, 4096)

	verdicts, err := otter.New(&otter.Options[string, verdict]{
		MaximumSize: cfg.MaxCached,
		ExpiryCalculator: otter.ExpiryWritingFunc(func(entry otter.Entry[string, verdict]) time.Duration {
			switch entry.Value.availability {
			case Available:
				return cfg.FreeTTL
			case Taken:
				return cfg.TakenTTL
			default:
				return cfg.UnknownTTL
			}
		}),
	})
	if err != nil {
		return nil, fmt.Errorf("the memory of answers: %w", err)
	}
	records, err := newRecordCache(cfg)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		catalog: cfg.Catalog,
		epp:     cfg.EPP, rdap: cfg.RDAP, whois: cfg.WHOIS, dns: cfg.DNS,
		deadline: cfg.Deadline,
		verdicts: verdicts,
		records:  records,
		inFlight: make(chan struct{}, cfg.MaxInFlight),
		now:      cfg.Now,
		logger:   cfg.Logger,
		observer: cfg.Observe,

		onDisagreement: cfg.OnDisagreement,
	}
	if e.onDisagreement == nil {
		e.onDisagreement = func(string) {}
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
	e.verdicts.StopAllGoroutines()
	e.records.StopAllGoroutines()
}

func orDefault[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

func (e *Engine) isListed(tld string) bool {
	_, ok := e.catalog.Extension(tld)
	return ok
}

// Check answers for one full domain name. An extension that we do not carry is
// an error of KindUnsupported, and the Answer then holds the extension alone.
// No source is asked in that case.
func (e *Engine) Check(ctx context.Context, domain string) (Answer, error) {
	name, err := registrar.ParseName(domain, e.isListed)
	if err != nil {
		return Answer{TLD: name.TLD()}, err
	}
	return e.checkName(ctx, name)
}

// checkName finds out about one well-formed name. On failure the Answer still
// names the domain.
func (e *Engine) checkName(ctx context.Context, name registrar.Name) (Answer, error) {
	answer := Answer{Domain: name.String(), TLD: name.TLD()}
	ext, ok := e.catalog.Extension(name.TLD())
	if !ok { // the catalogue was replaced a moment ago
		return answer, &registrar.Error{Kind: registrar.KindUnsupported, Code: registrar.ExtensionNotCarried}
	}
	found, err := e.findVerdict(ctx, ext, name)
	if err != nil {
		return answer, err
	}
	answer.Availability = found.availability
	answer.Source = found.source
	answer.Reason = found.reason
	answer.Premium = found.premium
	answer.CheckedAt = found.at
	answer.MinYears, answer.Requires = ext.Term(), ext.Requires
	answer.Order = orderabilityOf(ext.Sale, found)
	if !found.premium { // a premium name has a price of its own, which only EPP knows
		answer.Prices = &Prices{Register: ext.Register, Renew: ext.Renew, Transfer: ext.Transfer, Restore: ext.Restore}
	}
	return answer, nil
}

// findVerdict returns what is remembered, or climbs the ladder.
func (e *Engine) findVerdict(ctx context.Context, ext registrar.Extension, name registrar.Name) (verdict, error) {
	return loadOnce(ctx, e, e.verdicts, name, func(ctx context.Context) (verdict, error) { return e.resolve(ctx, ext, name) })
}

// handoverGrace is for an answer that comes at the very end of its time.
const handoverGrace = 100 * time.Millisecond

// loadOnce returns what memory holds about name, or asks, once for all who ask at the
// same time, and no more names at a time than is allowed.
//
// The asking is not tied to the caller who happened to come first: others may be
// waiting for it. But it ends when that caller's time is up, and so does the
// waiting: what failed after its first asker had left is begun again by one who
// waited for it, who then has only the rest of his own time.
func loadOnce[V any](ctx context.Context, e *Engine, cache *otter.Cache[string, V], name registrar.Name,
	load func(ctx context.Context) (V, error),
) (V, error) {
	if value, ok := cache.GetIfPresent(name.ASCII()); ok {
		return value, nil
	}
	deadline := time.Now().Add(e.deadline)
	ctx, cancel := context.WithDeadline(ctx, deadline.Add(handoverGrace))
	defer cancel()
	value, err := cache.Get(ctx, name.ASCII(), otter.LoaderFunc[string, V](func(ctx context.Context, _ string) (_ V, err error) {
		defer func() {
			if panicked := recover(); panicked != nil {
				err = e.panicError(ctx, panicked)
			}
		}()
		select {
		case e.inFlight <- struct{}{}:
			defer func() { <-e.inFlight }()
		default:
			var nothing V
			return nothing, registrar.Fault(registrar.FaultBusy, "too many names under way", nil)
		}
		ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
		defer cancel()
		return load(ctx)
	}))
	if registrar.KindOf(err) == registrar.KindInternal && ctx.Err() != nil {
		// The caller left, or waited longer than an answer may take.
		err = registrar.Fault(registrar.FaultTimeout, "lookup", err)
	}
	return value, err
}

// panicError turns a panic into an error of ours. Sources are asked on goroutines
// where no transport could catch it, and one name must not end the process. The
// panic's own text may quote the name, so only the stack is logged.
func (e *Engine) panicError(ctx context.Context, panicked any) error {
	e.logger.ErrorContext(ctx, registrar.PanicRecovered, "where", "lookup", "stack", string(debug.Stack()))
	cause, _ := panicked.(error)
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
