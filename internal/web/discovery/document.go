package discovery

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

// document is a rendered document.
type document struct {
	contentType []string
	link        string
	body        []byte
	etag        string
}

func newDocument(contentType, link string, body []byte) document {
	sum := sha256.Sum256(body)
	return document{
		contentType: []string{contentType},
		link:        link,
		body:        body,
		etag:        `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`,
	}
}

const maxAge = time.Hour

func (doc document) serve(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("ETag", doc.etag)
	header.Set("Cache-Control", fmt.Sprintf("public, max-age=%d", int(maxAge.Seconds())))
	if doc.link != "" {
		header.Set("Link", doc.link)
	}
	if matches(strings.Join(r.Header.Values("If-None-Match"), ","), doc.etag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	httpjson.WriteBytes(w, http.StatusOK, doc.contentType, doc.body)
}

// matches compares weakly (RFC 9110, 13.1.2).
func matches(ifNoneMatch, etag string) bool {
	for candidate := range strings.SplitSeq(ifNoneMatch, ",") {
		candidate = strings.TrimPrefix(strings.TrimSpace(candidate), "W/")
		if candidate == etag || candidate == "*" {
			return true
		}
	}
	return false
}
