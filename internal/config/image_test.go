package config

import (
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var dockerSetting = regexp.MustCompile(`DOTKONTOR_[A-Z_]+=[^\s\\]+`)

// /metrics has no authentication, and a container's network is shared with others.
func TestDockerImage_MetricsListenOnLoopback(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	settings := dockerSetting.FindAllString(string(text), -1)
	cfg, err := Load("", append(settings, "DOTKONTOR_BASE_URL=https://domains.example"))
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Data != "/data" {
		t.Fatalf("the settings of the image were not found: %q", settings)
	}
	listen, err := netip.ParseAddrPort(cfg.Server.MetricsListen)
	if err != nil || !listen.Addr().IsLoopback() {
		t.Errorf("the image's metrics listen on %s (%v)", cfg.Server.MetricsListen, err)
	}
}
