package mcp

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/dotkontor/dotkontor/internal/web/httpjson"
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
		header["X-Accel-Buffering"] = []string{"no"} // proxies must not collect the events
		httpjson.MarkStream(s.w)
		s.w.WriteHeader(http.StatusOK)
	}
	return s.write(text)
}

// write sends one event. JSON texts of encoding/json have no line breaks.
func (s *stream) write(text []byte) error {
	event := make([]byte, 0, len(text)+len("event: message\ndata: \n\n"))
	event = append(event, "event: message\ndata: "...)
	event = append(event, text...)
	if _, err := s.w.Write(append(event, "\n\n"...)); err != nil {
		return err
	}
	return http.NewResponseController(s.w).Flush()
}

// progress is the parameters of notifications/progress.
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

func (x *exchange) acceptsStream() bool {
	for _, value := range x.r.Header["Accept"] {
		for kind := range strings.SplitSeq(value, ",") {
			kind, _, _ = strings.Cut(kind, ";")
			switch strings.ToLower(strings.TrimSpace(kind)) {
			case "text/event-stream", "text/*", "*/*":
				return true
			}
		}
	}
	return false
}
