package check

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/dotkontor/dotkontor/internal/cli"
)

// eraseLine moves to the beginning of the line and clears it.
const eraseLine = "\r\x1b[K"

type screen struct {
	live   bool // lines can be redrawn
	colour bool
	size   func() (width, height int)
}

const (
	defaultWidth  = 80
	defaultHeight = 24
	// minWindowWidth keeps column widths positive.
	minWindowWidth = 20
)

// newScreen reads standard output and the variables TERM, COLUMNS and NO_COLOR (https://no-color.org).
func newScreen(t *cli.Terminal) screen {
	file := cli.TerminalFile(t.Out)
	live := file != nil && t.Getenv("TERM") != "dumb"
	columns, _ := strconv.Atoi(t.Getenv("COLUMNS"))
	return screen{
		live:   live,
		colour: live && t.Getenv("NO_COLOR") == "",
		size: func() (int, int) {
			width, height := defaultWidth, defaultHeight
			if file != nil {
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

// livePrinter draws a table that fills while results arrive. Rows whose predecessors are
// all known are final and may scroll away. Below them are a window of rows that may still
// change, and the progress; only that window is redrawn.
type livePrinter struct {
	out           io.Writer
	screen        screen
	table         table
	names         []string
	rows          []row
	states        []rowState
	next          int // the first row that is not final
	drawn         int // lines of the window on the screen
	headerPrinted bool
	// onlyFree means that pending rows may never be shown.
	onlyFree bool
}

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

// frame returns the output that updates the screen from the last frame.
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

// window returns the rows from the first pending one on. With onlyFree, pending rows are
// omitted, because they may turn out to be taken.
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
