package cost

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// MaxRateAge is how long a rate stays in force without a newer one. The bank publishes rates on
// each working day.
const MaxRateAge = 31 * 24 * time.Hour

const (
	rateDigits = 6
	ratePerOne = 1_000_000
	// Limits of an import: all currencies of the bank's time series of about three years.
	maxRates     = 50_000
	maxRateBytes = 8 << 20
	maxRateYears = 3
)

// Rate is how many units of a currency one euro is worth from a day on.
type Rate struct {
	Day      string // 2006-01-02
	Currency string
	Value    int64 // in millionths
}

// Rates are the rates in force. It is safe for concurrent use, and nil is without rates.
type Rates struct {
	table atomic.Pointer[map[string][]Rate]
}

// Set replaces all rates. Of two rates for a day the later one in the list counts.
func (r *Rates) Set(rates []Rate) {
	table := make(map[string][]Rate)
	for _, rate := range rates {
		table[rate.Currency] = append(table[rate.Currency], rate)
	}
	for _, list := range table {
		slices.SortStableFunc(list, func(a, b Rate) int { return strings.Compare(a.Day, b.Day) })
	}
	r.table.Store(&table)
}

// Euros converts an amount with the rate in force on the day of at, half cents up. It is false
// if there is no amount or no rate.
func (r *Rates) Euros(amount registrar.Money, at time.Time) (registrar.Cents, bool) {
	if amount.IsZero() {
		return 0, false
	}
	rate, ok := r.PerEuro(amount.Currency, at)
	if !ok {
		return 0, false
	}
	// cents = amount / 10000 * 100 / (rate / 1000000), rounded half away from zero.
	numerator := new(big.Int).Mul(big.NewInt(int64(amount.Amount)), big.NewInt(2*ratePerOne))
	denominator := big.NewInt(100 * rate)
	half := new(big.Int).Set(denominator)
	if amount.Amount < 0 {
		half.Neg(half)
	}
	cents := numerator.Add(numerator, half).Quo(numerator, denominator.Mul(denominator, big.NewInt(2)))
	return registrar.Cents(cents.Int64()), cents.IsInt64()
}

// PerEuro returns how many millionths of a currency's unit a euro is worth on the day of at. It is
// false if there is no rate.
func (r *Rates) PerEuro(currency string, at time.Time) (int64, bool) {
	if currency == Euro {
		return ratePerOne, true
	}
	rate, found := r.at(currency, at)
	return rate.Value, found
}

func (r *Rates) at(currency string, at time.Time) (Rate, bool) {
	if r == nil || r.table.Load() == nil {
		return Rate{}, false
	}
	list := (*r.table.Load())[currency]
	day := at.In(registrar.Germany())
	text := day.Format(time.DateOnly)
	after, _ := slices.BinarySearchFunc(list, text, func(rate Rate, day string) int {
		if rate.Day <= day {
			return -1
		}
		return 1
	})
	if after == 0 || list[after-1].Day < day.Add(-MaxRateAge).Format(time.DateOnly) {
		return Rate{}, false
	}
	return list[after-1], true
}

func parseRate(text string) (int64, error) {
	whole, part, _ := strings.Cut(strings.TrimSpace(text), ".")
	part = strings.TrimRight(part, "0")
	if whole == "" || len(whole) > 9 || len(part) > rateDigits || strings.Trim(whole+part, "0123456789") != "" {
		return 0, fmt.Errorf("%q is not a rate with at most six decimals", text)
	}
	value, err := strconv.ParseInt(whole+part+strings.Repeat("0", rateDigits-len(part)), 10, 64)
	if err == nil && value == 0 {
		err = errors.New("a rate is above 0")
	}
	return value, err
}

// ParseRates parses a CSV file of the European Central Bank, eurofxref.csv or
// eurofxref-hist.csv: a line with "Date" and the currencies, then one line per day. A rate that
// is not available is skipped, and so are days more than three years before now. One wrong
// value rejects the file.
func ParseRates(file io.Reader, now time.Time) ([]Rate, error) {
	limited := &io.LimitedReader{R: file, N: maxRateBytes + 1}
	reader := csv.NewReader(limited)
	reader.TrimLeadingSpace, reader.FieldsPerRecord = true, -1
	header, err := reader.Read()
	if err != nil || len(header) < 2 || strings.TrimSpace(header[0]) != "Date" {
		return nil, errors.New(`line 1: the first line must be "Date" and currencies, as in the European Central Bank's eurofxref.csv`)
	}
	var rates []Rate
	for {
		fields, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		line, _ := reader.FieldPos(0)
		day, err := parseDay(strings.TrimSpace(fields[0]))
		switch {
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", line, err)
		case day.After(now.AddDate(0, 0, 1)):
			return nil, fmt.Errorf("line %d: %s lies in the future", line, fields[0])
		case day.Before(now.AddDate(-maxRateYears, 0, 0)):
			continue
		}
		for i, field := range fields[1:] {
			field = strings.TrimSpace(field)
			if field == "" || field == "N/A" {
				continue
			}
			if i+1 >= len(header) || !registrar.ValidCurrency(strings.TrimSpace(header[i+1])) {
				return nil, fmt.Errorf("line %d: column %d has no currency", line, i+2)
			}
			value, err := parseRate(field)
			if err != nil {
				return nil, fmt.Errorf("line %d, %s: %w", line, strings.TrimSpace(header[i+1]), err)
			}
			rates = append(rates, Rate{day.Format(time.DateOnly), strings.TrimSpace(header[i+1]), value})
		}
		if len(rates) > maxRates {
			return nil, fmt.Errorf("line %d: more than %d rates", line, maxRates)
		}
	}
	if limited.N <= 0 {
		return nil, fmt.Errorf("the file is larger than %d bytes", maxRateBytes)
	}
	if len(rates) == 0 {
		return nil, errors.New("the file has no rates of the last three years")
	}
	return rates, nil
}

func parseDay(text string) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, "2 January 2006"} {
		if day, err := time.Parse(layout, text); err == nil {
			return day, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a date", text)
}
