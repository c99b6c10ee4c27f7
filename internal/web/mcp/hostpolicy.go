package mcp

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// hostPolicy decides by which host name the endpoint may be called, and from which
// pages.
//
// A service on a loopback address is often a developer's, without a firewall: any page
// that the developer opens could call it, directly or through a name that resolves to
// 127.0.0.1 (DNS rebinding). There, only loopback names and those allowed by the
// operator are accepted. A public service accepts pages of any origin, which gain
// nothing that a program could not have, but only its own host name.
type hostPolicy struct {
	name     string // of the public service
	loopback bool
	origins  []string
	allowed  []string // hosts of allowed origins
}

func newHostPolicy(baseURL string, allowedOrigins []string) (hostPolicy, error) {
	base, err := url.Parse(baseURL)
	if err != nil || base.Hostname() == "" {
		return hostPolicy{}, fmt.Errorf("mcp: invalid base URL %q", baseURL)
	}
	h := hostPolicy{name: hostname(base.Host), loopback: isLoopback(hostname(base.Host))}
	for _, text := range allowedOrigins {
		origin, err := url.Parse(text)
		if err != nil || origin.Hostname() == "" {
			return hostPolicy{}, fmt.Errorf("mcp: invalid origin %q", text)
		}
		h.origins = append(h.origins, strings.ToLower(text))
		h.allowed = append(h.allowed, hostname(origin.Host))
	}
	return h, nil
}

// allows reports whether host and origin of r are accepted.
func (h hostPolicy) allows(r *http.Request) bool {
	name := hostname(r.Host)
	if !h.loopback {
		return name == h.name
	}
	if !isLoopback(name) && !slices.Contains(h.allowed, name) {
		return false
	}
	for _, text := range r.Header["Origin"] {
		if slices.Contains(h.origins, strings.ToLower(text)) {
			continue
		}
		origin, err := url.Parse(text)
		if err != nil || !isLoopback(hostname(origin.Host)) {
			return false
		}
	}
	return true
}

// hostname returns the name in lower case without its port, which proxies change and
// which no attack depends on.
func hostname(text string) string {
	if strings.Contains(text, ":") {
		if host, _, err := net.SplitHostPort(text); err == nil {
			text = host
		}
	}
	text = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	return strings.ToLower(strings.TrimSuffix(text, "."))
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	// The unspecified address also reaches this machine.
	return err == nil && (addr.Unmap().IsLoopback() || addr.IsUnspecified())
}
