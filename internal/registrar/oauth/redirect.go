package oauth

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

const (
	maxRedirects      = 10
	maxRedirectLength = 2048
)

// privateSchemes are schemes without a dot that real applications use. A scheme with a
// dot belongs to the owner of that domain (RFC 8252, 7.1).
var privateSchemes = []string{"cursor", "vscode", "vscode-insiders"}

// loopbackHosts are the loopback hosts allowed in a redirect URI.
var loopbackHosts = []string{"127.0.0.1", "[::1]", "localhost"}

// validRedirectURI reports whether an application may register this URI: https, http on loopback,
// or a private scheme. URIs whose host two parsers could read differently are refused.
func validRedirectURI(uri string) bool {
	if uri == "" || len(uri) > maxRedirectLength || strings.ContainsAny(uri, "#\\\"<>^`{|}") || !printableASCII(uri) {
		return false
	}
	parsed, err := url.Parse(uri)
	if err != nil || parsed.User != nil || hasDotSegment(parsed.Path) {
		return false
	}
	switch parsed.Scheme {
	case "https":
		return parsed.Opaque == "" && strings.HasPrefix(uri, "https://") && validRedirectHost(parsed)
	case "http":
		_, ok := loopbackWithoutPort(uri)
		return ok
	default:
		scheme, _, _ := strings.Cut(uri, ":")
		// Comparing with the input rejects upper case, which url.Parse folds.
		return scheme == parsed.Scheme && (strings.Contains(scheme, ".") || slices.Contains(privateSchemes, scheme))
	}
}

// validRedirectHost rejects hosts that a browser and a customer on the consent page
// could read differently: url.Parse accepts punctuation, and decodes percent-encoded
// slashes and bidirectional controls. Internationalized names must be punycode.
func validRedirectHost(parsed *url.URL) bool {
	host := parsed.Hostname()
	if host == "" || strings.HasSuffix(parsed.Host, ":") {
		return false
	}
	if strings.HasPrefix(parsed.Host, "[") {
		address, err := netip.ParseAddr(host)
		return err == nil && address.Is6() && address.Zone() == ""
	}
	return strings.Trim(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") == ""
}

// printableASCII reports whether text has no spaces, control characters or letters beyond ASCII.
func printableASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}

func hasDotSegment(path string) bool {
	segments := strings.Split(path, "/")
	return slices.Contains(segments, ".") || slices.Contains(segments, "..")
}

// loopbackWithoutPort removes the port from an http loopback URI: the application listens on any
// free port (RFC 8252, 7.3). An empty path equals "/". It returns false for any other URI.
func loopbackWithoutPort(uri string) (string, bool) {
	rest, ok := strings.CutPrefix(uri, "http://")
	if !ok {
		return "", false
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, tail := rest[:end], rest[end:]
	for _, host := range loopbackHosts {
		port, ok := strings.CutPrefix(authority, host)
		if !ok || port != "" && !isPort(port) {
			continue
		}
		if !strings.HasPrefix(tail, "/") {
			tail = "/" + tail
		}
		return "http://" + host + tail, true
	}
	return "", false
}

func isPort(text string) bool {
	digits, ok := strings.CutPrefix(text, ":")
	return ok && digits != "" && len(digits) <= 5 && strings.Trim(digits, "0123456789") == ""
}

// allowsRedirect requires a registered URI, except for the port on loopback.
func (c Client) allowsRedirect(uri string) bool {
	if !validRedirectURI(uri) {
		return false
	}
	if slices.Contains(c.RedirectURIs, uri) {
		return true
	}
	target, ok := loopbackWithoutPort(uri)
	if !ok {
		return false
	}
	return slices.ContainsFunc(c.RedirectURIs, func(registered string) bool {
		other, ok := loopbackWithoutPort(registered)
		return ok && other == target
	})
}

// RedirectHost returns the host a response goes to, or the scheme of an application on the
// customer's device, for the customer to judge. local reports that it stays on the device.
func RedirectHost(uri string) (host string, local bool) {
	parsed, err := url.Parse(uri)
	if err != nil {
		return "", false
	}
	switch parsed.Scheme {
	case "https":
		return parsed.Host, false
	case "http":
		return parsed.Hostname(), true
	default:
		return parsed.Scheme + ":", true
	}
}
