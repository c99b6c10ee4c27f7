package doctor

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/cli"
)

// result is the outcome of a check. expected is empty if it equals seen.
type result struct {
	status         cli.Status
	expected, seen string
}

func pass(seen string) result { return result{cli.StatusOK, "", seen} }

func warn(expected, seen string) result { return result{cli.StatusWarn, expected, seen} }

func fail(expected, seen string) result { return result{cli.StatusFail, expected, seen} }

// expect passes with seen, or fails with what was seen instead.
func expect(asExpected bool, expected, instead, seen string) result {
	if !asExpected {
		return fail(expected, instead)
	}
	return pass(seen)
}

// assertions collects the failures of one check for one line of the report.
type assertions struct{ failures, warnings []result }

func (j *assertions) must(asExpected bool, expected, seen string) {
	if !asExpected {
		j.failures = append(j.failures, fail(expected, seen))
	}
}

func (j *assertions) should(asExpected bool, expected, seen string) {
	if !asExpected {
		j.warnings = append(j.warnings, warn(expected, seen))
	}
}

func (j *assertions) header(a answer, name, want string) {
	j.must(a.header.Get(name) == want, name+": "+want, toJSON(a.header.Get(name)))
}

// headerList requires that a comma-separated response header contains a value.
func (j *assertions) headerList(a answer, name, value, expected string) {
	j.must(listsHeader(a.header.Get(name), value), expected, toJSON(a.header.Get(name)))
}

// verdict returns the failures, else the warnings, else a pass with seen.
func (j *assertions) verdict(seen string) result {
	notes := j.failures
	if len(notes) == 0 {
		notes = j.warnings
	}
	if len(notes) == 0 {
		return pass(seen)
	}
	var expected, saw []string
	for _, note := range notes {
		expected, saw = append(expected, note.expected), append(saw, note.seen)
	}
	return result{notes[0].status, strings.Join(expected, ", and "), strings.Join(saw, ", and ")}
}

// prober sends the requests of one run, one at a time.
type prober struct {
	ctx    context.Context //nolint:containedctx // a prober lives for one run
	base   string
	roots  *x509.CertPool // nil means the system's
	client *http.Client
	// label is random, so it is not registered under any extension.
	label string
	// documents and toolList cache responses.
	documents map[string]answer
	toolList  *answer
	requests  int
	limited   int
	// left is what remains of the address's budget, -1 if unknown.
	left     int
	readings []limitReading
}

// limitReading has the rate limit headers of a counted response.
type limitReading struct {
	window string
	left   int
	policy string
	found  bool
}

func newProber(ctx context.Context, base string, roots *x509.CertPool) *prober {
	return &prober{
		ctx: ctx, base: base, roots: roots, left: -1,
		label:     "doctor-" + strings.ToLower(rand.Text()[:16]),
		documents: make(map[string]answer),
		client: &http.Client{
			Transport: &http.Transport{
				Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSClientConfig: tlsConfig(roots),
				TLSHandshakeTimeout: requestTimeout, IdleConnTimeout: totalTimeout,
			},
			Timeout: requestTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error {
				return http.ErrUseLastResponse // nothing in the contract redirects
			},
		},
	}
}

// answer is a complete response, or the error.
type answer struct {
	status int
	header http.Header
	body   []byte
	err    error
	// sent and got are the times before and after the request.
	sent, got time.Time
}

const maxDoctorBody = 1 << 20

func (v *prober) send(method, path, body string, header map[string]string) (a answer) {
	v.requests++
	request, err := http.NewRequestWithContext(v.ctx, method, v.base+path, strings.NewReader(body))
	if err != nil {
		return answer{err: err}
	}
	request.Header.Set("User-Agent", "dotkontor-doctor/"+app.Version)
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range header {
		request.Header.Set(name, value)
	}
	a.sent = time.Now()
	response, err := v.client.Do(request)
	a.got = time.Now()
	if err != nil {
		var foreign *url.Error // repeats the URL, which the line has already
		if errors.As(err, &foreign) {
			err = foreign.Err
		}
		return answer{err: err}
	}
	defer response.Body.Close()
	a.status, a.header = response.StatusCode, response.Header
	a.body, a.err = io.ReadAll(io.LimitReader(response.Body, maxDoctorBody))
	return a
}

func (v *prober) get(path string) answer { return v.send(http.MethodGet, path, "", nil) }

func (a answer) String() string {
	if a.err != nil {
		return "no response: " + a.err.Error()
	}
	text := strconv.Itoa(a.status)
	if kind := a.header.Get("Content-Type"); kind != "" {
		text += " " + kind
	}
	const enough = 120
	if body := []rune(string(bytes.TrimSpace(a.body))); len(body) > 0 {
		text += " " + string(body[:min(enough, len(body))])
	}
	return text
}

func (a answer) mediaType() string {
	kind, _, err := mime.ParseMediaType(a.header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return kind
}

func (a answer) isJSON() bool {
	return a.err == nil && a.mediaType() == "application/json" && json.Valid(a.body)
}

func (a answer) object() map[string]any { return objectOf(a.body) }

func objectOf(text []byte) map[string]any {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var object map[string]any
	if err := decoder.Decode(&object); err != nil {
		return nil
	}
	return object
}

func toJSON(value any) string {
	text, err := cli.EncodeJSON(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(text)
}

func containsAll(list any, texts ...string) bool {
	values, ok := list.([]any)
	return ok && !slices.ContainsFunc(texts, func(text string) bool { return !slices.Contains(values, any(text)) })
}

func objects(list any) (all []map[string]any) {
	entries, _ := list.([]any)
	for _, entry := range entries {
		object, _ := entry.(map[string]any)
		all = append(all, object)
	}
	return all
}

// listsHeader reports whether a comma-separated header contains name.
func listsHeader(value, name string) bool {
	for part := range strings.SplitSeq(value, ",") {
		if strings.EqualFold(strings.TrimSpace(part), name) {
			return true
		}
	}
	return false
}

// nearLimit reports whether these requests would use up the reserve for other clients.
func (v *prober) nearLimit(spends int) bool { return v.left >= 0 && v.left-spends < reservedRequests }

// lookup sends a request that counts against the rate limit. The result is not nil if the
// request failed or was refused.
func (v *prober) lookup(path, body string, header map[string]string) (answer, *result) {
	v.limited++
	a := v.send(http.MethodPost, path, body, header)
	if a.err != nil {
		r := fail("a response", a.String())
		return a, &r
	}
	state := a.header.Get("RateLimit")
	left, found := cli.ParseParam(state, "r")
	name, _, _ := strings.Cut(state, ";")
	v.readings = append(v.readings, limitReading{name, left, a.header.Get("RateLimit-Policy"), found})
	if found {
		v.left = left
	}
	if a.status != http.StatusTooManyRequests {
		return a, nil
	}
	v.left = 0
	wait := a.header.Get("Retry-After")
	r := warn("", "this address is over its rate limit; try again in "+wait+" s")
	if seconds, err := strconv.Atoi(wait); err != nil || seconds < 0 {
		r = fail("Retry-After in whole seconds on a 429", strconv.Quote(wait))
	}
	return a, &r
}
