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

// exportPageSize is the number of rows read at once. No connection is held while they are
// written, because the client may read slowly.
const exportPageSize = 200

// form is the JSON form of a column.
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

// column is one field of an exported record.
type column struct {
	// source is the exported column of the table; empty for a derived value. sql is the
	// expression that is read, and name the key in the file.
	source, sql, name string
	form              form
}

// columns returns columns of one form under their own names.
func columns(form form, names string) []column {
	var all []column
	for name := range strings.FieldsSeq(names) {
		all = append(all, column{source: name, sql: name, name: camel(name, form), form: form})
	}
	return all
}

// camel returns a column's JSON key; amounts have their currency as suffix.
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

// renamed returns the column under another name.
func renamed(as string, c []column) []column {
	c[0].name = as
	return c
}

// derived returns a value computed from the row.
func derived(as, sql string, form form) []column {
	return []column{{sql: sql, name: as, form: form}}
}

// redactOperators returns text columns about an actor, empty if the actor is an operator:
// the customer may know that an operator acted, but not which one and from where.
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

// part is the section of an export for one table.
type part struct {
	name, table string
	// where selects the rows of the customer or parent $1; key is unique among them and
	// orders the file. Without a key there is at most one row.
	where, key string
	columns    []column
	// nested parts belong to each record and select their rows by its key.
	nested []part
}

// sql returns the query. With page set, $2 is the last key of the previous page.
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

// ExportCustomer writes all stored data of a customer to a sink.
func (db *DB) ExportCustomer(ctx context.Context, customer, base string, to export.Sink) error {
	for _, p := range exportParts() {
		if err := to.BeginSection(p.name, p.key != ""); err != nil {
			return err
		}
		if err := db.exportPart(ctx, p, customer, base, to); err != nil {
			return fmt.Errorf("store: export %s: %w", p.name, err)
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

// exportRecords returns the records of one query and the key of the last one.
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

// exportRows returns the records and keys of one query, without nested parts.
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

// cell is the value of one column in one row.
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

// invoicePath is the checkout's path to invoice files.
const invoicePath = "/portal/invoices/"

// fields returns the JSON fields of the cell; none for an empty value.
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
