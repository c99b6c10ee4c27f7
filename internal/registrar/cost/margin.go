package cost

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// MonthFormat is how a month is stored, in Germany.
const MonthFormat = "2006-01"

// Margin is the revenue and cost of items, less what credit notes and registries have returned.
// Items of unknown cost are part of Items and Revenue, but not of Cost.
type Margin struct {
	Items          int
	Revenue, Cost  registrar.Cents
	UnknownItems   int
	UnknownRevenue registrar.Cents
}

// Known is the revenue less the cost of the items whose cost is known.
func (m Margin) Known() registrar.Cents { return m.Revenue - m.UnknownRevenue - m.Cost }

// HasCost reports whether the cost of at least one item is known, or something was returned for
// such an item: otherwise there is no margin.
func (m Margin) HasCost() bool {
	return m.Items > m.UnknownItems || m.Cost != 0 || m.Revenue != m.UnknownRevenue
}

// Add adds up margins.
func (m *Margin) Add(b Margin) {
	m.Items, m.Revenue, m.Cost = m.Items+b.Items, m.Revenue+b.Revenue, m.Cost+b.Cost
	m.UnknownItems, m.UnknownRevenue = m.UnknownItems+b.UnknownItems, m.UnknownRevenue+b.UnknownRevenue
}

// MonthMargin is the margin of an extension in a month.
type MonthMargin struct {
	Month, TLD string
	Margin
}

// Store persists charges, rates and entries of accounts. Package provision adds charges.
type Store interface {
	// ListMargins returns one row for each month and extension, in this order.
	ListMargins(ctx context.Context, first, last string) ([]MonthMargin, error)
	FirstMarginMonth(ctx context.Context) (string, bool, error)
	ListExchangeRates(ctx context.Context, since time.Time) ([]Rate, error)
	ImportExchangeRates(ctx context.Context, rates []Rate, event registrar.AuditEvent) error
	AddRegistryFunds(ctx context.Context, entry Funds, event registrar.AuditEvent) error
	ListRegistryFunds(ctx context.Context, limit int) ([]Funds, error)
}

// Margins shows margins to operators.
type Margins struct {
	store Store
	now   func() time.Time
}

// NewMargins returns a Margins. now is the business time.
func NewMargins(store Store, now func() time.Time) (*Margins, error) {
	if store == nil || now == nil {
		return nil, errors.New("cost: NewMargins needs a store and a clock")
	}
	return &Margins{store, now}, nil
}

// Year is the margin of a calendar year in Germany.
type Year struct {
	Year        int
	Months      [12]Margin
	Extensions  []MonthMargin // the sums of the year, the largest revenue first; Month is empty
	Rows        []MonthMargin // by month and extension
	Total       Margin
	First, Last int // the years that have charges, and the present one
}

// Of returns the margin of a year; a year without charges is replaced by the nearest one that
// may have some.
func (m *Margins) Of(ctx context.Context, operator registrar.Actor, year int) (Year, error) {
	if err := operator.RequireOperator(); err != nil {
		return Year{}, err
	}
	result := Year{Last: m.now().In(registrar.Germany()).Year()}
	result.First = result.Last
	first, found, err := m.store.FirstMarginMonth(ctx)
	if err != nil {
		return Year{}, err
	}
	if found {
		if result.First, err = strconv.Atoi(first[:4]); err != nil {
			return Year{}, err
		}
		result.Last = max(result.First, result.Last)
	}
	result.Year = min(max(year, result.First), result.Last)
	text := strconv.Itoa(result.Year)
	rows, err := m.store.ListMargins(ctx, text+"-01", text+"-12")
	if err != nil {
		return Year{}, err
	}
	err = result.sum(rows)
	return result, err
}

// sum adds up the rows.
func (y *Year) sum(rows []MonthMargin) error {
	y.Rows = rows
	byTLD := make(map[string]int)
	for _, row := range rows {
		month, err := time.Parse(MonthFormat, row.Month)
		if err != nil {
			return err
		}
		y.Months[month.Month()-1].Add(row.Margin)
		y.Total.Add(row.Margin)
		i, known := byTLD[row.TLD]
		if !known {
			i = len(y.Extensions)
			byTLD[row.TLD] = i
			y.Extensions = append(y.Extensions, MonthMargin{TLD: row.TLD})
		}
		y.Extensions[i].Add(row.Margin)
	}
	slices.SortFunc(y.Extensions, func(a, b MonthMargin) int {
		if a.Revenue != b.Revenue {
			return int(min(max(b.Revenue-a.Revenue, -1), 1))
		}
		return strings.Compare(a.TLD, b.TLD)
	})
	return nil
}

// Credit is what a credit note takes back from the revenue of one item.
type Credit struct {
	ID    string // the refund's and the order item's
	TLD   string
	Net   registrar.Cents
	Known bool      // whether the cost of the item is known in euros
	At    time.Time // when the credit note was issued
}

// Margin is what a credit adds to the sums of its month.
func (c Credit) Margin() Margin {
	if c.Known {
		return Margin{Revenue: -c.Net}
	}
	return Margin{Revenue: -c.Net, UnknownRevenue: -c.Net}
}

// Margin is what a charge adds to the sums of its month.
func (c Charge) Margin() Margin {
	switch {
	case c.Operation == Delete:
		return Margin{Cost: c.Euros}
	case c.EurosKnown:
		return Margin{Items: 1, Revenue: c.Revenue, Cost: c.Euros}
	default:
		return Margin{Items: 1, Revenue: c.Revenue, UnknownItems: 1, UnknownRevenue: c.Revenue}
	}
}
