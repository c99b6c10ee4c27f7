// Package discovery serves the documents by which machines find their way.
package discovery

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/web/wire"
)

//go:embed openapi.json
var openAPI []byte

//go:embed welcome.txt
var welcome []byte

// Facts are what the documents say about this service.
type Facts struct {
	BaseURL string
	// LookupPerMinute and LookupPer6Hours are the limits of an address.
	LookupPerMinute, LookupPer6Hours int
}

// Documents are rendered once, at start.
type Documents struct {
	openAPI document
	welcome document
}

type document struct {
	contentType []string
	body        []byte
	etag        string
}

// New renders all documents.
func New(facts Facts) (*Documents, error) {
	quoted, err := json.Marshal(facts.BaseURL)
	if err != nil {
		return nil, err
	}
	description := facts.fill(openAPI, strings.Trim(string(quoted), `"`))
	if !json.Valid(description) {
		return nil, fmt.Errorf("openapi.json is no longer JSON with the base address %q in it", facts.BaseURL)
	}
	return &Documents{
		openAPI: newDocument("application/json", description),
		welcome: newDocument("text/plain; charset=utf-8", facts.fill(welcome, facts.BaseURL)),
	}, nil
}

// fill puts the facts where the template names them.
func (f Facts) fill(template []byte, baseURL string) []byte {
	return []byte(strings.NewReplacer(
		"{base_url}", baseURL,
		"{lookup_per_minute}", strconv.Itoa(f.LookupPerMinute),
		"{lookup_per_6_hours}", strconv.Itoa(f.LookupPer6Hours),
	).Replace(string(template)))
}

func newDocument(contentType string, body []byte) document {
	sum := sha256.Sum256(body)
	return document{
		contentType: []string{contentType},
		body:        body,
		etag:        `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`,
	}
}

// OpenAPI is GET /openapi.json.
func (d *Documents) OpenAPI(w http.ResponseWriter, r *http.Request) { d.openAPI.serve(w, r) }

// Welcome is GET /, until the portal stands there.
func (d *Documents) Welcome(w http.ResponseWriter, r *http.Request) { d.welcome.serve(w, r) }

const maxAge = time.Hour

func (doc document) serve(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("ETag", doc.etag)
	header.Set("Cache-Control", fmt.Sprintf("public, max-age=%d", int(maxAge.Seconds())))
	if matches(r.Header.Get("If-None-Match"), doc.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	wire.WriteBytes(w, http.StatusOK, doc.contentType, doc.body)
}

// matches compares weakly, as RFC 9110, 13.1.2 asks.
func matches(ifNoneMatch, etag string) bool {
	for candidate := range strings.SplitSeq(ifNoneMatch, ",") {
		candidate = strings.TrimPrefix(strings.TrimSpace(candidate), "W/")
		if candidate == etag || candidate == "*" {
			return true
		}
	}
	return false
}
