package testkit

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// Tester is the part of testing.TB that this package uses.
type Tester interface {
	Reporter
	TempDir() string
	Cleanup(func())
	Failed() bool
	Fatal(args ...any)
	Log(args ...any)
}

// SandboxInfo is the content of the file that "sandbox --info" writes.
type SandboxInfo struct {
	Demo  struct{ Email, Password, Token string }
	Agent struct{ ID, Key, Secret string } // linked to the demo customer
	Inbox string
}

// ReadSandboxInfo reads the file that "sandbox --info" wrote.
func ReadSandboxInfo(path string) (info SandboxInfo, err error) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &info)
	}
	return info, err
}

// Env is a running product with its simulated world, for one test.
type Env struct {
	*Product
	SandboxInfo
	// Base is the product's URL, Config its configuration file, Info the file that
	// "sandbox --info" wrote.
	Base, Config, Info string
	// Settings is the product's additional environment.
	Settings []string
	Registry World
	Provider Provider
}

// NewEnv starts product and world and stops them with the test. If the test fails, it
// shows the product's log without polling requests.
func NewEnv(t Tester, binary string, settings ...string) *Env {
	t.Helper()
	return NewEnvBehind(t, binary, nil, settings...)
}

// NewEnvBehind is NewEnv whose product starts with a configuration that between has rewritten.
func NewEnvBehind(t Tester, binary string, between func(string) (string, error), settings ...string) *Env {
	t.Helper()
	folder := t.TempDir()
	s := &Env{Info: filepath.Join(folder, "info.json"), Settings: settings}
	var err error
	if s.Product, err = StartProductBehind(t.Context(), binary, folder, []string{"--info", s.Info}, settings, between); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("stop product: %v", err)
		}
		if t.Failed() {
			t.Log(logWithoutPolling(filepath.Join(folder, "product.log")))
		}
	})
	s.Base, s.Config = s.Server.Ready, s.World.Ready
	if s.SandboxInfo, err = ReadSandboxInfo(s.Info); err != nil {
		t.Fatal(err)
	}
	if s.Registry, err = FindWorld(filepath.Join(folder, "world")); err != nil {
		t.Fatal(err)
	}
	if s.Provider, err = FindProvider(filepath.Join(folder, "world")); err != nil {
		t.Fatal(err)
	}
	return s
}

// Reconcile fails the test if payments, orders, domains and registry disagree.
func (s *Env) Reconcile(t Reporter) {
	t.Helper()
	Reconcile(t, s.Config, s.Settings...)
}

// logWithoutPolling returns a log without the requests of agents that poll an order.
func logWithoutPolling(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	var filtered strings.Builder
	for line := range strings.Lines(string(text)) {
		if !strings.Contains(line, `"tool":"get_order_status"`) {
			filtered.WriteString(line)
		}
	}
	return filtered.String()
}
