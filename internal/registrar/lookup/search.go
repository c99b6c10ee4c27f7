package lookup

import (
	"context"
	"slices"
	"sync"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// defaultExtensions are the extensions of a search without one, in the contract's order.
var defaultExtensions = []string{".de", ".com", ".eu", ".net", ".org", ".shop", ".io", ".dev"}

// DefaultExtensions are the extensions of a search without one, in the contract's order.
func DefaultExtensions() []string { return slices.Clone(defaultExtensions) }

// Entry is the outcome for one extension of a search. Err is set where this one
// check failed; the others stand.
type Entry struct {
	Answer
	Err error
}

// Result is the outcome of a search.
type Result struct {
	Label   string
	Entries []Entry
}

// Search answers for one name under the extension that was written with it, or
// else under the searched ones, all at once. It fails as a whole only if the
// query is wrong.
func (e *Engine) Search(ctx context.Context, query string) (Result, error) {
	q, err := registrar.ParseQuery(query, e.isListed)
	if err != nil {
		return Result{}, err
	}
	result := Result{Label: q.Label}
	if q.TLD != "" {
		result.Entries = []Entry{e.checkEntry(ctx, q.Label, q.TLD)}
		return result, nil
	}
	result.Entries = make([]Entry, len(defaultExtensions))
	var all sync.WaitGroup
	for i, tld := range defaultExtensions {
		all.Go(func() { result.Entries[i] = e.checkEntry(ctx, q.Label, tld) })
	}
	all.Wait()
	return result, nil
}

func (e *Engine) checkEntry(ctx context.Context, label, tld string) Entry {
	answer, err := e.checkName(ctx, registrar.NewName(label, tld))
	return Entry{Answer: answer, Err: err}
}
