package lookup

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/maypok86/otter/v2"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// recordTTL is how long a record is cached.
	recordTTL = time.Minute
	// maxCachedRecords bounds the cached records. A record is larger than a verdict and
	// requested less often.
	maxCachedRecords = 10_000
)

// Undetermined (KindUpstream): sources responded, but none determines whether the name is
// registered.
const Undetermined registrar.Code = "undetermined"

// WhoisAnswer is the public, non-personal part of a registry's record of one name.
type WhoisAnswer struct {
	Domain     string
	TLD        string
	Registered bool
	// Record is empty for an unregistered name, and if no source provides more than that
	// the name is registered. A name withheld by the registry is not registered and has
	// the status "reserved".
	Record    Record
	Source    Source
	CheckedAt time.Time
}

// statusReserved is EPP's reason for a withheld name, as one of our own short statuses.
const statusReserved = "reserved"

// Whois returns the registration record of a name. It queries the same sources as Check,
// so both agree on whether a name is registered; beyond that it uses RDAP's record, or
// WHOIS's if RDAP has none. Fields of two sources are never mixed. Errors are those of
// Check, and Undetermined.
func (e *Engine) Whois(ctx context.Context, domain string) (WhoisAnswer, error) {
	name, err := registrar.ParseName(domain, e.isListed)
	answer := WhoisAnswer{Domain: name.String(), TLD: name.TLD()}
	if err != nil {
		return answer, err
	}
	ext, ok := e.catalog.Extension(name.TLD())
	if !ok { // the catalog was replaced a moment ago
		return answer, &registrar.Error{Kind: registrar.KindUnsupported, Code: registrar.ExtensionNotCarried}
	}
	cached, err := loadOnce(ctx, e, e.records, name, func(ctx context.Context) (cachedRecord, error) {
		return e.resolveRecord(ctx, ext, name)
	})
	if err != nil {
		return answer, err
	}
	answer.Registered = cached.registered
	answer.Record = cached.record.clone()
	answer.Source, answer.CheckedAt = cached.source, cached.at
	return answer, nil
}

// cachedRecord is the cached result for one name.
type cachedRecord struct {
	registered bool
	record     Record
	source     Source
	at         time.Time
}

// newRecordCache caches no result longer than Check does.
func newRecordCache(cfg Config) (*otter.Cache[string, cachedRecord], error) {
	cache, err := otter.New(&otter.Options[string, cachedRecord]{
		MaximumSize: min(cfg.MaxCached, maxCachedRecords),
		ExpiryCalculator: otter.ExpiryWritingFunc(func(entry otter.Entry[string, cachedRecord]) time.Duration {
			if entry.Value.registered {
				return min(recordTTL, cfg.TakenTTL)
			}
			return min(recordTTL, cfg.FreeTTL)
		}),
	})
	if err != nil {
		return nil, fmt.Errorf("lookup: record cache: %w", err)
	}
	return cache, nil
}

// resolveRecord resolves the name while recording the records seen, and queries again for
// a missing one.
func (e *Engine) resolveRecord(ctx context.Context, ext registrar.Extension, name registrar.Name) (cachedRecord, error) {
	rdap, whois := &recorder{source: e.rdap}, &recorder{source: e.whois}
	found, err := e.withRecorders(rdap, whois).resolve(ctx, ext, name)
	if err != nil {
		return cachedRecord{}, err
	}
	result := cachedRecord{source: found.source, at: found.at}
	switch {
	case found.availability == Available:
		return result, nil
	case found.availability == Unknown:
		return cachedRecord{}, registrar.Fault(Undetermined, "no source decided", nil)
	case found.reason == ReasonReserved:
		result.record.Status = []string{statusReserved}
		return result, nil
	}
	result.registered = true
	for _, candidate := range []struct {
		by       Source
		recorder *recorder
	}{{SourceRDAP, rdap}, {SourceWHOIS, whois}} {
		if record := candidate.recorder.fetchRecord(ctx, ext, name); !record.isEmpty() {
			result.record, result.source = *record, candidate.by
			return result, nil
		}
	}
	return result, nil
}

// withRecorders returns a copy of the engine with two sources recorded.
func (e *Engine) withRecorders(rdap, whois *recorder) *Engine {
	observed := *e
	if e.rdap != nil {
		observed.rdap = rdap
	}
	if e.whois != nil {
		observed.whois = whois
	}
	return &observed
}

// recorder forwards queries to a source and records the record in its response.
type recorder struct {
	source  RecordSource
	queried bool
	record  *Record
}

// Find queries the source.
func (n *recorder) Find(ctx context.Context, ext registrar.Extension, name registrar.Name) (Finding, error) {
	n.queried = true
	finding, err := n.source.Find(ctx, ext, name)
	if err == nil && finding.State == Registered {
		n.record = finding.Record
	}
	return finding, err
}

// fetchRecord returns the source's record, querying it if the name was decided before its
// turn. A failure means no record: that the name is registered is already known.
func (n *recorder) fetchRecord(ctx context.Context, ext registrar.Extension, name registrar.Name) *Record {
	if !n.queried && n.source != nil {
		_, _ = n.Find(ctx, ext, name)
	}
	return n.record
}

func (r *Record) isEmpty() bool {
	return r == nil || len(r.Status) == 0 && len(r.Nameservers) == 0 && r.Registrar == "" &&
		r.Created.IsZero() && r.Updated.IsZero() && r.Expires.IsZero()
}

// clone protects the cached record from callers.
func (r *Record) clone() Record {
	copied := *r
	copied.Status, copied.Nameservers = slices.Clone(r.Status), slices.Clone(r.Nameservers)
	return copied
}
