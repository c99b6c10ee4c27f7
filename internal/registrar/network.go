package registrar

import (
	"net/netip"
	"strings"
)

// IsLoopbackHost reports whether host is "localhost" or a loopback address. It doesn't
// resolve names.
func IsLoopbackHost(host string) bool {
	address, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && address.IsLoopback()
}

// Network returns the rate-limit key of an address: IPv6 addresses count by their
// /64, the least that a customer of a provider is assigned. It is empty for the zero
// address.
func Network(address netip.Addr) string {
	if !address.IsValid() {
		return ""
	}
	address = address.Unmap().WithZone("")
	if address.Is6() {
		prefix, _ := address.Prefix(64) // 64 is a valid length
		return prefix.String()
	}
	return address.String()
}

// Site returns the wider rate-limit key of an IPv6 address: its /48, the most that a
// customer of a provider is assigned, which spans 65,536 values of Network. It is
// empty for other addresses.
func Site(address netip.Addr) string {
	address = address.Unmap().WithZone("")
	if !address.Is6() {
		return ""
	}
	prefix, _ := address.Prefix(48) // 48 is a valid length
	return prefix.String()
}

// Neighbourhood returns the widest rate-limit key of an address, for what everyone shares: the
// /48 of an IPv6 and the /24 of an IPv4 address, the least that is routed on its own. It is empty
// for the zero address.
func Neighbourhood(address netip.Addr) string {
	if !address.IsValid() || address.Unmap().Is6() {
		return Site(address)
	}
	prefix, _ := address.Unmap().Prefix(24) // 24 is a valid length
	return prefix.String()
}
