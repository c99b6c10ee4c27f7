package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/test/testkit"
)

const toolMessage = `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"available\":false}"}],"structuredContent":{"available":false}}}`

// post sends a request as the bench does.
func post(handler http.Handler, asked requestSpec) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodPost, asked.path, strings.NewReader(asked.body))
	request.Header.Set("Content-Type", "application/json")
	for field := range strings.SplitSeq(strings.TrimSpace(asked.fields), "\r\n") {
		name, value, _ := strings.Cut(field, ": ")
		request.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, request)
	return w
}

// Both sides of the comparison must do the same work.
func TestReferences_AnswerToolCallWithSameBytes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{refMinimalTool, refBareRPC} {
		handler, err := references[name]([]byte(toolMessage))
		if err != nil {
			t.Fatal(err)
		}
		if w := post(handler, toolCallSpec()); w.Code != http.StatusOK || w.Body.String() != toolMessage {
			t.Errorf("%s answers with %d %s, want %s", name, w.Code, w.Body, toolMessage)
		}
		broken := toolCallSpec()
		broken.body = `{"jsonrpc":"2.0",`
		if w := post(handler, broken); w.Code != http.StatusBadRequest {
			t.Errorf("%s answers half a message with %d", name, w.Code)
		}
	}
}

func TestMinimalTool_RefusesFailedCallAsReference(t *testing.T) {
	t.Parallel()
	for _, message := range []string{
		`{`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}`,
		strings.Replace(toolMessage, `"result":{`, `"result":{"isError":true,`, 1),
		`{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":{}}}`,
	} {
		if handler, err := minimalTool([]byte(message)); err == nil {
			t.Errorf("%s makes %v", message, handler)
		}
	}
}

func TestRun_UnknownReferenceIsRefused(t *testing.T) {
	t.Parallel()
	var out, errOut bytes.Buffer
	if code := run(t.Context(), []string{"-reference", "nobody"}, nil, &out, &errOut); code != exitFailed || errOut.Len() == 0 {
		t.Errorf("ends with %d and %q", code, errOut.String())
	}
}

func TestGCSettings_BecomeEnvironment(t *testing.T) {
	t.Parallel()
	c := gcSettings{percent: 400, limit: 1 << 29}
	if got := c.environment(); !slices.Equal(got, []string{"GOGC=400", "GOMEMLIMIT=536870912"}) {
		t.Errorf("got %v", got)
	}
}

func TestSide_RatiosAreTakenRoundByRound(t *testing.T) {
	t.Parallel()
	// The machine is ten times slower in the second round, for both.
	ours := &side{rates: []float64{90, 8, 70}, cpuCosts: []float64{10, 10, 10}}
	theirs := &side{rates: []float64{100, 10, 100}, cpuCosts: []float64{8, 8, 8}}
	if got := ours.rateRatioTo(theirs); got != 0.8 {
		t.Errorf("the share is %v, want 0.8", got)
	}
	if got, known := ours.cpuRatioTo(theirs); !known || got != 0.8 {
		t.Errorf("by CPU time it is %v, %t, want 0.8", got, known)
	}
	ours.cpuCosts = nil
	if got, known := ours.cpuRatioTo(theirs); known {
		t.Errorf("unknown costs make %v", got)
	}
}

func TestMemoryMeasurements_UnknownMemoryIsLeftOut(t *testing.T) {
	t.Parallel()
	if got := memoryMeasurements(testkit.Memory{}, testkit.Memory{}, 1); got != nil {
		t.Errorf("got %v", got)
	}
	lines := memoryMeasurements(testkit.Memory{RSS: 61 << 20}, testkit.Memory{Peak: 100 << 20}, 1)
	if len(lines) != 2 || lines[0].OK || !lines[1].OK {
		t.Errorf("got %+v", lines)
	}
}
