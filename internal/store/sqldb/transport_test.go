package sqldb

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit/pgtest"
)

func TestCheckTransport_RefusesPlaintextToRemoteHosts(t *testing.T) {
	for _, test := range []struct {
		url     string
		mode    string // PGSSLMODE
		allowed bool
	}{
		{url: "postgres://u:pass1234@db.example/d"},
		{url: "postgres://u:pass1234@db.example/d?sslmode=disable"},
		{url: "postgres://u:pass1234@db.example/d?sslmode=allow"},
		{url: "postgres://u:pass1234@db.example/d?sslmode=prefer"},
		{url: "postgres://u:pass1234@192.0.2.1/d?sslmode=prefer"},
		{url: "postgres://u:pass1234@[2001:db8::1]:5432/d"},
		{url: "postgres://u:pass1234@/d?host=db.example"},
		{url: "postgres://u:pass1234@localhost.example/d"},
		{url: "postgres://u:pass1234@127.0.0.1,db.example/d"},
		{url: "postgres://u:pass1234@db.example,127.0.0.1/d?sslmode=disable"},
		{url: "postgres://u:pass1234@/d?host=/tmp,db.example"},
		{url: "postgres://u:pass1234@db.example/d", mode: "disable"},
		{url: "postgres://u:pass1234@db.example/d?sslmode=prefer", mode: "require"},

		{url: "postgres://u:pass1234@db.example/d?sslmode=require", allowed: true},
		{url: "postgres://u:pass1234@db.example/d?sslmode=verify-ca", allowed: true},
		{url: "postgres://u:pass1234@db.example/d?sslmode=verify-full", allowed: true},
		{url: "postgres://u:pass1234@one.example,two.example/d?sslmode=require", allowed: true},
		{url: "postgres://u:pass1234@db.example/d", mode: "verify-full", allowed: true},
		{url: "postgres://u:pass1234@127.0.0.1/d", allowed: true},
		{url: "postgres://u:pass1234@127.8.8.8:5433/d?sslmode=disable", allowed: true},
		{url: "postgres://u:pass1234@[::1]/d", allowed: true},
		{url: "postgres://u:pass1234@localhost/d?sslmode=disable", allowed: true},
		{url: "postgres://u:pass1234@/d?host=/var/run/postgresql", allowed: true},
		{url: "postgres://u:pass1234@127.0.0.1,localhost/d", allowed: true},
		{url: "", allowed: true},
	} {
		t.Run(test.url+" "+test.mode, func(t *testing.T) {
			t.Setenv("PGSSLMODE", test.mode)
			err := CheckTransport(Options{URL: test.url})
			if (err == nil) != test.allowed {
				t.Errorf("got %v", err)
			}
			if err != nil && (strings.Contains(err.Error(), "pass1234") || !strings.Contains(err.Error(), "sslmode=verify-full") ||
				!strings.Contains(err.Error(), "database.allow_plaintext")) {
				t.Errorf("the error quotes a password or lacks the settings: %v", err)
			}
			if err := CheckTransport(Options{URL: test.url, AllowPlaintext: true}); err != nil {
				t.Errorf("with AllowPlaintext: %v", err)
			}
		})
	}
	if err := CheckTransport(Options{URL: "postgres://u:pass1234@db.example:port/d"}); err == nil || strings.Contains(err.Error(), "pass1234") {
		t.Errorf("invalid URL: got %v", err)
	}
	if _, err := Open(Options{URL: "postgres://u:pass1234@db.example/d"}); err == nil || !strings.Contains(err.Error(), "without TLS") {
		t.Errorf("Open: got %v", err)
	}
}

func TestOpen_PostgresTLSRefusesWrongCA(t *testing.T) {
	t.Parallel()
	server := startTLSPostgres(t)
	for _, test := range []struct{ name, query, refused string }{
		{"verify-full", "sslmode=verify-full&sslrootcert=" + server.ca, ""},
		{"require", "sslmode=require", ""},
		{"wrong CA", "sslmode=verify-full&sslrootcert=" + server.otherCA, "tls_unknown_authority"},
		{"wrong CA, verify-ca", "sslmode=verify-ca&sslrootcert=" + server.otherCA, "tls_unknown_authority"},
		{"the system's CAs", "sslmode=verify-full", "tls_unknown_authority"},
	} {
		db := openAt(t, Options{URL: server.url("127.0.0.1") + "?" + test.query, MaxConnections: 2})
		var encrypted bool
		err := db.reader.QueryRowContext(t.Context(), "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").Scan(&encrypted)
		if test.refused != "" {
			if err == nil || !strings.Contains(err.Error(), test.refused) {
				t.Errorf("%s: got %v, want %q", test.name, err, test.refused)
			}
			continue
		}
		if err != nil || !encrypted {
			t.Errorf("%s: encrypted %t, %v", test.name, encrypted, err)
		}
	}
	// The certificate is valid for 127.0.0.1 only.
	db := openAt(t, Options{URL: server.url("localhost") + "?sslmode=verify-full&sslrootcert=" + server.ca})
	if err := db.reader.PingContext(t.Context()); err == nil {
		t.Error("a host name that is not in the certificate is accepted")
	}
}

type tlsPostgres struct{ ca, otherCA, port string }

func (s tlsPostgres) url(host string) string {
	return "postgres://dotkontor@" + net.JoinHostPort(host, s.port) + "/postgres"
}

// startTLSPostgres starts a PostgreSQL server on loopback with a certificate for 127.0.0.1.
func startTLSPostgres(t *testing.T) tlsPostgres {
	t.Helper()
	if testing.Short() {
		t.Skip("starts PostgreSQL")
	}
	// The server's user must be able to read its key; t.TempDir is private.
	folder, err := os.MkdirTemp("", "dotkontor-tls-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	server := tlsPostgres{ca: filepath.Join(folder, "ca.pem"), otherCA: filepath.Join(folder, "other.pem"), port: freePort(t)}
	ca := makeCA(t, server.ca)
	makeCA(t, server.otherCA)
	certificate, key := filepath.Join(folder, "server.pem"), filepath.Join(folder, "server.key")
	ca.issue(t, certificate, key)
	if os.Getuid() == 0 {
		owner, err := user.Lookup("postgres")
		if err != nil {
			t.Skip("no PostgreSQL is installed")
		}
		uid, _ := strconv.Atoi(owner.Uid)
		gid, _ := strconv.Atoi(owner.Gid)
		if err := os.Chown(key, uid, gid); err != nil {
			t.Fatal(err)
		}
	}
	script := func(what string, settings ...string) (string, error) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		command := exec.CommandContext(ctx, filepath.Join("..", "..", "..", "scripts", "postgres.sh"), strings.Fields(what)...)
		command.Env = append(os.Environ(), settings...)
		out, err := command.Output()
		return string(out), err
	}
	line, err := script("start --installed", pgtest.EnvVariable+"=", "DOTKONTOR_TEST_POSTGRES_SETTINGS=ssl=on ssl_cert_file="+certificate+
		" ssl_key_file="+key+" listen_addresses=127.0.0.1 port="+server.port+" fsync=off")
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() == 69 {
		t.Skip("no PostgreSQL is installed")
	}
	if err != nil {
		t.Fatalf("PostgreSQL did not start: %v", err)
	}
	_, address, _ := strings.Cut(strings.TrimSpace(line), "='")
	t.Cleanup(func() {
		if _, err := script("stop", pgtest.EnvVariable+"="+strings.TrimSuffix(address, "'")); err != nil {
			t.Error(err)
		}
	})
	return server
}

func freePort(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port
}

type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func makeCA(t *testing.T, path string) authority {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test CA"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	key := newECKey(t)
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, path, "CERTIFICATE", raw)
	certificate, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return authority{certificate, key}
}

func (a authority) issue(t *testing.T, certificatePath, keyPath string) {
	t.Helper()
	key := newECKey(t)
	raw, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "database"}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, a.certificate, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, certificatePath, "CERTIFICATE", raw)
	if raw, err = x509.MarshalPKCS8PrivateKey(key); err != nil {
		t.Fatal(err)
	}
	writePEM(t, keyPath, "PRIVATE KEY", raw)
	if err := os.Chmod(keyPath, 0o600); err != nil {
		t.Fatal(err)
	}
}

func newECKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func writePEM(t *testing.T, path, kind string, raw []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}), 0o644); err != nil { // the mode of the key is changed afterwards
		t.Fatal(err)
	}
}
