// Package guard keeps connections to addresses that strangers chose out of our
// own network.
//
// It is asked by the dialer about each address that is about to be called, after
// resolution, so a name that changes its mind in between gains nothing. What it
// promises: only port 443 of the public internet is called. Private, loopback,
// link-local, shared, reserved and multicast networks are refused, also inside
// IPv6's ways of writing IPv4.
//
// It refuses to look at names: what a name means is only known once it is dialled.
package ssrf

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"syscall"
)

// ErrPrivate says that an address is not to be called.
var ErrPrivate = errors.New("the address is not public")

// blockedPrefixes are networks that are not, or not surely, the public internet, beside
// those that netip knows: IANA's special-purpose registries, and what carries an
// IPv4 address inside. Of IPv6 only unicast is looked at; see Public.
var blockedPrefixes = mustParsePrefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

// globalUnicast is all of IPv6 that IANA has given out to the internet. Beyond it are
// NAT64 and the other ways of writing IPv4, which would need a list that is never
// complete.
var globalUnicast = netip.MustParsePrefix("2000::/3")

func mustParsePrefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, 0, len(texts))
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

// IsPublic says whether an address belongs to everybody's internet.
func IsPublic(addr netip.Addr) bool {
	addr = addr.Unmap()
	if addr.Zone() != "" || !addr.IsGlobalUnicast() || addr.IsPrivate() {
		return false
	}
	if addr.Is6() && !globalUnicast.Contains(addr) {
		return false
	}
	for _, network := range blockedPrefixes {
		if network.Contains(addr) {
			return false
		}
	}
	return true
}

// ControlPublicHTTPS is a net.Dialer's Control: port 443 of public addresses.
func ControlPublicHTTPS(network, address string, conn syscall.RawConn) error {
	return ControlPublicPorts(network, address, conn, 443)
}

// ControlPublicPorts refuses all but the given ports of public addresses.
func ControlPublicPorts(_, address string, _ syscall.RawConn, ports ...uint16) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !slices.Contains(ports, to.Port()) || !IsPublic(to.Addr()) {
		return ErrPrivate
	}
	return nil
}

// MaybePublicHost says whether a host that a proxy resolves for us may be public: no
// address of our own network, in whatever form, and no name without a dot. What the
// name resolves to is then the proxy's to judge.
func MaybePublicHost(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return IsPublic(addr)
	}
	host = strings.TrimSuffix(host, ".")
	dot := strings.LastIndexByte(host, '.')
	last := host[dot+1:]
	return dot > 0 && strings.Trim(last, "0123456789") != "" && !strings.HasPrefix(strings.ToLower(last), "0x") &&
		!strings.EqualFold(last, "localhost") && !strings.EqualFold(last, "local") && !strings.EqualFold(last, "internal")
}

// ControlLoopback is a net.Dialer's Control for a world that is all on one machine.
func ControlLoopback(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !to.Addr().Unmap().IsLoopback() {
		return ErrPrivate
	}
	return nil
}
