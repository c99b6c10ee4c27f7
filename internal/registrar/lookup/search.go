package lookup

import (
	"context"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/tracing"
)

// DefaultExtensions are searched if the query has no extension, in the contract's order.
func DefaultExtensions() []string {
	return []string{".de", ".com", ".eu", ".net", ".org", ".shop", ".io", ".dev"}
}

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
	return e.SearchEach(ctx, query, nil)
}

// SearchEach is like Search, but also calls found for each entry once it is decided.
// found may be nil.
func (e *Engine) SearchEach(ctx context.Context, query string, found func(entry Entry, done, total int)) (Result, error) {
	ctx, span := tracing.Start(ctx, "lookup", "search")
	result, err := e.searchEach(ctx, query, found)
	span.End(err)
	return result, err
}

func (e *Engine) searchEach(ctx context.Context, query string, found func(entry Entry, done, total int)) (Result, error) {
	q, err := registrar.ParseQuery(query, e.isListed)
	if err != nil {
		return Result{}, err
	}
	extensions := DefaultExtensions()
	if q.TLD != "" {
		extensions = []string{q.TLD}
	}
	result := Result{Label: q.Label, Entries: make([]Entry, len(extensions))}
	decided := make(chan int, len(extensions))
	for i, tld := range extensions {
		go func() {
			result.Entries[i] = e.checkEntry(ctx, q.Label, tld)
			decided <- i
		}()
	}
	for done := range extensions {
		if i := <-decided; found != nil {
			found(result.Entries[i], done+1, len(extensions))
		}
	}
	return result, nil
}

func (e *Engine) checkEntry(ctx context.Context, label, tld string) Entry {
	answer, err := e.checkName(ctx, registrar.NewName(label, tld))
	return Entry{Answer: answer, Err: err}
}
