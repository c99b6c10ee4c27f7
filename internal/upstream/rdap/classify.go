package rdap

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/idna"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

var (
	errNotJSON        = errors.New("the answer is not JSON")
	errNotRDAP        = errors.New("the answer is JSON but not RDAP")
	errOtherName      = errors.New("the answer is about another name")
	errWebServer404   = errors.New("the 404 is a web server's own")
	errRedirectedAway = errors.New("a redirect led away from the question")
	errOutage404      = errors.New("the 404 tells of an outage")
	errContradicted   = errors.New("the answer contradicts its status")
	errStatus         = errors.New("unexpected HTTP status")
)

func brokenFault(cause error) *registrar.Error {
	return registrar.Fault(registrar.FaultBroken, "", cause)
}

// classify turns a whole answer into a finding.
func classify(r reply, name registrar.Name) (lookup.Finding, *registrar.Error) {
	switch r.status {
	case http.StatusOK:
		return classifyObject(r.body, name)
	case http.StatusNotFound:
		finding, fault := classifyNotFound(r, name)
		if r.redirected && finding.State == lookup.NotFound {
			// Whoever we were sent to may keep other books than the registry.
			finding = lookup.Finding{State: lookup.Undecided}
		}
		return finding, fault
	case http.StatusTooManyRequests:
		return lookup.Finding{}, throttledFault(r)
	case http.StatusServiceUnavailable:
		if r.header.Get("Retry-After") != "" {
			return lookup.Finding{}, throttledFault(r)
		}
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed,
		http.StatusNotAcceptable, http.StatusGone, http.StatusRequestURITooLong, http.StatusUnprocessableEntity,
		http.StatusUnavailableForLegalReasons, http.StatusNotImplemented:
		// The registry understood that it was asked and would not say: that
		// decides nothing, but it is an answer.
		if _, err := decode(r.body); err != nil {
			return lookup.Finding{}, brokenFault(err)
		}
		return lookup.Finding{State: lookup.Undecided}, nil
	}
	return lookup.Finding{}, brokenFault(errStatus)
}

func throttledFault(r reply) *registrar.Error {
	fault := registrar.Fault(registrar.FaultThrottled, "", nil)
	fault.RetryAfter = retryAfter(r.header.Get("Retry-After"), time.Now())
	return fault
}

// object holds the members of RFC 9083 that decide. Each is kept raw, so that a
// member of an unexpected type hides itself only and not the whole answer.
type object struct {
	Class       json.RawMessage `json:"objectClassName"`
	LDHName     json.RawMessage `json:"ldhName"`
	UnicodeName json.RawMessage `json:"unicodeName"`
	Status      json.RawMessage `json:"status"`
	Nameservers json.RawMessage `json:"nameservers"`
	Events      json.RawMessage `json:"events"`
	Entities    json.RawMessage `json:"entities"`
	Conformance json.RawMessage `json:"rdapConformance"`
	ErrorCode   json.RawMessage `json:"errorCode"`
	Title       json.RawMessage `json:"title"`
	Description json.RawMessage `json:"description"`
	Notices     json.RawMessage `json:"notices"`
}

// decode reads exactly one JSON object, whatever media type it came with.
func decode(body []byte) (*object, error) {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	if len(body) == 0 || body[0] != '{' {
		return nil, errNotJSON
	}
	var o object
	if err := json.Unmarshal(body, &o); err != nil {
		// The error itself is dropped: it can quote the body.
		return nil, errNotJSON
	}
	return &o, nil
}

// classifyObject decides about an answer with status 200.
func classifyObject(body []byte, name registrar.Name) (lookup.Finding, *registrar.Error) {
	o, err := decode(body)
	if err != nil {
		return lookup.Finding{}, brokenFault(err)
	}
	if class, _ := text(o.Class); !strings.EqualFold(class, "domain") {
		return lookup.Finding{}, brokenFault(errNotRDAP)
	}
	ldh, named := text(o.LDHName)
	uni, namedToo := text(o.UnicodeName)
	if (named || namedToo) && !sameName(ldh, name) && !sameName(uni, name) {
		return lookup.Finding{}, brokenFault(errOtherName)
	}
	if o.isReserved() {
		return lookup.Finding{State: lookup.Reserved}, nil
	}
	return lookup.Finding{State: lookup.Registered, Record: o.record()}, nil
}

// isReserved says that the object stands for a name that nobody holds: it has no
// nameserver, and no status but such as say so. Both answers mean that the name
// can't be had; the difference is only the reason that a person reads.
func (o *object) isReserved() bool {
	var servers []json.RawMessage
	if json.Unmarshal(o.Nameservers, &servers) == nil && len(servers) > 0 {
		return false
	}
	var statuses []string
	if json.Unmarshal(o.Status, &statuses) != nil || len(statuses) == 0 {
		return false
	}
	for _, status := range statuses {
		if !withheldStatus.MatchString(status) {
			return false
		}
	}
	return true
}

// classifyNotFound decides about an answer with status 404. Only a registry's own
// 404 counts: RDAP's error object, a bare status, or a text that says that the
// name is missing. A page can be missing too, and a whole server behind a
// gateway.
func classifyNotFound(r reply, name registrar.Name) (lookup.Finding, *registrar.Error) {
	if !sameQuestion(r.url, name) {
		return lookup.Finding{}, brokenFault(errRedirectedAway)
	}
	body := bytes.TrimSpace(bytes.TrimPrefix(r.body, []byte("\xef\xbb\xbf")))
	mediaType := mediaTypeOf(r.header)
	if len(body) == 0 {
		return classifyEmptyNotFound(mediaType), nil
	}
	switch body[0] {
	case '{':
	case '[', '"':
		return lookup.Finding{}, brokenFault(errNotRDAP)
	default:
		return classifyTextNotFound(r, mediaType, body, name)
	}
	o, err := decode(body)
	switch {
	case err != nil:
		return lookup.Finding{}, brokenFault(err)
	case len(o.Class) > 0:
		return lookup.Finding{}, brokenFault(errContradicted)
	}
	code := strings.Trim(string(o.ErrorCode), `"`)
	switch {
	case code == "404":
	case code != "" && code != "null":
		return lookup.Finding{}, brokenFault(errContradicted)
	case len(o.Conformance) == 0:
		return lookup.Finding{}, brokenFault(errNotRDAP)
	}
	messages := appendTexts(o.Title, nil, 0)
	messages = appendTexts(o.Description, messages, 0)
	// Notices are left out here: they are terms, which speak of such things.
	if finding, fault, doubtful := contradiction(messages, r, name); doubtful {
		return finding, fault
	}
	return notFoundFinding(appendTexts(o.Notices, messages, 0)), nil
}

// classifyEmptyNotFound decides about a 404 without a body. Registries are known to send one,
// without a type or with their usual one. With another type it may come from a
// web server that was never told about RDAP; but it may also be a registry's
// whose framework names a type for nothing, so it is no fault to hold against
// the host: it decides nothing, and the next source is asked.
func classifyEmptyNotFound(mediaType string) lookup.Finding {
	if mediaType == "" || isJSON(mediaType) {
		return lookup.Finding{State: lookup.NotFound}
	}
	return lookup.Finding{State: lookup.Undecided}
}

// classifyTextNotFound decides about a 404 with a body that is no JSON. Whoever declares
// RDAP may be short; from anybody else "not found" must be said of a name.
func classifyTextNotFound(r reply, mediaType string, body []byte, name registrar.Name) (lookup.Finding, *registrar.Error) {
	switch {
	case body[0] == '<', strings.Contains(mediaType, "html"), strings.Contains(mediaType, "xml"),
		!utf8.Valid(body), bytes.IndexByte(body, 0) >= 0, len(body) > maxTextBytes:
		return lookup.Finding{}, brokenFault(errWebServer404)
	}
	if finding, fault, doubtful := contradiction([]string{string(body)}, r, name); doubtful {
		return finding, fault
	}
	masked, other := maskName(string(body), name)
	finding := notFoundFinding([]string{masked})
	// "Reserved" costs nothing if it is wrong.
	if finding.State != lookup.NotFound {
		return finding, nil
	}
	short := mediaType == rdapType && plainNotFound.MatchString(masked)
	if !short && !nameNotFound.MatchString(masked) || otherNotFound.MatchString(masked) || other {
		return lookup.Finding{}, brokenFault(errWebServer404)
	}
	return finding, nil
}

const (
	rdapType = "application/rdap+json"
	// maxTextBytes is longer than a sentence and shorter than a page.
	maxTextBytes = 400
)

// mediaTypeOf is the type of an answer in lower case and without parameters.
func mediaTypeOf(header http.Header) string {
	mediaType, _, _ := strings.Cut(header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(mediaType))
}

func isJSON(mediaType string) bool {
	return mediaType == "application/json" || mediaType == "text/json" || strings.HasSuffix(mediaType, "+json")
}

// maskName writes text with "@" for the asked name, so that its dots and words
// are not read as the sentence's. other says that it names another host or
// domain, as gateways name the server that they miss.
func maskName(text string, name registrar.Name) (masked string, other bool) {
	words := strings.Fields(text)
	for i, word := range words {
		bare := strings.Trim(word, `.,;:!?"'()[]`)
		switch {
		case sameName(bare, name):
			words[i] = "@"
		case strings.IndexByte(bare, '.') > 0:
			other = true
		}
	}
	return strings.Join(words, " "), other
}

// sameQuestion says whether the answer came from a path that asks about name.
func sameQuestion(at *url.URL, name registrar.Name) bool {
	path := strings.TrimSuffix(at.Path, "/")
	domain, last := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		domain, last = path[:i], path[i+1:]
	}
	return strings.HasSuffix(strings.ToLower(domain), "/domain") && sameName(last, name)
}

// The words in which registries say, beside "not found", what else there is to
// know. They are looked for in sentences of terms and conditions too, where
// "all rights reserved" and "is prohibited" stand, so each pattern wants the
// word to be said of a name.
var (
	withheldStatus = regexp.MustCompile(`(?i)\b(?:reserved|blocked|withheld|prohibited string)\b`)

	reservedWords = regexp.MustCompile(`(?i)` + strings.Join([]string{
		`^\W*(?:reserved|blocked|prohibited)\W*$`,
		`\b(?:name|domain|label|string|object)\b[^.;]{0,60}\b(?:is|are|was|been)\b[^.;]{0,24}\b(?:reserved|blocked|prohibited|withheld|banned)\b`,
		`\b(?:reserved|blocked|prohibited|banned)\s+(?:domain|name|label|string|word|object)`,
		`\breserved (?:by|for) (?:the )?(?:registry|sponsor|icann|future|government|operator)`,
		`\bnot (?:be )?available for (?:public |general )?registration\b`,
		`\b(?:can ?not|can't|may not|must not|not allowed to|not possible to) (?:be )?register`,
	}, "|"))
	// hedgedWords marks a sentence that speaks of names in general.
	hedgedWords  = regexp.MustCompile(`(?i)\b(?:may|might|could) (?:still |also )?be\b|\bnot reserved\b`)
	premiumWords = regexp.MustCompile(`(?i)^\W*premium\W*$|\bpremium (?:domain|name|price|tier|label|string)|\bis (?:a )?premium\b`)
	foreignWords = regexp.MustCompile(`(?i)\bnot (?:in|served by|part of|managed by) this (?:registry|server|service)\b|\bnot authoritative\b`)
)

// The words of a 404 that is plain text.
var (
	plainNotFound = regexp.MustCompile(`(?i)^\W*(?:(?:error )?404\W*)?not found\W*$`)
	nameNotFound  = regexp.MustCompile(`(?i)` + strings.Join([]string{
		`\b(?:domain|domain name|object|name|record|entry)\b[^.;]{0,90}\b(?:not found|not (?:be )?(?:found|located)|(?:not|n't) exist|not registered|not been registered)\b`,
		`\bno (?:such |matching )?(?:domain|domain name|object|name|record|entry|entries|match)s?\b[^.;]{0,20}\b(?:found|exists?|for)\b`,
		`\bno (?:such|matching) (?:domain|domain name|object|name|record|entry)s?\W*$`,
		`\bnot found\W{1,3}(?:the )?(?:domain|object|name|record)\b`,
	}, "|"))
	// otherNotFound are the things that web servers and gateways miss.
	otherNotFound = regexp.MustCompile(`(?i)\b(?:pages?|files?|urls?|uri|paths?|routes?|routing|resources?|endpoints?|handlers?|methods?|buckets?|keys?|apps?|applications?|deployments?|sites?|` +
		`hosts?|hostnames?|servers?|services?|back-?ends?|upstreams?|gateways?|prox(?:y|ies)|clusters?|tunnels?|connections?|dns|unavailable|time-?d?[ -]?out|errors?|fail\w*|caches?|configur\w*|temporar\w*|maintenance)\b`)
)

// notFoundFinding refines "no record" by what was said with it.
func notFoundFinding(messages []string) lookup.Finding {
	finding := lookup.Finding{State: lookup.NotFound}
	for _, sentence := range messages {
		if hedgedWords.MatchString(sentence) {
			continue
		}
		switch {
		case reservedWords.MatchString(sentence):
			return lookup.Finding{State: lookup.Reserved}
		case foreignWords.MatchString(sentence):
			// It was the wrong server to ask, so its "no" is no news.
			return lookup.Finding{State: lookup.Undecided}
		case premiumWords.MatchString(sentence):
			finding.Premium = true
		}
	}
	return finding
}

// text is raw as a string, if it is one.
func text(raw json.RawMessage) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return strings.TrimSpace(s), s != ""
}

// appendTexts appends every sentence of a title, a description (a string or a list) or
// a list of notices.
func appendTexts(raw json.RawMessage, messages []string, depth int) []string {
	const maxDepth, maxSentences = 4, 200
	if len(raw) == 0 || depth > maxDepth || len(messages) >= maxSentences {
		return messages
	}
	switch raw[0] {
	case '"':
		if s, ok := text(raw); ok {
			messages = append(messages, s)
		}
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil {
			for _, element := range list {
				messages = appendTexts(element, messages, depth+1)
			}
		}
	case '{':
		var notice struct {
			Title       json.RawMessage `json:"title"`
			Description json.RawMessage `json:"description"`
		}
		if json.Unmarshal(raw, &notice) == nil {
			messages = appendTexts(notice.Title, messages, depth+1)
			messages = appendTexts(notice.Description, messages, depth+1)
		}
	}
	return messages
}

// sameName compares a name as a server spells it, in A-labels or U-labels, with
// the one that was asked.
func sameName(spelled string, name registrar.Name) bool {
	spelled = strings.ToLower(strings.TrimSuffix(spelled, "."))
	if spelled == "" {
		return false
	}
	if spelled == name.ASCII() || spelled == name.String() {
		return true
	}
	ascii, err := idna.Punycode.ToASCII(spelled)
	return err == nil && ascii == name.ASCII()
}
