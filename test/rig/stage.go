package rig

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

// Told is what a sandbox tells of itself.
type Told struct {
	Demo  struct{ Email, Password, Token string }
	Agent struct{ ID, Key, Secret string } // which the demo customer has linked
	Inbox string
}

// ReadTold reads what "--info" has written.
func ReadTold(path string) (told Told, err error) {
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &told)
	}
	return told, err
}

// Stage is a product with its world, for one test.
type Stage struct {
	*Product
	Told
	// Base is the product's address, Config the file that it was started with, Info
	// the one in which the world tells of itself.
	Base, Config, Info string
	// Settings are what else the product was told.
	Settings []string
	Registry World
	Provider Provider
}

// Open starts both and ends them with the test. What the product has logged is shown
// if the test fails, but for its answers to those who only ask again and again.
func Open(t Tester, binary string, settings ...string) *Stage {
	t.Helper()
	folder := t.TempDir()
	s := &Stage{Info: filepath.Join(folder, "info.json"), Settings: settings}
	var err error
	if s.Product, err = StartProduct(t.Context(), binary, folder, []string{"--info", s.Info}, settings); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("the product did not end: %v", err)
		}
		if t.Failed() {
			t.Log(withoutAsking(filepath.Join(folder, "product.log")))
		}
	})
	s.Base, s.Config = s.Server.Ready, s.World.Ready
	if s.Told, err = ReadTold(s.Info); err != nil {
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

// Books proves that everything agrees.
func (s *Stage) Books(t Reporter) {
	t.Helper()
	CheckBooks(t, s.Config, s.Settings...)
}

// withoutAsking is a log without the answers to agents that wait.
func withoutAsking(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	var kept strings.Builder
	for line := range strings.Lines(string(text)) {
		if !strings.Contains(line, `"tool":"get_order_status"`) {
			kept.WriteString(line)
		}
	}
	return kept.String()
}
