package contract

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// keyPair writes a certificate for 127.0.0.1 and its key, and returns a pool that trusts
// it.
func keyPair(t *testing.T, folder string) (certFile, keyFile string, trusted *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "contract"},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secretKey, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secretKey})
	if err := firstError(os.WriteFile(certFile, certPEM, 0o600), os.WriteFile(keyFile, keyPEM, 0o600)); err != nil {
		t.Fatal(err)
	}
	trusted = x509.NewCertPool()
	trusted.AppendCertsFromPEM(certPEM)
	return certFile, keyFile, trusted
}

func TestTLS_CertificateEnablesTLSAndHTTP2(t *testing.T) {
	t.Parallel()
	certFile, keyFile, trusted := keyPair(t, t.TempDir())
	on := startOwnServe(t, "tls", "DOTKONTOR_BASE_URL=https://127.0.0.1:0",
		"DOTKONTOR_SERVER_TLS_CERT="+certFile, "DOTKONTOR_SERVER_TLS_KEY="+keyFile)
	if !strings.HasPrefix(on.base, "https://127.0.0.1:") {
		t.Fatalf("the base URL is %s", on.base)
	}
	for _, http2 := range []bool{true, false} {
		client := newCaller(t, on)
		client.http.Transport = &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: trusted, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: http2,
		}
		t.Cleanup(client.http.CloseIdleConnections)
		got := client.check("google.de")
		wantResponse(t, "check over TLS", got, http.StatusOK, wantFields{"available": "false", "registerEur": "6.90"})

		sent, err := http.NewRequestWithContext(t.Context(), http.MethodGet, on.base+openAPIPath, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		received, err := client.http.Do(sent)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(received.Body)
		if err = firstError(err, received.Body.Close()); err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int{true: 2, false: 1}[http2]; received.ProtoMajor != want {
			t.Errorf("the response came over %s, want HTTP/%d", received.Proto, want)
		}
		if !strings.Contains(string(text), `"`+on.base+`"`) {
			t.Errorf("openapi.json does not contain %s", on.base)
		}
	}
}

func TestTLS_RefusesPlainHTTPAndOldVersions(t *testing.T) {
	t.Parallel()
	certFile, keyFile, trusted := keyPair(t, t.TempDir())
	on := startOwnServe(t, "tls-strict", "DOTKONTOR_BASE_URL=https://127.0.0.1:0",
		"DOTKONTOR_SERVER_TLS_CERT="+certFile, "DOTKONTOR_SERVER_TLS_KEY="+keyFile)
	address := strings.TrimPrefix(on.base, "https://")
	if status, _, err := fetch(t.Context(), "http://"+address+"/healthz"); err == nil && status != http.StatusBadRequest {
		t.Errorf("plain HTTP got %d", status)
	}
	for version, accepted := range map[uint16]bool{
		tls.VersionTLS10: false, tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true,
	} {
		dialer := &tls.Dialer{Config: &tls.Config{RootCAs: trusted, MinVersion: version, MaxVersion: version}}
		conn, err := dialer.DialContext(t.Context(), "tcp", address)
		if (err == nil) != accepted {
			t.Errorf("%s: accepted is %v, want %v (%v)", tls.VersionName(version), err == nil, accepted, err)
		}
		if err == nil {
			if err := conn.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
