package epp

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

const (
	caFile  = "epp-ca.pem"
	keyFile = "epp-ca.key"
	// caLife is the lifetime of the CA, renewBefore when a start replaces it.
	caLife      = 10 * 365 * 24 * time.Hour
	renewBefore = 30 * 24 * time.Hour
)

// Identity is the server's certificate and its CA.
type Identity struct {
	Certificate tls.Certificate
	// CA is the CA certificate as PEM, and CAFile its file; empty without a folder.
	CA     []byte
	CAFile string
}

// NewIdentity creates a certificate for the loopback addresses. The CA is stored in
// the folder, so that clients still trust it after a restart; an empty folder
// disables this. Certificates use real time, not the sandbox clock.
func NewIdentity(folder string) (Identity, error) {
	authority, key, err := loadAuthority(folder)
	if err != nil {
		return Identity{}, err
	}
	id := Identity{CA: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Raw})}
	if folder != "" {
		id.CAFile = filepath.Join(folder, caFile)
	}
	leafKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return id, err
	}
	template, err := newTemplate("127.0.0.1")
	if err != nil {
		return id, err
	}
	template.NotAfter = authority.NotAfter
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	template.DNSNames = []string{"localhost", "epp.registry.sandbox.example"}
	template.KeyUsage, template.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	leaf, err := x509.CreateCertificate(rand.Reader, template, authority, &leafKey.PublicKey, key)
	if err != nil {
		return id, err
	}
	id.Certificate = tls.Certificate{Certificate: [][]byte{leaf, authority.Raw}, PrivateKey: leafKey}
	return id, nil
}

func newTemplate(name string) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	return &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(caLife),
	}, nil
}

// loadAuthority loads the CA of an earlier run, or creates one.
func loadAuthority(folder string) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	if folder != "" {
		if authority, key, err := readAuthority(folder); err == nil {
			return authority, key, nil
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template, err := newTemplate("dotkontor sandbox registry CA")
	if err != nil {
		return nil, nil, err
	}
	template.IsCA, template.KeyUsage = true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, nil, err
	}
	authority, err := x509.ParseCertificate(raw)
	if err != nil || folder == "" {
		return authority, key, err
	}
	return authority, key, writeAuthority(folder, authority, key)
}

var errNoAuthority = errors.New("no usable CA")

func readAuthority(folder string) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	blocks := map[string][]byte{}
	for _, name := range []string{caFile, keyFile} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return nil, nil, err
		}
		block, _ := pem.Decode(text)
		if block == nil {
			return nil, nil, errNoAuthority
		}
		blocks[name] = block.Bytes
	}
	authority, err := x509.ParseCertificate(blocks[caFile])
	if err != nil {
		return nil, nil, err
	}
	key, err := x509.ParseECPrivateKey(blocks[keyFile])
	if err != nil {
		return nil, nil, err
	}
	if time.Until(authority.NotAfter) < renewBefore || !key.PublicKey.Equal(authority.PublicKey) {
		return nil, nil, errNoAuthority
	}
	return authority, key, nil
}

func writeAuthority(folder string, authority *x509.Certificate, key *ecdsa.PrivateKey) error {
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	for _, file := range []struct {
		name, kind string
		bytes      []byte
		mode       os.FileMode
	}{
		// The key is written first: after a crash in between, a new CA is created.
		{keyFile, "EC PRIVATE KEY", secret, 0o600},
		{caFile, "CERTIFICATE", authority.Raw, 0o644},
	} {
		path := filepath.Join(folder, file.name)
		text := pem.EncodeToMemory(&pem.Block{Type: file.kind, Bytes: file.bytes})
		if err := os.WriteFile(path+".new", text, file.mode); err != nil {
			return fmt.Errorf("epp server certificate: %w", err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			return fmt.Errorf("epp server certificate: %w", err)
		}
	}
	return nil
}
