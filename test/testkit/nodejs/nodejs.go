// Package nodejs runs Node scripts with the packages that scripts/node.sh installs.
// Without them, tests are skipped.
package nodejs

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit"
)

const (
	minMajorVersion = 22
	installHint     = "run scripts/node.sh to install Node 22 and what the tests run with it"
)

// modulesDir returns the folder that scripts/node.sh installs packages into.
func modulesDir(t *testing.T) string {
	t.Helper()
	root, err := testkit.ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(root, ".tools", "node", "node_modules")
}

// Program returns the path of Node. It skips the test if Node or the package is missing.
func Program(t *testing.T, needed string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("runs Node")
	}
	if _, err := os.Stat(filepath.Join(modulesDir(t), needed)); err != nil {
		t.Skip(needed + " is not installed; " + installHint)
	}
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	pinned := ModulePath(t, "node-"+runtime.GOOS+"-"+arch+"/bin/node")
	if _, err := os.Stat(pinned); err == nil {
		return pinned
	}
	// npm has no Node for this system; use the installed one.
	found, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no Node for this system; " + installHint)
	}
	version, err := exec.CommandContext(t.Context(), found, "--version").Output()
	var major int
	if _, scanErr := fmt.Sscanf(string(version), "v%d", &major); err != nil || scanErr != nil || major < minMajorVersion {
		t.Skipf("Node %d is required, found %q", minMajorVersion, version)
	}
	return found
}

// ModulePath returns the path of a file in an installed package.
func ModulePath(t *testing.T, path string) string {
	t.Helper()
	return filepath.Join(modulesDir(t), filepath.FromSlash(path))
}

// ScriptDir copies scripts of the test's folder next to a link to the installed
// packages, where Node resolves them.
func ScriptDir(t *testing.T, scripts ...string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.Symlink(ModulePath(t, "."), filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	for _, name := range scripts {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// Run runs a script in an empty folder and returns its output. The error includes the
// output.
func Run(t *testing.T, limit time.Duration, program string, args ...string) (stdout string, err error) {
	t.Helper()
	stdout, _, err = RunWithStderr(t, limit, program, args...)
	return stdout, err
}

// RunWithStderr is Run that also returns stderr.
func RunWithStderr(t *testing.T, limit time.Duration, program string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	home := t.TempDir()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = home
	// An empty environment: no proxy, no client settings.
	cmd.Env = []string{"PATH=" + filepath.Dir(program) + ":/usr/bin:/bin", "HOME=" + home, "NO_COLOR=1"}
	// An interrupt lets a script close its browser.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		return out.String(), errOut.String(), fmt.Errorf("%s: %w\n%s%s", filepath.Base(args[0]), err, out.String(), errOut.String())
	}
	return out.String(), errOut.String(), nil
}
