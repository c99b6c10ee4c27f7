package app

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"strings"
)

// logLevels are the levels by their names in the configuration.
var logLevels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
}

const maxLevelName = 16

// addDebugRoutes registers profiles and the log level. They belong on the private port only:
// a profile contains memory, and level debug fills disks.
func addDebugRoutes(mux *http.ServeMux, level *slog.LevelVar, logger *slog.Logger) {
	mux.HandleFunc("GET /debug/pprof/", pprof.Index) // also the profiles by name, such as heap
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	if level == nil {
		return
	}
	mux.HandleFunc("GET /debug/log-level", func(w http.ResponseWriter, _ *http.Request) { writeLevel(w, level.Level()) })
	mux.HandleFunc("PUT /debug/log-level", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, maxLevelName+1))
		wanted, known := logLevels[strings.TrimSpace(string(body))]
		if err != nil || !known {
			http.Error(w, "send debug, info, warn or error", http.StatusBadRequest)
			return
		}
		was := level.Level()
		level.Set(min(was, wanted)) // the lower one, so that the change is logged unless both are error
		logger.WarnContext(r.Context(), "log level changed", "from", levelName(was), "to", levelName(wanted))
		level.Set(wanted)
		writeLevel(w, wanted)
	})
}

func levelName(level slog.Level) string { return strings.ToLower(level.String()) }

func writeLevel(w http.ResponseWriter, level slog.Level) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = io.WriteString(w, levelName(level)+"\n")
}
