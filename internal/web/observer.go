package web

import (
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"path"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/tracing"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
	"github.com/dotkontor/dotkontor/internal/web/rest"
)

// observer wraps the routes: it adds an id, a log record, a measurement and, if tracing is on,
// a span to every request, and answers 500 after a panic.
type observer struct {
	// exact finds the handlers of paths without wildcards; mux has all routes and costs
	// several times as much.
	exact   map[string]http.Handler
	mux     *http.ServeMux
	logger  *slog.Logger
	metrics *requestMetrics
	tracer  *tracing.Tracer // nil means no spans
	pool    sync.Pool
	date    dateHeader
	// panicHandlers answers a request after a panic in the form of its route's
	// protocol; routes without an entry use the form of REST.
	panicHandlers map[string]func(w http.ResponseWriter, r *http.Request, err error)
}

func newObserver(mux *http.ServeMux, logger *slog.Logger, registry prometheus.Registerer) (*observer, error) {
	metrics, err := newRequestMetrics(registry)
	if err != nil {
		return nil, err
	}
	o := &observer{exact: make(map[string]http.Handler), mux: mux, logger: logger, metrics: metrics}
	o.pool.New = func() any { return &recorder{buffer: make([]byte, 0, 512)} }
	return o, nil
}

func (o *observer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r, span := o.tracer.StartRequest(r)
	o.serve(w, r, span)
}

func (o *observer) serve(w http.ResponseWriter, r *http.Request, span tracing.Span) {
	began := time.Now()
	rec := o.pool.Get().(*recorder) //nolint:errcheck,forcetypeassert // the pool holds nothing else
	*rec = recorder{ResponseWriter: w, startedAt: began, metrics: o.metrics, buffer: rec.buffer}
	id := newRequestID()
	header := w.Header()
	header[httpjson.RequestIDHeader] = []string{id}
	header["X-Content-Type-Options"] = noSniff
	header["Date"] = o.date.at(began)

	o.metrics.inFlight.Inc()
	defer func() {
		recovered := recover()
		abort := isAbort(recovered)
		if recovered != nil && !abort {
			// A partial response must not look complete.
			if abort = !o.servePanic(rec, r, id, recovered); abort {
				recovered = http.ErrAbortHandler
			}
		}
		duration := time.Since(began)
		measured := duration
		if rec.isStream {
			measured = rec.streamOpenedAfter
			o.metrics.streams.Dec()
		} else {
			o.metrics.inFlight.Dec()
		}
		// The pattern is set before the handler is called.
		pattern := r.Pattern
		if pattern == "" {
			pattern = "/"
		}
		o.metrics.observe(pattern, rec.status(), measured)
		if rec.tool != "" {
			o.metrics.countTool(rec.tool, rec.outcome)
		}
		o.logRequest(r, rec, id, pattern, duration)
		span.EndRequest(logMethod(r.Method), pattern, id, rec.tool, rec.status())
		rec.ResponseWriter, rec.metrics = nil, nil
		o.pool.Put(rec)
		if abort {
			panic(recovered) // the documented way to drop a connection
		}
	}()
	// An escaped slash is no separator, which only ServeMux sees.
	if handler, ok := o.exact[r.URL.Path]; ok && r.URL.RawPath == "" {
		r.Pattern = r.URL.Path
		handler.ServeHTTP(rec, r)
		return
	}
	if !isClean(r.URL.Path) {
		notFound(rec, r)
		return
	}
	o.mux.ServeHTTP(rec, r)
}

var noSniff = []string{"nosniff"}

// dateHeader keeps the Date of the current second. net/http would format it for every
// response, a fiftieth of the cost of a lookup.
type dateHeader struct{ latest atomic.Pointer[secondOfDate] }

type secondOfDate struct {
	unix int64
	text []string
}

func (d *dateHeader) at(now time.Time) []string {
	latest := d.latest.Load()
	if latest == nil || latest.unix != now.Unix() {
		latest = &secondOfDate{unix: now.Unix(), text: []string{now.UTC().Format(http.TimeFormat)}}
		d.latest.Store(latest)
	}
	return latest.text
}

// newRequestID returns 80 random bits in 16 characters. It only has to be unique, not
// unguessable.
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

// isClean keeps ServeMux from redirecting: a path that is not in clean form does not
// exist.
func isClean(p string) bool {
	if p == "" || p[0] != '/' {
		return false
	}
	clean := path.Clean(p)
	// A trailing slash is part of the path, as in /oauth/token/.
	return clean == p || clean != "/" && clean+"/" == p
}

// logRequest writes the record of this request. Only the method comes from the client,
// and only if it is a standard one.
func (o *observer) logRequest(r *http.Request, rec *recorder, id, pattern string, duration time.Duration) {
	level := slog.LevelInfo
	switch status := rec.status(); {
	case rec.errInfo.Fault: // also for a failed tool call with status 200
		level = slog.LevelError
	case status == http.StatusBadGateway, status == http.StatusServiceUnavailable, status == http.StatusNotImplemented: // intended responses
	case status >= http.StatusInternalServerError && !rec.errInfo.ClientGone:
		level = slog.LevelError
	}
	handler := o.logger.Handler()
	if !handler.Enabled(r.Context(), level) {
		return
	}
	record := RequestRecord{
		Time: rec.startedAt.Add(duration), ID: id, Method: logMethod(r.Method), Route: pattern,
		Status: rec.status(), Bytes: rec.bytes, Micros: duration.Microseconds(), Tool: rec.tool,
	}
	if note := &rec.errInfo; note.Kind != 0 {
		record.Error, record.Code, record.Detail, record.Cause = note.Kind.String(), string(note.Code), note.Detail, note.Cause
	}
	if direct, ok := handler.(RequestLogger); ok && level == slog.LevelInfo && direct.LogRequest(record) {
		return
	}
	// The logger's own methods would look up the line of code that calls them.
	full := slog.NewRecord(record.Time, level, "request", 0)
	full.AddAttrs(record.attrs()...)
	_ = handler.Handle(r.Context(), full) // there is no other place to report it
}

func logMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions, http.MethodConnect, http.MethodTrace:
		return method
	default:
		return "other"
	}
}

func isAbort(recovered any) bool {
	err, ok := recovered.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}

// servePanic answers after a panic. The panic's text may quote client data, so only its
// type and the stack are logged. It returns false if part of the response was already
// written.
func (o *observer) servePanic(rec *recorder, r *http.Request, id string, recovered any) (answered bool) {
	o.logger.ErrorContext(r.Context(), registrar.PanicRecovered, "where", "request", "id", id, "route", r.Pattern,
		"type", panicType(recovered), "stack", string(debug.Stack()))
	err := &registrar.Error{Kind: registrar.KindInternal, Code: "panic"}
	if rec.wroteHeader() {
		httpjson.RecordError(rec, err)
		return false
	}
	defer func() { //nolint:contextcheck // the request has it
		if recovered := recover(); recovered != nil { // the error page panicked, too
			o.logger.ErrorContext(r.Context(), registrar.PanicRecovered, "where", "error page", "id", id, "type", panicType(recovered), "stack", string(debug.Stack()))
			httpjson.RecordError(rec, err)
			if answered = !rec.wroteHeader(); answered {
				rest.WriteError(rec, err)
			}
		}
	}()
	if broken := o.panicHandlers[r.Pattern]; broken != nil {
		broken(rec, r, err)
	} else {
		rest.WriteError(rec, err)
	}
	return true
}

func panicType(recovered any) string {
	switch recovered.(type) {
	case error:
		return "error"
	case string:
		return "string"
	default:
		return "other"
	}
}

// recorder records the response for log and metrics.
type recorder struct {
	http.ResponseWriter
	statusCode        int
	bytes             int64
	errInfo           httpjson.ErrorInfo
	tool              string
	outcome           string
	startedAt         time.Time
	metrics           *requestMetrics
	isStream          bool
	streamOpenedAfter time.Duration // the time until the stream started
	buffer            []byte        // reused by the next request
}

func (rec *recorder) WriteHeader(status int) {
	if rec.statusCode == 0 && status >= http.StatusOK {
		rec.statusCode = status
	}
	rec.ResponseWriter.WriteHeader(status)
}

func (rec *recorder) Write(b []byte) (int, error) {
	if rec.statusCode == 0 {
		rec.statusCode = http.StatusOK
	}
	n, err := rec.ResponseWriter.Write(b)
	rec.bytes += int64(n)
	return n, err
}

// Buffer returns an empty buffer for one Write.
func (rec *recorder) Buffer() []byte { return rec.buffer }

// Unwrap lets http.ResponseController reach the connection.
func (rec *recorder) Unwrap() http.ResponseWriter { return rec.ResponseWriter }

// RecordError is called by httpjson.RecordError. It keeps the last error, but a fault is
// never replaced by a lesser error.
func (rec *recorder) RecordError(note httpjson.ErrorInfo) {
	if !rec.errInfo.Fault || note.Fault {
		rec.errInfo = note
	}
}

// RecordTool is called by httpjson.RecordTool.
func (rec *recorder) RecordTool(name, outcome string) { rec.tool, rec.outcome = name, outcome }

// MarkStream is called by httpjson.MarkStream: the duration is measured up to here.
func (rec *recorder) MarkStream() {
	if rec.isStream {
		return
	}
	rec.isStream, rec.streamOpenedAfter = true, time.Since(rec.startedAt)
	rec.metrics.inFlight.Dec()
	rec.metrics.streams.Inc()
}

func (rec *recorder) wroteHeader() bool { return rec.statusCode != 0 }

func (rec *recorder) status() int {
	if rec.statusCode == 0 {
		return http.StatusOK
	}
	return rec.statusCode
}
