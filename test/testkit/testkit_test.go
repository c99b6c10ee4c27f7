package testkit

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestReadyLine_FoundAfterBanner(t *testing.T) {
	t.Parallel()
	got, err := ReadyLine(strings.NewReader("welcome\n\n  not ready yet\nready http://127.0.0.1:1\nmore\n"))
	if err != nil || got != "http://127.0.0.1:1" {
		t.Errorf("got %q, %v", got, err)
	}
	if got, err := ReadyLine(strings.NewReader("dotkontor: port in use\n")); err == nil {
		t.Errorf("a process without a ready line is ready: %q", got)
	}
}

func TestEnvironment_DropsProductSettings(t *testing.T) {
	t.Parallel()
	got := withoutProductSettings([]string{"HOME=/home/me", "DOTKONTOR_LOG_LEVEL=error", "PATH=/bin"})
	if !slices.Equal(got, []string{"HOME=/home/me", "PATH=/bin"}) {
		t.Errorf("kept %v", got)
	}
}

func TestBuildCache_SeparatePerFlags(t *testing.T) {
	t.Parallel()
	environment := []string{"HOME=/home/me", "TEST_BUILDS=/kept"}
	seen := map[string]bool{cachedBuild(nil, "cmd/dotkontor", nil): true}
	for _, build := range [][]string{{"cmd/dotkontor"}, {"cmd/dotkontor", "-race"}, {"cmd/dotkontor", "-tags", "failpoint"}, {"examples/acp-agent"}} {
		path := cachedBuild(environment, build[0], build[1:])
		if seen[path] || filepath.Dir(path) != "/kept" {
			t.Errorf("%v is cached as %q", build, path)
		}
		seen[path] = true
	}
	if !seen[""] {
		t.Error("a build is cached without a cache folder")
	}
}

func TestBuildCache_IsReused(t *testing.T) {
	folder := t.TempDir()
	t.Setenv(buildCacheVariable, folder)
	if err := os.WriteFile(cachedBuild(os.Environ(), "no/program", nil), []byte("built"), 0o700); err != nil {
		t.Fatal(err)
	}
	mine := filepath.Join(t.TempDir(), "mine")
	if err := build(t.Context(), "no/program", mine, io.Discard, nil); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(mine); string(text) != "built" {
		t.Errorf("got %q, %v", text, err)
	}
	if err := build(t.Context(), "no/program", mine+"-raced", io.Discard, []string{"-race"}); err == nil {
		t.Error("a build with other flags was used")
	}
}

func TestParseStat_ProgramNameWithSpaces(t *testing.T) {
	t.Parallel()
	const line = "42 (a name) with) R 1 42 42 0 -1 4194560 100 0 0 0 150 50 0 0 20 0 8 0 100 0 0"
	if got, ok := parseStat(line); !ok || got != 2*time.Second {
		t.Errorf("got %s, %t, want 2s", got, ok)
	}
	for _, broken := range []string{"", "42 name R 1", "42 (name) R 1 2", "42 (n) R 1 42 42 0 -1 1 1 0 0 0 x 50 0"} {
		if got, ok := parseStat(broken); ok {
			t.Errorf("%q is parsed as %s", broken, got)
		}
	}
}

func TestMetrics_SampleMatchesWholeName(t *testing.T) {
	t.Parallel()
	const text Metrics = "# HELP a_total x\na_total_more 1\na_total{status=\"200\"} 1.5e+06\na_total 7\n"
	for series, want := range map[string]float64{`a_total{status="200"}`: 1.5e6, "a_total": 7, "a": 0} {
		if got := text.Sample(series); got != want {
			t.Errorf("%s is %v, want %v", series, got, want)
		}
	}
}

func TestParseMemory_ReadsProcStatus(t *testing.T) {
	t.Parallel()
	const text = "Name:\tdotkontor\nVmPeak:\t 9000 kB\nVmHWM:\t   2048 kB\nVmRSS:\t   1024 kB\nThreads:\t5\n"
	if got := parseMemory(text); got != (Memory{RSS: 1 << 20, Peak: 2 << 20}) {
		t.Errorf("got %+v", got)
	}
	if got := parseMemory("VmRSS:\tmuch\n"); got != (Memory{}) {
		t.Errorf("an invalid value is parsed as %+v", got)
	}
}

func TestMemory_IncludesChildren(t *testing.T) {
	t.Parallel()
	for stat, want := range map[string]int{"12 (a b) S 7 12 12 0": 7, "12 (a) ) R 9 1": 9, "nonsense": 0, "": 0, "1 (x) S": 0} {
		if got := parseParentPID(stat); got != want {
			t.Errorf("%q: %d, want %d", stat, got, want)
		}
	}
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("no /proc on this system")
	}
	child := exec.CommandContext(t.Context(), "sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = child.Process.Kill()
		_ = child.Wait() // it was killed
	}()
	if !slices.Contains(childrenOf(os.Getpid()), child.Process.Pid) {
		t.Error("the child is not found")
	}
}
