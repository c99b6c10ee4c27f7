package ui

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// EventStream is a stream of server-sent events, each of which leaves at once.
type EventStream struct {
	w    http.ResponseWriter
	conn *http.ResponseController
	// lastWrite is when the last of it left, and err why nothing does any more.
	lastWrite time.Time
	err       error
}

const (
	// eventWriteTimeout is how long an event may take to leave; then whoever reads so
	// slowly is given up. HTTP/2 gives up a stream on which nothing was written for
	// that long, too, so it is more than the longest silence.
	eventWriteTimeout = 30 * time.Second
	// keepAliveInterval is after how long without news something is sent all the same:
	// proxies cut what is silent, and who has left is noticed by writing only.
	keepAliveInterval = 10 * time.Second
)

// Events begins a stream. The status line is written by the first event, or by the
// caller.
func (req *Request) Events() *EventStream {
	req.W.Header().Set("Content-Type", "text/event-stream")
	req.W.Header().Set("X-Accel-Buffering", "no") // a proxy must not hold events back
	return &EventStream{w: req.W, conn: http.NewResponseController(req.W)}
}

// Send hands an event to the reader. Once a reader is gone it does nothing: nobody is
// there who could be told.
func (e *EventStream) Send(name string, data map[string]any) { e.sendWithID("", name, data) }

// sendWithID is Send with an id, which a reader that comes back names.
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

// setRetry tells a reader that was cut off when to come back.
func (e *EventStream) setRetry(delay time.Duration) {
	e.write("retry: " + strconv.FormatInt(delay.Milliseconds(), 10) + "\n\n")
}

// keepAlive says nothing, where nothing was said for long.
func (e *EventStream) keepAlive() {
	if time.Since(e.lastWrite) >= keepAliveInterval {
		e.write(":\n\n")
	}
}

// write sends in one piece. The server's own limit for a whole answer gives way to
// one for each piece.
func (e *EventStream) write(text string) {
	if e.err != nil {
		return
	}
	e.lastWrite = time.Now()
	_ = e.conn.SetWriteDeadline(e.lastWrite.Add(eventWriteTimeout)) // what has no deadlines is a test
	if _, e.err = e.w.Write([]byte(text)); e.err != nil {
		return
	}
	if err := e.conn.Flush(); !errors.Is(err, http.ErrNotSupported) {
		e.err = err
	}
}
