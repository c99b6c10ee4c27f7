package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"
	problem "github.com/pb33f/libopenapi-validator/errors"
)

const openAPIPath = "/openapi.json"

// openAPIDoc validates responses against the OpenAPI document of a running product.
type openAPIDoc struct {
	text      []byte
	validator validator.Validator
}

func fetchOpenAPI(base string) (*openAPIDoc, error) {
	status, text, err := fetch(context.Background(), base+openAPIPath)
	if err != nil {
		return nil, err
	}
	if status != http.StatusOK {
		return nil, fmt.Errorf("%s returns %d", openAPIPath, status)
	}
	document, err := libopenapi.NewDocument(text)
	if err != nil {
		return nil, err
	}
	judge, problems := validator.NewValidator(document, config.WithFormatAssertions())
	return &openAPIDoc{text: text, validator: judge}, errors.Join(problems...)
}

func (d *openAPIDoc) requestProblems(sent *http.Request, body string) []string {
	again := sent.Clone(sent.Context())
	again.Body = io.NopCloser(strings.NewReader(body))
	_, problems := d.validator.ValidateHttpRequestSync(again)
	return problemTexts(problems)
}

func (d *openAPIDoc) responseProblems(sent *http.Request, received *http.Response, body []byte) []string {
	again := *received
	again.Body = io.NopCloser(bytes.NewReader(body))
	_, problems := d.validator.ValidateHttpResponse(sent, &again)
	return problemTexts(problems)
}

func problemTexts(problems []*problem.ValidationError) []string {
	var all []string
	for _, p := range problems {
		text := p.Message + ": " + p.Reason
		for _, detail := range p.SchemaValidationErrors {
			text += "; " + detail.Reason
		}
		all = append(all, text)
	}
	return all
}

func TestOpenAPI_Version310OfAPI100(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		got := newCaller(t, on).get(openAPIPath)
		wantResponse(t, openAPIPath, got, http.StatusOK, wantFields{"openapi": `"3.1.0"`})
		var document struct {
			Info    struct{ Version string }
			Servers []struct{ URL string }
			Paths   map[string]map[string]struct{ Responses map[string]any }
		}
		if err := json.Unmarshal(got.body, &document); err != nil {
			t.Fatal(err)
		}
		if document.Info.Version != "1.0.0" {
			t.Errorf("the API's version is %q, want 1.0.0", document.Info.Version)
		}
		if len(document.Servers) != 1 || document.Servers[0].URL != on.base {
			t.Errorf("the servers are %v, want %s alone", document.Servers, on.base)
		}
		for path, statuses := range map[string][]string{
			checkPath: {"200", "400", "429", "502"}, searchPath: {"200", "400", "429"},
		} {
			for _, status := range statuses {
				if _, documented := document.Paths[path]["post"].Responses[status]; !documented {
					t.Errorf("POST %s does not document %s", path, status)
				}
			}
		}
	})
}

func TestOpenAPI_IsValid(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		if ok, problems := on.spec.validator.ValidateDocument(); !ok {
			t.Errorf("libopenapi rejects it: %s", strings.Join(problemTexts(problems), "\n"))
		}
		document, err := openapi3.NewLoader().LoadFromData(on.spec.text)
		if err != nil {
			t.Fatalf("kin-openapi can't load it: %v", err)
		}
		if err := document.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
			t.Errorf("kin-openapi rejects it: %v", err)
		}
	})
}

func TestOpenAPI_CachingAndCORSHeaders(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		client := newCaller(t, on)
		whole := client.get(openAPIPath)
		tag := whole.header.Get("ETag")
		if whole.status != http.StatusOK || tag == "" {
			t.Fatalf("status %d, ETag %q", whole.status, tag)
		}
		for _, test := range []struct {
			label, method, ifNoneMatch string
			status                     int
			body                       bool
		}{
			{"whole", http.MethodGet, "", http.StatusOK, true},
			{"head", http.MethodHead, "", http.StatusOK, false},
			{"unchanged", http.MethodGet, tag, http.StatusNotModified, false},
			{"unchanged, weak", http.MethodGet, "W/" + tag, http.StatusNotModified, false},
			{"unchanged, one of several", http.MethodGet, `"other", ` + tag, http.StatusNotModified, false},
			{"unchanged, head", http.MethodHead, tag, http.StatusNotModified, false},
			{"changed", http.MethodGet, `"other"`, http.StatusOK, true},
		} {
			got := client.send(request{
				method: test.method, path: openAPIPath, header: map[string]string{"If-None-Match": test.ifNoneMatch},
			})
			if got.status != test.status || len(got.body) > 0 != test.body {
				t.Errorf("%s: status %d with %d bytes", test.label, got.status, len(got.body))
			}
			for key, want := range map[string]string{
				"ETag": tag, "Cache-Control": "public, max-age=3600", "Access-Control-Allow-Origin": "*",
			} {
				if value := got.header.Get(key); value != want {
					t.Errorf("%s: %s is %q, want %q", test.label, key, value, want)
				}
			}
		}
	})
}

// The validator of all other tests rejects invalid responses.
func TestOpenAPI_RejectsInvalidResponses(t *testing.T) {
	onBothTargets(t, func(t *testing.T, on *target) {
		const good = `{"domain":"a.de","tld":".de","available":true,"registerEur":6.90}`
		const entry = `{"domain":"a.de","tld":".de","available":null,"priceEur":null,"error":true}`
		json200 := http.Header{"Content-Type": {"application/json"}}
		for _, test := range []struct {
			label, path string
			status      int
			header      http.Header
			body        string
			fits        bool
		}{
			{"valid", checkPath, 200, json200, good, true},
			{"without tld", checkPath, 200, json200, strings.Replace(good, `"tld":".de",`, "", 1), false},
			{"tld without its dot", checkPath, 200, json200, strings.Replace(good, `".de"`, `"de"`, 1), false},
			{"available as text", checkPath, 200, json200, strings.Replace(good, `true`, `"true"`, 1), false},
			{"price as text", checkPath, 200, json200, strings.Replace(good, `6.90`, `"6.90"`, 1), false},
			{"supported true", checkPath, 200, json200, `{"domain":"a.zz","tld":".zz","supported":true}`, false},
			{"error without a message", checkPath, 400, json200, `{"error":""}`, false},
			{"502 without domain", checkPath, 502, json200, `{"error":"Nein."}`, false},
			{"429 without Retry-After", checkPath, 429, json200, `{"error":"Nein."}`, false},
			{"an undocumented status", checkPath, 418, json200, `{"error":"Nein."}`, false},
			{"valid entries", searchPath, 200, json200, `{"sld":"a","results":[` + entry + `]}`, true},
			{"no entries", searchPath, 200, json200, `{"sld":"a","results":[]}`, false},
			{
				"a source that is none", searchPath, 200, json200,
				`{"sld":"a","results":[` + strings.Replace(entry, `"error"`, `"source":"guess","error"`, 1) + `]}`, false,
			},
		} {
			sent, err := http.NewRequestWithContext(t.Context(), http.MethodPost, on.base+test.path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			received := &http.Response{StatusCode: test.status, Header: test.header, Request: sent}
			problems := on.spec.responseProblems(sent, received, []byte(test.body))
			if fits := len(problems) == 0; fits != test.fits {
				t.Errorf("%s: valid is %v, want %v (%v)", test.label, fits, test.fits, problems)
			}
		}
		sent, err := http.NewRequestWithContext(t.Context(), http.MethodPost, on.base+checkPath, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		sent.Header.Set("Content-Type", "application/json")
		if len(on.spec.requestProblems(sent, `{"domain":7}`)) == 0 {
			t.Error("a request with a number as domain is valid")
		}
	})
}
