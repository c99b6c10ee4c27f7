// Package catalog is the price list: which extensions we sell, their prices and the
// servers to query for them.
//
// A Catalog is loaded completely or not at all. Parse checks every row and reports every
// problem with its line, so that an operator can fix a list in one pass and a list with
// one wrong price never becomes active. A Catalog is immutable; Live swaps one for
// another while requests are running.
//
// The shipped list is also the built-in RDAP bootstrap: its rdap column ages, so a fresher
// bootstrap from IANA replaces it. A value that an operator changed is a decision and
// stays (RDAPPinned).
package catalog

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

//go:embed extensions.csv
var shippedCSV []byte

// Catalog is one complete, validated price list.
type Catalog struct {
	extensions []registrar.Extension
	byTLD      map[string]int // the index in extensions
}

// Shipped is the built-in list.
var Shipped = sync.OnceValues(func() (*Catalog, error) {
	c, err := parse(bytes.NewReader(shippedCSV), nil)
	if err != nil {
		return nil, fmt.Errorf("catalog: embedded price list: %w", err)
	}
	return c, nil
})

func newCatalog(extensions []registrar.Extension) *Catalog {
	c := &Catalog{extensions: extensions, byTLD: make(map[string]int, len(extensions))}
	for i := range extensions {
		c.byTLD[extensions[i].TLD] = i
	}
	return c
}

// Extension returns the row of a TLD (lower case, leading dot).
func (c *Catalog) Extension(tld string) (registrar.Extension, bool) {
	i, ok := c.byTLD[tld]
	if !ok {
		return registrar.Extension{}, false
	}
	return c.extensions[i], true
}

// All returns every row in alphabetical order. The caller owns the slice.
func (c *Catalog) All() []registrar.Extension { return slices.Clone(c.extensions) }

// Len returns the number of extensions.
func (c *Catalog) Len() int { return len(c.extensions) }

// withSales returns a copy with the Sale of each row set.
func (c *Catalog) withSales(decide func(registrar.Extension) registrar.Sale) *Catalog {
	extensions := c.All()
	for i := range extensions {
		extensions[i].Sale = decide(extensions[i])
	}
	return &Catalog{extensions: extensions, byTLD: c.byTLD}
}

// WithBelowCost returns a copy in which prices of a TLD may be below cost, or not; false if it is
// not listed.
func (c *Catalog) WithBelowCost(tld string, allowed bool) (*Catalog, bool) {
	i, listed := c.byTLD[tld]
	if !listed {
		return nil, false
	}
	extensions := c.All()
	extensions[i].BelowCost = allowed
	return &Catalog{extensions: extensions, byTLD: c.byTLD}, true
}

// Live is the active catalog. It is safe for concurrent use.
type Live struct {
	current atomic.Pointer[Catalog]
	// swapMu guards saleDecider and serialises swaps.
	swapMu      sync.Mutex
	saleDecider func(registrar.Extension) registrar.Sale
}

// NewLive returns a Live with c active.
func NewLive(c *Catalog) *Live {
	l := &Live{}
	l.current.Store(c)
	return l
}

// Replace activates c. Requests in flight keep the old list. What can be ordered is
// decided here, once for the whole list.
func (l *Live) Replace(c *Catalog) {
	l.swapMu.Lock()
	defer l.swapMu.Unlock()
	if l.saleDecider != nil {
		c = c.withSales(l.saleDecider)
	}
	l.current.Store(c)
}

// SetSaleDecider sets the function that decides which extensions can be ordered, for the
// active list and every later one.
func (l *Live) SetSaleDecider(decider func(registrar.Extension) registrar.Sale) {
	l.swapMu.Lock()
	defer l.swapMu.Unlock()
	l.saleDecider = decider
	l.current.Store(l.current.Load().withSales(decider))
}

// Catalog returns the active list.
func (l *Live) Catalog() *Catalog { return l.current.Load() }

// Extension returns a row of the active list.
func (l *Live) Extension(tld string) (registrar.Extension, bool) {
	return l.current.Load().Extension(tld)
}

// All returns every row of the active list, as Catalog.All does.
func (l *Live) All() []registrar.Extension { return l.current.Load().All() }

// Edition is a price list with its number: the count of imports up to it, 0 for the
// shipped list before the first import.
type Edition struct {
	Number int64
	List   *Catalog
}

// ErrEditionConflict is returned by an import that was compared with an earlier edition.
var ErrEditionConflict = errors.New("catalog: another price list was activated concurrently")

// Change is one difference between two lists. With an empty Field the whole row was added
// (Old is empty) or removed (New is empty).
type Change struct{ TLD, Field, Old, New string }

// Diff lists what changes when next replaces c, in alphabetical order.
func (c *Catalog) Diff(next *Catalog) []Change {
	var changes []Change
	for _, ext := range c.extensions {
		after, ok := next.Extension(ext.TLD)
		if !ok {
			changes = append(changes, Change{TLD: ext.TLD, Old: rowText(ext)})
			continue
		}
		was, is := csvRecord(ext), csvRecord(after)
		for i, column := range allColumns {
			if was[i] != is[i] {
				changes = append(changes, Change{TLD: ext.TLD, Field: column, Old: was[i], New: is[i]})
			}
		}
	}
	for _, ext := range next.extensions {
		if _, ok := c.byTLD[ext.TLD]; !ok {
			changes = append(changes, Change{TLD: ext.TLD, New: rowText(ext)})
		}
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return strings.Compare(a.TLD, b.TLD) })
	return changes
}

// rowText is a whole row, without its costs if it has none.
func rowText(ext registrar.Extension) string {
	return strings.Join(csvRecord(ext)[:widthOf(ext)], ",")
}

// Prices returns both prices of a changed price; ok is false for any other change.
func (c Change) Prices() (was, is registrar.Cents, ok bool) {
	switch c.Field {
	case "register", "renew", "transfer", "restore":
		was, wasErr := registrar.ParseCents(c.Old)
		is, isErr := registrar.ParseCents(c.New)
		return was, is, wasErr == nil && isErr == nil
	default:
		return 0, 0, false
	}
}

// NeedConfirmation counts the changes that look like mistakes: a price that rises or falls
// by more than factor, becomes free or stops being free, or an extension that disappears.
func NeedConfirmation(changes []Change, factor float64) (count int) {
	for _, change := range changes {
		was, is, ok := change.Prices()
		jumped := ok && float64(max(was, is)) > factor*float64(min(was, is))
		if removed := change.Field == "" && change.New == ""; jumped || removed {
			count++
		}
	}
	return count
}
