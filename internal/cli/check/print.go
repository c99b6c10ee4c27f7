package check

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// jsonPrinter prints one array at the end, in the order of the batch.
type jsonPrinter struct {
	out  io.Writer
	rows []indexedRow
}

func (p *jsonPrinter) add(index int, r row, hidden bool) error {
	if !hidden {
		p.rows = append(p.rows, indexedRow{index, r})
	}
	return nil
}

func (p *jsonPrinter) tick(progress) error { return nil }

func (p *jsonPrinter) finish(progress) error {
	slices.SortFunc(p.rows, func(a, b indexedRow) int { return a.index - b.index })
	text := []byte("[")
	for i, a := range p.rows {
		line, err := cli.EncodeJSON(a.row)
		if err != nil {
			return err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(text, "\n  "...), line...)
	}
	if len(p.rows) > 0 {
		text = append(text, '\n')
	}
	_, err := p.out.Write(append(text, "]\n"...))
	return err
}

// ndjsonPrinter prints one object per line, in the order of arrival.
type ndjsonPrinter struct{ out io.Writer }

func (p *ndjsonPrinter) add(_ int, r row, hidden bool) error {
	if hidden {
		return nil
	}
	line, err := cli.EncodeJSON(r)
	if err != nil {
		return err
	}
	_, err = p.out.Write(append(line, '\n'))
	return err
}

func (p *ndjsonPrinter) tick(progress) error { return nil }

func (p *ndjsonPrinter) finish(progress) error { return nil }

// reorderBuffer delays results until those before them have arrived, so that the output
// has the order of the batch.
type reorderBuffer struct {
	next    int
	waiting map[int]row
	hidden  map[int]bool
}

// add returns the rows that can be printed now.
func (o *reorderBuffer) add(index int, r row, hidden bool) []row {
	if o.waiting == nil {
		o.waiting, o.hidden = make(map[int]row), make(map[int]bool)
	}
	o.waiting[index], o.hidden[index] = r, hidden
	var ready []row
	for {
		r, here := o.waiting[o.next]
		if !here {
			return ready
		}
		if !o.hidden[o.next] {
			ready = append(ready, r)
		}
		delete(o.waiting, o.next)
		delete(o.hidden, o.next)
		o.next++
	}
}

// drain returns the delayed rows when no more results will arrive.
func (o *reorderBuffer) drain() []row {
	places := make([]int, 0, len(o.waiting))
	for place := range o.waiting {
		if !o.hidden[place] {
			places = append(places, place)
		}
	}
	slices.Sort(places)
	rows := make([]row, 0, len(places))
	for _, place := range places {
		rows = append(rows, o.waiting[place])
	}
	return rows
}

// csvPrinter prints a header and one record per name, in the order of the batch.
type csvPrinter struct {
	reorderBuffer
	out           *csv.Writer
	headerPrinted bool
}

var csvHeader = []string{
	"domain", "available", "registerEur", "renewEur", "transferEur", "source", "reason", "premium", "checkedAt", "error",
	"restoreEur", "minYears", "requires", "orderable", "orderableReason",
}

func newCSVPrinter(out io.Writer) *csvPrinter { return &csvPrinter{out: csv.NewWriter(out)} }

func (p *csvPrinter) add(index int, r row, hidden bool) error {
	return p.print(p.reorderBuffer.add(index, r, hidden))
}

func (p *csvPrinter) tick(progress) error { return nil }

func (p *csvPrinter) finish(progress) error { return p.print(p.drain()) }

func (p *csvPrinter) print(rows []row) error {
	if !p.headerPrinted {
		p.headerPrinted = true
		if err := p.out.Write(csvHeader); err != nil {
			return err
		}
	}
	for _, r := range rows {
		years := ""
		if r.MinYears != 0 {
			years = strconv.Itoa(r.MinYears)
		}
		record := []string{
			r.Domain, formatBool(r.Available), formatCents(r.RegisterEUR), formatCents(r.RenewEUR), formatCents(r.TransferEUR),
			r.Source, r.Reason, strconv.FormatBool(r.Premium), r.CheckedAt, r.Error,
			formatCents(r.RestoreEUR), years, r.Requires, formatBool(r.Orderable), string(r.OrderableReason),
		}
		if err := p.out.Write(record); err != nil {
			return err
		}
	}
	p.out.Flush()
	return p.out.Error()
}

// formatBool returns "" for unknown.
func formatBool(b *bool) string {
	if b == nil {
		return ""
	}
	return strconv.FormatBool(*b)
}

func formatCents(c *registrar.Cents) string {
	if c == nil {
		return ""
	}
	return c.String()
}

// plainPrinter prints aligned lines without colour, in the order of the batch.
type plainPrinter struct {
	reorderBuffer
	out   io.Writer
	table table
}

func newPlainPrinter(out io.Writer, names []string) *plainPrinter {
	lines := newTable(names, false)
	lines.unit = " EUR"
	return &plainPrinter{out: out, table: lines}
}

func (p *plainPrinter) add(index int, r row, hidden bool) error {
	return p.print(p.reorderBuffer.add(index, r, hidden))
}

func (p *plainPrinter) tick(progress) error { return nil }

func (p *plainPrinter) finish(progress) error { return p.print(p.drain()) }

func (p *plainPrinter) print(rows []row) error {
	var text []byte
	for _, r := range rows {
		text = append(append(text, p.table.line(r, unlimited)...), '\n')
	}
	_, err := p.out.Write(text)
	return err
}
