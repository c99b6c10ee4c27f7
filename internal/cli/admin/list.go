package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
)

// listFlags are the flags of commands that list everything.
type listFlags struct {
	cli.ServiceFlags
	JSON bool `name:"json" help:"Print one JSON array."`
}

const listPageSize = 200

// eachRow reads page by page, so that memory use does not grow with the number of rows.
// next reads the rows after an ID.
func eachRow[T any](next func(last string, limit int) ([]T, error), id func(T) string, use func(T) error) error {
	for last := ""; ; {
		page, err := next(last, listPageSize)
		if err != nil {
			return err
		}
		for _, row := range page {
			last = id(row)
			if err := use(row); err != nil {
				return err
			}
		}
		if len(page) < listPageSize {
			return nil
		}
	}
}

// list prints rows below a header, or as a JSON array.
type list struct {
	out     io.Writer
	json    bool
	columns string // the format of the header and of each row
	header  []any
	rows    int
	err     error
}

func newList(t *cli.Terminal, asJSON bool, columns string, header ...any) *list {
	return &list{out: t.Out, json: asJSON, columns: columns + "\n", header: header}
}

// add prints row as JSON, or cells in columns.
func (l *list) add(row any, cells ...any) {
	l.rows++
	if !l.json {
		if l.rows == 1 {
			fmt.Fprintf(l.out, l.columns, l.header...)
		}
		fmt.Fprintf(l.out, l.columns, cells...)
		return
	}
	text, err := json.Marshal(row)
	l.err = errors.Join(l.err, err)
	before := ",\n "
	if l.rows == 1 {
		before = "["
	}
	fmt.Fprintf(l.out, "%s%s", before, text)
}

// end completes the list, unless reading the rows failed.
func (l *list) end(err error) error {
	switch {
	case err != nil:
		return err
	case l.json && l.rows == 0:
		fmt.Fprintln(l.out, "[]")
	case l.json:
		fmt.Fprintln(l.out, "]")
	case l.rows == 0:
		fmt.Fprintln(l.out, "no entries")
	}
	return l.err
}

// formatTime formats a time for lists, with a dash for never.
func formatTime(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return at.UTC().Format("2006-01-02 15:04")
}

// jsonTime converts a time for JSON, with null for never.
func jsonTime(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return new(at.UTC().Truncate(time.Second))
}

// formatDate formats a date for lists, with a dash for none.
func formatDate(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return at.UTC().Format(time.DateOnly)
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return cli.Printable(text)
}
