package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/export"
)

var _ export.Store = (*DB)(nil)

// exportPageSize is how many rows are read at once. No connection is held while they
// are written to somebody who may read slowly.
const exportPageSize = 200

// form is how a column is written.
type form uint8

const (
	asText form = iota
	asTime
	asFlag
	asNumber
	asMoney
	asJSON
	asList
	asInvoiceFiles
)

// column is one thing that a customer is told of a row.
type column struct {
	// source is the column of the table that is handed over; empty where something is only
	// said about one. sql is how it is read, and as its name in the file.
	source, sql, name string
	form              form
}

// columns are columns of one form, under their own names.
func columns(form form, names string) []column {
	var all []column
	for name := range strings.FieldsSeq(names) {
		all = append(all, column{source: name, sql: name, name: camel(name, form), form: form})
	}
	return all
}

// camel is a column's name as JSON has it; sums say what they are in.
func camel(name string, form form) string {
	var out strings.Builder
	up := false
	for _, r := range name {
		switch {
		case r == '_':
			up = true
		case up:
			out.WriteRune(unicode.ToUpper(r))
			up = false
		default:
			out.WriteRune(r)
		}
	}
	if form == asMoney {
		out.WriteString("Eur")
	}
	return out.String()
}

// renamed is the same column under another name.
func renamed(as string, c []column) []column {
	c[0].name = as
	return c
}

// derived is something that is told about the row and is no column of it.
func derived(as, sql string, form form) []column {
	return []column{{sql: sql, name: as, form: form}}
}

// redactOperators are texts about who did something, unless an operator did: that one did
// is the customer's business, and who it was and where they sit is not.
func redactOperators(kind, names string) []column {
	all := columns(asText, names)
	for i := range all {
		all[i].sql = "CASE WHEN " + kind + " = 'operator' THEN '' ELSE " + all[i].source + " END"
	}
	return all
}

func join(lists ...[]column) (all []column) {
	for _, list := range lists {
		all = append(all, list...)
	}
	return all
}

// part is what a dossier tells of one table.
type part struct {
	name, table string
	// where finds the rows of whom or what $1 names; key is unique among them, and its
	// order is that of the file. Without a key there is one row at most.
	where, key string
	columns    []column
	// nested are parts of each record, which find their rows by its key.
	nested []part
}

// sql is the query. With a page, $2 is the key that the one before ended with.
func (p part) sql(page bool) string {
	names := make([]string, 0, len(p.columns)+1)
	for _, c := range p.columns {
		names = append(names, c.sql)
	}
	if p.key == "" {
		return "SELECT " + strings.Join(names, ", ") + " FROM " + p.table + " WHERE " + p.where
	}
	text := "SELECT " + strings.Join(append(names, p.key), ", ") + " FROM " + p.table + " WHERE " + p.where
	if !page {
		return text + " ORDER BY " + p.key
	}
	return fmt.Sprintf("%s AND %s > $2 ORDER BY %s LIMIT %d", text, p.key, p.key, exportPageSize)
}

// ExportCustomer hands over all that is stored about a customer.
func (db *DB) ExportCustomer(ctx context.Context, customer, base string, to export.Sink) error {
	for _, p := range exportParts() {
		if err := to.BeginSection(p.name, p.key != ""); err != nil {
			return err
		}
		if err := db.exportPart(ctx, p, customer, base, to); err != nil {
			return fmt.Errorf("the part %s of a dossier: %w", p.name, err)
		}
	}
	return nil
}

func (db *DB) exportPart(ctx context.Context, p part, customer, base string, to export.Sink) error {
	for after := ""; ; {
		values := []any{customer}
		if p.key != "" {
			values = append(values, after)
		}
		records, last, err := db.exportRecords(ctx, p, p.sql(true), base, values...)
		if err != nil {
			return err
		}
		for _, record := range records {
			if err := to.AddRecord(record); err != nil {
				return err
			}
		}
		if p.key == "" || len(records) < exportPageSize {
			return nil
		}
		after = last
	}
}

// exportRecords are those of one query, and the key of the last one.
func (db *DB) exportRecords(ctx context.Context, p part, text, base string, values ...any) (records []export.Record, last string, err error) {
	records, keys, err := db.exportRows(ctx, p, text, base, values...)
	if err != nil || len(records) == 0 {
		return nil, "", err
	}
	for _, inner := range p.nested {
		for i := range records {
			found, _, err := db.exportRecords(ctx, inner, inner.sql(false), base, keys[i])
			if err != nil {
				return nil, "", err
			}
			switch {
			case len(found) == 0:
			case inner.key == "":
				records[i] = append(records[i], export.Field{Name: inner.name, Value: found[0]})
			default:
				records[i] = append(records[i], export.Field{Name: inner.name, Value: found})
			}
		}
	}
	if p.key != "" {
		last = keys[len(keys)-1]
	}
	return records, last, nil
}

// exportRows reads one query to its end.
func (db *DB) exportRows(ctx context.Context, p part, text, base string, values ...any) (records []export.Record, keys []string, err error) {
	rows, err := db.sql.Reader().QueryContext(ctx, text, values...)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		cells, key := make([]cell, len(p.columns)), ""
		places := make([]any, 0, len(cells)+1)
		for i, c := range p.columns {
			cells[i].form = c.form
			places = append(places, cells[i].scanTarget())
		}
		if p.key != "" {
			places = append(places, &key)
		}
		if err := rows.Scan(places...); err != nil {
			return nil, nil, err
		}
		record := make(export.Record, 0, len(cells))
		for i, c := range p.columns {
			record = append(record, cells[i].fields(c.name, base)...)
		}
		records, keys = append(records, record), append(keys, key)
	}
	return records, keys, rows.Err()
}

// cell is what one column of one row holds.
type cell struct {
	form   form
	text   string
	number int64
}

func (c *cell) scanTarget() any {
	switch c.form {
	case asText, asJSON, asList, asInvoiceFiles:
		return &c.text
	default:
		return &c.number
	}
}

// invoicePath is where the documents of the checkout's pages are.
const invoicePath = "/portal/invoices/"

// fields are what is written: nothing where nothing is known.
func (c *cell) fields(as, base string) []export.Field {
	var value any = c.text
	switch c.form {
	case asTime:
		if c.number == 0 {
			return nil
		}
		return []export.Field{{Name: as, Value: fromMicros(c.number).Format(time.RFC3339Nano)}}
	case asFlag:
		return []export.Field{{Name: as, Value: c.number != 0}}
	case asNumber:
		return []export.Field{{Name: as, Value: c.number}}
	case asMoney:
		return []export.Field{{Name: as, Value: registrar.Cents(c.number).String()}}
	case asInvoiceFiles:
		return []export.Field{{Name: "pdf", Value: base + invoicePath + c.text + "/pdf"}, {Name: "xml", Value: base + invoicePath + c.text + "/xml"}}
	case asJSON:
		if json.Valid([]byte(c.text)) {
			value = json.RawMessage(c.text)
		}
	case asList:
		value = strings.Fields(c.text)
	case asText:
	}
	if c.text == "" {
		return nil
	}
	return []export.Field{{Name: as, Value: value}}
}
