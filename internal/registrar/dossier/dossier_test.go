package dossier_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/dossier"
)

var now = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// shelf is a store with a few parts.
type shelf struct {
	noted   []registrar.Deed
	records int
	fails   error
}

func (s *shelf) Note(_ context.Context, deed registrar.Deed) error {
	s.noted = append(s.noted, deed)
	return nil
}

func (s *shelf) Everything(_ context.Context, customer, base string, to dossier.Sink) error {
	steps := []error{
		to.Part("account", false),
		to.Add(dossier.Record{{Name: "id", Value: customer}, {Name: "page", Value: base + "/portal"}}),
		to.Part("registrant", false),
		to.Part("tokens", true),
		to.Part("activity", true),
	}
	for range s.records {
		steps = append(steps, to.Add(dossier.Record{{Name: "action", Value: "looked"}, {Name: "raw", Value: json.RawMessage(`{"b":1,"a":"<ü>"}`)}}))
	}
	return errors.Join(append(steps, s.fails)...)
}

func serviceOf(t *testing.T, store dossier.Store) *dossier.Service {
	t.Helper()
	s, err := dossier.New(dossier.Config{Store: store, Base: "https://shop.example", Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func erika(signedIn time.Time) registrar.Actor {
	return registrar.Actor{Kind: registrar.ActorPerson, Customer: "cus_erika", Through: "ses_1", SignedInAt: signedIn}
}

func TestADossierIsOneObjectWithEveryPartAndAnEntryInTheAudit(t *testing.T) {
	t.Parallel()
	store := &shelf{records: 2}
	var file bytes.Buffer
	if err := serviceOf(t, store).Write(t.Context(), erika(now), &file); err != nil {
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
	if len(store.noted) != 1 || store.noted[0].Action != dossier.Exported || store.noted[0].Customer != "cus_erika" {
		t.Errorf("the audit has %+v", store.noted)
	}
}

func TestNobodyButAPersonWhoHasJustSignedInGetsADossier(t *testing.T) {
	t.Parallel()
	for name, actor := range map[string]registrar.Actor{
		"nobody":                      {},
		"a token":                     {Kind: registrar.ActorToken, Customer: "cus_erika", Through: "tok_1", SignedInAt: now},
		"an operator":                 {Kind: registrar.ActorOperator, Through: "root", SignedInAt: now},
		"somebody who was here today": erika(now.Add(-time.Hour)),
	} {
		store := &shelf{}
		var file bytes.Buffer
		if err := serviceOf(t, store).Write(t.Context(), actor, &file); err == nil || file.Len() > 0 || len(store.noted) > 0 {
			t.Errorf("%s: %v, %d bytes, %d entries", name, err, file.Len(), len(store.noted))
		}
	}
}

func TestADossierThatCouldNotBeReadHasNoEnd(t *testing.T) {
	t.Parallel()
	broken := errors.New("the database is away")
	var file bytes.Buffer
	if err := serviceOf(t, &shelf{records: 3, fails: broken}).Write(t.Context(), erika(now), &file); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
	if json.Valid(file.Bytes()) {
		t.Errorf("it looks whole: %s", file.String())
	}
}

// counter says how much was written at once at most.
type counter struct{ total, most int }

func (c *counter) Write(piece []byte) (int, error) {
	c.total, c.most = c.total+len(piece), max(c.most, len(piece))
	return len(piece), nil
}

var _ io.Writer = (*counter)(nil)

func TestALargeDossierLeavesInSmallPieces(t *testing.T) {
	t.Parallel()
	var out counter
	if err := serviceOf(t, &shelf{records: 20_000}).Write(t.Context(), erika(now), &out); err != nil {
		t.Fatal(err)
	}
	if out.total < 1<<20 || out.most > 64<<10 {
		t.Errorf("%d bytes, and %d of them at once", out.total, out.most)
	}
}
