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

// hosts decides by which name the endpoint may be called, and from which pages.
//
// A service on a loopback address is often a developer's, without a firewall
// before it: any page that the developer opens could call it, directly or
// through a name that the page's owner points at 127.0.0.1 (DNS rebinding). So
// there only loopback names count, and those that the operator allows. A public
// service is open to pages of any origin, which gain nothing that a program
// could not have; it only insists on its own name.
type hosts struct {
	name     string // of the public service
	loopback bool
	origins  []string
	allowed  []string // the hosts of origins
}

func newHosts(baseURL string, allowedOrigins []string) (hosts, error) {
	base, err := url.Parse(baseURL)
	if err != nil || base.Hostname() == "" {
		return hosts{}, fmt.Errorf("mcp needs a base address, not %q", baseURL)
	}
	h := hosts{name: plainHost(base.Host), loopback: isLoopback(plainHost(base.Host))}
	for _, text := range allowedOrigins {
		origin, err := url.Parse(text)
		if err != nil || origin.Hostname() == "" {
			return hosts{}, fmt.Errorf("%q is not an origin", text)
		}
		h.origins = append(h.origins, strings.ToLower(text))
		h.allowed = append(h.allowed, plainHost(origin.Host))
	}
	return h, nil
}

// accept says whether r comes by a right name, from a right page.
func (h hosts) accept(r *http.Request) bool {
	name := plainHost(r.Host)
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
		if err != nil || !isLoopback(plainHost(origin.Host)) {
			return false
		}
	}
	return true
}

// plainHost is the name without its port, in lower case. The port is left out
// because proxies change it, and because no attack gains by it.
func plainHost(text string) string {
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
