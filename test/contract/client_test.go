package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
)

const (
	checkPath  = "/api/domain/check"
	searchPath = "/api/domain/search"
)

// describedPaths are the paths whose responses are validated against openapi.json.
var describedPaths = []string{checkPath, searchPath, completePath}

// caller is a client with its own source address.
type caller struct {
	t    *testing.T
	on   *target
	addr netip.Addr
	http *http.Client
}

// newCaller returns a client with an unused source address.
func newCaller(t *testing.T, on *target) *caller {
	t.Helper()
	addr := suite.addresses.next()
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: addr.AsSlice()}, Timeout: waitTimeout}
	transport := &http.Transport{DialContext: dialer.DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	return &caller{t: t, on: on, addr: addr, http: &http.Client{
		Transport:     transport,
		Timeout:       waitTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// dial opens a connection for malformed requests.
func (c *caller) dial() (net.Conn, error) {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: c.addr.AsSlice()}, Timeout: waitTimeout}
	conn, err := dialer.DialContext(c.t.Context(), "tcp", strings.TrimPrefix(c.on.base, "http://"))
	if err != nil {
		return nil, err
	}
	c.t.Cleanup(func() { _ = conn.Close() }) // may be closed already
	return conn, conn.SetDeadline(time.Now().Add(waitTimeout))
}

// request is a request, by default a POST with JSON.
type request struct {
	method string
	path   string
	body   string
	header map[string]string
	// invalid marks a body that violates openapi.json on purpose.
	invalid bool
}

// apiResponse is a response.
type apiResponse struct {
	status int
	header http.Header
	body   []byte
	took   time.Duration
	// fields are the raw members of the body, if it is an object.
	fields map[string]json.RawMessage
}

func (a apiResponse) String() string { return fmt.Sprintf("%d %s", a.status, a.body) }

// text returns a string field.
func (a apiResponse) text(field string) string {
	var value string
	if err := json.Unmarshal(a.fields[field], &value); err != nil {
		return "(no string)"
	}
	return value
}

func (c *caller) check(domain string) apiResponse {
	c.t.Helper()
	return c.send(request{path: checkPath, body: object("domain", domain)})
}

func (c *caller) search(query string) apiResponse {
	c.t.Helper()
	return c.send(request{path: searchPath, body: object("query", query)})
}

func (c *caller) get(path string) apiResponse {
	c.t.Helper()
	return c.send(request{method: http.MethodGet, path: path})
}

// object returns a JSON object with one string.
func object(field, value string) string {
	text, err := json.Marshal(map[string]string{field: value})
	if err != nil {
		return err.Error() // cannot happen for a map of strings
	}
	return string(text)
}

// send sends r and checks the invariants of every response.
func (c *caller) send(r request) apiResponse {
	c.t.Helper()
	if r.method == "" {
		r.method = http.MethodPost
	}
	var body io.Reader
	if r.body != "" {
		body = strings.NewReader(r.body)
	}
	sent, err := http.NewRequestWithContext(c.t.Context(), r.method, c.on.base+r.path, body)
	if err != nil {
		c.t.Errorf("%s %s: %v", r.method, r.path, err)
		return apiResponse{}
	}
	if r.body != "" {
		sent.Header.Set("Content-Type", "application/json")
	}
	for key, value := range r.header {
		if value == "" {
			sent.Header.Del(key)
			continue
		}
		sent.Header.Set(key, value)
	}
	began := time.Now()
	received, err := c.http.Do(sent)
	if err != nil {
		c.t.Errorf("%s %s: %v", r.method, r.path, err)
		return apiResponse{}
	}
	text, err := io.ReadAll(received.Body)
	took := time.Since(began)
	if err = firstError(err, received.Body.Close()); err != nil {
		c.t.Errorf("%s %s: incomplete response: %v", r.method, r.path, err)
		return apiResponse{}
	}
	got := apiResponse{status: received.StatusCode, header: received.Header, body: text, took: took}
	if json.Unmarshal(text, &got.fields) != nil {
		got.fields = nil
	}
	c.checkInvariants(r, sent, received, got)
	return got
}

func firstError(problems ...error) error {
	for _, err := range problems {
		if err != nil {
			return err
		}
	}
	return nil
}

// checkInvariants checks what holds for every response.
func (c *caller) checkInvariants(r request, sent *http.Request, received *http.Response, got apiResponse) {
	c.t.Helper()
	label := fmt.Sprintf("%s %s %.80s", r.method, r.path, r.body)
	if got.header.Get("X-Request-Id") == "" {
		c.t.Errorf("%s: the response has no X-Request-Id", label)
	}
	if got.header.Get("X-Content-Type-Options") != "nosniff" {
		c.t.Errorf("%s: the response lacks nosniff", label)
	}
	if _, there := got.header["Access-Control-Allow-Credentials"]; there {
		c.t.Errorf("%s: credentials are allowed across origins", label)
	}
	for _, word := range registry.Canaries {
		if bytes.Contains(got.body, []byte(word)) {
			c.t.Errorf("%s: the response contains contact data (%s): %s", label, word, got)
		}
	}
	if r.method != http.MethodPost || !slices.Contains(describedPaths, r.path) || c.on.spec == nil {
		return
	}
	if !r.invalid {
		for _, problem := range c.on.spec.requestProblems(sent, r.body) {
			c.t.Errorf("%s: the request violates openapi.json: %s", label, problem)
		}
	}
	for _, problem := range c.on.spec.responseProblems(sent, received, got.body) {
		c.t.Errorf("%s: the response violates openapi.json: %s\n%s", label, problem, got)
	}
}

// wantFields are the expected fields of an object, as JSON.
type wantFields map[string]string

// wantResponse compares status and named fields byte for byte.
func wantResponse(t *testing.T, label string, got apiResponse, status int, want wantFields) {
	t.Helper()
	if got.status != status {
		t.Errorf("%s: got %s, want status %d", label, got, status)
		return
	}
	if kind := got.header.Get("Content-Type"); kind != "application/json" {
		t.Errorf("%s: the response's content type is %q", label, kind)
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if text := string(got.fields[key]); text != want[key] {
			t.Errorf("%s: %s is %q, want %q in %s", label, key, text, want[key], got)
		}
	}
}

// wantOnlyFields fails for any other field.
func wantOnlyFields(t *testing.T, label string, got map[string]json.RawMessage, allowed ...string) {
	t.Helper()
	for key := range got {
		if !slices.Contains(allowed, key) {
			t.Errorf("%s: unexpected field %q", label, key)
		}
	}
}

// germanSentence matches a German sentence by its function words.
var germanSentence = regexp.MustCompile(`^\p{Lu}.*\b(ist|sind|muss|der|die|das|Der|Es|Ein|Bitte|bitte|Sie|keine|nicht)\b.*\.$`)

// wantErrorResponse checks the contract's Error: a German sentence, and the domain with
// 502 only.
func wantErrorResponse(t *testing.T, label string, got apiResponse, status int) {
	t.Helper()
	wantResponse(t, label, got, status, nil)
	if sentence := got.text("error"); !germanSentence.MatchString(sentence) {
		t.Errorf("%s: %q is not a German sentence", label, sentence)
	}
	if status == http.StatusBadGateway {
		wantOnlyFields(t, label, got.fields, "error", "domain")
		return
	}
	wantOnlyFields(t, label, got.fields, "error")
}

// fetch requests a document outside of a test.
func fetch(ctx context.Context, url string) (int, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, nil, err
	}
	received, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, nil, err
	}
	body, err := io.ReadAll(received.Body)
	return received.StatusCode, body, firstError(err, received.Body.Close())
}
