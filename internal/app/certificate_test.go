package app

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// writeCertificate makes a certificate with the given serial number.
func writeCertificate(t *testing.T, certFile, keyFile string, serial int64, modified time.Time) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(time.Hour)}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: certificate}, keyFile: {Type: "PRIVATE KEY", Bytes: private},
	} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(certFile, modified, modified); err != nil {
		t.Fatal(err)
	}
}

func TestCertificate_ReloadsRenewedIgnoresBroken(t *testing.T) {
	certFile, keyFile := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	clock := time.Date(2026, 11, 15, 9, 0, 0, 0, time.UTC)
	var log bytes.Buffer
	writeCertificate(t, certFile, keyFile, 1, clock)
	c, err := newCertificate(certFile, keyFile, slog.New(slog.NewTextHandler(&log, nil)), func() time.Time { return clock })
	if err != nil {
		t.Fatal(err)
	}
	serial := func() int64 {
		pair, err := c.get(&tls.ClientHelloInfo{})
		if err != nil {
			t.Fatal(err)
		}
		leaf, err := x509.ParseCertificate(pair.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		return leaf.SerialNumber.Int64()
	}
	if got := serial(); got != 1 {
		t.Errorf("serves number %d", got)
	}
	writeCertificate(t, certFile, keyFile, 2, clock.Add(time.Second))
	if got := serial(); got != 1 {
		t.Errorf("serves number %d before it has looked again", got)
	}
	clock = clock.Add(certificatePollInterval)
	if got := serial(); got != 2 || !strings.Contains(log.String(), "TLS certificate reloaded") {
		t.Errorf("serves number %d after the renewal; log: %s", got, log.String())
	}
	if err := os.WriteFile(certFile, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	clock = clock.Add(certificatePollInterval)
	if got := serial(); got != 2 || !strings.Contains(log.String(), "can't be used") {
		t.Errorf("serves number %d after a broken renewal; log: %s", got, log.String())
	}
	writeCertificate(t, certFile, keyFile, 3, clock.Add(time.Minute))
	clock = clock.Add(certificatePollInterval)
	if got := serial(); got != 3 {
		t.Errorf("serves number %d after the mended renewal", got)
	}
}
