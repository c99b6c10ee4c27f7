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
