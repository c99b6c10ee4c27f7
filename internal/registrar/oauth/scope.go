package oauth

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strings"
)

// hasScope reports whether a space-separated list contains scope.
func hasScope(scopes, scope string) bool {
	for one := range strings.FieldsSeq(scopes) {
		if one == scope {
			return true
		}
	}
	return false
}

// knownScopes drops unknown and duplicate scopes.
func knownScopes(requested string) string {
	var known []string
	for _, scope := range []string{ScopeRead, ScopeWrite} {
		if hasScope(requested, scope) {
			known = append(known, scope)
		}
	}
	return strings.Join(known, " ")
}

// ScopeToGrant is the known part of the requested scope, or the default.
func ScopeToGrant(requested string) string {
	return cmp.Or(knownScopes(requested), ScopeWrite)
}

// narrowScope returns the scope of a new access token; false if the request exceeds the grant.
func narrowScope(granted, requested string) (string, bool) {
	known := knownScopes(requested)
	if known == "" {
		return granted, true
	}
	exceeds := slices.ContainsFunc(strings.Fields(known), func(scope string) bool { return !hasScope(granted, scope) })
	return known, !exceeds
}

// audience is the one resource that tokens are for, in the forms that clients use for it.
type audience struct {
	canonical          string
	scheme, host, path string
}

// loginPath is the same resource, for clients that sign in on connecting.
const loginPath = "/login"

func newAudience(resource string) (audience, error) {
	parsed, err := url.Parse(resource)
	if err != nil || parsed.Host == "" || parsed.Path == "" {
		return audience{}, errors.New("oauth: AuthorizationServerConfig.Resource is required")
	}
	return audience{canonical: resource, scheme: parsed.Scheme, host: strings.ToLower(parsed.Host), path: parsed.Path}, nil
}

// accepts tolerates a trailing slash, a query and differences in the host's case. No
// resource means ours; more than one can't be served by one token.
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
