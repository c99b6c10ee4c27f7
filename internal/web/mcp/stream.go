package mcp

import (
	"encoding/json"
	"net/http"
	"strings"
)

// stream turns the response into an event stream at the first notification. Until then
// the status is open, so that whatever refuses a call can still choose it; a call
// without notifications is answered with a JSON body.
type stream struct {
	w     http.ResponseWriter
	begun bool
}

var typeEventStream = []string{"text/event-stream"}

// notify sends a notification. It fails if the client is gone.
func (s *stream) notify(method string, params any) error {
	text, err := json.Marshal(struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", method, params})
	if err != nil {
		return err
	}
	if !s.begun {
		s.begun = true
		header := s.w.Header()
		header["Content-Type"], header["Cache-Control"] = typeEventStream, noStore
		header["X-Accel-Buffering"] = []string{"no"} // proxies must not buffer the events
		s.w.WriteHeader(http.StatusOK)
	}
	return s.write(text)
}

// write sends one event. Its text has no line breaks: encoding/json writes none, and the
// scanner refuses them in the id and the progress token, which are sent as received.
func (s *stream) write(text []byte) error {
	event := make([]byte, 0, len(text)+len("event: message\ndata: \n\n"))
	event = append(event, "event: message\ndata: "...)
	event = append(event, text...)
	if _, err := s.w.Write(append(event, "\n\n"...)); err != nil {
		return err
	}
	return http.NewResponseController(s.w).Flush()
}

// progress holds the parameters of notifications/progress.
type progress struct {
	Token    json.RawMessage `json:"progressToken"`
	Progress int             `json:"progress"`
	Total    int             `json:"total"`
	Message  string          `json:"message"`
}

// reporter returns the function with which a tool reports progress, or nil if the
// caller did not ask for it or can't read event streams.
func (x *exchange) reporter() func(done, total int, text string) {
	token := x.metaProgressToken
	if len(token) == 0 || token[0] != '"' && token[0] != '-' && !isDigit(token[0]) || !x.acceptsStream() {
		return nil
	}
	return func(done, total int, text string) {
		// A failed write means that the client is gone, which also ends the call.
		_ = x.stream.notify("notifications/progress", progress{token, done, total, text})
	}
}

// acceptsStream reports whether the caller asks for event streams by name; */* is what
// scripts send that expect JSON.
func (x *exchange) acceptsStream() bool {
	for _, value := range x.r.Header["Accept"] {
		for kind := range strings.SplitSeq(value, ",") {
			// With parameters it may be a refusal (q=0). No client sends any.
			if strings.EqualFold(strings.TrimSpace(kind), "text/event-stream") {
				return true
			}
		}
	}
	return false
}
