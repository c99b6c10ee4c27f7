// Package export gives customers everything that is stored about them, as Articles 15 and
// 20 of the GDPR require: one file, readable by people and machines.
//
// # Guarantees
//
// The export contains all personal data, table by table: a test walks the schema and
// fails for a column that is neither exported nor excluded with a reason. It is read and
// written in small pieces, so an account of any size needs little memory. The export is
// audited before its first byte is sent.
//
// # Restrictions
//
// Only a customer who has signed in recently gets it: an unattended browser must not give
// everything away. It contains no secret and no hash of one, nothing about operators
// except that they did something, and nothing about other customers.
package export

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// DataExported is the audited action.
const DataExported registrar.Action = "data_exported"

// Field is one named value: a string, a number, a bool, a list of strings, JSON, or nested
// records.
type Field struct {
	Name  string
	Value any
}

// Record is one row, with its fields in reading order.
type Record []Field

// MarshalJSON writes an object with the fields in order.
func (r Record) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, field := range r {
		if i > 0 {
			out = append(out, ',')
		}
		value, err := json.Marshal(field.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", field.Name, err)
		}
		out = append(append(strconv.AppendQuote(out, field.Name), ':'), value...)
	}
	return append(out, '}'), nil
}

// Sink receives an export, section by section.
type Sink interface {
	// BeginSection starts a section. A list has any number of records, others at most one.
	BeginSection(name string, list bool) error
	AddRecord(record Record) error
}

// Store reads what is stored about a customer.
type Store interface {
	// ExportCustomer writes everything. URLs of documents start with baseURL.
	ExportCustomer(ctx context.Context, customer, baseURL string, sink Sink) error
	RecordAuditEvent(ctx context.Context, event registrar.AuditEvent) error
}

// Config configures a Service. Store is required.
type Config struct {
	Store Store
	// BaseURL is the service's base URL, without a trailing slash.
	BaseURL string
	// Now is the real time; nil means time.Now.
	Now func() time.Time
}

// Service exports customer data. It is safe for concurrent use.
type Service struct{ cfg Config }

// New returns a Service.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil {
		return nil, errors.New("export: Config.Store is required")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Service{cfg}, nil
}

// Write writes the actor's data as one JSON object. After an error the output is not valid
// JSON: its end is missing.
func (s *Service) Write(ctx context.Context, actor registrar.Actor, w io.Writer) error {
	now := s.cfg.Now()
	if err := actor.RequireRecentSignIn(now); err != nil {
		return err
	}
	if err := s.cfg.Store.RecordAuditEvent(ctx, registrar.AuditEvent{Actor: actor, Action: DataExported, Customer: actor.Customer, At: now}); err != nil {
		return err
	}
	out := &jsonWriter{out: bufio.NewWriterSize(w, bufferSize)}
	fmt.Fprintf(out.out, "{\n  \"madeAt\": %q", now.UTC().Format(time.RFC3339))
	if err := s.cfg.Store.ExportCustomer(ctx, actor.Customer, s.cfg.BaseURL, out); err != nil {
		return err
	}
	out.endSection()
	fmt.Fprint(out.out, "\n}\n")
	return out.out.Flush()
}

// bufferSize is the size of a write.
const bufferSize = 32 << 10

// jsonWriter writes the JSON object around the sections. After an error out writes nothing
// more and returns the same error.
type jsonWriter struct {
	out *bufio.Writer
	// inSection means that a section is open, list that it is one; records counts its records.
	inSection, list bool
	records         int
}

func (d *jsonWriter) endSection() {
	switch {
	case !d.inSection:
	case !d.list && d.records == 0:
		fmt.Fprint(d.out, "null")
	case d.list && d.records == 0:
		fmt.Fprint(d.out, "]")
	case d.list:
		fmt.Fprint(d.out, "\n  ]")
	}
	d.inSection, d.records = false, 0
}

func (d *jsonWriter) BeginSection(name string, list bool) error {
	d.endSection()
	d.inSection, d.list = true, list
	bracket := ""
	if list {
		bracket = "["
	}
	_, err := fmt.Fprintf(d.out, ",\n  %q: %s", name, bracket)
	return err
}

func (d *jsonWriter) AddRecord(record Record) error {
	if !d.inSection || !d.list && d.records > 0 {
		return errors.New("export: record outside a section")
	}
	indent, before := "  ", ""
	switch {
	case d.list && d.records > 0:
		indent, before = "    ", ",\n    "
	case d.list:
		indent, before = "    ", "\n    "
	}
	d.records++
	text, err := json.MarshalIndent(record, indent, "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(d.out, before, string(text))
	return err
}
