package idempotency

import (
	"encoding/json"
	"strings"
	"testing"
)

// fingerprintOf is the fingerprint of a body.
func fingerprintOf(t *testing.T, body string) string {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	sum, err := fingerprint(value)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return sum
}

func TestFingerprint_EqualJSONValuesMatch(t *testing.T) {
	t.Parallel()
	for _, spellings := range [][]string{
		{`{"a":1,"b":[true,null,"ä"]}`, "{ \"b\" : [ true , null , \"\\u00e4\" ],\n\"a\":1 }", `{"a":1.0,"b":[true,null,"ä"]}`},
		{"0", "-0", "0.000", "0e9"},
		{"100", "1e2", "1E+2", "100.0", "1000e-1"},
		{"-0.015", "-15e-3", "-1.5E-2"},
		{`"/"`, `"\/"`},
		{"{}", " {\t} "},
	} {
		for _, other := range spellings[1:] {
			if fingerprintOf(t, spellings[0]) != fingerprintOf(t, other) {
				t.Errorf("%s and %s have different fingerprints", spellings[0], other)
			}
		}
	}
}

func TestFingerprint_DifferentBodiesDiffer(t *testing.T) {
	t.Parallel()
	different := []string{
		"{}", "[]", "null", "false", `""`, "0", "1", "-1", "10", "0.1", "1e400", "9007199254740993", "9007199254740992",
		`"0"`, `"null"`, `{"a":1}`, `{"a":"1"}`, `{"A":1}`, `{"a":1,"b":1}`, `[1,2]`, `[2,1]`, `[[1],2]`, `[[1,2]]`,
		`"ä"`, `"a\u0308"`, "1e99999999999999999999", "2e99999999999999999999",
	}
	seen := make(map[string]string)
	for _, body := range different {
		sum := fingerprintOf(t, body)
		if previous, twice := seen[sum]; twice {
			t.Errorf("%q and %q have the same fingerprint", previous, body)
		}
		seen[sum] = body
	}
}
