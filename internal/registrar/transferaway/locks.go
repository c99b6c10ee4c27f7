package transferaway

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Event is what a lock begins with.
type Event string

// The events.
const (
	EventRegistration     Event = "registration"
	EventTransfer         Event = "transfer"
	EventRegistrantChange Event = "registrant_change"
)

// Events returns all events.
func Events() []Event { return []Event{EventRegistration, EventTransfer, EventRegistrantChange} }

// Lock is a period in which a transfer away may be refused.
type Lock struct {
	Event Event
	Days  int
	Until time.Time
}

type lockRule struct {
	tld         string // or gtld
	event       Event
	days        int
	from, until time.Time // the rule is in force in between; a zero until means that it has no end
}

//go:embed transferlocks.csv
var lockTable string

var lockRules = sync.OnceValues(func() ([]lockRule, error) { return parseLockRules(lockTable) })

func parseLockRules(table string) ([]lockRule, error) {
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("transferaway: locks: %w", err)
	}
	rules := make([]lockRule, 0, len(rows))
	for line, row := range rows[1:] {
		rule := lockRule{tld: row[0], event: Event(row[1])}
		if rule.days, err = strconv.Atoi(row[2]); err != nil || rule.days <= 0 || !slices.Contains(Events(), rule.event) || row[5] == "" {
			return nil, fmt.Errorf("transferaway: locks: line %d needs an event, a number of days and a source", line+2)
		}
		if rule.from, err = time.Parse(time.DateOnly, row[3]); err != nil {
			return nil, fmt.Errorf("transferaway: locks: line %d: %w", line+2, err)
		}
		if row[4] != "" {
			if rule.until, err = time.Parse(time.DateOnly, row[4]); err != nil {
				return nil, fmt.Errorf("transferaway: locks: line %d: %w", line+2, err)
			}
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

// LocksOf returns the locks of a domain of a TLD (".co.uk") that are in force, the longest
// first. Events that are zero or missing have not happened.
func LocksOf(tld string, events map[Event]time.Time, now time.Time) []Lock {
	rules, err := lockRules()
	if err != nil {
		panic(err) // the table is compiled in, and a test reads it
	}
	return activeLocks(rules, tld, events, now)
}

func activeLocks(rules []lockRule, tld string, events map[Event]time.Time, now time.Time) (locks []Lock) {
	generic := registrar.IsGenericTLD(tld)
	for _, rule := range rules {
		at := events[rule.event]
		applies := rule.tld == tld || rule.tld == "gtld" && generic
		if !applies || at.IsZero() || now.Before(rule.from) || !rule.until.IsZero() && !now.Before(rule.until) {
			continue
		}
		if until := at.AddDate(0, 0, rule.days); now.Before(until) {
			locks = append(locks, Lock{rule.event, rule.days, until})
		}
	}
	slices.SortStableFunc(locks, func(a, b Lock) int { return b.Until.Compare(a.Until) })
	return locks
}
