// Package retention has what happens to personal data when an account is closed: which tables are
// deleted, which are kept, for how long and because of which law. retention.csv has a row for each
// sort of data; a test of package store compares it with what a closure does.
//
// Nothing is deleted at the end of a period without an operator (docs/operating.md).
package retention

import (
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Fate is what a closure does to data.
type Fate string

// The fates.
const (
	Deleted Fate = "deleted"
	Kept    Fate = "kept"
	Expires Fate = "expires" // deleted after a short time, with and without a closure
)

// Start is when a period begins.
type Start string

// The starts.
const (
	FromClosure Start = "closure"
	FromYearEnd Start = "year_end" // of the closure, after which no record is made
)

// Rule is what happens to one sort of data.
type Rule struct {
	Tables    []string
	Data      string // names the sort; texts have it
	AtClosure Fate
	Years     int // of what is kept
	From      Start
	Source    string // the law
}

// Until is the last day on which data of an account that is closed at a time may be kept.
func (r Rule) Until(closed time.Time) time.Time {
	if r.From == FromYearEnd {
		return time.Date(closed.Year()+r.Years, time.December, 31, 0, 0, 0, 0, time.UTC)
	}
	return closed.AddDate(r.Years, 0, 0)
}

//go:embed retention.csv
var table string

var rules = sync.OnceValues(func() ([]Rule, error) { return parse(table) })

func parse(table string) ([]Rule, error) {
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("retention: %w", err)
	}
	if len(rows) == 0 || strings.Join(rows[0], ",") != "tables,data,at_closure,years,from,source" {
		return nil, errors.New("retention: wrong columns")
	}
	var parsed []Rule
	seen := make(map[string]bool)
	for i, row := range rows[1:] {
		rule := Rule{Tables: strings.Fields(row[0]), Data: row[1], AtClosure: Fate(row[2]), From: Start(row[4]), Source: row[5]}
		kept := rule.AtClosure == Kept
		if kept {
			rule.Years, err = strconv.Atoi(row[3])
		}
		if err != nil || kept != (rule.Years > 0) || kept != (rule.From == FromClosure || rule.From == FromYearEnd) ||
			!slices.Contains([]Fate{Deleted, Kept, Expires}, rule.AtClosure) || rule.Source == "" {
			return nil, fmt.Errorf("retention: line %d: not a complete rule", i+2)
		}
		for _, name := range rule.Tables {
			if seen[name] {
				return nil, fmt.Errorf("retention: line %d: %s appears twice", i+2, name)
			}
			seen[name] = true
		}
		parsed = append(parsed, rule)
	}
	return parsed, nil
}

// Rules returns all rules in the order of the table.
func Rules() []Rule {
	all, err := rules()
	if err != nil {
		panic(err) // the table is compiled in, and a test reads it
	}
	return all
}

// RulesOfKept returns the rules of what a closure keeps.
func RulesOfKept() []Rule {
	return slices.DeleteFunc(slices.Clone(Rules()), func(r Rule) bool { return r.AtClosure != Kept })
}
