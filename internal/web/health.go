package web

import (
	"net/http"
	"time"
)

// healthz says that the process serves.
func healthz(w http.ResponseWriter, _ *http.Request) { writeStatus(w, http.StatusOK, "ok\n") }

// Degraded is a part of the service that can't do all of its work.
type Degraded struct {
	Part, State string
	Since       time.Time
}

// readyz says whether a load balancer should send requests here. What is degraded is
// listed below, a line each, and does not change the status: lookups go on, and
// another node would have the same trouble.
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

// Health serves /healthz and /readyz on the private port too.
func Health(mux *http.ServeMux, ready func() bool, degraded func() []Degraded) {
	mux.HandleFunc("GET /healthz", healthz)
	mux.HandleFunc("GET /readyz", readyz(ready, degraded))
}
