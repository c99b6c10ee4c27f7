package oauth

import (
	"errors"
	"net/url"
	"strings"
)

// hasScope says whether a list of scopes, separated by spaces, has this one.
func hasScope(scopes, scope string) bool {
	for one := range strings.FieldsSeq(scopes) {
		if one == scope {
			return true
		}
	}
	return false
}

// knownScopes drops what we do not know and what comes twice.
func knownScopes(requested string) string {
	var known []string
	for _, scope := range []string{ScopeRead, ScopeWrite} {
		if hasScope(requested, scope) {
			known = append(known, scope)
		}
	}
	return strings.Join(known, " ")
}

// ScopeToGrant is what the consent page asks for: what is left of what was asked,
// or else what every application comes for.
func ScopeToGrant(requested string) string {
	if known := knownScopes(requested); known != "" {
		return known
	}
	return ScopeWrite
}

// narrowScope is the scope of a new access token; false if more was asked than was
// granted.
func narrowScope(granted, requested string) (string, bool) {
	known := knownScopes(requested)
	if known == "" {
		return granted, true
	}
	for scope := range strings.FieldsSeq(known) {
		if !hasScope(granted, scope) {
			return "", false
		}
	}
	return known, true
}

// audience knows the one resource that tokens are for, in the spellings that
// clients use for it.
type audience struct {
	canonical          string
	scheme, host, path string
}

// loginPath is the same resource for clients that sign in as they connect.
const loginPath = "/login"

func newAudience(resource string) (audience, error) {
	parsed, err := url.Parse(resource)
	if err != nil || parsed.Host == "" || parsed.Path == "" {
		return audience{}, errors.New("access needs the address of the MCP endpoint")
	}
	return audience{canonical: resource, scheme: parsed.Scheme, host: strings.ToLower(parsed.Host), path: parsed.Path}, nil
}

// accepts tolerates a slash at the end, the case of the host and a query. None
// named means ours; more than one can't be served by one token.
func (a audience) accepts(resources []string) bool {
	if len(resources) == 0 || len(resources) == 1 && resources[0] == "" {
		return true
	}
	if len(resources) > 1 {
		return false
	}
	parsed, err := url.Parse(resources[0])
	if err != nil || parsed.User != nil || parsed.Fragment != "" || strings.Contains(resources[0], "#") {
		return false
	}
	path := strings.TrimSuffix(parsed.EscapedPath(), "/")
	return parsed.Scheme == a.scheme && strings.ToLower(parsed.Host) == a.host && (path == a.path || path == a.path+loginPath)
}
