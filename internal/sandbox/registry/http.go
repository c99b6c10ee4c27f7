package registry

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"time"
)

const (
	rdapType = "application/rdap+json"
	htmlType = "text/html; charset=utf-8"

	// With a 429, in seconds: a magic name is refused for itself alone, chaos
	// asks to be left alone for a moment.
	retryAfterMagicName = 0
	retryAfterChaos     = 1
	bodyTimeout         = 10 * time.Second
)

// httpResponse is one HTTP answer before chaos has had its way with it.
type httpResponse struct {
	status int
	kind   string // content type
	body   []byte
	header map[string]string // further fields; nil means none
	// misbehaviour is not behaved for the magic names, which chaos leaves alone.
	misbehaviour misbehaviour
}

// openHTTP starts the server of one RDAP host or of IANA.
func (r *Registry) openHTTP(host string, decide func(*http.Request) httpResponse) error {
	listener, err := r.servers.listen("127.0.0.1:0")
	if err != nil {
		return err
	}
	r.hosts[host] = "http://" + listener.Addr().String()
	rng := r.faultRNGFor(host)
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if !r.servers.begin() {
				return
			}
			defer r.servers.end()
			if req.ContentLength != 0 {
				// Nobody reads the body, but net/http drains it. It must not
				// wait for a client that never sends it.
				_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout))
			}
			if !sleep(req.Context(), r.opts.Latency) {
				return
			}
			r.sendHTTP(w, req, host, decide(req), rng)
		}),
		BaseContext: func(net.Listener) context.Context { return r.servers.ctx },
		// No ReadTimeout: it would also end the wait of a hanging answer.
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       time.Minute,
		WriteTimeout:      r.timings.hang + 15*time.Second,
		MaxHeaderBytes:    16 << 10,
		// What net/http has to say is about clients that left, and may quote
		// what they asked.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	// Serve returns when the gate is closed; its connections are closed by the
	// crowd, too.
	r.servers.run(func() { _ = server.Serve(listener) })
	return nil
}

func (r *Registry) sendHTTP(w http.ResponseWriter, req *http.Request, host string, a httpResponse, rng *faultRNG) {
	switch a.misbehaviour {
	case misbehaveHang:
		sleep(req.Context(), r.timings.hang)
		resetHTTP(w)
		return
	case misbehaveReset:
		resetHTTP(w)
		return
	case misbehaveNot:
		mishap := rng.next()
		if mishap.fault != faultNone {
			r.opts.Logger.DebugContext(req.Context(), "sandbox chaos", "host", host, "fault", mishap.String())
		}
		switch mishap.fault {
		case faultSlow:
			if !sleep(req.Context(), mishap.delay) {
				return
			}
		case faultBroken:
			breakHTTP(w, req, a, mishap.variant)
			return
		case faultThrottled:
			a = throttledHTTP(retryAfterChaos)
		case faultDropped:
			resetHTTP(w)
			return
		}
	}
	writeHTTP(w, a, len(a.body))
}

// writeHTTP announces the whole body and sends the first part of it.
func writeHTTP(w http.ResponseWriter, a httpResponse, part int) {
	header := w.Header()
	for key, value := range a.header {
		header.Set(key, value)
	}
	if a.kind != "" {
		header.Set("Content-Type", a.kind)
	}
	if a.status != http.StatusNotModified {
		header.Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	header.Set("Access-Control-Allow-Origin", "*") // RFC 7480, 5.6
	w.WriteHeader(a.status)
	if part > 0 {
		_, _ = w.Write(a.body[:part]) // a client that left is no fault of ours
	}
}

// breakHTTP makes an answer that nobody can take for a whole one: cut off in
// transfer, cut off before it was sent, or a gateway's error page. An answer
// that is cut off before sending always goes out as 200, because a 404 is
// understood without its body.
func breakHTTP(w http.ResponseWriter, req *http.Request, a httpResponse, variant uint64) {
	half := len(a.body) / 2
	switch {
	case half == 0 || req.Method == http.MethodHead || variant%3 == 0: // without a body, nothing can be cut
		writeHTTP(w, httpResponse{status: http.StatusBadGateway, kind: htmlType, body: []byte(gatewayPage)}, len(gatewayPage))
	case variant%3 == 1:
		a.status, a.body = http.StatusOK, a.body[:half]
		writeHTTP(w, a, half)
	default:
		a.status = http.StatusOK
		// net/http cuts the connection when less is written than announced.
		writeHTTP(w, a, half)
	}
}

// resetHTTP cuts the connection without an answer.
func resetHTTP(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	if guest, ok := conn.(*trackedConn); ok {
		guest.reset()
		return
	}
	_ = conn.Close()
}

func throttledHTTP(retryAfter int) httpResponse {
	a := rdapError(http.StatusTooManyRequests, "Too many questions", "Slow down and ask again later.")
	a.header = map[string]string{"Retry-After": strconv.Itoa(retryAfter)}
	return a
}

// methodAllowed lets GET and HEAD through; for anything else it returns the
// answer and false.
func methodAllowed(req *http.Request) (httpResponse, bool) {
	if req.Method == http.MethodGet || req.Method == http.MethodHead {
		return httpResponse{}, true
	}
	a := rdapError(http.StatusMethodNotAllowed, "Method not allowed", "Only GET and HEAD are understood here.")
	a.header = map[string]string{"Allow": "GET, HEAD"}
	return a, false
}

// webNotFound is what a web server says of a path that it does not have. It is
// a page and no RDAP, so that nobody takes a mistaken address for a free name.
func webNotFound() httpResponse {
	return httpResponse{status: http.StatusNotFound, kind: htmlType, body: []byte(notFoundPage)}
}

const (
	gatewayPage = `<!DOCTYPE html><html><head><title>502</title></head>` +
		`<body><h1>Bad gateway</h1><p>The machine behind this one does not respond.</p></body></html>` + "\n"
	notFoundPage = `<!DOCTYPE html><html><head><title>404</title></head>` +
		`<body><h1>No such page</h1><p>There is nothing at this address.</p></body></html>` + "\n"
	maintenancePage = `<!DOCTYPE html><html><head><title>Maintenance</title></head>` +
		`<body><h1>We are rebuilding</h1><p>Our services will be back on Monday.</p></body></html>` + "\n"
)
