package app

import (
	"crypto/tls"
	"maps"
	"path/filepath"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dotkontor/dotkontor/internal/config"
)

func TestCertificateExpiry_MatchesFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	cert, key := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	writeCertificate(t, cert, key, 1, time.Now())
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	if end, err := certificateNotAfter(cert); err != nil || !end.Equal(pair.Leaf.NotAfter) {
		t.Errorf("%v, %v, want %v", end, err, pair.Leaf.NotAfter)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(certificateExpiries(config.Config{
		Server: config.Server{TLSCert: cert}, EPP: []config.EPP{{Name: "one", Cert: filepath.Join(folder, "missing.pem")}, {Name: "two"}},
	}))
	families, err := registry.Gather()
	if err != nil || len(families) != 1 {
		t.Fatalf("%v, %v", families, err)
	}
	got := make(map[string]float64)
	for _, metric := range families[0].GetMetric() {
		got[metric.GetLabel()[0].GetValue()] = metric.GetGauge().GetValue()
	}
	want := map[string]float64{"server": float64(pair.Leaf.NotAfter.Unix()), "epp:one": 0}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
