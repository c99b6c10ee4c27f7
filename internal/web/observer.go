package web

import (
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"path"
	"runtime/debug"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/web/rest"
	"github.com/dotkontor/dotkontor/internal/web/wire"
)

// observer wraps the routes: an id, a log record and a measurement for every
// request, and a 500 for every panic.
type observer struct {
	mux     *http.ServeMux
	logger  *slog.Logger
	metrics *requestMetrics
	pool    sync.Pool
	// broken answers a request whose handler has panicked, in the form of the protocol
	// of its pattern; others get the one of REST.
	broken map[string]func(w http.ResponseWriter, r *http.Request, err error)
}

func newObserver(mux *http.ServeMux, logger *slog.Logger, registry prometheus.Registerer) (*observer, error) {
	metrics, err := newRequestMetrics(registry)
	if err != nil {
		return nil, err
	}
	o := &observer{mux: mux, logger: logger, metrics: metrics}
	o.pool.New = func() any { return new(recorder) }
	return o, nil
}

func (o *observer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	rec := o.pool.Get().(*recorder) //nolint:errcheck,forcetypeassert // the pool holds nothing else
	*rec = recorder{ResponseWriter: w, began: began, metrics: o.metrics}
	id := newRequestID()
	header := w.Header()
	header[wire.RequestIDHeader] = []string{id}
	header["X-Content-Type-Options"] = noSniff

	o.metrics.underWay.Inc()
	defer func() {
		problem := recover()
		abort := isAbort(problem)
		if problem != nil && !abort {
			// Half an answer must not look like a whole one.
			if abort = !o.answerPanic(rec, r, id, problem); abort {
				problem = http.ErrAbortHandler
			}
		}
		took := time.Since(began)
		measured := took
		if rec.streams {
			measured = rec.opened
			o.metrics.streams.Dec()
		} else {
			o.metrics.underWay.Dec()
		}
		// ServeMux leaves the pattern in the request before it calls the handler.
		pattern := r.Pattern
		if pattern == "" {
			pattern = "/"
		}
		o.metrics.observe(pattern, rec.status(), measured)
		if rec.tool != "" {
			o.metrics.tools.WithLabelValues(rec.tool, rec.outcome).Inc()
		}
		o.record(r, rec, id, pattern, took)
		rec.ResponseWriter, rec.metrics = nil, nil
		o.pool.Put(rec)
		if abort {
			panic(problem) // the agreed way to drop a connection
		}
	}()
	if !isClean(r.URL.Path) {
		notFound(rec, r)
		return
	}
	o.mux.ServeHTTP(rec, r)
}

var noSniff = []string{"nosniff"}

// newRequestID only has to tell requests apart, so it need not be unguessable:
// 80 random bits in 16 letters and digits.
func newRequestID() string {
	const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
	var id [16]byte
	high, low := rand.Uint64(), rand.Uint64() //nolint:gosec // not a secret
	for i := range 8 {
		id[i] = alphabet[high>>(5*i)&31]
		id[8+i] = alphabet[low>>(5*i)&31]
	}
	return string(id[:])
}

// isClean keeps ServeMux from redirecting: a path that would have to be cleaned
// first is a path that does not exist.
func isClean(p string) bool {
	if p == "" || p[0] != '/' {
		return false
	}
	clean := path.Clean(p)
	// A slash at the end is part of the name: /oauth/token/ has one.
	return clean == p || clean != "/" && clean+"/" == p
}

// record writes the one line about this request. Nothing in it comes from the
// client but the method, and that only if it is a usual one.
func (o *observer) record(r *http.Request, rec *recorder, id, pattern string, took time.Duration) {
	level := slog.LevelInfo
	switch status := rec.status(); {
	case rec.note.Fault: // also where the answer is a tool's failure with status 200
		level = slog.LevelError
	case status == http.StatusBadGateway, status == http.StatusServiceUnavailable: // said on purpose
	case status >= http.StatusInternalServerError && !rec.note.Left:
		level = slog.LevelError
	}
	if !o.logger.Enabled(r.Context(), level) {
		return
	}
	attrs := make([]slog.Attr, 0, 10)
	attrs = append(attrs,
		slog.String("id", id),
		slog.String("method", usualMethod(r.Method)),
		slog.String("route", pattern),
		slog.Int("status", rec.status()),
		slog.Int64("bytes", rec.bytes),
		slog.Int64("us", took.Microseconds()),
	)
	if rec.tool != "" {
		attrs = append(attrs, slog.String("tool", rec.tool))
	}
	if note := &rec.note; note.Kind != 0 {
		attrs = append(attrs, slog.String("error", note.Kind.String()), slog.String("code", string(note.Code)))
		if note.Detail != "" {
			attrs = append(attrs, slog.String("detail", note.Detail))
		}
		if note.Cause != "" {
			attrs = append(attrs, slog.String("cause", note.Cause))
		}
	}
	o.logger.LogAttrs(r.Context(), level, "request", attrs...)
}

func usualMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions, http.MethodConnect, http.MethodTrace:
		return method
	default:
		return "other"
	}
}

func isAbort(problem any) bool {
	err, ok := problem.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}

// answerPanic keeps the process alive. The panic's text may quote what the
// client sent, so only its type and the stack are logged. It is false if there was
// half an answer already.
func (o *observer) answerPanic(rec *recorder, r *http.Request, id string, problem any) (answered bool) {
	o.logger.ErrorContext(r.Context(), registrar.PanicRecovered, "where", "request", "id", id, "route", r.Pattern,
		"type", typeName(problem), "stack", string(debug.Stack()))
	err := &registrar.Error{Kind: registrar.KindInternal, Code: "panic"}
	if rec.wrote() {
		wire.Annotate(rec, err)
		return false
	}
	defer func() {
		if problem := recover(); problem != nil { // even the page of errors fails
			o.logger.ErrorContext(r.Context(), registrar.PanicRecovered, "where", "error page", "id", id, "type", typeName(problem), "stack", string(debug.Stack()))
			wire.Annotate(rec, err)
			if answered = !rec.wrote(); answered {
				rest.WriteError(rec, err)
			}
		}
	}()
	if broken := o.broken[r.Pattern]; broken != nil {
		broken(rec, r, err)
	} else {
		rest.WriteError(rec, err)
	}
	return true
}

func typeName(problem any) string {
	switch problem.(type) {
	case error:
		return "error"
	case string:
		return "string"
	default:
		return "other"
	}
}

// recorder notes what was answered.
type recorder struct {
	http.ResponseWriter
	answered int
	bytes    int64
	note     wire.Note
	tool     string
	outcome  string
	began    time.Time
	metrics  *requestMetrics
	// streams says that it is a stream, and opened how long it took to begin.
	streams bool
	opened  time.Duration
}

func (rec *recorder) WriteHeader(status int) {
	if rec.answered == 0 && status >= http.StatusOK {
		rec.answered = status
	}
	rec.ResponseWriter.WriteHeader(status)
}

func (rec *recorder) Write(b []byte) (int, error) {
	if rec.answered == 0 {
		rec.answered = http.StatusOK
	}
	n, err := rec.ResponseWriter.Write(b)
	rec.bytes += int64(n)
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (rec *recorder) Unwrap() http.ResponseWriter { return rec.ResponseWriter }

// Note keeps the last error for the log, but no later one in place of a fault; see
// wire.Annotate.
func (rec *recorder) Note(note wire.Note) {
	if !rec.note.Fault || note.Fault {
		rec.note = note
	}
}

// NoteTool keeps the name of the tool that was called, and how that ended; see
// wire.NoteTool.
func (rec *recorder) NoteTool(name, outcome string) { rec.tool, rec.outcome = name, outcome }

// NoteStream stops the clock of what is open for long; see wire.NoteStream.
func (rec *recorder) NoteStream() {
	if rec.streams {
		return
	}
	rec.streams, rec.opened = true, time.Since(rec.began)
	rec.metrics.underWay.Dec()
	rec.metrics.streams.Inc()
}

func (rec *recorder) wrote() bool { return rec.answered != 0 }

func (rec *recorder) status() int {
	if rec.answered == 0 {
		return http.StatusOK
	}
	return rec.answered
}
