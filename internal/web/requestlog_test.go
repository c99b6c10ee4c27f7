package web

import (
	"bytes"
	"log/slog"
	"testing"
	"time"
)

func TestRequestRecord_AppendJSONMatchesSlog(t *testing.T) {
	at := time.Date(2026, 11, 15, 9, 0, 0, 123456000, time.FixedZone("", 3600))
	for _, record := range []RequestRecord{
		{Time: at, ID: "abc", Method: "GET", Route: "/things/{id}", Status: 200, Bytes: 17, Micros: 42},
		{Time: at, Status: 429, Error: "rate_limited"},
		{Time: at, Tool: "domain_check", Error: "upstream", Code: "timeout", Detail: "rdap.example", Cause: "canceled"},
	} {
		var want bytes.Buffer
		full := slog.NewRecord(record.Time, slog.LevelInfo, "request", 0)
		full.AddAttrs(record.attrs()...)
		if err := slog.NewJSONHandler(&want, nil).Handle(t.Context(), full); err != nil {
			t.Fatal(err)
		}
		got, ok := record.AppendJSON(nil)
		if !ok || string(got) != want.String() {
			t.Errorf("got  %swant %s", got, want.String())
		}
	}
	for _, text := range []string{`"`, `\`, "\n", "\x1b[31m", "ü", "<", "&"} {
		if line, ok := (&RequestRecord{Detail: text}).AppendJSON(nil); ok {
			t.Errorf("%q is encoded as %s", text, line)
		}
	}
}
