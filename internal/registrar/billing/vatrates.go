package billing

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

//go:embed vatrates.csv
var ratesCSV []byte

// Rate is the VAT rate of a place on a day.
type Rate struct {
	// BasisPoints are hundredths of a percent: 1900. They are 0 if Outside.
	BasisPoints int
	Outside     bool // a part of a member state outside the EU's VAT territory
}

// Rates is a validated, immutable table of rates.
type Rates struct {
	byCountry map[string][]ratesRow
}

// ratesRow is one row of the table. Of the matching rows those with postal codes win, and
// of these the one with the latest day.
type ratesRow struct {
	rate  Rate
	from  string // 2006-01-02; empty means always
	codes []codeRange
}

// codeRange is a range of prefixes, so suffixes of postal codes (9500-123) do not matter.
type codeRange struct{ first, last string }

// EmbeddedRates is the built-in table.
var EmbeddedRates = sync.OnceValues(func() (*Rates, error) {
	rates, err := parseRates(bytes.NewReader(ratesCSV))
	if err != nil {
		return nil, fmt.Errorf("billing: embedded VAT rates: %w", err)
	}
	return rates, nil
})

// Rate returns the standard rate at a place on the day in Germany; false outside the EU.
func (r *Rates) Rate(country, postalCode string, at time.Time) (Rate, bool) {
	rows := r.byCountry[country]
	day := at.In(registrar.Germany()).Format(time.DateOnly)
	code := digits(postalCode)
	var best *ratesRow
	for i := range rows {
		row := &rows[i]
		if row.from > day || !row.covers(code) {
			continue
		}
		if best == nil || row.special() && !best.special() || row.special() == best.special() && row.from >= best.from {
			best = row
		}
	}
	if best == nil {
		return Rate{}, false
	}
	return best.rate, true
}

func (r *ratesRow) special() bool { return len(r.codes) > 0 }

func (r *ratesRow) covers(code string) bool {
	return !r.special() || slices.ContainsFunc(r.codes, func(c codeRange) bool {
		n := len(c.first)
		return len(code) >= n && c.first <= code[:n] && code[:n] <= c.last
	})
}

// digits keeps only the digits: customers write D-78266 and 630 86.
func digits(text string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, text)
}

func parseRates(table io.Reader) (*Rates, error) {
	reader := csv.NewReader(table)
	reader.Comment = '#'
	reader.FieldsPerRecord = 5
	records, err := reader.ReadAll()
	if err != nil {
		return nil, err
	}
	rates := &Rates{byCountry: make(map[string][]ratesRow)}
	for i, record := range records[1:] {
		row, err := parseRatesRow(record)
		if err != nil {
			return nil, fmt.Errorf("row %d (%s): %w", i+1, record[0], err)
		}
		rates.byCountry[record[0]] = append(rates.byCountry[record[0]], row)
	}
	return rates, nil
}

func parseRatesRow(record []string) (ratesRow, error) {
	country, from, rate, codes := record[0], record[1], record[2], record[3]
	row := ratesRow{from: from}
	if len(country) != 2 {
		return row, fmt.Errorf("country %q: want two letters", country)
	}
	if from != "" {
		if _, err := time.Parse(time.DateOnly, from); err != nil {
			return row, fmt.Errorf("day %q: want a date like 2021-01-01", from)
		}
	}
	if row.rate.Outside = rate == "outside"; !row.rate.Outside {
		points, err := parsePercent(rate)
		if err != nil {
			return row, err
		}
		row.rate.BasisPoints = points
	}
	for field := range strings.FieldsSeq(codes) {
		first, last, isRange := strings.Cut(field, "-")
		if !isRange {
			last = first
		}
		if digits(first) != first || first == "" || len(first) != len(last) || last < first {
			return row, fmt.Errorf("postal codes %q: want a range like 6991-6993", field)
		}
		row.codes = append(row.codes, codeRange{first, last})
	}
	return row, nil
}

// parsePercent parses 19 or 25.5 as basis points.
func parsePercent(text string) (int, error) {
	whole, decimals, _ := strings.Cut(text, ".")
	points, err := strconv.Atoi(whole + (decimals + "00")[:2])
	if err != nil || whole == "" || len(decimals) > 2 || points < 0 || points > 5000 {
		return 0, fmt.Errorf("rate %q: want a percentage like 25.5", text)
	}
	return points, nil
}

// Domestic is Germany's standard rate, for prices shown before the country is known.
func (r *Rates) Domestic(at time.Time) Rate {
	rate, _ := r.Rate(seller, "", at)
	return rate
}
