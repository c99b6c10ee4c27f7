// Package mcpclients runs third-party MCP clients against the built binary: the
// conformance suite, both major versions of the TypeScript SDK, the Go SDK, mcp-remote
// and the inspector. They get nothing but the URL.
//
// The clients come from npm at pinned versions; scripts/node.sh installs them. Without
// them, the tests are skipped.
//
// The conformance suite expects its own tools, prompts and resources, so it runs against
// the program in the folder fixtures. All other clients use the released product.
package mcpclients

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit"
	"github.com/dotkontor/dotkontor/test/testkit/nodejs"
)

const clientTimeout = 2 * time.Minute // takes seconds

const (
	product         = "cmd/dotkontor"
	fixturesProgram = "test/mcpclients/fixtures"
)

// packages is the folder of the clients in node_modules.
const packages = "@modelcontextprotocol"

var building sync.Mutex

// startSandbox builds a program, runs a sandbox and returns the URL of its MCP endpoint.
func startSandbox(t *testing.T, program string) string {
	t.Helper()
	return startSandboxIn(t, program, t.TempDir())
}

// env is a sandbox with its demo customer.
type env struct {
	base, endpoint         string
	email, password, token string
	// data is the data folder.
	data string
}

func startSandboxWithDemo(t *testing.T) env {
	t.Helper()
	folder := t.TempDir()
	endpoint := startSandboxIn(t, product, folder)
	text, err := os.ReadFile(filepath.Join(folder, "info.json"))
	if err != nil {
		t.Fatal(err)
	}
	var info struct {
		Demo struct{ Email, Password, Token string }
	}
	if err := json.Unmarshal(text, &info); err != nil || info.Demo.Token == "" {
		t.Fatalf("the demo customer has no token (%v)", err)
	}
	return env{
		base: strings.TrimSuffix(endpoint, "/api/mcp"), endpoint: endpoint, data: filepath.Join(folder, "data"),
		email: info.Demo.Email, password: info.Demo.Password, token: info.Demo.Token,
	}
}

func startSandboxIn(t *testing.T, program, folder string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("runs the built binary")
	}
	binary := filepath.Join(folder, "dotkontor")
	var flags []string
	// One of the two programs is enough to detect races, and most other suites build the
	// product without the detector.
	if raceEnabled && program == fixturesProgram {
		flags = append(flags, "-race")
	}
	// One at a time, so that the others find the shared build.
	building.Lock()
	err := testkit.BuildProgram(t.Context(), program, binary, os.Stderr, flags...)
	building.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	// The test's context ends before the cleanup.
	p, err := testkit.Start(context.WithoutCancel(t.Context()), testkit.Command{
		Path:   binary,
		Args:   []string{"sandbox", "--listen", "127.0.0.1:0", "--data", filepath.Join(folder, "data"), "--info", filepath.Join(folder, "info.json")},
		Stderr: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
		output, err := os.ReadFile(log.Name())
		if err != nil {
			t.Error(err)
		}
		if bytes.Contains(output, []byte("DATA RACE")) || bytes.Contains(output, []byte("panic")) {
			t.Errorf("the product's log:\n%s", output)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return p.Ready + "/api/mcp"
}

// runClient runs a client and returns its output.
func runClient(t *testing.T, program string, args ...string) (stdout string, err error) {
	t.Helper()
	return nodejs.Run(t, clientTimeout, program, args...)
}
