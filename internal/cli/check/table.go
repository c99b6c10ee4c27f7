package check

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// unlimited is the width of output that does not go to a terminal.
const unlimited = math.MaxInt

const (
	gap = 2
	// maxDomainWidth bounds the first column, so that one long name does not push all
	// other columns off the screen.
	maxDomainWidth = 60
	// minDomainWidth is the width of the first column in a narrow window.
	minDomainWidth = 12
)

// state is the label of a result and its ANSI colour.
type state struct{ label, colour string }

var (
	stateFree = state{"free", "1;32"}
	// stateLookupOnly: the configured service does not sell the free name.
	stateLookupOnly = state{"free, lookup only", "33"}
	statePremium    = state{"premium", "1;35"}
	stateTaken      = state{"taken", "31"}
	stateReserved   = state{"reserved", "33"}
	stateUnknown    = state{"unknown", "33"}
	stateError      = state{"error", "1;31"}
	statePending    = state{"…", "2"}
)

func stateOf(r row) state {
	switch {
	case r.failed():
		return stateError
	case r.Available == nil:
		return stateUnknown
	case *r.Available && r.Premium:
		return statePremium
	case *r.Available && r.Orderable != nil && !*r.Orderable:
		return stateLookupOnly
	case *r.Available:
		return stateFree
	case r.Reason == "reserved":
		return stateReserved
	default:
		return stateTaken
	}
}

type column struct {
	label string
	width int
	money bool
	cell  func(row) string
}

// columns are in order of priority: a narrow window drops the last ones first.
var columns = []column{
	{"EUR net", 9, true, firstCharge},
	{"renewal", 9, true, func(r row) string { return price(r, r.RenewEUR) }},
	{"source", 6, false, func(r row) string { return r.Source }},
	{"time", 8, false, clockTime},
}

// price returns "" for names that are taken.
func price(r row, c *registrar.Cents) string {
	if r.Available != nil && !*r.Available {
		return ""
	}
	return formatCents(c)
}

// firstCharge returns the yearly price, with the years of the minimum term.
func firstCharge(r row) string {
	text := price(r, r.RegisterEUR)
	if text != "" && r.MinYears > 1 {
		text = strconv.Itoa(r.MinYears) + "×" + text
	}
	return text
}

func clockTime(r row) string {
	at, err := time.Parse(time.RFC3339, r.CheckedAt)
	if err != nil {
		return ""
	}
	return at.Local().Format(time.TimeOnly)
}

// table formats rows. Its column width fits all names of the batch, so that lines stay
// aligned while results arrive.
type table struct {
	domain int // width of the first column
	colour bool
	// unit is appended to amounts where no header names it.
	unit string
}

var stateWidth = cli.CellWidth(stateLookupOnly.label)

func newTable(names []string, colour bool) table {
	widest := cli.CellWidth("domain")
	for _, name := range names {
		widest = max(widest, cli.CellWidth(cli.Printable(name)))
	}
	return table{domain: min(widest, maxDomainWidth), colour: colour}
}

// fit returns the width of the first column and the number of columns after the state
// that a window can show.
func (t table) fit(window int) (domain, shown int) {
	rest := window - gap - stateWidth
	need := t.domain
	for shown < len(columns) && need+gap+columns[shown].width <= rest {
		need += gap + columns[shown].width
		shown++
	}
	return max(minDomainWidth, min(t.domain, rest)), shown
}

func (t table) header(window int) string {
	domain, shown := t.fit(window)
	text := cli.Pad("domain", domain, false) + cli.Spaces(gap) + cli.Pad("state", stateWidth, false)
	for _, c := range columns[:shown] {
		text += cli.Spaces(gap) + cli.Pad(c.label, c.width, c.money)
	}
	return t.paint(strings.TrimRight(cli.Truncate(text, window), " "), "1")
}

// line formats one row, never wider than the window.
func (t table) line(r row, window int) string { return t.draw(r, stateOf(r), window) }

func (t table) pending(name string, window int) string {
	return t.draw(row{Domain: name}, statePending, window)
}

func (t table) draw(r row, what state, window int) string {
	domain, shown := t.fit(window)
	name := cli.Printable(r.Domain)
	if window != unlimited { // truncate only on terminals
		name = cli.Truncate(name, domain)
	}
	name = cli.Pad(name, domain, false)
	remaining := window - cli.CellWidth(name) - gap - cli.CellWidth(what.label)
	if remaining < 0 {
		return cli.Truncate(name+cli.Spaces(gap)+what.label, window)
	}
	tail := cli.Spaces(stateWidth - cli.CellWidth(what.label))
	if r.failed() {
		tail += cli.Spaces(gap) + cli.Printable(r.Message)
	} else {
		for _, c := range columns[:shown] {
			tail += cli.Spaces(gap) + t.cell(c, r)
		}
	}
	return name + cli.Spaces(gap) + t.paint(what.label, what.colour) + strings.TrimRight(cli.Truncate(tail, remaining), " ")
}

func (t table) cell(c column, r row) string {
	text, width := cli.Printable(c.cell(r)), c.width
	if c.money {
		width += len(t.unit)
		if text != "" {
			text += t.unit
		}
	}
	return cli.Pad(text, width, c.money)
}

func (t table) paint(text, colour string) string {
	if !t.colour || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}
