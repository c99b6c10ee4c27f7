package page

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"
)

// Events is a stream of server-sent events, each of which leaves at once.
type Events struct {
	w    http.ResponseWriter
	wire *http.ResponseController
	// wrote is when the last of it left, and err why nothing does any more.
	wrote time.Time
	err   error
}

const (
	// slowestReader is how long an event may take to leave; then whoever reads so
	// slowly is given up. HTTP/2 gives up a stream on which nothing was written for
	// that long, too, so it is more than the longest silence.
	slowestReader = 30 * time.Second
	// longestSilence is after how long without news something is sent all the same:
	// proxies cut what is silent, and who has left is noticed by writing only.
	longestSilence = 10 * time.Second
)

// Events begins a stream. The status line is written by the first event, or by the
// caller.
func (v *Visit) Events() *Events {
	v.W.Header().Set("Content-Type", "text/event-stream")
	v.W.Header().Set("X-Accel-Buffering", "no") // a proxy must not hold events back
	return &Events{w: v.W, wire: http.NewResponseController(v.W)}
}

// Send hands an event to the reader. Once a reader is gone it does nothing: nobody is
// there who could be told.
func (e *Events) Send(name string, data map[string]any) { e.sendAs("", name, data) }

// sendAs is Send with an id, which a reader that comes back names.
func (e *Events) sendAs(id, name string, data map[string]any) {
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

// comeBackIn tells a reader that was cut off when to come back.
func (e *Events) comeBackIn(pause time.Duration) {
	e.write("retry: " + strconv.FormatInt(pause.Milliseconds(), 10) + "\n\n")
}

// keepAlive says nothing, where nothing was said for long.
func (e *Events) keepAlive() {
	if time.Since(e.wrote) >= longestSilence {
		e.write(":\n\n")
	}
}

// write sends in one piece. The server's own limit for a whole answer gives way to
// one for each piece.
func (e *Events) write(text string) {
	if e.err != nil {
		return
	}
	e.wrote = time.Now()
	_ = e.wire.SetWriteDeadline(e.wrote.Add(slowestReader)) // what has no deadlines is a test
	if _, e.err = e.w.Write([]byte(text)); e.err != nil {
		return
	}
	if err := e.wire.Flush(); !errors.Is(err, http.ErrNotSupported) {
		e.err = err
	}
}
