package app

import (
	"crypto/tls"
	"log/slog"
	"net"
	"path/filepath"
	"testing"
	"time"
)

func TestTLS12_OnlyCipherSuitesOfRDAP(t *testing.T) {
	certFile, keyFile := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	writeCertificate(t, certFile, keyFile, 1, time.Now())
	pair, err := newCertificate(certFile, keyFile, slog.New(slog.DiscardHandler), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for suite, want := range map[uint16]bool{
		tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256:       true,
		tls.TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384:       true,
		tls.TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA:          false,
		tls.TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA:          false,
		tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: false,
	} {
		here, there := net.Pipe()
		server := tls.Server(there, newTLSConfig(pair))
		go func() {
			_ = server.HandshakeContext(t.Context())
			_ = there.Close()
		}()
		client := tls.Client(here, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{suite}})
		if err := client.HandshakeContext(t.Context()); (err == nil) != want {
			t.Errorf("%s: %v", tls.CipherSuiteName(suite), err)
		}
		_ = here.Close()
	}
}
