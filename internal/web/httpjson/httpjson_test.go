package httpjson

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

type recordingWriter struct {
	*httptest.ResponseRecorder
	note ErrorInfo
}

func (n *recordingWriter) RecordError(info ErrorInfo) { n.note = info }

func TestWriteJSON_UnencodableBodyIs500(t *testing.T) {
	w := &recordingWriter{ResponseRecorder: httptest.NewRecorder()}
	WriteJSON(w, http.StatusOK, math.NaN())
	if w.Code != http.StatusInternalServerError || w.note.Kind != registrar.KindInternal {
		t.Errorf("got %d, recorded %s", w.Code, w.note.Kind)
	}
}

func TestRecordError_HasNoForeignText(t *testing.T) {
	w := &recordingWriter{ResponseRecorder: httptest.NewRecorder()}
	full := &registrar.Cause{Part: registrar.PartDatabase, Operation: "InsertOrder", Class: "disk_full", Code: "SQLite 13", Err: errors.New("secret.de")}
	for _, test := range []struct {
		err  error
		want ErrorInfo
	}{
		{
			fmt.Errorf("around: %w", registrar.Fault(registrar.FaultTimeout, "rdap.example", errors.New("secret.de"))),
			ErrorInfo{Kind: registrar.KindUpstream, Code: registrar.FaultTimeout, Detail: "rdap.example", Cause: "unclassified: *errors.errorString"},
		},
		{errors.New("secret.de"), ErrorInfo{Kind: registrar.KindInternal, Cause: "unclassified: *errors.errorString", Fault: true}},
		{
			fmt.Errorf("commit of secret.de: %w", full),
			ErrorInfo{Kind: registrar.KindInternal, Cause: "database: InsertOrder: disk_full (SQLite 13)", Fault: true},
		},
		{ // a database timeout is a fault, whatever the page reports
			&registrar.Error{Kind: registrar.KindUpstream, Code: "visit_timeout", Err: full},
			ErrorInfo{Kind: registrar.KindUpstream, Code: "visit_timeout", Cause: "database: InsertOrder: disk_full (SQLite 13)", Fault: true},
		},
		{context.Canceled, ErrorInfo{Kind: registrar.KindInternal, Cause: "canceled", ClientGone: true}},
		{&registrar.Error{Kind: registrar.KindConflict, Code: "card_declined", Err: errors.New("secret.de")}, ErrorInfo{Kind: registrar.KindConflict, Code: "card_declined"}},
		{&registrar.Error{Kind: registrar.KindInternal, Code: "panic"}, ErrorInfo{Kind: registrar.KindInternal, Code: "panic", Fault: true}},
	} {
		if RecordError(w, test.err); w.note != test.want {
			t.Errorf("%v: recorded %+v", test.err, w.note)
		}
	}
	RecordError(httptest.NewRecorder(), errors.New("x")) // a writer that records nothing
}
