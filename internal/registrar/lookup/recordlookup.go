package lookup

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/tracing"
)

const (
	recordTTL        = time.Minute // how long a record is cached
	maxCachedRecords = 10_000      // a record is larger than a verdict and requested less often
)

// Undetermined (KindUpstream): no response determines whether the name is registered.
const Undetermined registrar.Code = "undetermined"

// WhoisAnswer is the public, non-personal part of a registry's record of one name.
type WhoisAnswer struct {
	Domain, TLD string
	Registered  bool
	// Record is empty if the name is unregistered or no source provides one. A name
	// withheld by the registry is unregistered with the status "reserved".
	Record    Record
	Source    Source
	CheckedAt time.Time
}

// Whois returns the registration record of a name, as doc.go describes. Errors are those
// of Check, and Undetermined.
func (e *Engine) Whois(ctx context.Context, domain string) (WhoisAnswer, error) {
	ctx, span := tracing.Start(ctx, "lookup", "whois")
	answer, err := e.whois(ctx, domain)
	span.End(err)
	return answer, err
}

func (e *Engine) whois(ctx context.Context, domain string) (WhoisAnswer, error) {
	name, err := registrar.ParseName(domain, e.isListed)
	answer := WhoisAnswer{Domain: name.String(), TLD: name.TLD()}
	if err != nil {
		return answer, err
	}
	ext, ok := e.cfg.Catalog.Extension(name.TLD())
	if !ok { // the catalog was replaced a moment ago
		return answer, &registrar.Error{Kind: registrar.KindUnsupported, Code: registrar.ExtensionNotCarried}
	}
	cached, err := loadOnce(ctx, e, e.records, name, func(ctx context.Context) (WhoisAnswer, error) {
		return loadShared(ctx, e.cfg.Shared, kindRecord, name.ASCII(), e.cfg.recordTTL, func(ctx context.Context) (WhoisAnswer, error) {
			return e.resolveRecord(ctx, ext, name)
		})
	})
	if err != nil {
		return answer, err
	}
	// The cached record is protected from callers.
	cached.Record.Status, cached.Record.Nameservers = slices.Clone(cached.Record.Status), slices.Clone(cached.Record.Nameservers)
	return cached, nil
}

// newRecordCache caches no result longer than Check does.
func newRecordCache(cfg Config) (*otter.Cache[string, WhoisAnswer], error) {
	cache, err := otter.New(&otter.Options[string, WhoisAnswer]{
		MaximumSize: min(cfg.MaxCached, maxCachedRecords),
		ExpiryCalculator: otter.ExpiryWritingFunc(func(entry otter.Entry[string, WhoisAnswer]) time.Duration {
			return cfg.recordTTL(entry.Value)
		}),
	})
	if err != nil {
		return nil, fmt.Errorf("lookup: record cache: %w", err)
	}
	return cache, nil
}

// resolveRecord resolves the name and queries for a record that was not needed for that.
func (e *Engine) resolveRecord(ctx context.Context, ext registrar.Extension, name registrar.Name) (WhoisAnswer, error) {
	c := e.newResolution(ext, name)
	c.records = make(map[Source]*Record)
	found, err := c.resolve(ctx)
	if err != nil {
		return WhoisAnswer{}, err
	}
	result := WhoisAnswer{Domain: name.String(), TLD: name.TLD(), Source: found.source, CheckedAt: found.at}
	switch {
	case found.availability == Available:
		return result, nil
	case found.availability == Unknown:
		return WhoisAnswer{}, registrar.Fault(Undetermined, "no source decided", nil)
	case found.reason == ReasonReserved:
		result.Record.Status = []string{"reserved"}
		return result, nil
	}
	result.Registered = true
	if record := c.record(ctx, SourceRDAP, e.cfg.RDAP); !record.isEmpty() {
		result.Record, result.Source = *record, SourceRDAP
	} else if record := c.record(ctx, SourceWHOIS, e.cfg.WHOIS); !record.isEmpty() {
		result.Record, result.Source = *record, SourceWHOIS
	}
	return result, nil
}

// record returns the source's record, querying it if the name was decided before its turn.
// A failure means no record: that the name is registered is already known.
func (c *resolution) record(ctx context.Context, source Source, records RecordSource) *Record {
	if record, queried := c.records[source]; queried || records == nil {
		return record
	}
	finding, _ := c.find(ctx, source, records)
	return finding.Record
}

func (r *Record) isEmpty() bool {
	return r == nil || len(r.Status) == 0 && len(r.Nameservers) == 0 && r.Registrar == "" &&
		r.Created.IsZero() && r.Updated.IsZero() && r.Expires.IsZero()
}
