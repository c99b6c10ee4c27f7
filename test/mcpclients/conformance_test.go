package mcpclients

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/test/testkit/nodejs"
)

// summaryLine matches the result of a scenario in the summary.
var summaryLine = regexp.MustCompile(`(?m)^(✓|✗) ([a-z0-9-]+): (\d+) passed, (\d+) failed$`)

// notScored matches the result of a scenario that is not scored for a revision:
// extensions, and scenarios that are newer than the revision.
var notScored = regexp.MustCompile(`(?m)^  [✓✗] ([a-z0-9-]+) \([a-z-]+\)$`)

// summaryLines are printed after the last test, because the log of a test is shown only
// if it fails.
var summaryLines []string

func TestMain(m *testing.M) {
	code := m.Run()
	for _, line := range summaryLines {
		fmt.Println(line)
	}
	os.Exit(code)
}

func TestConformance_FailuresMatchBaseline(t *testing.T) {
	t.Parallel()
	program := nodejs.Program(t, packages)
	endpoint := startSandbox(t, fixturesProgram)
	for _, test := range []struct {
		revision string
		scored   int // detects a suite that runs fewer scenarios
	}{
		{"2026-07-28", 37},
		{"2025-11-25", 30},
	} {
		t.Run(test.revision, func(t *testing.T) {
			baseline, err := readBaseline("baseline-" + test.revision + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			details := t.TempDir()
			out, runErr := runSuite(t, program, endpoint, test.revision, details)
			passed, beside := readSummary(out)
			for scenario := range beside {
				delete(passed, scenario)
			}
			if len(passed) != test.scored {
				t.Fatalf("the suite ran %d scenarios, want %d: %v", len(passed), test.scored, runErr)
			}
			for _, complaint := range compareBaseline(passed, baseline) {
				t.Error(complaint)
			}
			if t.Failed() {
				t.Logf("failed checks, scored or not:\n%s", failedChecks(t, details))
			}
			summaryLines = append(summaryLines, fmt.Sprintf("conformance %s: %d of %d scenarios pass, %d in the baseline",
				test.revision, countPassed(passed), len(passed), len(baseline)))
		})
	}
}

// Scenarios that need no fixtures also pass on the released product.
func checkReleasedConformance(t *testing.T, program, endpoint string) {
	t.Helper()
	for revision, scenarios := range map[string][]string{
		"2026-07-28": {"tools-list", "dns-rebinding-protection", "http-header-validation"},
		"2025-11-25": {"server-initialize", "ping", "tools-list", "dns-rebinding-protection"},
	} {
		details := t.TempDir()
		out, err := runSuite(t, program, endpoint, revision, details)
		passed, _ := readSummary(out)
		for _, scenario := range scenarios {
			if !passed[scenario] {
				t.Errorf("%s at %s fails: %v\n%s", scenario, revision, err, failedChecks(t, details))
			}
		}
	}
}

// runSuite runs every scenario of a revision and writes details into a folder. Its exit
// code is not 0 if a scenario fails.
func runSuite(t *testing.T, program, endpoint, revision, details string) (out string, err error) {
	t.Helper()
	return runClient(t, program, nodejs.ModulePath(t, "@modelcontextprotocol/conformance/dist/index.js"),
		"server", "--url", endpoint, "--requirements", revision, "--output-dir", details)
}

// failedChecks lists failed checks from the suite's files.
func failedChecks(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*", "checks.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var checks []struct{ ID, Status, ErrorMessage string }
		if err := json.Unmarshal(text, &checks); err != nil {
			t.Fatal(err)
		}
		for _, check := range checks {
			if check.Status == "FAILURE" {
				fmt.Fprintf(&list, "%s: %s: %s\n", filepath.Base(filepath.Dir(file)), check.ID, check.ErrorMessage)
			}
		}
	}
	return list.String()
}

// readSummary returns the result of each scored scenario, and the scenarios that are not
// scored.
func readSummary(out string) (passed, beside map[string]bool) {
	passed, beside = map[string]bool{}, map[string]bool{}
	for _, line := range summaryLine.FindAllStringSubmatch(out, -1) {
		passed[line[2]] = line[1] == "✓"
	}
	for _, line := range notScored.FindAllStringSubmatch(out, -1) {
		beside[line[1]] = true
	}
	return passed, beside
}

// compareBaseline returns the differences between results and baseline.
func compareBaseline(passed map[string]bool, baseline map[string]string) (complaints []string) {
	for _, scenario := range slices.Sorted(maps.Keys(passed)) {
		_, known := baseline[scenario]
		switch {
		case !passed[scenario] && !known:
			complaints = append(complaints, scenario+" fails and is not in the baseline")
		case passed[scenario] && known:
			complaints = append(complaints, scenario+" passes: take it out of the baseline")
		}
	}
	for _, scenario := range slices.Sorted(maps.Keys(baseline)) {
		if _, judged := passed[scenario]; !judged {
			complaints = append(complaints, scenario+" is in the baseline, but the suite has no such scenario")
		}
	}
	return complaints
}

func countPassed(passed map[string]bool) (n int) {
	for _, ok := range passed {
		if ok {
			n++
		}
	}
	return n
}

// readBaseline reads "scenario: reason" lines.
func readBaseline(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	baseline := map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		scenario, reason, _ := strings.Cut(line, ": ")
		if strings.TrimSpace(reason) == "" {
			return nil, fmt.Errorf("%s: %q has no reason", path, line)
		}
		if _, twice := baseline[scenario]; twice {
			return nil, fmt.Errorf("%s: duplicate %s", path, scenario)
		}
		baseline[scenario] = reason
	}
	return baseline, nil
}

func TestCompareBaseline_ReportsWrongEntries(t *testing.T) {
	t.Parallel()
	passed, beside := readSummary(`
=== SUMMARY ===
✓ ping: 2 passed, 0 failed
✗ tools-list: 3 passed, 1 failed
✗ tools-call-error: 1 passed, 1 failed
✓ prompts-list: 2 passed, 0 failed
✗ tasks-lifecycle: 1 passed, 8 failed

Not scored for 2026-07-28: 1 scenario(s) run, 1 failing.
  ✗ tasks-lifecycle (extension)
`)
	if len(passed) != 5 || len(beside) != 1 || !beside["tasks-lifecycle"] {
		t.Errorf("got %v and not scored %v", passed, beside)
	}
	delete(passed, "tasks-lifecycle")
	got := compareBaseline(passed, map[string]string{"tools-call-error": "known", "prompts-list": "wrong", "gone": "old"})
	want := []string{
		"prompts-list passes: take it out of the baseline",
		"tools-list fails and is not in the baseline",
		"gone is in the baseline, but the suite has no such scenario",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if countPassed(passed) != 2 {
		t.Errorf("%d pass, want 2", countPassed(passed))
	}
}
