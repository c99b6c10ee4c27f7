package invoice

import (
	"context"
	"errors"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

const (
	// A day is summed once it has been over for this long, so that a document whose
	// transaction began on it is stored.
	dayCloseDelay = time.Hour
	daysPerWrite  = 31
)

// Amounts are the sums of documents of one kind.
type Amounts struct {
	Documents       int
	Net, VAT, Gross registrar.Cents
}

func (a *Amounts) add(b Amounts) {
	a.Documents += b.Documents
	a.Net, a.VAT, a.Gross = a.Net+b.Net, a.VAT+b.VAT, a.Gross+b.Gross
}

// Sales are the sums of a period. Corrections are positive and reduce the revenue.
type Sales struct{ Invoices, Corrections Amounts }

// Net is the revenue without VAT.
func (s Sales) Net() registrar.Cents { return s.Invoices.Net - s.Corrections.Net }

// VAT is the VAT of the revenue.
func (s Sales) VAT() registrar.Cents { return s.Invoices.VAT - s.Corrections.VAT }

// Gross is the revenue with VAT.
func (s Sales) Gross() registrar.Cents { return s.Invoices.Gross - s.Corrections.Gross }

func (s *Sales) add(b Sales) {
	s.Invoices.add(b.Invoices)
	s.Corrections.add(b.Corrections)
}

// DaySales are the sums of one day in Germany, as 2006-01-02.
type DaySales struct {
	Day string
	Sales
}

// RevenueStore sums documents and keeps the sums of past days.
type RevenueStore interface {
	// FirstIssueTime returns when the first document was issued; false if there is none.
	FirstIssueTime(ctx context.Context) (time.Time, bool, error)
	// SumDocuments sums the documents issued from since on and before the other time.
	SumDocuments(ctx context.Context, since, before time.Time) (Sales, error)
	// LastRevenueDay returns the last day with stored sums; false if there is none.
	LastRevenueDay(ctx context.Context) (string, bool, error)
	// AddRevenueDays stores sums. Days that are stored already stay as they are.
	AddRevenueDays(ctx context.Context, days []DaySales) error
	ListRevenueDays(ctx context.Context, first, last string) ([]DaySales, error)
}

// Revenue sums up documents by month. It is safe for concurrent use.
type Revenue struct {
	store RevenueStore
	now   func() time.Time
}

// NewRevenue returns a Revenue. now is the business time.
func NewRevenue(store RevenueStore, now func() time.Time) (*Revenue, error) {
	if store == nil || now == nil {
		return nil, errors.New("invoice: NewRevenue needs a store and a clock")
	}
	return &Revenue{store, now}, nil
}

// Year is the revenue of a calendar year in Germany.
type Year struct {
	Year        int
	Months      [12]Sales
	First, Last int // the years that have documents, and the present one
}

// Total is the revenue of the whole year.
func (y Year) Total() (total Sales) {
	for _, month := range y.Months {
		total.add(month)
	}
	return total
}

// Of returns the revenue of a year; a year without documents is replaced by the nearest one
// that may have some.
func (r *Revenue) Of(ctx context.Context, operator registrar.Actor, year int) (Year, error) {
	if err := operator.RequireOperator(); err != nil {
		return Year{}, err
	}
	now := r.now().In(registrar.Germany())
	first, found, err := r.store.FirstIssueTime(ctx)
	if err != nil {
		return Year{}, err
	}
	if !found {
		return Year{Year: now.Year(), First: now.Year(), Last: now.Year()}, nil
	}
	open, err := r.closeDays(ctx, first, now)
	if err != nil {
		return Year{}, err
	}
	result := Year{First: first.In(registrar.Germany()).Year(), Last: max(now.Year(), first.In(registrar.Germany()).Year())}
	result.Year = min(max(year, result.First), result.Last)
	begin := r.day(result.Year, time.January, 1)
	days, err := r.store.ListRevenueDays(ctx, begin.Format(time.DateOnly), r.day(result.Year, time.December, 31).Format(time.DateOnly))
	if err != nil {
		return Year{}, err
	}
	for day := open; !day.After(now); day = r.next(day) {
		if day.Year() != result.Year {
			continue
		}
		sales, err := r.store.SumDocuments(ctx, day, r.next(day))
		if err != nil {
			return Year{}, err
		}
		days = append(days, DaySales{day.Format(time.DateOnly), sales})
	}
	for _, day := range days {
		date, err := time.Parse(time.DateOnly, day.Day)
		if err != nil {
			return Year{}, err
		}
		result.Months[date.Month()-1].add(day.Sales)
	}
	return result, nil
}

// closeDays stores the sums of the days that have ended, and returns the first day that has
// none. Each batch is stored on its own, so that an interrupted call is continued by the
// next one.
func (r *Revenue) closeDays(ctx context.Context, first, now time.Time) (open time.Time, err error) {
	last, found, err := r.store.LastRevenueDay(ctx)
	if err != nil {
		return time.Time{}, err
	}
	open = first.In(registrar.Germany())
	open = r.day(open.Year(), open.Month(), open.Day())
	if found {
		day, err := time.ParseInLocation(time.DateOnly, last, registrar.Germany())
		if err != nil {
			return time.Time{}, err
		}
		open = r.next(day)
	}
	var batch []DaySales
	for {
		ended := !now.Before(r.next(open).Add(dayCloseDelay))
		if len(batch) == daysPerWrite || !ended && len(batch) > 0 {
			if err := r.store.AddRevenueDays(ctx, batch); err != nil {
				return time.Time{}, err
			}
			batch = batch[:0]
		}
		if !ended {
			return open, nil
		}
		sales, err := r.store.SumDocuments(ctx, open, r.next(open))
		if err != nil {
			return time.Time{}, err
		}
		batch = append(batch, DaySales{open.Format(time.DateOnly), sales})
		open = r.next(open)
	}
}

func (r *Revenue) day(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, registrar.Germany())
}

func (r *Revenue) next(day time.Time) time.Time { return r.day(day.Year(), day.Month(), day.Day()+1) }
