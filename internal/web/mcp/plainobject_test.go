package mcp

import (
	"encoding/json"
	"reflect"
	"testing"
)

// The fast parser must agree with encoding/json.
func FuzzParsePlainObject(f *testing.F) {
	for _, seed := range []string{
		`{"domain":"google.com"}`, ` { "a" : "b" , "c":"d" } `, `{"a":"b","a":"c"}`, `{"a":"b"}x`, `{"a":"b",}`, `{,"a":"b"}`,
		`{"a":"b" "c":"d"}`, `{"a":"\u0062"}`, `{"a":"ü"}`, "{\"a\":\"\xff\"}", "{\"a\":\"\n\"}", `{}`, `{"a":1}`, `{"a":{"b":"c"}}`,
		`{"a":"b"`, `{"a"`, `"a"`, `[]`, ``, "{\"a\":\v\"b\"}", `{"":""}`, `null`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, ok := parsePlainObject(raw)
		if !ok {
			return
		}
		var want arguments
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatalf("%q is parsed as %v, but is invalid: %v", raw, got, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q is parsed as %v, want %v", raw, got, want)
		}
		for name := range want {
			var text string
			if err := json.Unmarshal(want[name], &text); err != nil {
				t.Fatal(err)
			}
			if given, err := got.optionalText(name); err != nil || given != text {
				t.Errorf("%q: %q is %q, %v, want %q", raw, name, given, err, text)
			}
		}
	})
}

func TestParsePlainObject_AcceptsOnlyPlainStrings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"domain":"example.de"}`:                 true,
		`{ "category": "popular" ,"search":"x" }`: true,
		`{"domain":"b\u00fccher.de"}`:             false,
		`{"domain":"bücher.de"}`:                  false,
		`{"limit":5}`:                             false,
		`{"a":"b"}}`:                              false,
	} {
		if _, ok := parsePlainObject([]byte(text)); ok != want {
			t.Errorf("%s: %t, want %t", text, ok, want)
		}
	}
}
