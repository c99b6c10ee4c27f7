package rdap

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
)

func classify(r reply, name registrar.Name) (lookup.Finding, *registrar.Error) {
	switch r.status {
	case http.StatusOK:
		return classifyObject(r.body, name)
	case http.StatusNotFound:
		finding, fault := classifyNotFound(r, name)
		if r.redirected && finding.State == lookup.NotFound {
			// The redirect target may have other data than the registry.
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
		// The registry understood the query and refused to answer. That decides
		// nothing, but it is a valid response.
		if _, fault := decode(r.body); fault != nil {
			return lookup.Finding{}, fault
		}
		return lookup.Finding{State: lookup.Undecided}, nil
	}
	return lookup.Finding{}, broken("unexpected HTTP status")
}

func throttledFault(r reply) *registrar.Error {
	fault := registrar.Fault(registrar.FaultThrottled, "", nil)
	fault.RetryAfter = retryAfter(r.header.Get("Retry-After"), time.Now())
	return fault
}

// object holds the deciding members of RFC 9083. Each stays raw, so that a member
// of an unexpected type invalidates only itself.
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

// decode parses exactly one JSON object, whatever its media type.
func decode(body []byte) (*object, *registrar.Error) {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	if len(body) == 0 || body[0] != '{' {
		return nil, broken("response is not JSON")
	}
	var o object
	if err := json.Unmarshal(body, &o); err != nil {
		// The error is dropped because it can quote the body.
		return nil, broken("response is not JSON")
	}
	return &o, nil
}

func classifyObject(body []byte, name registrar.Name) (lookup.Finding, *registrar.Error) {
	o, fault := decode(body)
	if fault != nil {
		return lookup.Finding{}, fault
	}
	if class, _ := text(o.Class); !strings.EqualFold(class, "domain") {
		return lookup.Finding{}, broken("response is JSON but not RDAP")
	}
	ldh, named := text(o.LDHName)
	uni, namedToo := text(o.UnicodeName)
	if (named || namedToo) && !lookup.SameName(ldh, name.ASCII()) && !lookup.SameName(uni, name.ASCII()) {
		return lookup.Finding{}, broken("response is about another name")
	}
	if o.isReserved() {
		return lookup.Finding{State: lookup.Reserved}, nil
	}
	return lookup.Finding{State: lookup.Registered, Record: o.record()}, nil
}

// isReserved reports whether the object represents a name without a registrant: it
// has no nameserver and only statuses that mean reserved. The name is unavailable
// either way; only the displayed reason differs.
func (o *object) isReserved() bool {
	var servers []json.RawMessage
	if json.Unmarshal(o.Nameservers, &servers) == nil && len(servers) > 0 {
		return false
	}
	var statuses []string
	if json.Unmarshal(o.Status, &statuses) != nil || len(statuses) == 0 {
		return false
	}
	return !slices.ContainsFunc(statuses, func(status string) bool { return !withheldStatus().MatchString(status) })
}

// classifyNotFound classifies a response with status 404. Only a registry's own 404
// counts: an RDAP error object, a bare status, or a text saying that the name does
// not exist. Otherwise a page or a server behind a gateway may be missing.
func classifyNotFound(r reply, name registrar.Name) (lookup.Finding, *registrar.Error) {
	if !sameQuestion(r.url, name) {
		return lookup.Finding{}, broken("redirect to another query")
	}
	body := bytes.TrimSpace(bytes.TrimPrefix(r.body, []byte("\xef\xbb\xbf")))
	mediaType, _, _ := strings.Cut(r.header.Get("Content-Type"), ";")
	mediaType = strings.ToLower(strings.TrimSpace(mediaType))
	if len(body) == 0 {
		// With another media type it may come from a web server without RDAP, or from a
		// registry whose framework sets a default type. So the next source is tried.
		if mediaType == "" || mediaType == "application/json" || mediaType == "text/json" || strings.HasSuffix(mediaType, "+json") {
			return lookup.Finding{State: lookup.NotFound}, nil
		}
		return lookup.Finding{State: lookup.Undecided}, nil
	}
	switch body[0] {
	case '{':
	case '[', '"':
		return lookup.Finding{}, broken("response is JSON but not RDAP")
	default:
		return classifyTextNotFound(r, mediaType, body, name)
	}
	o, fault := decode(body)
	switch {
	case fault != nil:
		return lookup.Finding{}, fault
	case len(o.Class) > 0:
		return lookup.Finding{}, broken("response contradicts its status")
	}
	code := strings.Trim(string(o.ErrorCode), `"`)
	switch {
	case code == "404":
	case code != "" && code != "null":
		return lookup.Finding{}, broken("response contradicts its status")
	case len(o.Conformance) == 0:
		return lookup.Finding{}, broken("response is JSON but not RDAP")
	}
	messages := appendTexts(o.Title, nil, 0)
	messages = appendTexts(o.Description, messages, 0)
	// Notices are excluded: they are terms of use, which mention such words.
	if finding, fault, doubtful := contradiction(messages, r, name); doubtful {
		return finding, fault
	}
	return notFoundFinding(appendTexts(o.Notices, messages, 0)), nil
}

// classifyTextNotFound classifies a 404 with a non-JSON body. If it declares RDAP,
// a short text suffices; otherwise "not found" must refer to a name.
func classifyTextNotFound(r reply, mediaType string, body []byte, name registrar.Name) (lookup.Finding, *registrar.Error) {
	switch {
	case body[0] == '<', strings.Contains(mediaType, "html"), strings.Contains(mediaType, "xml"),
		!utf8.Valid(body), bytes.IndexByte(body, 0) >= 0, len(body) > maxTextBytes:
		return lookup.Finding{}, broken("404 comes from a web server")
	}
	if finding, fault, doubtful := contradiction([]string{string(body)}, r, name); doubtful {
		return finding, fault
	}
	masked, other := maskName(string(body), name)
	finding := notFoundFinding([]string{masked})
	// A wrong "reserved" does no harm.
	if finding.State != lookup.NotFound {
		return finding, nil
	}
	short := mediaType == rdapType && plainNotFound().MatchString(masked)
	if !short && !nameNotFound().MatchString(masked) || otherNotFound().MatchString(masked) || other {
		return lookup.Finding{}, broken("404 comes from a web server")
	}
	return finding, nil
}

const (
	rdapType     = "application/rdap+json"
	maxTextBytes = 400 // longer than a sentence and shorter than a page
)

// maskName replaces the queried name with "@", so that its dots and words are not
// taken for those of the sentence. other reports whether the text names another
// host or domain, as gateways name an unreachable server.
func maskName(text string, name registrar.Name) (masked string, other bool) {
	words := strings.Fields(text)
	for i, word := range words {
		bare := strings.Trim(word, `.,;:!?"'()[]`)
		switch {
		case lookup.SameName(bare, name.ASCII()):
			words[i] = "@"
		case strings.IndexByte(bare, '.') > 0:
			other = true
		}
	}
	return strings.Join(words, " "), other
}

// sameQuestion reports whether the response came from a path that queries name.
func sameQuestion(at *url.URL, name registrar.Name) bool {
	folder, last := path.Split(strings.TrimSuffix(at.Path, "/"))
	return strings.HasSuffix(strings.ToLower(folder), "/domain/") && lookup.SameName(last, name.ASCII())
}

// Words that qualify a "not found". They also match terms of use ("all rights
// reserved", "is prohibited"), so each pattern requires a reference to a name.
var (
	withheldStatus = lookup.LazyPattern(`(?i)\b(?:reserved|blocked|withheld|prohibited string)\b`)

	reservedWords = lookup.LazyPattern(`(?i)` + strings.Join([]string{
		`^\W*(?:reserved|blocked|prohibited)\W*$`,
		`\b(?:name|domain|label|string|object)\b[^.;]{0,60}\b(?:is|are|was|been)\b[^.;]{0,24}\b(?:reserved|blocked|prohibited|withheld|banned)\b`,
		`\b(?:reserved|blocked|prohibited|banned)\s+(?:domain|name|label|string|word|object)`,
		`\breserved (?:by|for) (?:the )?(?:registry|sponsor|icann|future|government|operator)`,
		`\bnot (?:be )?available for (?:public |general )?registration\b`,
		`\b(?:can ?not|can't|may not|must not|not allowed to|not possible to) (?:be )?register`,
	}, "|"))
	// hedgedWords marks a sentence about names in general.
	hedgedWords  = lookup.LazyPattern(`(?i)\b(?:may|might|could) (?:still |also )?be\b|\bnot reserved\b`)
	premiumWords = lookup.LazyPattern(`(?i)^\W*premium\W*$|\bpremium (?:domain|name|price|tier|label|string)|\bis (?:a )?premium\b`)
	foreignWords = lookup.LazyPattern(`(?i)\bnot (?:in|served by|part of|managed by) this (?:registry|server|service)\b|\bnot authoritative\b`)
)

// Phrases of a plain-text 404.
var (
	plainNotFound = lookup.LazyPattern(`(?i)^\W*(?:(?:error )?404\W*)?not found\W*$`)
	nameNotFound  = lookup.LazyPattern(`(?i)` + strings.Join([]string{
		`\b(?:domain|domain name|object|name|record|entry)\b[^.;]{0,90}\b(?:not found|not (?:be )?(?:found|located)|(?:not|n't) exist|not registered|not been registered)\b`,
		`\bno (?:such |matching )?(?:domain|domain name|object|name|record|entry|entries|match)s?\b[^.;]{0,20}\b(?:found|exists?|for)\b`,
		`\bno (?:such|matching) (?:domain|domain name|object|name|record|entry)s?\W*$`,
		`\bnot found\W{1,3}(?:the )?(?:domain|object|name|record)\b`,
	}, "|"))
	// otherNotFound are things that web servers and gateways report missing.
	otherNotFound = lookup.LazyPattern(`(?i)\b(?:pages?|files?|urls?|uri|paths?|routes?|routing|resources?|endpoints?|handlers?|methods?|buckets?|keys?|apps?|applications?|deployments?|sites?|` +
		`hosts?|hostnames?|servers?|services?|back-?ends?|upstreams?|gateways?|prox(?:y|ies)|clusters?|tunnels?|connections?|dns|unavailable|time-?d?[ -]?out|errors?|fail\w*|caches?|configur\w*|temporar\w*|maintenance)\b`)
)

// notFoundFinding refines "not found" with the accompanying messages.
func notFoundFinding(messages []string) lookup.Finding {
	finding := lookup.Finding{State: lookup.NotFound}
	for _, sentence := range messages {
		if hedgedWords().MatchString(sentence) {
			continue
		}
		switch {
		case reservedWords().MatchString(sentence):
			return lookup.Finding{State: lookup.Reserved}
		case foreignWords().MatchString(sentence):
			// The server is not authoritative, so its "not found" means nothing.
			return lookup.Finding{State: lookup.Undecided}
		case premiumWords().MatchString(sentence):
			finding.Premium = true
		}
	}
	return finding
}

// text returns raw as a string, if it is one.
func text(raw json.RawMessage) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return strings.TrimSpace(s), s != ""
}

// appendTexts appends the texts of a title, a description or a list of notices.
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
