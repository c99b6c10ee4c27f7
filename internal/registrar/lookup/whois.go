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
	// keepRecords is how long what was found about a name is shown again.
	keepRecords = time.Minute
	// maxRecords bounds how many records are in memory. A record is larger than
	// a verdict and asked for less often.
	maxRecords = 10_000
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
	name, err := registrar.ParseName(domain, e.listed)
	answer := WhoisAnswer{Domain: name.String(), TLD: name.TLD()}
	if err != nil {
		return answer, err
	}
	ext, ok := e.catalogue.Extension(name.TLD())
	if !ok { // the catalogue was replaced a moment ago
		return answer, &registrar.Error{Kind: registrar.KindUnsupported, Code: registrar.ExtensionNotCarried}
	}
	known, err := once(ctx, e, e.records, name, func(ctx context.Context) (known, error) {
		return e.investigate(ctx, ext, name)
	})
	if err != nil {
		return answer, err
	}
	answer.Registered = known.registered
	answer.Record = known.record.clone()
	answer.Source, answer.CheckedAt = known.source, known.at
	return answer, nil
}

// known is what is remembered about one name.
type known struct {
	registered bool
	record     Record
	source     Source
	at         time.Time
}

// newRecordMemory keeps no answer longer than Check keeps the same one.
func newRecordMemory(cfg Config) (*otter.Cache[string, known], error) {
	memory, err := otter.New(&otter.Options[string, known]{
		MaximumSize: min(cfg.MaxKept, maxRecords),
		ExpiryCalculator: otter.ExpiryWritingFunc(func(entry otter.Entry[string, known]) time.Duration {
			if entry.Value.registered {
				return min(keepRecords, cfg.KeepTaken)
			}
			return min(keepRecords, cfg.KeepFree)
		}),
	})
	if err != nil {
		return nil, fmt.Errorf("the memory of records: %w", err)
	}
	return memory, nil
}

// investigate climbs the ladder with a notebook for the records that are seen on
// the way, and asks once more where the notebook stayed empty.
func (e *Engine) investigate(ctx context.Context, ext registrar.Extension, name registrar.Name) (known, error) {
	rdap, whois := &notebook{source: e.rdap}, &notebook{source: e.whois}
	found, err := e.noting(rdap, whois).climb(ctx, ext, name)
	if err != nil {
		return known{}, err
	}
	result := known{source: found.source, at: found.at}
	switch {
	case found.availability == Available:
		return result, nil
	case found.availability == Unknown:
		return known{}, registrar.Fault(Undetermined, "no source decides", nil)
	case found.reason == ReasonReserved:
		result.record.Status = []string{statusReserved}
		return result, nil
	}
	result.registered = true
	for _, told := range []struct {
		by    Source
		notes *notebook
	}{{SourceRDAP, rdap}, {SourceWHOIS, whois}} {
		if record := told.notes.read(ctx, ext, name); !record.empty() {
			result.record, result.source = *record, told.by
			return result, nil
		}
	}
	return result, nil
}

// noting is the engine with two of its sources listened to.
func (e *Engine) noting(rdap, whois *notebook) *Engine {
	listening := *e
	if e.rdap != nil {
		listening.rdap = rdap
	}
	if e.whois != nil {
		listening.whois = whois
	}
	return &listening
}

// notebook passes questions on to a source and notes the record in its answer.
type notebook struct {
	source Records
	asked  bool
	record *Record
}

// Find asks the source.
func (n *notebook) Find(ctx context.Context, ext registrar.Extension, name registrar.Name) (Finding, error) {
	n.asked = true
	finding, err := n.source.Find(ctx, ext, name)
	if err == nil && finding.State == Registered {
		n.record = finding.Record
	}
	return finding, err
}

// read is the record that the source told, asking it if the ladder was decided
// before its turn. A failure is no record: that the name is registered is
// already known, and the rest is a bonus.
func (n *notebook) read(ctx context.Context, ext registrar.Extension, name registrar.Name) *Record {
	if !n.asked && n.source != nil {
		_, _ = n.Find(ctx, ext, name)
	}
	return n.record
}

func (r *Record) empty() bool {
	return r == nil || len(r.Status) == 0 && len(r.Nameservers) == 0 && r.Registrar == "" &&
		r.Created.IsZero() && r.Updated.IsZero() && r.Expires.IsZero()
}

// clone keeps what is remembered out of callers' hands.
func (r *Record) clone() Record {
	copied := *r
	copied.Status, copied.Nameservers = slices.Clone(r.Status), slices.Clone(r.Nameservers)
	return copied
}
