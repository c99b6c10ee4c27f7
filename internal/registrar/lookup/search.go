package lookup

import (
	"context"
	"slices"
	"sync"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// defaultExtensions are searched if the query has no extension, in the contract's order.
var defaultExtensions = []string{".de", ".com", ".eu", ".net", ".org", ".shop", ".io", ".dev"}

// DefaultExtensions returns the extensions searched by default, in the contract's order.
func DefaultExtensions() []string { return slices.Clone(defaultExtensions) }

// Entry is the result for one extension of a search. Err affects no other entry.
type Entry struct {
	Answer
	Err error
}

// Result is the result of a search.
type Result struct {
	Label   string
	Entries []Entry
}

// Search checks one name under the extension in the query, or else under the default ones
// in parallel. It fails as a whole only if the query is invalid.
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
