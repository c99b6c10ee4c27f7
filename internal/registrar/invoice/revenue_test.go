package invoice

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// revenueStore is a RevenueStore over a list of documents that counts how many it reads.
type revenueStore struct {
	documents []Document
	days      []DaySales
	read      int
}

func (s *revenueStore) FirstIssueTime(context.Context) (time.Time, bool, error) {
	if len(s.documents) == 0 {
		return time.Time{}, false, nil
	}
	return s.documents[0].IssuedAt, true, nil
}

func (s *revenueStore) SumDocuments(_ context.Context, since, before time.Time) (sales Sales, _ error) {
	for _, d := range s.documents {
		if d.IssuedAt.Before(since) || !d.IssuedAt.Before(before) {
			continue
		}
		s.read++
		sums := &sales.Invoices
		if d.Kind == Correction {
			sums = &sales.Corrections
		}
		sums.add(Amounts{1, d.Net, d.VAT, d.Gross})
	}
	return sales, nil
}

func (s *revenueStore) LastRevenueDay(context.Context) (string, bool, error) {
	if len(s.days) == 0 {
		return "", false, nil
	}
	return s.days[len(s.days)-1].Day, true, nil
}

func (s *revenueStore) AddRevenueDays(_ context.Context, days []DaySales) error {
	s.days = append(s.days, days...)
	return nil
}

func (s *revenueStore) ListRevenueDays(_ context.Context, first, last string) ([]DaySales, error) {
	return slices.DeleteFunc(slices.Clone(s.days), func(d DaySales) bool { return d.Day < first || d.Day > last }), nil
}

func TestRevenue_MonthsInGermanyMinusCorrections(t *testing.T) {
	t.Parallel()
	document := func(at string, kind Kind, net registrar.Cents) Document {
		issued, err := time.Parse(time.RFC3339, at)
		if err != nil {
			t.Fatal(err)
		}
		return Document{Kind: kind, IssuedAt: issued, Net: net, VAT: net / 5, Gross: net + net/5}
	}
	store := &revenueStore{documents: []Document{
		document("2025-12-31T22:59:59Z", Invoice, 1000), // still 2025 in Germany
		document("2025-12-31T23:00:00Z", Invoice, 2000), // already 2026
		document("2026-03-29T00:30:00Z", Invoice, 500),  // the day has 23 hours
		document("2026-03-31T21:59:59Z", Correction, 200),
		document("2026-03-31T22:00:00Z", Invoice, 700), // April
	}}
	now := time.Date(2026, 3, 31, 22, 30, 0, 0, time.UTC) // March has not been over for an hour
	revenue, err := NewRevenue(store, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	operator := registrar.Actor{Kind: registrar.ActorOperator, Through: "root"}
	check := func(year int, want map[time.Month]registrar.Cents) {
		t.Helper()
		got, err := revenue.Of(t.Context(), operator, year)
		if err != nil || got.Year != year || got.First != 2025 || got.Last != 2026 {
			t.Fatalf("%+v, %v", got, err)
		}
		for i, month := range got.Months {
			if net := want[time.Month(i+1)]; month.Net() != net || month.Gross() != net+net/5 || month.VAT() != net/5 {
				t.Errorf("%d-%02d: net %d, want %d", year, i+1, month.Net(), net)
			}
		}
	}
	months := map[time.Month]registrar.Cents{time.January: 2000, time.March: 300, time.April: 700}
	check(2026, months)
	check(2025, map[time.Month]registrar.Cents{time.December: 1000})
	if last := store.days[len(store.days)-1].Day; last != "2026-03-30" {
		t.Errorf("days are stored up to %s", last)
	}
	now = now.Add(time.Hour)
	check(2026, months)
	if len(store.days) != 91 || store.days[90].Day != "2026-03-31" { // from 31 December on
		t.Errorf("%d days", len(store.days))
	}
	store.read = 0
	check(2026, months)
	if store.read != 1 {
		t.Errorf("%d documents were read, want only that of the open day", store.read)
	}
	if _, err := revenue.Of(t.Context(), registrar.Actor{Kind: registrar.ActorPerson, Customer: "cus_1"}, 2026); registrar.CodeOf(err) != registrar.OperatorsOnly {
		t.Errorf("a customer got %v", err)
	}
}
