// Package hostmap maps the public names of servers to the addresses where they are
// reached.
//
// The catalog and IANA's bootstrap use public names: rdap.verisign.com,
// whois.denic.de. In the sandbox, behind an egress proxy or in a test, the same
// servers are elsewhere. A Table holds only these differences, so the connectors
// have one code path; an empty table means the public internet.
//
// There are no wildcards and no chains. A value is final, and a server that is not
// in the table is reached under its own name.
package hostmap

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Table maps "host:port" as in the catalog or the bootstrap to the actual
// address: an origin such as "http://127.0.0.1:41001" for an HTTP server, an
// address such as "127.0.0.1:41002" for any other. Keys are in lower case.
type Table map[string]string

// Rewrite returns u with scheme and host replaced if the table has an entry for its
// server. Path and query stay. u is never modified; without an entry it is returned
// unchanged.
func (t Table) Rewrite(u *url.URL) *url.URL {
	value, found := t[hostPortOf(u)]
	if !found {
		return u
	}
	origin, err := url.Parse(value)
	if err != nil || origin.Host == "" {
		return u
	}
	rewritten := *u
	rewritten.Scheme, rewritten.Host = origin.Scheme, origin.Host
	return &rewritten
}

// Contains reports whether the table has an entry for the server of u.
func (t Table) Contains(u *url.URL) bool {
	_, found := t[hostPortOf(u)]
	return found
}

// Address returns the actual address of the server "host:port".
func (t Table) Address(hostport string) string {
	if value, found := t[strings.ToLower(hostport)]; found {
		return value
	}
	return hostport
}

// Validate reports the first invalid entry in the order of the keys.
func (t Table) Validate() error {
	for _, key := range slices.Sorted(maps.Keys(t)) {
		if err := validateHostPort(key); err != nil {
			return fmt.Errorf("hostmap: key %q %w", key, err)
		}
		if key != strings.ToLower(key) {
			return fmt.Errorf("hostmap: key %q must be in lower case", key)
		}
		if err := validateTarget(t[key]); err != nil {
			return fmt.Errorf("hostmap: value %q of %q %w", t[key], key, err)
		}
		// These ports have a fixed protocol, so a value of the other form is a
		// mistake that would otherwise show as an unreachable server.
		isOrigin := strings.Contains(t[key], "://")
		switch _, port, _ := net.SplitHostPort(key); port {
		case "43":
			if isOrigin {
				return fmt.Errorf("hostmap: %q is a WHOIS server; write its address as host:port, not %q", key, t[key])
			}
		case "80", "443":
			if !isOrigin {
				return fmt.Errorf("hostmap: %q is a web server; write its address as http://host:port, not %q", key, t[key])
			}
		}
	}
	return nil
}

func validateTarget(value string) error {
	if !strings.Contains(value, "://") {
		return validateHostPort(value)
	}
	u, err := url.Parse(value)
	if err != nil {
		return errors.New("is not a valid web address")
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("must begin with http:// or https://")
	case u.Hostname() == "":
		return errors.New("has no host")
	case u.User != nil:
		return errors.New("must not contain a user or a password")
	case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "":
		return errors.New("must end after the host and the port; the path comes from the request")
	}
	if u.Port() == "" && !strings.HasSuffix(u.Host, ":") {
		return nil
	}
	return validateHostPort(u.Host)
}

func validateHostPort(text string) error {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return errors.New("is not host:port")
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if host == "" || err != nil || number == 0 || strings.ContainsAny(host, "/@ ") {
		return errors.New("is not host:port")
	}
	return nil
}

// hostPortOf returns the key of a URL's server.
func hostPortOf(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = "443"
		if u.Scheme == "http" {
			port = "80"
		}
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}
