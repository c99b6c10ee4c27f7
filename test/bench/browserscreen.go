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
	"time"
)

//go:embed screen.mjs
var screenScript []byte

// screenTimes returns the milliseconds from the first registry response until a browser
// has painted the first row of a search. It returns nothing without a browser, or if
// scripts/node.sh has not been run.
func screenTimes(ctx context.Context, b bench, base string, world *upstreamProxy) ([]float64, error) {
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
	run := exec.CommandContext(ctx, program, script, base, browser, fmt.Sprint(firstRows))
	run.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + folder}
	var out, errOut bytes.Buffer
	run.Stdout, run.Stderr = &out, &errOut
	if err := run.Run(); err != nil {
		return nil, fmt.Errorf("the browser: %w\n%s", err, errOut.String())
	}
	var searches []struct{ Began, Painted float64 } // milliseconds since 1970
	if err := json.Unmarshal(out.Bytes(), &searches); err != nil {
		return nil, err
	}
	latency, err := time.ParseDuration(worldLatency)
	if err != nil {
		return nil, err
	}
	var times []float64
	for _, search := range searches {
		answered, err := world.firstResponseAfter(time.UnixMicro(int64(search.Began*1000)), latency)
		if err != nil {
			return nil, err
		}
		times = append(times, search.Painted-float64(answered.UnixMicro())/1000)
	}
	return times, nil
}
