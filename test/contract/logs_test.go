package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// forbiddenWords are words that no log may contain: searched names, client input, client
// addresses and contact data.
func forbiddenWords() []string {
	words := append([]string{marker, strings.ToUpper(marker), "\x1b", `\u001b`}, registry.Canaries...)
	for _, addr := range suite.addresses.all() {
		// With its end, so that 127.1.1.2 does not match 127.1.1.25.
		words = append(words, addr.String()+`"`, addr.String()+":", addr.String()+" ", addr.String()+`\`)
	}
	return words
}

// logProblems returns lines that are not JSON objects and forbidden words.
func logProblems(text []byte, forbidden []string) []string {
	var problems []string
	for i, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		var record map[string]any
		if len(line) > 0 && json.Unmarshal(line, &record) != nil {
			problems = append(problems, fmt.Sprintf("line %d is no JSON object: %.200s", i+1, line))
		}
	}
	for _, word := range forbidden {
		if at := bytes.Index(text, []byte(word)); at >= 0 {
			problems = append(problems, fmt.Sprintf("%q in the log: %.300s", word, text[max(0, at-150):]))
		}
	}
	return problems
}

// The log check itself works.
func TestLogProblems_FindsLeaks(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"msg":"request","name":"` + marker + `.de"}`, "plain words", `{"msg":"a"}` + "\n" + `"b"`,
		`{"remote":"` + suite.addresses.next().String() + `:1234"}`, `{"who":"` + registry.Canaries[0] + `"}`,
	} {
		if len(logProblems([]byte(text), forbiddenWords())) == 0 {
			t.Errorf("nothing was found in %s", text)
		}
	}
	if problems := logProblems([]byte(`{"msg":"request"}`+"\n"), forbiddenWords()); len(problems) != 0 {
		t.Errorf("found in a clean log: %v", problems)
	}
}

// expectedRecord is a request and its expected log record.
type expectedRecord struct {
	label, id, route string
	status           int
}

// sendMarkerEverywhere sends the marker in every part of a request, for every outcome.
func sendMarkerEverywhere(t *testing.T, on *target) []expectedRecord {
	t.Helper()
	injection := marker + "\n{\"msg\":\"request\",\"id\":\"" + marker + "\"}\r\n\x1b[31m" + marker
	talkative := map[string]string{
		"User-Agent": marker + " \\n\\r", "Cookie": "a=" + marker, "Referer": "https://" + marker + ".example/",
		"Authorization": "Bearer " + marker, "X-Request-Id": marker, "X-Forwarded-For": marker, "Traceparent": marker,
		"Origin": "https://" + marker + ".example", "X-" + marker: marker, "Accept-Language": marker,
	}
	client, spent := newCaller(t, on), newCaller(t, on)
	for range perMinute {
		spent.check(marker + ".zz")
	}
	var all []expectedRecord
	for _, test := range []struct {
		label  string
		by     *caller
		r      request
		route  string
		status int
	}{
		{"200", client, request{path: checkPath, body: object("domain", marker+"-log.de")}, checkPath, 200},
		{"200 unsupported", client, request{path: checkPath, body: object("domain", marker+".zz")}, checkPath, 200},
		{"200 search", client, request{path: searchPath, body: object("query", marker+"-log.de")}, searchPath, 200},
		{"200 search that failed", client, request{path: searchPath, body: object("query", "refused-"+marker+"-log.com")}, searchPath, 200},
		{"400 name", client, request{path: checkPath, body: object("domain", injection)}, checkPath, 400},
		{"400 query", client, request{path: searchPath, body: object("query", injection)}, searchPath, 400},
		{"400 body", client, request{path: checkPath, body: injection, invalid: true}, checkPath, 400},
		{"400 key", client, request{path: checkPath, body: object(injection, "x"), invalid: true}, checkPath, 400},
		{"404", client, request{path: "/api/" + marker}, "/", 404},
		{"404 with a line break", client, request{path: "/api/%0a%0d%1b[31m" + marker + "?" + marker + "=" + marker}, "/", 404},
		{"404 unclean", client, request{path: "/api//" + marker}, "/", 404},
		{"405", client, request{method: "PUT", path: checkPath, body: injection}, checkPath, 405},
		{"405 of a method of its own", client, request{method: strings.ToUpper(marker), path: checkPath}, checkPath, 405},
		{"429", spent, request{path: checkPath, body: object("domain", marker+".de")}, checkPath, 429},
		{"502", client, request{path: checkPath, body: object("domain", "refused-"+marker+"-log.com")}, checkPath, 502},
		{"502 garbled", client, request{path: checkPath, body: object("domain", "garbled-"+marker+"-log.gr")}, checkPath, 502},
		{"502 throttled", client, request{path: checkPath, body: object("domain", "throttled-"+marker+"-log.de")}, checkPath, 502},
		{"204", client, request{method: http.MethodOptions, path: checkPath}, checkPath, 204},
		{"document", client, request{method: http.MethodGet, path: openAPIPath}, openAPIPath, 200},
	} {
		test.r.header = talkative
		got := test.by.send(test.r)
		if got.status != test.status {
			t.Errorf("%s: got %s", test.label, got)
		}
		id := got.header.Get("X-Request-Id")
		if strings.Contains(id, marker) {
			t.Errorf("%s: the client chose the id: %s", test.label, id)
		}
		all = append(all, expectedRecord{test.label, id, test.route, test.status})
	}
	return all
}

// sendMalformedRequests sends malformed requests, some of which net/http rejects itself.
func sendMalformedRequests(t *testing.T, on *target) {
	t.Helper()
	for _, text := range []string{
		"GET /" + marker + " HTTP/9.9\r\n\r\n",
		"GET /" + marker + "\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: " + marker + "\r\nX: \x1b[31m" + marker + "\r\n" + marker + "\r\n\r\n",
		"POST " + checkPath + " HTTP/1.1\r\nHost: a\r\nContent-Length: " + marker + "\r\n\r\n",
		"POST " + checkPath + " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: " + marker + "\r\n\r\n",
		"POST " + checkPath + " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n" + marker + "\r\n",
		"\x16\x03\x01" + marker + "\r\n\r\n",
	} {
		conn, err := newCaller(t, on).dial()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		output, _ := io.ReadAll(conn) // a reset is a response too
		if bytes.HasPrefix(output, []byte("HTTP/1.1 200")) {
			t.Errorf("%q was accepted: %s", text, output)
		}
	}
}

func TestLog_OneRecordPerRequestWithoutClientData(t *testing.T) {
	t.Parallel()
	// Debug records have no personal data either.
	chatty := startOwnServe(t, "chatty", "DOTKONTOR_LOG_LEVEL=debug")
	for _, on := range append(slices.Clone(suite.troubled), chatty) {
		t.Run(on.name, func(t *testing.T) {
			sent := sendMarkerEverywhere(t, on)
			sendMalformedRequests(t, on)
			var records map[string][]map[string]any
			var text []byte
			testkit.Eventually(t, "a record for every request", func() bool {
				var err error
				if text, err = os.ReadFile(on.log); err != nil {
					t.Fatal(err)
				}
				records = requestRecords(text)
				return !slices.ContainsFunc(sent, func(r expectedRecord) bool { return len(records[r.id]) == 0 })
			})
			for _, r := range sent {
				if len(records[r.id]) != 1 {
					t.Errorf("%s: %d records", r.label, len(records[r.id]))
				}
				if got := records[r.id][0]; got["route"] != r.route || got["status"] != float64(r.status) {
					t.Errorf("%s: the record is %v", r.label, got)
				}
			}
			for _, problem := range logProblems(wholeLines(text), forbiddenWords()) {
				t.Error(problem)
			}
		})
	}
}

// requestRecords returns request records by id.
func requestRecords(text []byte) map[string][]map[string]any {
	records := make(map[string][]map[string]any)
	for line := range bytes.Lines(text) {
		var record map[string]any
		if json.Unmarshal(line, &record) != nil || record["msg"] != "request" {
			continue
		}
		id := fmt.Sprint(record["id"])
		records[id] = append(records[id], record)
	}
	return records
}

// wholeLines drops an incomplete last line.
func wholeLines(text []byte) []byte { return text[:bytes.LastIndexByte(text, '\n')+1] }

// The client checks every response, and tearDown every log, for contact data; this test
// requests many records that have some.
func TestRegistryContacts_NeverInResponses(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		for _, label := range []string{"google", "siemens", "wikipedia", "ohne-dns"} {
			for _, tld := range []string{
				".de", ".com", ".eu", ".net", ".org", ".shop", ".io", ".dev", ".at", ".be", ".it", ".ch", ".co.uk", ".berlin",
			} {
				wantResponse(t, label+tld, newCaller(t, on).check(label+tld), http.StatusOK, wantFields{"available": "false"})
			}
			entries(t, label, newCaller(t, on).search(label))
		}
	})
}
