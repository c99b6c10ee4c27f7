package ssrf

import (
	"net/netip"
	"testing"
)

func TestIsPublic_RejectsSpecialPurposeAddresses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"93.184.216.34": true, "2606:2800:220:1:248:1893:25c8:1946": true, "::ffff:93.184.216.34": true,
		"127.0.0.1": false, "127.8.8.8": false, "10.1.2.3": false, "172.16.0.1": false, "192.168.1.1": false, "169.254.169.254": false,
		"100.64.0.1": false, "0.0.0.0": false, "192.0.0.8": false, "198.18.0.1": false, "224.0.0.1": false, "255.255.255.255": false,
		"240.0.0.1": false, "192.0.2.1": false, "203.0.113.7": false,
		"::1": false, "::": false, "fe80::1": false, "fe80::1%eth0": false, "fc00::1": false, "fd12::1": false, "fec0::1": false, "ff02::1": false,
		"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::127.0.0.1": false, "64:ff9b::7f00:1": false, "64:ff9b:1::1": false,
		"2002:7f00:1::": false, "2001:0:1::1": false, "2001:db8::1": false,
		"::ffff:0:127.0.0.1": false, "::ffff:0:a00:1": false, "::10.0.0.1": false, "64:ff9b::a9fe:a9fe": false, "100::1": false, "100:0:0:1::1": false,
		"4000::1": false, "5f00::1": false, "3fff::1": false, "2002:a9fe:a9fe::1": false, "::ffff:169.254.169.254": false, "::ffff:100.64.0.1": false,
		"100.127.255.255": false, "0.1.2.3": false, "192.88.99.1": false, "239.1.1.1": false, "2a00:1450:4001:80b::200e": true, "100.128.0.1": true,
	} {
		if got := isPublic(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: public is %v", text, got)
		}
	}
}

func TestControlPublicHTTPS_AllowsPort443Only(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{"93.184.216.34:443": true, "93.184.216.34:22": false, "93.184.216.34:8443": false, "x": false} {
		if got := ControlPublicHTTPS("tcp", address, nil) == nil; got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

func TestControlLoopback_AllowsLoopbackOnly(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"127.0.0.1:8080": true, "[::1]:443": true, "[::ffff:127.0.0.1]:1": true,
		"10.0.0.1:443": false, "93.184.216.34:443": false, "169.254.169.254:80": false, "x": false,
	} {
		if got := ControlLoopback("tcp", address, nil) == nil; got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

func TestMaybePublicHost_RefusesPrivateForms(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"rdap.example.net": true, "rdap.example.net.": true, "93.184.216.34": true,
		"127.0.0.1": false, "::1": false, "::ffff:10.0.0.1": false, "localhost": false, "metadata": false, "2130706433": false,
		"0x7f000001": false, "127.1": false, "0177.0.0.1": false, "10.0.0.0x1": false, "a.localhost": false, "printer.local": false, "metadata.google.internal": false, "": false,
	} {
		if got := MaybePublicHost(host); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}
