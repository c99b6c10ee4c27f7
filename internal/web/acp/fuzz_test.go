package acp

import (
	"encoding/json"
	"testing"
)

// FuzzParse checks that any input is parsed or rejected without a panic, and that all
// shapes agree about bodies that none of them can parse.
func FuzzParse(f *testing.F) {
	for _, e := range ownExamples {
		f.Add([]byte(e.body))
	}
	f.Add([]byte(`{"a":{"a":1,"a":2}}`))
	f.Add([]byte(`{"items":[{"id":"register:kaffee.de","quantity":1e0}],"buyer":{"email":"a@b.example"}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		fields, err := parse(body)
		if err != nil {
			if p := asProblem(err); p == nil || p.status != 400 {
				t.Fatalf("%v", err)
			}
			return
		}
		if len(fields) > 0 && !json.Valid(body) {
			t.Fatalf("%q is parsed as %v", body, fields)
		}
		for _, s := range []*shape{own, v2025, v2026} {
			for operation := range s.readers {
				asked, err := s.read(operation, fields)
				if err == nil {
					_, err = asked.requestedItems(func(string) bool { return true })
				}
				if err != nil && (asProblem(err) == nil || asProblem(err).status != 400) {
					t.Fatalf("%v", err)
				}
			}
		}
	})
}
