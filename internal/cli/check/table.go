package check

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// unlimited is the width of output that nobody looks at in a window.
const unlimited = math.MaxInt

const (
	gap = 2
	// maxDomainWidth bounds the first column, so that one long name does not push
	// the answers about all others off the screen.
	maxDomainWidth = 60
	// minDomainWidth is what the first column keeps when the window is small.
	minDomainWidth = 12
)

// state is what a person reads first: a word, and a colour for those who see it.
type state struct{ label, colour string }

var (
	stateFree = state{"frei/free", "1;32"}
	// stateUnsold: the service at hand looks the name up and does not sell it.
	stateLookupOnly = state{"free, lookup only", "33"}
	statePremium    = state{"premium", "1;35"}
	stateTaken      = state{"vergeben/taken", "31"}
	stateReserved   = state{"reserviert", "33"}
	stateUnknown    = state{"unbekannt/unknown", "33"}
	stateError      = state{"Fehler/error", "1;31"}
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

// column is one column behind the domain and the state.
type column struct {
	german, english string
	width           int
	money           bool
	cell            func(row) string
}

// columns stand in the order in which they are given up in a narrow window,
// last first.
var columns = []column{
	{"EUR netto", "EUR net", 9, true, func(r row) string { return firstCharge(r) }},
	{"Folgejahr", "next year", 9, true, func(r row) string { return price(r, r.RenewEUR) }},
	{"Quelle", "source", 6, false, func(r row) string { return r.Source }},
	{"Zeit", "time", 8, false, clockTime},
}

// price is left out where there is nothing to buy.
func price(r row, c *registrar.Cents) string {
	if r.Available != nil && !*r.Available {
		return ""
	}
	return formatCents(c)
}

// firstCharge is the yearly price, times the years that are charged at once.
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

// table turns rows into lines. It knows all names beforehand, so that lines
// which were printed long ago still stand below each other.
type table struct {
	domain int // width of the first column
	colour bool
	// unit stands behind amounts where no head says what they are.
	unit string
}

var stateWidth = cli.CellWidth(stateUnknown.label)

func newTable(names []string, colour bool) table {
	widest := cli.CellWidth("Domain")
	for _, name := range names {
		widest = max(widest, cli.CellWidth(cli.Printable(name)))
	}
	return table{domain: min(widest, maxDomainWidth), colour: colour}
}

// fit is the width of the first column and the number of columns behind the
// state in a window of so many cells.
func (t table) fit(window int) (domain, shown int) {
	rest := window - gap - stateWidth
	need := t.domain
	for shown < len(columns) && need+gap+columns[shown].width <= rest {
		need += gap + columns[shown].width
		shown++
	}
	return max(minDomainWidth, min(t.domain, rest)), shown
}

// header is the two lines above the rows, German and English.
func (t table) header(window int) []string {
	domain, shown := t.fit(window)
	german, english := cli.Pad("Domain", domain, false), cli.Pad("domain", domain, false)
	german += cli.Spaces(gap) + cli.Pad("Status", stateWidth, false)
	english += cli.Spaces(gap) + cli.Pad("state", stateWidth, false)
	for _, c := range columns[:shown] {
		german += cli.Spaces(gap) + cli.Pad(c.german, c.width, c.money)
		english += cli.Spaces(gap) + cli.Pad(c.english, c.width, c.money)
	}
	return []string{
		t.paint(strings.TrimRight(cli.Truncate(german, window), " "), "1"),
		t.paint(strings.TrimRight(cli.Truncate(english, window), " "), "2"),
	}
}

// line is one row, never wider than the window.
func (t table) line(r row, window int) string { return t.draw(r, stateOf(r), window) }

// pending is the line of a name without an answer yet.
func (t table) pending(name string, window int) string {
	return t.draw(row{Domain: name}, statePending, window)
}

func (t table) draw(r row, what state, window int) string {
	domain, shown := t.fit(window)
	name := cli.Printable(r.Domain)
	if window != unlimited { // nothing is cut where nobody looks
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
