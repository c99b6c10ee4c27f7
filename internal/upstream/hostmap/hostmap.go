// Package hosts says where a server that is known by its public name is really
// reached.
//
// The catalogue and IANA's bootstrap name servers as the world knows them:
// rdap.verisign.com, whois.denic.de. In the sandbox, behind an egress proxy or
// in a test the same servers stand elsewhere. A Table is that difference and
// nothing more, so the connectors have one code path for every world: an empty
// table is the real one.
//
// The package refuses to be clever: it has no wildcards and no chains. A value
// is final, and a server that is not in the table is reached under its own
// name.
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

// Table maps "host:port" as the catalogue or the bootstrap name it to the place
// where it is really reached: an origin such as "http://127.0.0.1:41001" for a
// server that speaks HTTP, an address such as "127.0.0.1:41002" for any other.
// Keys are written in lower case.
type Table map[string]string

// Rewrite is u with scheme and host replaced if the table has an entry for its
// server. Path and query stay. u itself is never changed; it is returned as it
// is when there is nothing to replace.
func (t Table) Rewrite(u *url.URL) *url.URL {
	value, found := t[hostPortOf(u)]
	if !found {
		return u
	}
	origin, err := url.Parse(value)
	if err != nil || origin.Host == "" {
		return u
	}
	moved := *u
	moved.Scheme, moved.Host = origin.Scheme, origin.Host
	return &moved
}

// Contains says whether the table has an entry for the server of u.
func (t Table) Contains(u *url.URL) bool {
	_, found := t[hostPortOf(u)]
	return found
}

// Address is where the server "host:port" is really reached.
func (t Table) Address(hostport string) string {
	if value, found := t[strings.ToLower(hostport)]; found {
		return value
	}
	return hostport
}

// Validate reports the first entry, in the order of the keys, that can't work.
func (t Table) Validate() error {
	for _, key := range slices.Sorted(maps.Keys(t)) {
		if err := validateHostPort(key); err != nil {
			return fmt.Errorf("host table: key %q %w", key, err)
		}
		if key != strings.ToLower(key) {
			return fmt.Errorf("host table: key %q must be written in lower case", key)
		}
		if err := validateTarget(t[key]); err != nil {
			return fmt.Errorf("host table: value %q of %q %w", t[key], key, err)
		}
		// These three ports have one meaning only, so a value of the other form
		// is a slip that would otherwise show as an unreachable server.
		isOrigin := strings.Contains(t[key], "://")
		switch _, port, _ := net.SplitHostPort(key); port {
		case "43":
			if isOrigin {
				return fmt.Errorf("host table: %q is a WHOIS server; write its place as host:port, not %q", key, t[key])
			}
		case "80", "443":
			if !isOrigin {
				return fmt.Errorf("host table: %q is a web server; write its place as http://host:port, not %q", key, t[key])
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
		return errors.New("is no address of a web server")
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("must begin with http:// or https://")
	case u.Hostname() == "":
		return errors.New("names no host")
	case u.User != nil:
		return errors.New("must not contain a user or a password")
	case u.Path != "" && u.Path != "/" || u.RawQuery != "" || u.Fragment != "":
		return errors.New("must end after the host and the port; the path comes from the question")
	}
	if u.Port() == "" && !strings.HasSuffix(u.Host, ":") {
		return nil
	}
	return validateHostPort(u.Host)
}

func validateHostPort(text string) error {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return errors.New("is not written as host:port")
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if host == "" || err != nil || number == 0 || strings.ContainsAny(host, "/@ ") {
		return errors.New("is not written as host:port")
	}
	return nil
}

// hostPortOf is the key of a URL's server.
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
