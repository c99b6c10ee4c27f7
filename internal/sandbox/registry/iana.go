package registry

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
)

// unlistedTLDs have an RDAP or WHOIS service but no entry in the bootstrap, as in
// the real list.
const unlistedTLDs = `de eu io ch li at me co us it be es se dk`

// bootstrap is IANA's list of RDAP servers.
type bootstrap struct {
	body     []byte
	etag     string
	modified string
}

// newBootstrap builds the list in the format of RFC 9224, 3.
func newBootstrap(zones []Zone, now time.Time) (*bootstrap, error) {
	unlisted := strings.Fields(unlistedTLDs)
	byBase := map[string][]string{}
	var bases []string
	for _, zone := range zones {
		tld := strings.TrimPrefix(zone.TLD, ".")
		// IANA lists only top-level domains; .co.uk is up to Nominet.
		if zone.RDAP == "" || strings.Contains(tld, ".") || slices.Contains(unlisted, tld) {
			continue
		}
		if byBase[zone.RDAP] == nil {
			bases = append(bases, zone.RDAP)
		}
		byBase[zone.RDAP] = append(byBase[zone.RDAP], tld)
	}
	slices.Sort(bases)
	services := make([][2][]string, 0, len(bases))
	for _, base := range bases {
		slices.Sort(byBase[base])
		services = append(services, [2][]string{byBase[base], {base}})
	}
	published := now.UTC().Truncate(time.Second)
	body, err := json.MarshalIndent(struct {
		Description string        `json:"description"`
		Publication string        `json:"publication"`
		Services    [][2][]string `json:"services"`
		Version     string        `json:"version"`
	}{"RDAP bootstrap file of a simulated IANA", published.Format(time.RFC3339), services, "1.0"}, "", "  ")
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	return &bootstrap{
		body:     body,
		etag:     `"` + hex.EncodeToString(sum[:12]) + `"`,
		modified: published.Format(http.TimeFormat),
	}, nil
}

func (b *bootstrap) answer(req *http.Request) httpResponse {
	if refusal, ok := methodAllowed(req); !ok {
		return refusal
	}
	if req.URL.Path != bootstrapPath {
		return webNotFound()
	}
	a := httpResponse{status: http.StatusOK, kind: "application/json", body: b.body, header: map[string]string{
		"ETag": b.etag, "Last-Modified": b.modified, "Cache-Control": "public, max-age=86400",
	}}
	if b.known(req.Header.Values("If-None-Match")) {
		a.status, a.kind, a.body = http.StatusNotModified, "", nil
	}
	return a
}

// known compares weakly, as RFC 9110, 13.1.2 requires for If-None-Match.
func (b *bootstrap) known(fields []string) bool {
	for tag := range strings.SplitSeq(strings.Join(fields, ","), ",") {
		tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
		if tag == "*" || tag == b.etag {
			return true
		}
	}
	return false
}
