package registry

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

func TestSeedDomain_SameInRDAPWHOISAndDNS(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC)
	r := startWorld(t, Options{Seeds: []SeedDomain{
		{
			Name: "kaffeehaus-elbblick.com", Registrar: "dotkontor Sandbox", Statuses: []string{"clientTransferProhibited"},
			Created: day, Expires: day.AddDate(2, 0, 0), Nameservers: []string{"ns1.dotkontor.example", "ns2.dotkontor.example"},
		},
		{
			Name: "elbblick-catering.com", Registrar: worldRegistrars[0].name, Statuses: []string{"redemptionPeriod", "pendingDelete"},
			Created: day, Expires: day.AddDate(1, 0, 0),
		},
	}})
	for name, want := range map[string]struct {
		rdap, epp, servers []string
		registrar, expires string
		rcode              int
	}{
		"kaffeehaus-elbblick.com": {
			[]string{"client transfer prohibited"},
			[]string{"clientTransferProhibited"},
			[]string{"ns1.dotkontor.example", "ns2.dotkontor.example"},
			"dotkontor Sandbox", "2028-05-04", dns.RcodeSuccess,
		},
		"elbblick-catering.com": {
			[]string{"redemption period", "pending delete"},
			[]string{"redemptionPeriod", "pendingDelete"},
			nil, worldRegistrars[0].name, "2027-05-04", dns.RcodeNameError,
		},
	} {
		a := mustGet(t, rdapURL(t, r, name))
		reply := parse(t, a)
		if a.status != http.StatusOK || !slices.Equal(reply.Status, want.rdap) || len(reply.Nameservers) != len(want.servers) ||
			!strings.Contains(a.body, want.registrar) || !strings.Contains(a.body, want.expires) {
			t.Errorf("RDAP says of %s: %s", name, a.body)
		}
		text := mustAskWHOIS(t, r, "whois.verisign-grs.com:43", name)
		for _, line := range append([]string{"Registrar: " + want.registrar, "Registry Expiry Date: " + want.expires}, want.servers...) {
			if !strings.Contains(text, line) {
				t.Errorf("WHOIS of %s does not contain %q:\n%s", name, line, text)
			}
		}
		for _, status := range want.epp {
			if !strings.Contains(text, "Domain Status: "+status+" ") {
				t.Errorf("WHOIS of %s does not contain %q:\n%s", name, status, text)
			}
		}
		answer, err := queryDNS(t, 5*time.Second, "udp", r.DNS(), name, dns.TypeNS)
		if err != nil || answer.Rcode != want.rcode || len(answer.Answer) != len(want.servers) {
			t.Errorf("the DNS says of %s: %v %v", name, answer, err)
		}
	}
}

func TestStart_RefusesInvalidSeedDomain(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC)
	for _, name := range []string{"google.com", "timeout-x.com", "a.b.com", "x.nowhere", "UPPER.com", "nic.com", ""} {
		held := SeedDomain{Name: name, Created: day, Expires: day}
		if r, err := Start(Options{Zones: someZones, Seeds: []SeedDomain{held}}); err == nil {
			_ = r.Close()
			t.Errorf("%q was accepted", name)
		}
	}
	if r, err := Start(Options{Zones: someZones, Seeds: []SeedDomain{{Name: "kaffeehaus-elbblick.com"}}}); err == nil {
		_ = r.Close()
		t.Error("a name without dates was accepted")
	}
}

func TestRDAPStatus_FromEPPStatus(t *testing.T) {
	t.Parallel()
	for epp, want := range map[string]string{
		"ok": "active", "clientHold": "client hold", "autoRenewPeriod": "auto renew period",
		"serverTransferProhibited": "server transfer prohibited", "inactive": "inactive",
	} {
		if got := rdapStatus(epp); got != want {
			t.Errorf("%s is %q, want %q", epp, got, want)
		}
	}
}
