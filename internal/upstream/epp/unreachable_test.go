package epp

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

// serveTLS serves f over TLS and returns its address and the CA of its certificate,
// which is for 127.0.0.1 and example.com.
func serveTLS(t *testing.T, f *fakeServer) (address string, authority *x509.CertPool) {
	t.Helper()
	lender := httptest.NewTLSServer(nil)
	defer lender.Close()
	authority = x509.NewCertPool()
	authority.AddCert(lender.Certificate())
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: lender.TLS.Certificates, MinVersion: tls.VersionTLS12})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go f.serve(conn)
		}
	}()
	return listener.Addr().String(), authority
}

func TestConnect_LogsEachCauseOnceWithAccount(t *testing.T) {
	t.Parallel()
	welcoming := &fakeServer{greeting: greetingXML(allServices), handle: respondCheck}
	address, authority := serveTLS(t, welcoming)
	refusing, refusingAuthority := serveTLS(t, &fakeServer{greeting: greetingXML(allServices), handleAll: true, handle: func(request *Node) reply {
		return reply{xml: strings.ReplaceAll(responseXML(2200, tridOf(request), "", ""), "said", "canary.example")}
	}})
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nowhere := closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	plain := httptest.NewServer(nil)
	t.Cleanup(plain.Close)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections and sends nothing
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	for name, test := range map[string]struct {
		address string
		roots   *x509.CertPool
		server  string
		class   string
		code    registrar.Code
	}{
		"wrong CA":       {address, x509.NewCertPool(), "", "tls_unknown_authority", registrar.FaultRefused},
		"wrong name":     {address, authority, "epp.registry.example", "tls_wrong_host_name", registrar.FaultRefused},
		"no TLS":         {plain.Listener.Addr().String(), authority, "", "tls_not_spoken", registrar.FaultRefused},
		"closed port":    {nowhere, authority, "", "connection_refused", registrar.FaultRefused},
		"no such host":   {"epp.invalid:700", authority, "", "name_resolution_failed", registrar.FaultRefused},
		"silence":        {silent.Addr().String(), authority, "", "timeout", registrar.FaultTimeout},
		"wrong password": {refusing, refusingAuthority, "", "login_refused", ResultLogin},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := &lockedBuffer{}
			timeout := 10 * time.Second // a busy machine is slow to answer
			if test.class == "timeout" {
				timeout = 500 * time.Millisecond
			}
			client, err := New(Account{
				Name: "acme", Address: test.address, ClientID: "client-1", Password: "canary-password", ConnectTimeout: timeout,
				TLS: &tls.Config{RootCAs: test.roots, ServerName: test.server, MinVersion: tls.VersionTLS12}, Logger: slog.New(slog.NewJSONHandler(log, nil)),
			})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close(t.Context())
			for range 3 {
				_, err = client.CheckDomains(t.Context(), CheckDomains{Names: []string{"canary.example"}})
				cause := registrar.CauseOf(err)
				if outage := new(registrar.Cause); !errors.As(err, &outage) || !outage.Outage {
					t.Errorf("not marked as already logged: %v", err)
				}
				if registrar.CodeOf(err) != test.code || !strings.HasPrefix(cause, "epp: ") || !strings.Contains(cause, " at acme ("+test.address+"): "+test.class) {
					t.Errorf("got %v: %s", err, cause)
				}
			}
			text := log.String()
			if strings.Count(text, "registry account unreachable") != 1 || !strings.Contains(text, `"class":"`+test.class+`"`) ||
				!strings.Contains(text, `"account":"acme","address":"`+test.address+`"`) || strings.Contains(text, `"action":""`) || strings.Contains(text, "canary") {
				t.Errorf("the log says %s", text)
			}
			if test.code == ResultLogin && !strings.Contains(text, `"result":"EPP 2200"`) {
				t.Errorf("the log says %s", text)
			}
		})
	}
}

func TestConnect_RecoveryIsLoggedOnce(t *testing.T) {
	t.Parallel()
	log := &lockedBuffer{}
	a := &Account{Name: "acme", Address: "epp.example:700", Logger: slog.New(slog.NewTextHandler(log, nil))}
	p := newPool(a, nil)
	for range 2 {
		p.dialing, p.workers = 1, 2
		p.connectFailed(&net.OpError{Op: "dial", Err: net.UnknownNetworkError("canary")})
	}
	for range 2 {
		p.dialing = 1
		p.connected()
	}
	if text := log.String(); strings.Count(text, "registry account unreachable") != 1 || strings.Count(text, "registry account reconnected") != 1 ||
		strings.Contains(text, "canary") {
		t.Errorf("the log says %s", text)
	}
}

// lockedBuffer is a log buffer for several goroutines.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
