package check

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/dotkontor/dotkontor/internal/cli"
)

// eraseLine goes to the beginning of the line and empties it.
const eraseLine = "\r\x1b[K"

func isTerminal(out io.Writer) bool {
	file, ok := out.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// screen is what is known about the window of the person who waits.
type screen struct {
	live   bool // lines can be drawn over
	colour bool
	size   func() (width, height int)
}

const (
	defaultWidth  = 80
	defaultHeight = 24
	// minWindowWidth keeps the arithmetic of columns out of trouble.
	minWindowWidth = 20
)

// newScreen looks at standard output and at the three variables with which
// people say how they want it (https://no-color.org for the first one here).
func newScreen(t *cli.Terminal) screen {
	live := isTerminal(t.Out) && t.Getenv("TERM") != "dumb"
	columns, _ := strconv.Atoi(t.Getenv("COLUMNS"))
	return screen{
		live:   live,
		colour: live && t.Getenv("NO_COLOR") == "",
		size: func() (int, int) {
			width, height := defaultWidth, defaultHeight
			if file, ok := t.Out.(*os.File); ok {
				if w, h, err := term.GetSize(int(file.Fd())); err == nil && w > 0 && h > 0 {
					width, height = w, h
				}
			}
			if columns > 0 {
				width = columns
			}
			return max(width, minWindowWidth), height
		},
	}
}

// livePrinter draws a table that fills while the answers come. Rows whose
// predecessors are all known are printed for good and may scroll away; below
// them stands a window of rows that are still moving, and the progress. Only
// that window is ever drawn over.
type livePrinter struct {
	out           io.Writer
	screen        screen
	table         table
	names         []string
	rows          []row
	states        []rowState
	next          int // the first row that is not printed for good
	drawn         int // lines of the window on the screen
	headerPrinted bool
	// onlyFree says that awaited rows may never be shown.
	onlyFree bool
}

// rowState is what is known about a place in the batch.
type rowState uint8

const (
	rowPending rowState = iota
	rowShown
	rowHidden // counted, but not shown
)

func newLivePrinter(out io.Writer, s screen, names []string, onlyFree bool) *livePrinter {
	return &livePrinter{
		out: out, screen: s, onlyFree: onlyFree, table: newTable(names, s.colour),
		names: names, rows: make([]row, len(names)), states: make([]rowState, len(names)),
	}
}

func (p *livePrinter) add(index int, r row, hidden bool) error {
	p.rows[index], p.states[index] = r, rowShown
	if hidden {
		p.states[index] = rowHidden
	}
	return nil
}

func (p *livePrinter) tick(now progress) error {
	_, err := io.WriteString(p.out, p.frame(now, false))
	return err
}

func (p *livePrinter) finish(now progress) error {
	_, err := io.WriteString(p.out, p.frame(now, true))
	return err
}

// frame is everything that turns the screen of the last frame into that of now.
func (p *livePrinter) frame(now progress, last bool) string {
	width, height := p.screen.size()
	width-- // some terminals wrap as soon as the last column is written
	var text strings.Builder
	if p.drawn > 0 {
		fmt.Fprintf(&text, "\x1b[%dA\r\x1b[J", p.drawn)
	}
	if !p.headerPrinted {
		p.headerPrinted = true
		text.WriteString(p.table.header(width) + "\n")
	}
	for ; p.next < len(p.rows) && (last || p.states[p.next] != rowPending); p.next++ {
		if p.states[p.next] == rowShown {
			text.WriteString(p.table.line(p.rows[p.next], width) + "\n")
		}
	}
	if last {
		text.WriteString(p.table.paint(cli.Truncate(summaryLine(now), width), "1") + "\n")
		p.drawn = 0
		return text.String()
	}
	window := p.window(width, max(1, height-2))
	p.drawn = len(window) + 1
	for _, line := range window {
		text.WriteString(line + "\n")
	}
	text.WriteString(p.table.paint(cli.Truncate(now.line(), width), "1") + "\n")
	return text.String()
}

// window is the rows behind the first one that is still awaited. Where only free
// names are shown, nobody knows yet which of the awaited ones will be.
func (p *livePrinter) window(width, height int) []string {
	var lines []string
	for i := p.next; i < len(p.rows) && len(lines) < height; i++ {
		switch {
		case p.states[i] == rowShown:
			lines = append(lines, p.table.line(p.rows[i], width))
		case p.states[i] == rowPending && !p.onlyFree:
			lines = append(lines, p.table.pending(p.names[i], width))
		}
	}
	return lines
}

// summaryLine is the last line.
func summaryLine(p progress) string {
	if p.interrupted {
		return p.line()
	}
	text := fmt.Sprintf("%d of %d free", p.free, p.total)
	if p.failed > 0 {
		text += fmt.Sprintf(", %d failed", p.failed)
	}
	return text + fmt.Sprintf(", %.1f s", p.took.Seconds())
}
