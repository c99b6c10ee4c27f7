package registrar_test

import (
	"net/netip"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func TestNetwork_IPv6CountsBySlash64(t *testing.T) {
	t.Parallel()
	a, b := netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::ffff:2%eth0")
	if registrar.Network(a) != registrar.Network(b) || registrar.Network(a) == registrar.Network(netip.MustParseAddr("2001:db8:0:1::1")) {
		t.Error("IPv6 addresses must count by their /64")
	}
	if registrar.Network(netip.MustParseAddr("::ffff:192.0.2.1")) != registrar.Network(netip.MustParseAddr("192.0.2.1")) {
		t.Error("an IPv4-mapped address has a separate budget")
	}
}

func TestNeighbourhood_IsWiderThanNetwork(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"192.0.2.7": "192.0.2.0/24", "::ffff:192.0.2.7": "192.0.2.0/24", "2001:db8:1:2::3": "2001:db8:1::/48", "2001:db8:1:ffff::3%eth0": "2001:db8:1::/48",
	} {
		if got := registrar.Neighbourhood(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %s", address, got)
		}
	}
	if got := registrar.Neighbourhood(netip.Addr{}); got != "" {
		t.Errorf("no address: %s", got)
	}
}
