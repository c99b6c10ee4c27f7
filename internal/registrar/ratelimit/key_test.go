package ratelimit

import (
	"net/netip"
	"testing"
)

func TestAddressKey_EqualOnlyWithinOneNetwork(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		a, b string
		same bool
	}{
		{"same IPv4", "192.0.2.1", "192.0.2.1", true},
		{"other IPv4", "192.0.2.1", "192.0.2.2", false},
		{"IPv4 as IPv6", "192.0.2.1", "::ffff:192.0.2.1", true},
		{"two IPv4 as IPv6", "::ffff:192.0.2.1", "::ffff:192.0.2.2", false},
		{"IPv4 as IPv6 with zone", "192.0.2.1", "::ffff:192.0.2.1%eth0", true},
		{"same /64", "2001:db8:0:1::1", "2001:db8:0:1:ffff:ffff:ffff:ffff", true},
		{"next /64", "2001:db8:0:1::1", "2001:db8:0:2::1", false},
		{"zone", "fe80::1%eth0", "fe80::1%eth1", true},
		{"IPv6 whose upper bits are an IPv4 address", "192.0.2.1", "0:0:c000:201::", false},
		{"IPv6 whose lower bits are an IPv4 address", "192.0.2.1", "::c000:201", false},
		{"unspecified", "0.0.0.0", "::", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a, b := AddressKey(netip.MustParseAddr(test.a)), AddressKey(netip.MustParseAddr(test.b))
			if (a == b) != test.same {
				t.Errorf("keys of %s and %s: equal is %v, want %v", test.a, test.b, a == b, test.same)
			}
		})
	}
}

func TestAddressKey_InvalidAddressHasOwnKey(t *testing.T) {
	t.Parallel()
	invalid := AddressKey(netip.Addr{})
	for _, text := range []string{"0.0.0.0", "::", "127.0.0.1"} {
		if invalid == AddressKey(netip.MustParseAddr(text)) {
			t.Errorf("invalid address shares the key of %s", text)
		}
	}
}

func TestTextKey_DistinctFromTextsAndAddresses(t *testing.T) {
	t.Parallel()
	if first, second := TextKey("a"), TextKey(string([]byte{'a'})); first != second {
		t.Error("equal texts have different keys")
	}
	seen := make(map[Key]bool)
	for _, text := range []string{"", "a", "b", "ab", "192.0.2.1", "::", "a\x00"} {
		key := TextKey(text)
		if seen[key] {
			t.Errorf("text %q shares a key", text)
		}
		seen[key] = true
		if key.kind&textBit == 0 {
			t.Errorf("the key of text %q is not marked as a text", text)
		}
	}
	for _, text := range []string{"192.0.2.1", "2001:db8::1", "255.255.255.255", "ffff:ffff:ffff:ffff::"} {
		if AddressKey(netip.MustParseAddr(text)).kind&textBit != 0 {
			t.Errorf("the key of address %s is marked as a text", text)
		}
	}
}
