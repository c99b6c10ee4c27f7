package ui

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// EventStream is a stream of server-sent events; each event is flushed.
type EventStream struct {
	w         http.ResponseWriter
	conn      *http.ResponseController
	lastWrite time.Time
	err       error // ends the stream
}

const (
	// eventWriteTimeout bounds the write of one event; a slower reader is dropped.
	// HTTP/2 also closes a stream without writes after that time, so it is longer than
	// keepAliveInterval.
	eventWriteTimeout = 30 * time.Second
	// keepAliveInterval is the longest time without a write: proxies cut silent
	// streams, and only a write detects a reader that is gone.
	keepAliveInterval = 10 * time.Second
)

// Events starts a stream. The status line is written with the first event or by the
// caller.
func (req *Request) Events() *EventStream {
	req.W.Header().Set("Content-Type", "text/event-stream")
	req.W.Header().Set("X-Accel-Buffering", "no") // proxies must not buffer events
	return &EventStream{w: req.W, conn: http.NewResponseController(req.W)}
}

// Send sends an event. It does nothing once the reader is gone.
func (e *EventStream) Send(name string, data map[string]any) { e.sendWithID("", name, data) }

// sendWithID is Send with an id, which a reconnecting reader sends back.
func (e *EventStream) sendWithID(id, name string, data map[string]any) {
	body, err := json.Marshal(data)
	if err != nil { // strings and booleans can't fail
		return
	}
	event := "event: " + name + "\ndata: " + string(body) + "\n"
	if id != "" {
		event += "id: " + id + "\n"
	}
	e.write(event + "\n")
}

// setRetry sets when a disconnected reader reconnects.
func (e *EventStream) setRetry(delay time.Duration) {
	e.write("retry: " + strconv.FormatInt(delay.Milliseconds(), 10) + "\n\n")
}

// keepAlive sends a comment after keepAliveInterval without an event.
func (e *EventStream) keepAlive() {
	if time.Since(e.lastWrite) >= keepAliveInterval {
		e.write(":\n\n")
	}
}

// write sends text at once. The server's deadline for a whole response is replaced by
// one per write.
func (e *EventStream) write(text string) {
	if e.err != nil {
		return
	}
	e.lastWrite = time.Now()
	_ = e.conn.SetWriteDeadline(e.lastWrite.Add(eventWriteTimeout)) // only tests have no deadlines
	if _, e.err = e.w.Write([]byte(text)); e.err != nil {
		return
	}
	if err := e.conn.Flush(); !errors.Is(err, http.ErrNotSupported) {
		e.err = err
	}
}
