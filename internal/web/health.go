package web

import (
	"net/http"
	"time"
)

// healthz reports that the process is serving.
func healthz(w http.ResponseWriter, _ *http.Request) { writeStatus(w, http.StatusOK, "ok\n") }

// Degraded is a part of the service that works only partially.
type Degraded struct {
	Part, State string
	Since       time.Time
}

// readyz reports whether a load balancer should send requests here. Degraded parts are
// listed one per line and do not change the status: lookups still work, and another
// node would have the same problem.
func readyz(ready func() bool, degraded func() []Degraded) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if !ready() {
			writeStatus(w, http.StatusServiceUnavailable, "draining\n")
			return
		}
		text := "ready\n"
		if degraded != nil {
			for _, d := range degraded() {
				text += "degraded " + d.Part + " " + d.State + " since " + d.Since.UTC().Format(time.RFC3339) + "\n"
			}
		}
		writeStatus(w, http.StatusOK, text)
	}
}

func writeStatus(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}

// Health registers /healthz and /readyz on the private port as well.
func Health(mux *http.ServeMux, ready func() bool, degraded func() []Degraded) {
	mux.HandleFunc("GET /healthz", healthz)
	mux.HandleFunc("GET /readyz", readyz(ready, degraded))
}
