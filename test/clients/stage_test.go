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
package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/test/rig"
)

const (
	buildTimeout  = 10 * time.Minute // cold, on a busy machine
	clientTimeout = 2 * time.Minute  // takes seconds
	leastNode     = 22
	fixturesTag   = "mcpfixtures"
	howToInstall  = "run scripts/node.sh to install Node 22 and the clients"
	modules       = "../../.tools/node/node_modules"
)

// node is the program that runs the clients; the test is skipped without it.
func node(t *testing.T) string {
	t.Helper()
	if _, err := os.Stat(filepath.Join(modules, "@modelcontextprotocol")); err != nil {
		t.Skip("the MCP clients are not installed; " + howToInstall)
	}
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	pinned, err := filepath.Abs(filepath.Join(modules, "node-"+runtime.GOOS+"-"+arch, "bin", "node"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(pinned); err == nil {
		return pinned
	}
	// npm has no Node for this system, so the person's own must do.
	found, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no Node for this system; " + howToInstall)
	}
	said, err := exec.CommandContext(t.Context(), found, "--version").Output()
	var major int
	if _, scanErr := fmt.Sscanf(string(said), "v%d", &major); err != nil || scanErr != nil || major < leastNode {
		t.Skipf("Node %d is needed, and this one says %q", leastNode, said)
	}
	return found
}

// startSandbox builds the binary, runs it as a newcomer would, and returns the
// endpoint's URL.
func startSandbox(t *testing.T, tags string) string {
	t.Helper()
	return startSandboxIn(t, tags, t.TempDir())
}

// startSandboxWithDemo also returns the demo customer's token, as the welcome
// text tells it.
func startSandboxWithDemo(t *testing.T) (endpoint, token string) {
	t.Helper()
	folder := t.TempDir()
	endpoint = startSandboxIn(t, "", folder)
	text, err := os.ReadFile(filepath.Join(folder, "info.json"))
	if err != nil {
		t.Fatal(err)
	}
	var info struct{ Demo struct{ Token string } }
	if err := json.Unmarshal(text, &info); err != nil || info.Demo.Token == "" {
		t.Fatalf("there is no token of a demo customer (%v)", err)
	}
	return endpoint, info.Demo.Token
}

func startSandboxIn(t *testing.T, tags, folder string) string {
	t.Helper()
	binary := filepath.Join(folder, "dotkontor")
	args := []string{"build", "-buildvcs=false", "-tags", tags, "-o", binary}
	if raced { // the server is what has goroutines, so it is watched too
		args = append(args, "-race")
	}
	ctx, cancel := context.WithTimeout(t.Context(), buildTimeout)
	defer cancel()
	build := exec.CommandContext(ctx, "go", append(args, "./cmd/dotkontor")...)
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the product does not build: %v\n%s", err, out)
	}
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	// Not the test's context, which ends before the clean-up.
	p, err := rig.Start(context.WithoutCancel(t.Context()), rig.Command{
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
		said, err := os.ReadFile(log.Name())
		if err != nil {
			t.Error(err)
		}
		if bytes.Contains(said, []byte("DATA RACE")) || bytes.Contains(said, []byte("panic")) {
			t.Errorf("the product's log:\n%s", said)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return p.Ready + "/api/mcp"
}

// run runs a client in a folder of its own and returns what it printed. A
// client that fails has its output with it in the error.
func run(t *testing.T, program string, args ...string) (stdout string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), clientTimeout)
	defer cancel()
	home := t.TempDir()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = home
	// Nothing of the person's environment: no proxy, no settings of a client.
	cmd.Env = []string{"PATH=" + filepath.Dir(program) + ":/usr/bin:/bin", "HOME=" + home, "NO_COLOR=1"}
	cmd.WaitDelay = 5 * time.Second
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s: %w\n%s%s", filepath.Base(args[0]), err, out.String(), errOut.String())
	}
	return out.String(), nil
}

// script finds a file of an installed package.
func script(t *testing.T, path string) string {
	t.Helper()
	whole, err := filepath.Abs(filepath.Join(modules, filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return whole
}
