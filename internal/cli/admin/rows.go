package admin

import (
	"encoding/json"
	"fmt"
	"io"
)

// listPageSize is the number of rows in one database query.
const listPageSize = 200

// rowPrinter prints rows below a header, or as a JSON array.
type rowPrinter struct {
	out    io.Writer
	json   bool
	header string
	rows   int
}

func newRowPrinter(out io.Writer, asJSON bool, head string) *rowPrinter {
	return &rowPrinter{out: out, json: asJSON, header: head}
}

func (l *rowPrinter) add(row fmt.Stringer) error {
	l.rows++
	if !l.json {
		if l.rows == 1 {
			if _, err := fmt.Fprintln(l.out, l.header); err != nil {
				return err
			}
		}
		_, err := fmt.Fprintln(l.out, row)
		return err
	}
	text, err := json.Marshal(row)
	if err != nil {
		return err
	}
	before := ",\n "
	if l.rows == 1 {
		before = "["
	}
	_, err = fmt.Fprintf(l.out, "%s%s", before, text)
	return err
}

func (l *rowPrinter) end() error {
	text := ""
	switch {
	case l.json && l.rows == 0:
		text = "[]\n"
	case l.json:
		text = "]\n"
	case l.rows == 0:
		text = "no entries\n"
	}
	_, err := io.WriteString(l.out, text)
	return err
}
