package check

import (
	"bytes"
	"encoding/csv"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// ndjsonPrinter prints one JSON object per line, in the order of arrival.
type ndjsonPrinter struct{ out io.Writer }

func (p ndjsonPrinter) add(_ int, r row, hidden bool) error {
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

func (ndjsonPrinter) tick(progress) error { return nil }

func (ndjsonPrinter) finish(progress) error { return nil }

// orderedPrinter prints rows in the order of the batch: each waits until those before it have arrived.
type orderedPrinter struct {
	print   func(rows []row) error
	end     func() error // optional
	next    int
	waiting map[int]*row // nil for hidden rows
}

func (p *orderedPrinter) add(index int, r row, hidden bool) error {
	if p.waiting == nil {
		p.waiting = make(map[int]*row)
	}
	p.waiting[index] = &r
	if hidden {
		p.waiting[index] = nil
	}
	var ready []row
	for r, here := p.waiting[p.next]; here; r, here = p.waiting[p.next] {
		if r != nil {
			ready = append(ready, *r)
		}
		delete(p.waiting, p.next)
		p.next++
	}
	if len(ready) == 0 {
		return nil
	}
	return p.print(ready)
}

func (p *orderedPrinter) tick(progress) error { return nil }

// finish prints the delayed rows: no more results will arrive.
func (p *orderedPrinter) finish(progress) error {
	var rest []row
	for _, index := range slices.Sorted(maps.Keys(p.waiting)) {
		if r := p.waiting[index]; r != nil {
			rest = append(rest, *r)
		}
	}
	if err := p.print(rest); err != nil || p.end == nil {
		return err
	}
	return p.end()
}

// newJSONPrinter prints one array at the end.
func newJSONPrinter(out io.Writer) *orderedPrinter {
	var lines [][]byte
	return &orderedPrinter{
		print: func(rows []row) error {
			for _, r := range rows {
				line, err := cli.EncodeJSON(r)
				if err != nil {
					return err
				}
				lines = append(lines, append([]byte("\n  "), line...))
			}
			return nil
		},
		end: func() error {
			if len(lines) > 0 {
				lines[len(lines)-1] = append(lines[len(lines)-1], '\n')
			}
			_, err := out.Write(slices.Concat([]byte("["), bytes.Join(lines, []byte(",")), []byte("]\n")))
			return err
		},
	}
}

var csvHeader = []string{
	"domain", "available", "registerEur", "renewEur", "transferEur", "source", "reason", "premium", "checkedAt", "error",
	"restoreEur", "minYears", "requires", "orderable", "orderableReason",
}

// newCSVPrinter prints a header and one record per name.
func newCSVPrinter(out io.Writer) *orderedPrinter {
	w, headerPrinted := csv.NewWriter(out), false
	return &orderedPrinter{print: func(rows []row) error {
		records := make([][]string, 0, len(rows)+1)
		if !headerPrinted {
			headerPrinted = true
			records = append(records, csvHeader)
		}
		for _, r := range rows {
			years := ""
			if r.MinYears != 0 {
				years = strconv.Itoa(r.MinYears)
			}
			records = append(records, []string{
				r.Domain, formatBool(r.Available), formatCents(r.RegisterEUR), formatCents(r.RenewEUR), formatCents(r.TransferEUR),
				r.Source, r.Reason, strconv.FormatBool(r.Premium), r.CheckedAt, r.Error,
				formatCents(r.RestoreEUR), years, r.Requires, formatBool(r.Orderable), string(r.OrderableReason),
			})
		}
		return w.WriteAll(records)
	}}
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

// newPlainPrinter prints aligned lines without colour.
func newPlainPrinter(out io.Writer, names []string) *orderedPrinter {
	table := newTable(names, false)
	table.unit = " EUR"
	return &orderedPrinter{print: func(rows []row) error {
		var text []byte
		for _, r := range rows {
			text = append(append(text, table.line(r, unlimited)...), '\n')
		}
		_, err := out.Write(text)
		return err
	}}
}
