package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/export"
)

var now = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// memStore is a store with a few sections.
type memStore struct {
	events  []registrar.AuditEvent
	records int
	err     error
}

func (s *memStore) RecordAuditEvent(_ context.Context, event registrar.AuditEvent) error {
	s.events = append(s.events, event)
	return nil
}

func (s *memStore) ExportCustomer(_ context.Context, customer, baseURL string, sink export.Sink) error {
	steps := []error{
		sink.BeginSection("account", false),
		sink.AddRecord(export.Record{{Name: "id", Value: customer}, {Name: "page", Value: baseURL + "/portal"}}),
		sink.BeginSection("registrant", false),
		sink.BeginSection("tokens", true),
		sink.BeginSection("activity", true),
	}
	for range s.records {
		steps = append(steps, sink.AddRecord(export.Record{{Name: "action", Value: "looked"}, {Name: "raw", Value: json.RawMessage(`{"b":1,"a":"<ü>"}`)}}))
	}
	return errors.Join(append(steps, s.err)...)
}

func newService(t *testing.T, store export.Store) *export.Service {
	t.Helper()
	s, err := export.New(export.Config{Store: store, BaseURL: "https://shop.example", Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func personActor(signedIn time.Time) registrar.Actor {
	return registrar.Actor{Kind: registrar.ActorPerson, Customer: "cus_erika", Through: "ses_1", SignedInAt: signedIn}
}

func TestWrite_OneJSONObjectWithAuditEvent(t *testing.T) {
	t.Parallel()
	store := &memStore{records: 2}
	var file bytes.Buffer
	if err := newService(t, store).Write(t.Context(), personActor(now), &file); err != nil {
		t.Fatal(err)
	}
	var all struct {
		MadeAt     time.Time
		Account    struct{ ID, Page string }
		Registrant *struct{}
		Tokens     []struct{}
		Activity   []struct {
			Action string
			Raw    struct{ A string }
		}
	}
	if err := json.Unmarshal(file.Bytes(), &all); err != nil {
		t.Fatalf("%v\n%s", err, file.String())
	}
	if !all.MadeAt.Equal(now) || all.Account.ID != "cus_erika" || all.Account.Page != "https://shop.example/portal" || all.Registrant != nil ||
		all.Tokens == nil || len(all.Activity) != 2 || all.Activity[1].Raw.A != "<ü>" {
		t.Errorf("%+v\n%s", all, file.String())
	}
	if len(store.events) != 1 || store.events[0].Action != export.DataExported || store.events[0].Customer != "cus_erika" {
		t.Errorf("audit events: %+v", store.events)
	}
}

func TestWrite_RequiresRecentPersonSignIn(t *testing.T) {
	t.Parallel()
	for name, actor := range map[string]registrar.Actor{
		"anonymous":             {},
		"a token":               {Kind: registrar.ActorToken, Customer: "cus_erika", Through: "tok_1", SignedInAt: now},
		"an operator":           {Kind: registrar.ActorOperator, Through: "root", SignedInAt: now},
		"signed in an hour ago": personActor(now.Add(-time.Hour)),
	} {
		store := &memStore{}
		var file bytes.Buffer
		if err := newService(t, store).Write(t.Context(), actor, &file); err == nil || file.Len() > 0 || len(store.events) > 0 {
			t.Errorf("%s: %v, %d bytes, %d entries", name, err, file.Len(), len(store.events))
		}
	}
}

func TestWrite_StoreErrorLeavesInvalidJSON(t *testing.T) {
	t.Parallel()
	broken := errors.New("the database is away")
	var file bytes.Buffer
	if err := newService(t, &memStore{records: 3, err: broken}).Write(t.Context(), personActor(now), &file); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if json.Valid(file.Bytes()) {
		t.Errorf("output looks complete: %s", file.String())
	}
}

// countingWriter records the total and the largest write.
type countingWriter struct{ total, largest int }

func (c *countingWriter) Write(chunk []byte) (int, error) {
	c.total, c.largest = c.total+len(chunk), max(c.largest, len(chunk))
	return len(chunk), nil
}

var _ io.Writer = (*countingWriter)(nil)

func TestWrite_LargeExportIsWrittenInChunks(t *testing.T) {
	t.Parallel()
	var out countingWriter
	if err := newService(t, &memStore{records: 20_000}).Write(t.Context(), personActor(now), &out); err != nil {
		t.Fatal(err)
	}
	if out.total < 1<<20 || out.largest > 64<<10 {
		t.Errorf("%d bytes, largest write %d", out.total, out.largest)
	}
}
