package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/export"
	"github.com/dotkontor/dotkontor/internal/store/sqldb"
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

func columns(form form, names string) []column {
	var all []column
	for name := range strings.FieldsSeq(names) {
		all = append(all, column{source: name, sql: name, name: camel(name, form), form: form})
	}
	return all
}

// camel returns a column's JSON key; amounts have their currency as suffix.
func camel(name string, form form) string {
	words := strings.Split(name, "_")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	if form == asMoney {
		words = append(words, "Eur")
	}
	return strings.Join(words, "")
}

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
	text := "SELECT " + strings.Join(append(names, cmp.Or(p.key, "''")), ", ") + " FROM " + p.table + " WHERE " + p.where
	switch {
	case p.key == "":
		return text
	case !page:
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
	var keys []string
	for row, err := range sqldb.Rows(ctx, db.sql.Reader(), text, values...) {
		if err != nil {
			return nil, "", err
		}
		var record export.Record
		for i, c := range p.columns {
			record = append(record, c.fields(row[i], base)...)
		}
		last, _ = row[len(p.columns)].(string)
		records, keys = append(records, record), append(keys, last)
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
	return records, last, nil
}

// invoicePath is the checkout's path to invoice files.
const invoicePath = "/portal/invoices/"

// fields returns the JSON fields of a value, which is text or a number; none if it is empty.
func (c column) fields(value any, base string) []export.Field {
	text, _ := value.(string)
	number, _ := value.(int64)
	field := func(value any) []export.Field { return []export.Field{{Name: c.name, Value: value}} }
	switch c.form {
	case asFlag:
		return field(number != 0)
	case asNumber:
		return field(number)
	case asMoney:
		return field(registrar.Cents(number).String())
	case asInvoiceFiles:
		url := base + invoicePath + text
		return []export.Field{{Name: "pdf", Value: url + "/pdf"}, {Name: "xml", Value: url + "/xml"}}
	case asText, asTime, asJSON, asList:
	}
	switch {
	case text == "" && number == 0:
		return nil
	case c.form == asTime:
		return field(fromMicros(number).Format(time.RFC3339Nano))
	case c.form == asList:
		return field(strings.Fields(text))
	case c.form == asJSON && json.Valid([]byte(text)):
		return field(json.RawMessage(text))
	}
	return field(text)
}
