package wire

import (
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
	kind   registrar.Kind
	detail string
}

func (n *noter) Note(kind registrar.Kind, _ registrar.Code, detail string) {
	n.kind, n.detail = kind, detail
}

func TestABodyThatCanNotBeEncodedIs500AndNotHalfAnAnswer(t *testing.T) {
	w := &noter{ResponseRecorder: httptest.NewRecorder()}
	WriteJSON(w, http.StatusOK, math.NaN())
	if w.Code != http.StatusInternalServerError || w.kind != registrar.KindInternal {
		t.Errorf("got %d, noted %s", w.Code, w.kind)
	}
}

func TestOnlyOurOwnWordsReachTheNote(t *testing.T) {
	w := &noter{ResponseRecorder: httptest.NewRecorder()}
	Annotate(w, fmt.Errorf("around: %w", registrar.Fault(registrar.FaultTimeout, "rdap.example", errors.New("secret.de"))))
	if w.kind != registrar.KindUpstream || w.detail != "rdap.example" {
		t.Errorf("noted %s, %s", w.kind, w.detail)
	}
	Annotate(w, errors.New("secret.de"))
	if w.kind != registrar.KindInternal || w.detail != "" {
		t.Errorf("noted %s, %s", w.kind, w.detail)
	}
	Annotate(httptest.NewRecorder(), errors.New("x")) // a writer that keeps no notes
}
