package web

import (
	"net/http"
)

// healthz says that the process serves.
func healthz(w http.ResponseWriter, _ *http.Request) { writeState(w, http.StatusOK, "ok\n") }

// readyz says whether a load balancer should send requests here.
func readyz(ready func() bool) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if !ready() {
			writeState(w, http.StatusServiceUnavailable, "draining\n")
			return
		}
		writeState(w, http.StatusOK, "ready\n")
	}
}

func writeState(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text))
}

// Health serves /healthz and /readyz on the private port too.
func Health(mux *http.ServeMux, ready func() bool) {
	mux.HandleFunc("GET /healthz", healthz)
	mux.HandleFunc("GET /readyz", readyz(ready))
}
