package testkit

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// Tester is a test that something can be opened for.
type Tester interface {
	Reporter
	TempDir() string
	Cleanup(func())
	Failed() bool
	Fatal(args ...any)
	Log(args ...any)
}

// SandboxInfo is what a sandbox tells of itself.
type SandboxInfo struct {
	Demo  struct{ Email, Password, Token string }
	Agent struct{ ID, Key, Secret string } // which the demo customer has linked
	Inbox string
}

// ReadSandboxInfo reads what "--info" has written.
func ReadSandboxInfo(path string) (info SandboxInfo, err error) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &info)
	}
	return info, err
}

// Env is a product with its world, for one test.
type Env struct {
	*Product
	SandboxInfo
	// Base is the product's address, Config the file that it was started with, Info
	// the one in which the world tells of itself.
	Base, Config, Info string
	// Settings are what else the product was told.
	Settings []string
	Registry World
	Provider Provider
}

// NewEnv starts both and ends them with the test. What the product has logged is shown
// if the test fails, but for its answers to those who only ask again and again.
func NewEnv(t Tester, binary string, settings ...string) *Env {
	t.Helper()
	folder := t.TempDir()
	s := &Env{Info: filepath.Join(folder, "info.json"), Settings: settings}
	var err error
	if s.Product, err = StartProduct(t.Context(), binary, folder, []string{"--info", s.Info}, settings); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("the product did not end: %v", err)
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

// Reconcile proves that everything agrees.
func (s *Env) Reconcile(t Reporter) {
	t.Helper()
	Reconcile(t, s.Config, s.Settings...)
}

// logWithoutPolling is a log without the answers to agents that wait.
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
