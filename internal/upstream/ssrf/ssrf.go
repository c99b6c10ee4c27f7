// Package ssrf keeps connections to untrusted URLs out of the internal network.
//
// Its functions are net.Dialer Controls, which see the address after resolution, so
// DNS rebinding has no effect. Only port 443 of the public internet is allowed.
// Private, loopback, link-local, shared, reserved and multicast networks are
// refused, also as IPv4 embedded in IPv6.
//
// Names are not checked: they mean nothing until they are dialled.
package ssrf

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"syscall"
)

// ErrPrivate is returned for addresses that must not be contacted.
var ErrPrivate = errors.New("ssrf: address is not public")

// blockedPrefixes are networks that are not certainly public, in addition to those
// that netip knows: IANA's special-purpose registries, and prefixes that embed an
// IPv4 address. Of IPv6 only global unicast is allowed; see isPublic.
var blockedPrefixes = mustParsePrefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

// globalUnicast is the part of IPv6 that IANA has allocated. Beyond it are NAT64
// and other embeddings of IPv4, which no list covers completely.
var globalUnicast = netip.MustParsePrefix("2000::/3")

func mustParsePrefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, 0, len(texts))
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

// isPublic reports whether an address belongs to the public internet.
func isPublic(addr netip.Addr) bool {
	addr = addr.Unmap()
	if addr.Zone() != "" || !addr.IsGlobalUnicast() || addr.IsPrivate() {
		return false
	}
	if addr.Is6() && !globalUnicast.Contains(addr) {
		return false
	}
	return !slices.ContainsFunc(blockedPrefixes, func(network netip.Prefix) bool { return network.Contains(addr) })
}

// ControlPublicHTTPS is a net.Dialer Control that allows port 443 of public
// addresses.
func ControlPublicHTTPS(network, address string, conn syscall.RawConn) error {
	return ControlPublicPorts(network, address, conn, 443)
}

// ControlPublicPorts allows only the given ports of public addresses.
func ControlPublicPorts(_, address string, _ syscall.RawConn, ports ...uint16) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !slices.Contains(ports, to.Port()) || !isPublic(to.Addr()) {
		return ErrPrivate
	}
	return nil
}

// MaybePublicHost reports whether a host that a proxy resolves may be public: not a
// private address in any notation and not a name without a dot. Checking what it
// resolves to is up to the proxy.
func MaybePublicHost(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return isPublic(addr)
	}
	host = strings.TrimSuffix(host, ".")
	dot := strings.LastIndexByte(host, '.')
	last := host[dot+1:]
	return dot > 0 && strings.Trim(last, "0123456789") != "" && !strings.HasPrefix(strings.ToLower(last), "0x") &&
		!strings.EqualFold(last, "localhost") && !strings.EqualFold(last, "local") && !strings.EqualFold(last, "internal")
}

// ControlLoopback is a net.Dialer Control that allows only loopback addresses, for
// the sandbox.
func ControlLoopback(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !to.Addr().Unmap().IsLoopback() {
		return ErrPrivate
	}
	return nil
}
