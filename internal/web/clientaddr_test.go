package web

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

func TestClientAddr_PeerOrRightmostUntrustedHop(t *testing.T) {
	finder := addrResolver{trusted: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}}
	for _, test := range []struct {
		rule      string
		peer      string
		xff       []string
		forwarded []string
		want      string
	}{
		{"no header", "192.0.2.1:5000", nil, nil, "192.0.2.1"},
		{"an untrusted peer is ignored", "192.0.2.1:5000", []string{"198.51.100.7"}, nil, "192.0.2.1"},
		{"a v4-mapped peer is a v4 address", "[::ffff:192.0.2.1]:5000", nil, nil, "192.0.2.1"},
		{"a trusted peer without a header", "10.0.0.1:5000", nil, nil, "10.0.0.1"},
		{"a trusted peer is used", "10.0.0.1:5000", []string{"198.51.100.7"}, nil, "198.51.100.7"},
		{"the client's own entries are on the left", "10.0.0.1:5000", []string{"203.0.113.9, 198.51.100.7"}, nil, "198.51.100.7"},
		{"trusted hops are skipped", "10.0.0.1:5000", []string{"198.51.100.7, 10.0.0.2"}, nil, "198.51.100.7"},
		{"lines count as one list", "10.0.0.1:5000", []string{"203.0.113.9", "198.51.100.7"}, nil, "198.51.100.7"},
		{"all trusted: the farthest", "10.0.0.1:5000", []string{"10.0.0.3, 10.0.0.2"}, nil, "10.0.0.3"},
		{"an invalid entry ends the walk", "10.0.0.1:5000", []string{"198.51.100.7, unknown"}, nil, "10.0.0.1"},
		{"an invalid entry ends the walk at the last valid hop", "10.0.0.1:5000", []string{"198.51.100.7, nonsense, 10.0.0.2"}, nil, "10.0.0.2"},
		{"an empty header", "10.0.0.1:5000", []string{""}, nil, "10.0.0.1"},
		{"with a port", "10.0.0.1:5000", []string{"198.51.100.7:1234"}, nil, "198.51.100.7"},
		{"IPv6 in brackets", "10.0.0.1:5000", []string{"[2001:db8::1]:1234"}, nil, "2001:db8::1"},
		{"IPv6 in brackets without a port", "10.0.0.1:5000", []string{"[2001:db8::1]"}, nil, "2001:db8::1"},
		{"an IPv6 proxy", "[fd00::1]:5000", []string{"2001:db8::1"}, nil, "2001:db8::1"},
		{"Forwarded", "10.0.0.1:5000", nil, []string{`for=203.0.113.9, for="198.51.100.7:80";proto=https`}, "198.51.100.7"},
		{"Forwarded with IPv6", "10.0.0.1:5000", nil, []string{`proto=https;For="[2001:db8::1]:80"`}, "2001:db8::1"},
		{"Forwarded with a hidden hop", "10.0.0.1:5000", nil, []string{"for=_hidden"}, "10.0.0.1"},
		{"Forwarded without for", "10.0.0.1:5000", nil, []string{"proto=https"}, "10.0.0.1"},
		{"Forwarded with a client's words in quotes", "10.0.0.1:5000", nil, []string{`for=198.51.100.7;host="x,for=203.0.113.9"`}, "198.51.100.7"},
		{"Forwarded with a client's words first", "10.0.0.1:5000", nil, []string{`proto=http;host="x;for=203.0.113.9";for=198.51.100.7`}, "198.51.100.7"},
		{"Forwarded with an escaped quote", "10.0.0.1:5000", nil, []string{`for=198.51.100.7;host="a\",for=203.0.113.9;x="`}, "198.51.100.7"},
		{"Forwarded with a quote that never ends", "10.0.0.1:5000", nil, []string{`for="203.0.113.9, for=198.51.100.7`}, "10.0.0.1"},
		{"Forwarded with two addresses in one element", "10.0.0.1:5000", nil, []string{"for=203.0.113.9;for=198.51.100.7"}, "10.0.0.1"},
		{"both agree", "10.0.0.1:5000", []string{"198.51.100.7"}, []string{"for=198.51.100.7"}, "198.51.100.7"},
		{"both disagree: neither is used", "10.0.0.1:5000", []string{"198.51.100.7"}, []string{"for=203.0.113.9"}, "10.0.0.1"},
	} {
		t.Run(test.rule, func(t *testing.T) {
			request := &http.Request{RemoteAddr: test.peer, Header: http.Header{}}
			if test.xff != nil {
				request.Header["X-Forwarded-For"] = test.xff
			}
			if test.forwarded != nil {
				request.Header["Forwarded"] = test.forwarded
			}
			if got := finder.clientAddr(request); got != netip.MustParseAddr(test.want) {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
	if got := finder.clientAddr(&http.Request{RemoteAddr: "@"}); got.IsValid() {
		t.Errorf("a peer without an address is %s", got)
	}
}

func TestCountry_OnlyFromTrustedProxies(t *testing.T) {
	t.Parallel()
	resolver := addrResolver{trusted: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
	for _, test := range []struct {
		peer, header string
		values       []string
		want         string
	}{
		{"10.1.2.3:1", "Cf-Ipcountry", []string{"de"}, "DE"},
		{"192.0.2.1:1", "Cf-Ipcountry", []string{"DE"}, ""},
		{"10.1.2.3:1", "Cf-Ipcountry", []string{"T1"}, ""},
		{"10.1.2.3:1", "Cf-Ipcountry", []string{"DE", "FR"}, ""},
		{"10.1.2.3:1", "Cf-Ipcountry", nil, ""},
		{"10.1.2.3:1", "", []string{"DE"}, ""},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = test.peer
		r.Header["Cf-Ipcountry"] = test.values
		if got := resolver.country(r, test.header); got != test.want {
			t.Errorf("%+v: %q", test, got)
		}
	}
}
