package wire

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

type noter struct {
	*httptest.ResponseRecorder
	note Note
}

func (n *noter) Note(note Note) { n.note = note }

func TestABodyThatCanNotBeEncodedIs500AndNotHalfAnAnswer(t *testing.T) {
	w := &noter{ResponseRecorder: httptest.NewRecorder()}
	WriteJSON(w, http.StatusOK, math.NaN())
	if w.Code != http.StatusInternalServerError || w.note.Kind != registrar.KindInternal {
		t.Errorf("got %d, noted %s", w.Code, w.note.Kind)
	}
}

func TestOnlyOurOwnWordsReachTheNote(t *testing.T) {
	w := &noter{ResponseRecorder: httptest.NewRecorder()}
	full := &registrar.Cause{Part: registrar.PartDatabase, Operation: "InsertOrder", Class: "disk_full", Code: "SQLite 13", Err: errors.New("secret.de")}
	for _, test := range []struct {
		err  error
		want Note
	}{
		{
			fmt.Errorf("around: %w", registrar.Fault(registrar.FaultTimeout, "rdap.example", errors.New("secret.de"))),
			Note{Kind: registrar.KindUpstream, Code: registrar.FaultTimeout, Detail: "rdap.example", Cause: "unclassified: *errors.errorString"},
		},
		{errors.New("secret.de"), Note{Kind: registrar.KindInternal, Cause: "unclassified: *errors.errorString", Fault: true}},
		{
			fmt.Errorf("commit of secret.de: %w", full),
			Note{Kind: registrar.KindInternal, Cause: "database: InsertOrder: disk_full (SQLite 13)", Fault: true},
		},
		{ // a database that is silent is a fault, whatever the page calls it
			&registrar.Error{Kind: registrar.KindUpstream, Code: "visit_timeout", Err: full},
			Note{Kind: registrar.KindUpstream, Code: "visit_timeout", Cause: "database: InsertOrder: disk_full (SQLite 13)", Fault: true},
		},
		{context.Canceled, Note{Kind: registrar.KindInternal, Cause: "canceled", Left: true}},
		{&registrar.Error{Kind: registrar.KindConflict, Code: "card_declined", Err: errors.New("secret.de")}, Note{Kind: registrar.KindConflict, Code: "card_declined"}},
		{&registrar.Error{Kind: registrar.KindInternal, Code: "panic"}, Note{Kind: registrar.KindInternal, Code: "panic", Fault: true}},
	} {
		if Annotate(w, test.err); w.note != test.want {
			t.Errorf("%v: noted %+v", test.err, w.note)
		}
	}
	Annotate(httptest.NewRecorder(), errors.New("x")) // a writer that keeps no notes
}
