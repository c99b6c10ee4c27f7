package web

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// The handler reads what stands in the place of {id}; the log holds the pattern
// and not what stood there; and a path that must be cleaned leads nowhere.
func TestHandlersSeePathValuesAndTheLogSeesThePattern(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/things/{id}/end", func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(r.PathValue("id")))
	})
	mux.HandleFunc("/", notFound)
	log := &bytes.Buffer{}
	front, err := newObserver(mux, slog.New(slog.NewJSONHandler(log, nil)), prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	if answer := do(front, "GET", "/things/canary/end", ""); answer.Code != http.StatusOK || answer.Body.String() != "canary" {
		t.Errorf("the handler saw %q (%d)", answer.Body, answer.Code)
	}
	for _, path := range []string{"/things//end", "/things/canary/../canary/end", "/things/canary/./end", "//things/canary/end"} {
		answer := do(front, "GET", "http://domains.example"+path, "")
		if answer.Code != http.StatusNotFound || answer.Header().Get("Location") != "" {
			t.Errorf("%s: got %d", path, answer.Code)
		}
	}
	if text := log.String(); strings.Contains(text, "canary") || !strings.Contains(text, `"route":"/things/{id}/end"`) {
		t.Errorf("the log says %s", text)
	}
}
