// Package dossier hands customers everything that is stored about them: what
// Articles 15 and 20 of the GDPR ask for, as one file that people can read and
// programs can take over.
//
// # What it promises
//
// All that is personal is in it, table by table: a test goes through the schema and
// fails for a column that is neither handed over nor left out with a reason. It is
// read and written in small pieces, so that an account of any size needs little
// memory. That it was handed over is in the audit before its first byte is.
//
// # What it refuses
//
// Nobody but a person who has just signed in gets it: a browser that somebody has
// left open must not give everything away. It holds no secret and no hash of one,
// nothing of operators but that they did something, and nothing of other customers.
package export

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// DataExported is what the audit tells.
const DataExported registrar.Action = "data_exported"

// Field is one thing that is known. Value is a text, a number, a bool, a list of
// texts, JSON, or the records of a part within.
type Field struct {
	Name  string
	Value any
}

// Record is what one row tells, in the order in which people read it.
type Record []Field

// MarshalJSON writes an object with the fields in their order.
func (r Record) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, field := range r {
		if i > 0 {
			out.WriteByte(',')
		}
		name, err := json.Marshal(field.Name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(field.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", field.Name, err)
		}
		out.Write(name)
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// Sink takes a dossier, part by part.
type Sink interface {
	// BeginSection begins one. A list has any number of records, another part one at most.
	BeginSection(name string, list bool) error
	AddRecord(record Record) error
}

// Store reads what is stored about a customer.
type Store interface {
	// ExportCustomer hands all of it over. Addresses of documents begin with base.
	ExportCustomer(ctx context.Context, customer, baseURL string, sink Sink) error
	// RecordAuditEvent writes one entry of the audit.
	RecordAuditEvent(ctx context.Context, event registrar.AuditEvent) error
}

// Config is what a Service needs. Store is required.
type Config struct {
	Store Store
	// BaseURL is the service's own address, without a slash at its end.
	BaseURL string
	// Now is the true time; nil means time.Now.
	Now func() time.Time
}

// Service is safe for concurrent use.
type Service struct{ cfg Config }

// New returns a Service.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil {
		return nil, errors.New("dossier: a store is needed")
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Service{cfg}, nil
}

// Write writes the actor's dossier as one JSON object. What was written before an
// error is no JSON: its end is missing.
func (s *Service) Write(ctx context.Context, actor registrar.Actor, w io.Writer) error {
	now := s.cfg.Now()
	if err := actor.RequireRecentSignIn(now); err != nil {
		return err
	}
	if err := s.cfg.Store.RecordAuditEvent(ctx, registrar.AuditEvent{Actor: actor, Action: DataExported, Customer: actor.Customer, At: now}); err != nil {
		return err
	}
	out := &jsonWriter{out: bufio.NewWriterSize(w, bufferSize)}
	if err := out.begin(now); err != nil {
		return err
	}
	if err := s.cfg.Store.ExportCustomer(ctx, actor.Customer, s.cfg.BaseURL, out); err != nil {
		return err
	}
	return out.end()
}

// bufferSize is how much is written at once.
const bufferSize = 32 << 10

// jsonWriter is the JSON object around the parts.
type jsonWriter struct {
	out *bufio.Writer
	// inSection says that a part was begun, list that it is one, and records how many it has.
	inSection, list bool
	records         int
}

func (d *jsonWriter) begin(now time.Time) error {
	_, err := fmt.Fprintf(d.out, "{\n  \"madeAt\": %q", now.UTC().Format(time.RFC3339))
	return err
}

// endSection ends the part that is open.
func (d *jsonWriter) endSection() error {
	text := ""
	switch {
	case !d.inSection:
	case !d.list && d.records == 0:
		text = "null"
	case d.list && d.records == 0:
		text = "]"
	case d.list:
		text = "\n  ]"
	}
	d.inSection, d.records = false, 0
	_, err := d.out.WriteString(text)
	return err
}

// BeginSection begins a part.
func (d *jsonWriter) BeginSection(name string, list bool) error {
	if err := d.endSection(); err != nil {
		return err
	}
	d.inSection, d.list = true, list
	bracket := ""
	if list {
		bracket = "["
	}
	_, err := fmt.Fprintf(d.out, ",\n  %q: %s", name, bracket)
	return err
}

// AddRecord writes one record of the part.
func (d *jsonWriter) AddRecord(record Record) error {
	if !d.inSection || !d.list && d.records > 0 {
		return errors.New("dossier: a record that belongs to no part")
	}
	indent := "  "
	if d.list {
		indent = "    "
		before := "\n    "
		if d.records > 0 {
			before = ",\n    "
		}
		if _, err := d.out.WriteString(before); err != nil {
			return err
		}
	}
	d.records++
	text, err := json.MarshalIndent(record, indent, "  ")
	if err != nil {
		return err
	}
	_, err = d.out.Write(text)
	return err
}

func (d *jsonWriter) end() error {
	if err := d.endSection(); err != nil {
		return err
	}
	if _, err := d.out.WriteString("\n}\n"); err != nil {
		return err
	}
	return d.out.Flush()
}
