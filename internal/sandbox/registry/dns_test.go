package registry

import (
	"net"
	"testing"
	"time"

	"github.com/miekg/dns"
)

func TestDNS_DelegatesTakenNamesOnly(t *testing.T) {
	t.Parallel()
	r := startWorld(t, Options{})
	for _, network := range []string{"udp", "tcp"} {
		for _, c := range []struct {
			name  string
			kind  uint16
			rcode int
			count int // records of that type in the answer
		}{
			{"google.com", dns.TypeNS, dns.RcodeSuccess, 2},
			{"GOOGLE.com", dns.TypeNS, dns.RcodeSuccess, 2},
			{"google.com", dns.TypeA, dns.RcodeSuccess, 1},
			{"google.com", dns.TypeSOA, dns.RcodeSuccess, 1},
			{"google.com", dns.TypeTXT, dns.RcodeSuccess, 0},
			{"www.google.com", dns.TypeA, dns.RcodeSuccess, 1},
			{"www.google.com", dns.TypeNS, dns.RcodeSuccess, 0},
			{"amazon.gr", dns.TypeNS, dns.RcodeSuccess, 2}, // without a registry server, but in the DNS
			{"kaffee.de", dns.TypeNS, dns.RcodeSuccess, 2},
			{"co.uk", dns.TypeNS, dns.RcodeSuccess, 2},
			{"com", dns.TypeNS, dns.RcodeSuccess, 2},
			{"nobody-has-this.com", dns.TypeNS, dns.RcodeNameError, 0},
			{"ohne-dns.de", dns.TypeNS, dns.RcodeNameError, 0},
			{"parked-without-dns.com", dns.TypeNS, dns.RcodeNameError, 0},
			{"nic.com", dns.TypeNS, dns.RcodeNameError, 0},
			{"gold.com", dns.TypeNS, dns.RcodeNameError, 0},
			{"unknown-x.com", dns.TypeNS, dns.RcodeNameError, 0},
			{"google.nowhere", dns.TypeNS, dns.RcodeNameError, 0},
			{"refused-x.de", dns.TypeNS, dns.RcodeRefused, 0},
			{"throttled-x.co.uk", dns.TypeNS, dns.RcodeRefused, 0},
		} {
			reply, err := queryDNS(t, answerTimeout, network, r.DNS(), c.name, c.kind)
			if err != nil {
				t.Errorf("%s %s: %v", network, c.name, err)
				continue
			}
			count := 0
			for _, rr := range reply.Answer {
				if rr.Header().Rrtype == c.kind {
					count++
				}
			}
			if reply.Rcode != c.rcode || count != c.count || !reply.RecursionAvailable || reply.IsEdns0() == nil {
				t.Errorf("%s %s %s:\n%v", network, dns.TypeToString[c.kind], c.name, reply)
			}
			if c.count == 0 && c.rcode != dns.RcodeRefused && (len(reply.Ns) != 1 || reply.Ns[0].Header().Rrtype != dns.TypeSOA) {
				t.Errorf("%s %s: no SOA in the authority section:\n%v", network, c.name, reply)
			}
		}
	}
}

func TestDNS_DenialNamesTheZone(t *testing.T) {
	t.Parallel()
	r := startWorld(t, Options{})
	for name, zone := range map[string]string{"nobody-has-this.com": "com.", "nobody-has-this.co.uk": "co.uk.", "nobody.nowhere": "."} {
		reply, err := queryDNS(t, answerTimeout, "udp", r.DNS(), name, dns.TypeNS)
		if err != nil {
			t.Fatal(err)
		}
		if owner := reply.Ns[0].Header().Name; owner != zone {
			t.Errorf("%s is denied by %s", name, owner)
		}
	}
}

func TestDNS_MagicNames(t *testing.T) {
	t.Parallel()
	r := startWorld(t, Options{Chaos: 1, Seed: 1}) // magic names are exempt from chaos
	for _, network := range []string{"udp", "tcp"} {
		if _, err := queryDNS(t, silenceTimeout, network, r.DNS(), "timeout-x.com", dns.TypeNS); !isTimeout(err) {
			t.Errorf("timeout over %s: %v", network, err)
		}
		for _, name := range []string{"refused-x.com", "throttled-x.com"} {
			if reply, err := queryDNS(t, answerTimeout, network, r.DNS(), name, dns.TypeNS); err != nil || reply.Rcode != dns.RcodeRefused {
				t.Errorf("%s over %s: %v, %v", name, network, reply, err)
			}
		}
	}
	packet := exchangeDNS(t, r, "garbled-x.com")
	if len(packet) < 12 || packet[0] != 0x12 || packet[1] != 0x34 {
		t.Errorf("garbled: %x does not have the id of the query", packet)
	}
	if err := new(dns.Msg).Unpack(packet); err == nil {
		t.Errorf("garbled: %x can be parsed", packet)
	}
}

// exchangeDNS sends a query with id 0x1234 and returns the raw response.
func exchangeDNS(t *testing.T, r *Registry, name string) []byte {
	t.Helper()
	conn, err := net.Dial("udp", r.DNS())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	question := new(dns.Msg)
	question.SetQuestion(dns.Fqdn(name), dns.TypeNS)
	question.Id = 0x1234
	packed, err := question.Pack()
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.SetDeadline(time.Now().Add(answerTimeout)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write(packed); err != nil {
		t.Fatal(err)
	}
	reply := make([]byte, 4096)
	n, err := conn.Read(reply)
	if err != nil {
		t.Fatal(err)
	}
	return reply[:n]
}

func TestDNS_NoEDNSWithoutRequest(t *testing.T) {
	t.Parallel()
	r := startWorld(t, Options{})
	reply := new(dns.Msg)
	if err := reply.Unpack(exchangeDNS(t, r, "google.com")); err != nil {
		t.Fatal(err)
	}
	if len(reply.Answer) != 2 || reply.IsEdns0() != nil {
		t.Errorf("%v", reply)
	}
}

func TestDNS_SurvivesMalformedPackets(t *testing.T) {
	t.Parallel()
	r := startWorld(t, Options{})
	conn, err := net.Dial("udp", r.DNS())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	for _, packet := range [][]byte{{}, {1}, make([]byte, 11), garbledPacket([]byte{1, 2}), make([]byte, 4000)} {
		if _, err := conn.Write(packet); err != nil {
			t.Fatal(err)
		}
	}
	if reply, err := queryDNS(t, answerTimeout, "udp", r.DNS(), "google.com", dns.TypeNS); err != nil || len(reply.Answer) != 2 {
		t.Errorf("afterwards: %v, %v", reply, err)
	}
}
