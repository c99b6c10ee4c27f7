package oauth

import "testing"

// A browser may decode a host that a customer reads on the consent page, so only one
// spelling is accepted.
func TestValidRedirectURI_RejectsAmbiguousHosts(t *testing.T) {
	t.Parallel()
	for uri, want := range map[string]bool{
		"https://app.example/cb": true, "https://sub_domain.app-1.example:8443/cb": true, "https://xn--bcher-kva.example/cb": true,
		"https://[2001:db8::1]/cb": true, "https://[2001:db8::1]:8443/cb": true, "https://app.example/cb?x=%2F": true,
		"https://claude.ai%E2%88%95login.evil.example/cb": false, "https://claude.ai%EF%BC%8F.evil.example/cb": false,
		"https://app%E2%80%AE.example/cb": false, "https://app%2eexample/cb": false, "https://app.example%00.evil.example/cb": false,
		"https://claude.ai,evil.example/cb": false, "https://claude.ai;x.evil.example/cb": false, "https://claude.ai&x.evil.example/cb": false,
		"https://(claude.ai).evil.example/cb": false, "https://claude.ai=x.evil.example/cb": false, "https://claude.ai!.evil.example/cb": false,
		"https://claude.ai$x.evil.example/cb": false, "https://claude.ai'x.evil.example/cb": false, "https://claude.ai~x.evil.example/cb": false,
		"https://*.app.example/cb": false, "https://a+b.example/cb": false, "https://[fe80::1%25eth0]/cb": false, "https://[v1.x]/cb": false,
		"https://app.example:0x1bb/cb": false, "https://app.example:443:443/cb": false, "https://app.example:/cb": false,
		"https://:443/cb": false, "https://?x": false, "https://@/cb": false, "https://app.example:443@evil.example/cb": false,
		"https://app.example/%2e%2e/cb": false, "https://app.example/x%2f..%2fcb": false, "https://app.example/..": false,
		"https:/app.example/cb": false, "https:\\\\app.example/cb": false, "https://app.example\t/cb": false, "https://app.example/\r\ncb": false,
		"http://127.0.0.1%2eevil.example/cb": false, "http://localhost:80@evil.example/cb": false, "http://localhost%00/cb": false,
		"http://[::1%25lo]/cb": false, "http://[0:0:0:0:0:0:0:1]/cb": false, "http://localhost./cb": false, "http://[::ffff:127.0.0.1]/cb": false,
		"http://0.0.0.0/cb": false, "http://0x7f.1/cb": false, "http://017700000001/cb": false, "http://localhost:123456/cb": false,
		"http:localhost/cb": false, "http:///localhost/cb": false, "http://localhost\\@evil.example/cb": false,
	} {
		if got := validRedirectURI(uri); got != want {
			t.Errorf("%q: %v", uri, got)
		}
	}
}
