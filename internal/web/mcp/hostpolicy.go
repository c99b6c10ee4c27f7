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

// hostPolicy decides by which name the endpoint may be called, and from which pages.
//
// A service on a loopback address is often a developer's, without a firewall
// before it: any page that the developer opens could call it, directly or
// through a name that the page's owner points at 127.0.0.1 (DNS rebinding). So
// there only loopback names count, and those that the operator allows. A public
// service is open to pages of any origin, which gain nothing that a program
// could not have; it only insists on its own name.
type hostPolicy struct {
	name     string // of the public service
	loopback bool
	origins  []string
	allowed  []string // the hosts of origins
}

func newHostPolicy(baseURL string, allowedOrigins []string) (hostPolicy, error) {
	base, err := url.Parse(baseURL)
	if err != nil || base.Hostname() == "" {
		return hostPolicy{}, fmt.Errorf("mcp needs a base address, not %q", baseURL)
	}
	h := hostPolicy{name: hostname(base.Host), loopback: isLoopback(hostname(base.Host))}
	for _, text := range allowedOrigins {
		origin, err := url.Parse(text)
		if err != nil || origin.Hostname() == "" {
			return hostPolicy{}, fmt.Errorf("%q is not an origin", text)
		}
		h.origins = append(h.origins, strings.ToLower(text))
		h.allowed = append(h.allowed, hostname(origin.Host))
	}
	return h, nil
}

// allows says whether r comes by a right name, from a right page.
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

// hostname is the name without its port, in lower case. The port is left out
// because proxies change it, and because no attack gains by it.
func hostname(text string) string {
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	text = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	return strings.ToLower(strings.TrimSuffix(text, "."))
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	// The unspecified address leads to this machine, too.
	return err == nil && (addr.Unmap().IsLoopback() || addr.IsUnspecified())
}
