package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

//go:embed screen.mjs
var screenScript []byte

// onScreen are the milliseconds until the first row of a search is on a real
// browser's screen, less what the world takes. They are none where there is no
// browser, or where scripts/node.sh has not been run.
func onScreen(ctx context.Context, b bench, base string) ([]float64, error) {
	browser, err := exec.LookPath("chromium")
	if err != nil {
		b.progress("no chromium: nothing is said about screens")
		return nil, nil //nolint:nilerr // it need not be there
	}
	modules, err := filepath.Abs(".tools/node/node_modules")
	if err != nil {
		return nil, err
	}
	arch := strings.Replace(runtime.GOARCH, "amd64", "x64", 1)
	program := filepath.Join(modules, "node-"+runtime.GOOS+"-"+arch, "bin", "node")
	if _, err := os.Stat(program); err != nil {
		b.progress("no .tools/node (scripts/node.sh): nothing is said about screens")
		return nil, nil //nolint:nilerr // it need not be there
	}
	folder := filepath.Join(b.folder, "screen")
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	if err := os.Symlink(modules, filepath.Join(folder, "node_modules")); err != nil {
		return nil, err
	}
	script := filepath.Join(folder, "screen.mjs")
	if err := os.WriteFile(script, screenScript, 0o600); err != nil {
		return nil, err
	}
	b.progress("%d searches in a browser", firstRows)
	run := exec.CommandContext(ctx, program, script, base, browser, strings.TrimSuffix(worldLatency, "ms"), fmt.Sprint(firstRows))
	run.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + folder}
	var out, errOut bytes.Buffer
	run.Stdout, run.Stderr = &out, &errOut
	if err := run.Run(); err != nil {
		return nil, fmt.Errorf("the browser: %w\n%s", err, errOut.String())
	}
	var times []float64
	err = json.Unmarshal(out.Bytes(), &times)
	return times, err
}
