// Package catalog is the price list: which extensions we carry, what they cost
// and who answers for them.
//
// A Catalog is read whole or not at all. Parse checks every row and reports
// every mistake with its line, so that an operator mends a list in one go, and a
// list with one wrong price never comes into force. A Catalog never changes;
// Live swaps one for another while requests are running.
//
// The list that ships with the program is also the built-in RDAP bootstrap: its
// rdap column holds facts that age, so a fresher bootstrap from IANA replaces
// them. A value that an operator changed is a decision, and stays (RDAPPinned).
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

// Catalog is one complete, checked price list.
type Catalog struct {
	extensions []registrar.Extension
	byTLD      map[string]registrar.Extension
}

// Shipped is the list that comes with the program.
var Shipped = sync.OnceValues(func() (*Catalog, error) {
	c, err := parse(bytes.NewReader(shippedCSV), nil)
	if err != nil {
		return nil, fmt.Errorf("the price list inside the program: %w", err)
	}
	return c, nil
})

func newCatalog(extensions []registrar.Extension) *Catalog {
	c := &Catalog{extensions: extensions, byTLD: make(map[string]registrar.Extension, len(extensions))}
	for _, ext := range extensions {
		c.byTLD[ext.TLD] = ext
	}
	return c
}

// Extension finds a row by its TLD (lower case, leading dot).
func (c *Catalog) Extension(tld string) (registrar.Extension, bool) {
	ext, ok := c.byTLD[tld]
	return ext, ok
}

// All is every row in alphabetical order. The caller owns the slice.
func (c *Catalog) All() []registrar.Extension { return slices.Clone(c.extensions) }

// Len is the number of extensions.
func (c *Catalog) Len() int { return len(c.extensions) }

// withSales is the same list with what is decided about each row.
func (c *Catalog) withSales(decide func(registrar.Extension) registrar.Sale) *Catalog {
	extensions := c.All()
	for i := range extensions {
		extensions[i].Sale = decide(extensions[i])
	}
	return newCatalog(extensions)
}

// Live is the catalogue in force. It is safe for concurrent use.
type Live struct {
	current atomic.Pointer[Catalog]
	// swapMu guards decide, and keeps one swap from overtaking another.
	swapMu      sync.Mutex
	saleDecider func(registrar.Extension) registrar.Sale
}

// NewLive puts c in force.
func NewLive(c *Catalog) *Live {
	l := &Live{}
	l.current.Store(c)
	return l
}

// Replace puts c in force. Answers that are under way keep the old one. What can be
// ordered is decided here, once for the whole list, and not for each answer.
func (l *Live) Replace(c *Catalog) {
	l.swapMu.Lock()
	defer l.swapMu.Unlock()
	if l.saleDecider != nil {
		c = c.withSales(l.saleDecider)
	}
	l.current.Store(c)
}

// SetSaleDecider sets what decides which extensions can be ordered, for the list in force and
// for every later one.
func (l *Live) SetSaleDecider(decider func(registrar.Extension) registrar.Sale) {
	l.swapMu.Lock()
	defer l.swapMu.Unlock()
	l.saleDecider = decider
	l.current.Store(l.current.Load().withSales(decider))
}

// Catalog is the list in force at this moment.
func (l *Live) Catalog() *Catalog { return l.current.Load() }

// Extension finds a row of the list in force.
func (l *Live) Extension(tld string) (registrar.Extension, bool) {
	return l.current.Load().Extension(tld)
}

// All is every row of the list in force, in alphabetical order. The caller owns
// the slice.
func (l *Live) All() []registrar.Extension { return l.current.Load().All() }

// Edition is a price list with its number: the number of imports up to it, 0 for the
// list that ships with the program while nothing has been imported.
type Edition struct {
	Number int64
	List   *Catalog
}

// ErrEditionConflict is returned by an import that was compared with an edition that is
// no longer in force.
var ErrEditionConflict = errors.New("catalog: another price list came into force meanwhile")

// Change is one difference between two lists. An empty Field means that the
// whole row came (Old is empty) or went (New is empty).
type Change struct {
	TLD   string
	Field string
	Old   string
	New   string
}

// Diff lists what changes when next replaces c, in alphabetical order.
func (c *Catalog) Diff(next *Catalog) []Change {
	var changes []Change
	for _, ext := range c.extensions {
		after, ok := next.byTLD[ext.TLD]
		if !ok {
			changes = append(changes, Change{TLD: ext.TLD, Old: strings.Join(csvRecord(ext), ",")})
			continue
		}
		was, is := csvRecord(ext), csvRecord(after)
		for i, column := range columns {
			if was[i] != is[i] {
				changes = append(changes, Change{TLD: ext.TLD, Field: column, Old: was[i], New: is[i]})
			}
		}
	}
	for _, ext := range next.extensions {
		if _, ok := c.byTLD[ext.TLD]; !ok {
			changes = append(changes, Change{TLD: ext.TLD, New: strings.Join(csvRecord(ext), ",")})
		}
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return strings.Compare(a.TLD, b.TLD) })
	return changes
}

// priceColumns are the columns that are money.
var priceColumns = map[string]bool{"register": true, "renew": true, "transfer": true, "restore": true}

// Prices returns both prices of a changed price; ok is false for any other change.
func (c Change) Prices() (was, is registrar.Cents, ok bool) {
	if !priceColumns[c.Field] {
		return 0, 0, false
	}
	was, err := registrar.ParseCents(c.Old)
	if err != nil {
		return 0, 0, false
	}
	is, err = registrar.ParseCents(c.New)
	return was, is, err == nil
}

// NeedsConfirmation reports whether a change looks like a mistake: a price that rises
// or falls by more than factor, becomes free or stops being free, or an extension that
// disappears.
func (c Change) NeedsConfirmation(factor float64) bool {
	if c.Field == "" {
		return c.New == ""
	}
	was, is, ok := c.Prices()
	if !ok {
		return false
	}
	low, high := min(was, is), max(was, is)
	return float64(high) > factor*float64(low)
}

// NeedConfirmation counts the changes that look like mistakes.
func NeedConfirmation(changes []Change, factor float64) (count int) {
	for _, change := range changes {
		if change.NeedsConfirmation(factor) {
			count++
		}
	}
	return count
}
