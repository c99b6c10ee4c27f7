// Package clients lets MCP clients that know nothing of us, the ones that
// agents are built with, talk to the built binary: the protocol's own
// conformance suite, both lines of the TypeScript SDK and the inspector. They
// are given the URL and nothing else.
//
// The clients come from npm at pinned versions; scripts/node.sh installs them.
// Where they are missing, each test here is skipped and says so.
//
// The conformance suite wants tools, prompts and resources of its own, so it
// alone meets a binary built with the tag mcpfixtures. Everybody else meets the
// product as it is released.
package mcpclients

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit"
	"github.com/dotkontor/dotkontor/test/testkit/nodejs"
)

const (
	clientTimeout = 2 * time.Minute // takes seconds
	fixturesTag   = "mcpfixtures"
)

// packages is the folder of the clients below node_modules.
const packages = "@modelcontextprotocol"

// startSandbox builds the binary, runs it as a newcomer would, and returns the
// endpoint's URL.
func startSandbox(t *testing.T, tags string) string {
	t.Helper()
	return startSandboxIn(t, tags, t.TempDir())
}

// env is a sandbox with its demo customer, as the welcome text tells of both.
type env struct {
	base, endpoint         string
	email, password, token string
	// data is the folder of the database.
	data string
}

func startSandboxWithDemo(t *testing.T) env {
	t.Helper()
	folder := t.TempDir()
	endpoint := startSandboxIn(t, "", folder)
	text, err := os.ReadFile(filepath.Join(folder, "info.json"))
	if err != nil {
		t.Fatal(err)
	}
	var info struct {
		Demo struct{ Email, Password, Token string }
	}
	if err := json.Unmarshal(text, &info); err != nil || info.Demo.Token == "" {
		t.Fatalf("there is no token of a demo customer (%v)", err)
	}
	return env{
		base: strings.TrimSuffix(endpoint, "/api/mcp"), endpoint: endpoint, data: filepath.Join(folder, "data"),
		email: info.Demo.Email, password: info.Demo.Password, token: info.Demo.Token,
	}
}

func startSandboxIn(t *testing.T, tags, folder string) string {
	t.Helper()
	binary := filepath.Join(folder, "dotkontor")
	var flags []string
	if raceEnabled { // the server is what has goroutines, so it is watched too
		flags = append(flags, "-race")
	}
	if tags != "" {
		flags = append(flags, "-tags", tags)
	}
	if err := testkit.Build(t.Context(), binary, os.Stderr, flags...); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	// Not the test's context, which ends before the clean-up.
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

// runClient runs a client and returns what it printed.
func runClient(t *testing.T, program string, args ...string) (stdout string, err error) {
	t.Helper()
	return nodejs.Run(t, clientTimeout, program, args...)
}
