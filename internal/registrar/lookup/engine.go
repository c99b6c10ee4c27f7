package lookup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/tracing"
)

// Catalog lists the extensions on sale and their prices.
type Catalog interface {
	Extension(tld string) (registrar.Extension, bool)
}

// Config configures an Engine. Catalog and DNS are required; a missing source is skipped.
type Config struct {
	Catalog          Catalog
	EPP, RDAP, WHOIS RecordSource
	DNS              DelegationSource
	// PremiumPrice converts a registry's fee for so many years to a price; false if it can't be
	// sold. nil means that no premium name is sold.
	PremiumPrice func(fee registrar.Money, years int) (registrar.Cents, bool)

	// Shared has the answers of other nodes; nil means that there are none.
	Shared SharedCache

	// Deadline bounds one answer. The contract promises an answer within six seconds; the
	// default leaves half a second for everything else.
	Deadline time.Duration
	// FreeTTL, TakenTTL and UnknownTTL are how long verdicts are cached.
	FreeTTL, TakenTTL, UnknownTTL time.Duration
	MaxCached                     int // bounds the number of cached verdicts
	MaxInFlight                   int // bounds the names being resolved at a time; more are refused, not queued

	Now    func() time.Time
	Logger *slog.Logger
	// Observe is called after every query; its outcome is "ok" or the error code.
	Observe        func(source Source, outcome string, took time.Duration)
	OnDisagreement func(tld string) // called with the extension when two sources contradict each other
}

// Engine answers availability queries. It is safe for concurrent use.
type Engine struct {
	cfg      Config
	verdicts *otter.Cache[string, verdict]
	records  *otter.Cache[string, WhoisAnswer]
	inFlight chan struct{}
}

// New returns an Engine with defaults filled in.
func New(cfg Config) (*Engine, error) {
	if cfg.Catalog == nil || cfg.DNS == nil {
		return nil, errors.New("lookup: Config.Catalog and DNS are required")
	}
	cfg.Deadline = cmp.Or(cfg.Deadline, 5500*time.Millisecond)
	cfg.FreeTTL = cmp.Or(cfg.FreeTTL, 30*time.Second)
	cfg.TakenTTL = cmp.Or(cfg.TakenTTL, 120*time.Second)
	cfg.UnknownTTL = cmp.Or(cfg.UnknownTTL, 5*time.Second)
	cfg.MaxCached = cmp.Or(cfg.MaxCached, 100_000)
	cfg.MaxInFlight = cmp.Or(cfg.MaxInFlight, 4096)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Observe == nil {
		cfg.Observe = func(Source, string, time.Duration) {}
	}
	if cfg.OnDisagreement == nil {
		cfg.OnDisagreement = func(string) {}
	}

	verdicts, err := otter.New(&otter.Options[string, verdict]{
		MaximumSize: cfg.MaxCached,
		ExpiryCalculator: otter.ExpiryWritingFunc(func(entry otter.Entry[string, verdict]) time.Duration {
			return cfg.verdictTTL(entry.Value)
		}),
	})
	if err != nil {
		return nil, fmt.Errorf("lookup: verdict cache: %w", err)
	}
	records, err := newRecordCache(cfg)
	if err != nil {
		return nil, err
	}
	return &Engine{cfg: cfg, verdicts: verdicts, records: records, inFlight: make(chan struct{}, cfg.MaxInFlight)}, nil
}

// Close stops the background work of the caches. Queries in flight still complete.
func (e *Engine) Close() {
	e.verdicts.StopAllGoroutines()
	e.records.StopAllGoroutines()
}

func (e *Engine) isListed(tld string) bool {
	_, ok := e.cfg.Catalog.Extension(tld)
	return ok
}

// Check answers for one full domain name. An extension that we do not carry is an error of
// KindUnsupported; the Answer then holds only the extension, and no source is queried.
func (e *Engine) Check(ctx context.Context, domain string) (Answer, error) {
	ctx, span := tracing.Start(ctx, "lookup", "check")
	answer, err := e.check(ctx, domain)
	span.End(err)
	return answer, err
}

func (e *Engine) check(ctx context.Context, domain string) (Answer, error) {
	if found, cached := e.verdicts.GetIfPresent(domain); cached && found.name.ASCII() != "" {
		// Parsing again gives the same name, unless the catalog has lost its extension or
		// lists the whole name as one.
		if ext, ok := e.cfg.Catalog.Extension(found.name.TLD()); ok && !e.isListed("."+domain) {
			return e.newAnswer(found.name, ext, found), nil
		}
	}
	name, err := registrar.ParseName(domain, e.isListed)
	if err != nil {
		return Answer{TLD: name.TLD()}, err
	}
	return e.checkName(ctx, name)
}

// checkName checks one well-formed name. On failure the Answer still names the domain.
func (e *Engine) checkName(ctx context.Context, name registrar.Name) (Answer, error) {
	failed := Answer{Domain: name.String(), TLD: name.TLD()}
	ext, ok := e.cfg.Catalog.Extension(name.TLD())
	if !ok { // the catalog was replaced a moment ago
		return failed, &registrar.Error{Kind: registrar.KindUnsupported, Code: registrar.ExtensionNotCarried}
	}
	found, cached := e.verdicts.GetIfPresent(name.ASCII())
	if !cached {
		var err error
		if found, err = e.resolveOnce(ctx, ext, name); err != nil {
			return failed, err
		}
	}
	return e.newAnswer(name, ext, found), nil
}

func (e *Engine) newAnswer(name registrar.Name, ext registrar.Extension, found verdict) Answer {
	answer := Answer{
		Domain: name.String(), TLD: name.TLD(), Availability: found.availability, Source: found.source, Reason: found.reason,
		Premium: found.premium, CheckedAt: found.at, MinYears: ext.Term(), Requires: ext.Requires,
	}
	if found.premium { // only EPP knows the fees
		answer.Prices = e.premiumPrices(ext, found.fees)
	} else {
		answer.Prices = &Prices{Register: ext.Register, Renew: ext.Renew, Transfer: ext.Transfer, Restore: ext.Restore}
	}
	answer.Order = orderabilityOf(ext.Sale, found, answer.Prices != nil)
	return answer
}

// premiumPrices returns the yearly prices of a premium name; nil if they are unknown, or the term
// on sale is no longer the one whose fee was queried. A whole term costs its multiple.
func (e *Engine) premiumPrices(ext registrar.Extension, fees *Fees) *Prices {
	if e.cfg.PremiumPrice == nil || fees == nil || fees.Years != ext.Term() {
		return nil
	}
	register, registered := e.cfg.PremiumPrice(fees.Register, fees.Years)
	renew, renewed := e.cfg.PremiumPrice(fees.Renew, 1)
	transfer, transferred := e.cfg.PremiumPrice(fees.Transfer, 1)
	restore, restored := e.cfg.PremiumPrice(fees.Restore, 1)
	if !registered || !renewed || !transferred || !restored {
		return nil
	}
	return &Prices{Register: register / registrar.Cents(fees.Years), Renew: renew, Transfer: transfer, Restore: restore}
}

func (e *Engine) resolveOnce(ctx context.Context, ext registrar.Extension, name registrar.Name) (verdict, error) {
	return loadOnce(ctx, e, e.verdicts, name, func(ctx context.Context) (verdict, error) {
		found, err := loadShared(ctx, e.cfg.Shared, kindVerdict, name.ASCII(), e.cfg.verdictTTL, e.newResolution(ext, name).resolve)
		if parsed, invalid := registrar.ParseName(name.ASCII(), e.isListed); invalid == nil {
			found.name = parsed
		}
		return found, err
	})
}

// handoverGrace allows for a result that arrives right at the deadline.
const handoverGrace = 100 * time.Millisecond

// loadOnce loads the value for name, once for all concurrent callers and within
// MaxInFlight.
//
// The load is not tied to the first caller's context, since others may be waiting for it,
// but it ends at that caller's deadline. If it fails then, a waiting caller starts it again
// within the rest of its own deadline.
func loadOnce[V any](ctx context.Context, e *Engine, cache *otter.Cache[string, V], name registrar.Name,
	load func(ctx context.Context) (V, error),
) (V, error) {
	deadline := time.Now().Add(e.cfg.Deadline)
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
			return nothing, registrar.Fault(registrar.FaultBusy, "too many lookups in flight", nil)
		}
		ctx, cancel := context.WithDeadline(context.WithoutCancel(ctx), deadline)
		defer cancel()
		return load(ctx)
	}))
	if registrar.KindOf(err) == registrar.KindInternal && ctx.Err() != nil {
		// The caller left, or waited past the deadline.
		err = registrar.Fault(registrar.FaultTimeout, "lookup", err)
	}
	return value, err
}

// panicError turns a panic into an error. Sources are queried on goroutines where no
// transport could recover it, and one name must not end the process. The panic value may
// quote the name, so only the stack is logged.
func (e *Engine) panicError(ctx context.Context, panicked any) error {
	e.cfg.Logger.ErrorContext(ctx, registrar.PanicRecovered, "where", "lookup", "stack", string(debug.Stack()))
	cause, _ := panicked.(error)
	return &registrar.Error{Kind: registrar.KindInternal, Code: "panic", Err: cause}
}

func (e *Engine) observe(source Source, err error, took time.Duration) {
	outcome := "ok"
	if err != nil {
		outcome = cmp.Or(string(registrar.CodeOf(err)), "failed")
	}
	e.cfg.Observe(source, outcome, took)
}
