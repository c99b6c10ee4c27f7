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
	// recordTTL is how long what was found about a name is shown again.
	recordTTL = time.Minute
	// maxCachedRecords bounds how many records are in memory. A record is larger than
	// a verdict and asked for less often.
	maxCachedRecords = 10_000
)

// Undetermined goes with KindUpstream: sources answered, but none says whether
// the name is registered.
const Undetermined registrar.Code = "undetermined"

// WhoisAnswer is what a registry says in public about one name and not about a
// person.
type WhoisAnswer struct {
	Domain     string
	TLD        string
	Registered bool
	// Record is empty for a name that nobody holds, and where no source tells
	// more than that the name is registered. A name that the registry withholds
	// is not registered and has the status "reserved".
	Record    Record
	Source    Source
	CheckedAt time.Time
}

// statusReserved is EPP's reason for a withheld name, in the form of our own
// short words.
const statusReserved = "reserved"

// Whois answers who holds a name's record and what it says. It climbs the same
// ladder as Check, so both agree on whether a name is registered; beyond that it
// keeps what RDAP told, and asks WHOIS if RDAP told nothing. Fields of two
// sources are never mixed. Errors are those of Check, and Undetermined.
func (e *Engine) Whois(ctx context.Context, domain string) (WhoisAnswer, error) {
	name, err := registrar.ParseName(domain, e.isListed)
	answer := WhoisAnswer{Domain: name.String(), TLD: name.TLD()}
	if err != nil {
		return answer, err
	}
	ext, ok := e.catalog.Extension(name.TLD())
	if !ok { // the catalogue was replaced a moment ago
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

// cachedRecord is what is remembered about one name.
type cachedRecord struct {
	registered bool
	record     Record
	source     Source
	at         time.Time
}

// newRecordCache keeps no answer longer than Check keeps the same one.
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
		return nil, fmt.Errorf("the memory of records: %w", err)
	}
	return cache, nil
}

// resolveRecord climbs the ladder with a notebook for the records that are seen on
// the way, and asks once more where the notebook stayed empty.
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
		return cachedRecord{}, registrar.Fault(Undetermined, "no source decides", nil)
	case found.reason == ReasonReserved:
		result.record.Status = []string{statusReserved}
		return result, nil
	}
	result.registered = true
	for _, candidate := range []struct {
		by    Source
		notes *recorder
	}{{SourceRDAP, rdap}, {SourceWHOIS, whois}} {
		if record := candidate.notes.fetchRecord(ctx, ext, name); !record.isEmpty() {
			result.record, result.source = *record, candidate.by
			return result, nil
		}
	}
	return result, nil
}

// withRecorders is the engine with two of its sources listened to.
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

// recorder passes questions on to a source and notes the record in its answer.
type recorder struct {
	source  RecordSource
	queried bool
	record  *Record
}

// Find asks the source.
func (n *recorder) Find(ctx context.Context, ext registrar.Extension, name registrar.Name) (Finding, error) {
	n.queried = true
	finding, err := n.source.Find(ctx, ext, name)
	if err == nil && finding.State == Registered {
		n.record = finding.Record
	}
	return finding, err
}

// fetchRecord is the record that the source told, asking it if the ladder was decided
// before its turn. A failure is no record: that the name is registered is
// already known, and the rest is a bonus.
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

// clone keeps what is remembered out of callers' hands.
func (r *Record) clone() Record {
	copied := *r
	copied.Status, copied.Nameservers = slices.Clone(r.Status), slices.Clone(r.Nameservers)
	return copied
}
