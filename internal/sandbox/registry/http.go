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

	// Retry-After of a 429 in seconds: a magic name is throttled by itself, chaos
	// asks for a short pause.
	retryAfterMagicName = 0
	retryAfterChaos     = 1
	bodyTimeout         = 10 * time.Second
)

// httpResponse is one HTTP response before chaos is applied.
type httpResponse struct {
	status int
	kind   string // content type
	body   []byte
	header map[string]string // further headers; may be nil
	// misbehaviour is set for magic names, which are exempt from chaos.
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
				// net/http drains the unread body and must not wait for a client
				// that never sends it.
				_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout))
			}
			if !sleep(req.Context(), r.opts.Latency) {
				return
			}
			r.sendHTTP(w, req, host, decide(req), rng)
		}),
		BaseContext: func(net.Listener) context.Context { return r.servers.ctx },
		// No ReadTimeout: it would also end a hanging response.
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       time.Minute,
		WriteTimeout:      r.timings.hang + 15*time.Second,
		MaxHeaderBytes:    16 << 10,
		// net/http logs clients that left, and may quote their requests.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	// Serve returns when the listener is closed; the server group closes its
	// connections.
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
		_, _ = w.Write(a.body[:part]) // the client may have left
	}
}

// breakHTTP sends a response that is recognisably broken: truncated in transfer,
// truncated before sending, or a gateway's error page. One truncated before sending
// always has status 200, because a 404 is understood without its body.
func breakHTTP(w http.ResponseWriter, req *http.Request, a httpResponse, variant uint64) {
	half := len(a.body) / 2
	switch {
	case half == 0 || req.Method == http.MethodHead || variant%3 == 0: // there is no body to truncate
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

// resetHTTP cuts the connection without a response.
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
	a := rdapError(http.StatusTooManyRequests, "Too many requests", "Slow down and try again later.")
	a.header = map[string]string{"Retry-After": strconv.Itoa(retryAfter)}
	return a
}

// methodAllowed accepts GET and HEAD; for other methods it returns the error
// response and false.
func methodAllowed(req *http.Request) (httpResponse, bool) {
	if req.Method == http.MethodGet || req.Method == http.MethodHead {
		return httpResponse{}, true
	}
	a := rdapError(http.StatusMethodNotAllowed, "Method not allowed", "Only GET and HEAD are supported.")
	a.header = map[string]string{"Allow": "GET, HEAD"}
	return a, false
}

// webNotFound is a web server's response to an unknown path. It is a page and not
// RDAP, so that a wrong URL is not taken for a free name.
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
