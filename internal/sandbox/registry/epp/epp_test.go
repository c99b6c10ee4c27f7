package epp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/xml"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/sandbox/registry/ledger"
)

const testTimeout = 20 * time.Second

// plainTable is a table in which every name of .com is free.
type plainTable struct{}

func (plainTable) Lookup(name string) (ledger.NameEntry, bool) {
	label, found := strings.CutSuffix(name, ".com")
	return ledger.NameEntry{
		Zone: ".com", Label: label, Policy: ledger.PolicyOf(".com"), Fees: ledger.FeeSchedule{Class: ledger.StandardClass, Create: 100},
	}, found
}

func (plainTable) InitialDomain(name string, _ time.Time) *ledger.Domain {
	return &ledger.Domain{Name: name}
}

func newLedger(t testing.TB) *ledger.Ledger {
	t.Helper()
	l, err := ledger.Open(ledger.Options{Table: plainTable{}, Accounts: []ledger.Account{{ID: "dotkontor", Password: "password"}}})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestServe_SlowClientsAreDisconnected(t *testing.T) {
	t.Parallel()
	identity, err := NewIdentity("")
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(identity.CA)
	short := 50 * time.Millisecond
	server := New(Options{
		Ledger: newLedger(t), Certificate: identity.Certificate,
		Timeouts: Timeouts{Login: 10 * short, Idle: short, Frame: short, Hang: short, Slow: short},
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() { cancel(); _ = listener.Close() })
	served := make(chan struct{}, 16)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				server.Serve(ctx, conn, func() { _ = conn.Close() })
				_ = conn.Close()
				served <- struct{}{}
			}()
		}
	}()
	for title, talk := range map[string]func(net.Conn) error{
		"no handshake": func(net.Conn) error { return nil },
		"no login": func(conn net.Conn) error {
			return tls.Client(conn, &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12}).Handshake()
		},
		"half a frame": func(conn net.Conn) error {
			secure := tls.Client(conn, &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12})
			_, err := secure.Write([]byte("\x00\x00\x01\x00<epp"))
			return err
		},
		"half a header": func(conn net.Conn) error {
			secure := tls.Client(conn, &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12})
			_, err := secure.Write([]byte("\x00\x00"))
			return err
		},
		"goodbye": func(conn net.Conn) error {
			secure := tls.Client(conn, &tls.Config{RootCAs: roots, ServerName: "127.0.0.1", MinVersion: tls.VersionTLS12})
			return errors.Join(secure.Handshake(), secure.CloseWrite())
		},
	} {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if err := talk(conn); err != nil {
			// On a slow machine the server may have left before.
			t.Logf("%s: %v", title, err)
		}
		select {
		case <-served:
		case <-time.After(testTimeout):
			t.Errorf("%s: the server is still waiting", title)
		}
		_ = conn.Close()
	}
}

// discardConn discards all output.
type discardConn struct{ net.Conn }

func (discardConn) Write(p []byte) (int, error)      { return len(p), nil }
func (discardConn) SetWriteDeadline(time.Time) error { return nil }

func FuzzServe_ResponseIsAlwaysXML(f *testing.F) {
	frame := func(command string) string {
		return `<epp xmlns="urn:ietf:params:xml:ns:epp-1.0"><command>` + command + `<clTRID>ABC-1</clTRID></command></epp>`
	}
	domain := ` xmlns:domain="urn:ietf:params:xml:ns:domain-1.0"`
	contact := ` xmlns:contact="urn:ietf:params:xml:ns:contact-1.0"`
	for _, seed := range []string{
		"", "<epp/>", `<epp xmlns="urn:ietf:params:xml:ns:epp-1.0"><hello/></epp>`, frame("<logout/>"), frame(`<poll op="ack" msgID="1"/>`),
		frame(`<check><domain:check` + domain + `><domain:name>a&lt;b.com</domain:name></domain:check></check>`),
		frame(`<create><domain:create` + domain + `><domain:name>x.com</domain:name><domain:period unit="y">1</domain:period><domain:authInfo><domain:pw>&amp;secret</domain:pw></domain:authInfo></domain:create></create><extension><fee:create xmlns:fee="urn:ietf:params:xml:ns:epp:fee-1.0"><fee:fee>1.00</fee:fee></fee:create></extension>`),
		frame(`<info><domain:info` + domain + `><domain:name hosts="all">x.com</domain:name></domain:info></info>`),
		frame(`<update><domain:update` + domain + `><domain:name>x.com</domain:name><domain:add><domain:status s="clientHold">x</domain:status></domain:add></domain:update></update><extension><secDNS:update xmlns:secDNS="urn:ietf:params:xml:ns:secDNS-1.1"><secDNS:rem><secDNS:all>true</secDNS:all></secDNS:rem></secDNS:update></extension>`),
		frame(`<create><contact:create` + contact + `><contact:id>abc</contact:id><contact:postalInfo type="loc"><contact:name>&#252;]]&gt;</contact:name><contact:addr><contact:city>x</contact:city><contact:cc>DE</contact:cc></contact:addr></contact:postalInfo><contact:voice x="1">+1.2</contact:voice><contact:email>a@b.c</contact:email><contact:authInfo><contact:pw>secret</contact:pw></contact:authInfo></contact:create></create>`),
		frame(`<info><contact:info` + contact + `><contact:id>abc</contact:id></contact:info></info>`),
		frame(`<transfer op="request"><domain:transfer` + domain + `><domain:name>x.com</domain:name></domain:transfer></transfer>`),
		frame(`<login><clID>dotkontor</clID><pw>password</pw><options><version>1.0</version><lang>en</lang></options><svcs><objURI>urn:ietf:params:xml:ns:domain-1.0</objURI></svcs></login>`),
	} {
		f.Add([]byte(seed))
	}
	kept := newLedger(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		var answers []string
		server := New(Options{Ledger: kept, Tap: func(frame []byte) { answers = append(answers, string(frame)) }})
		s := &session{Server: server, ledger: kept, conn: &frameConn{conn: discardConn{}}, ctx: t.Context(), cut: func() {}, account: "dotkontor"}
		s.services = map[string]bool{domainSpace: true, contactSpace: true, hostSpace: true, feeSpace: true, secDNSSpace: true, rgpSpace: true}
		s.handle(text)
		for _, answer := range answers {
			decoder := xml.NewDecoder(strings.NewReader(answer))
			for {
				_, err := decoder.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatalf("%v in the response to %q:\n%s", err, text, answer)
				}
			}
		}
	})
}
