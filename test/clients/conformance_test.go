package clients

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// summaryLine is what the suite says about one scenario at the end.
var summaryLine = regexp.MustCompile(`(?m)^(✓|✗) ([a-z0-9-]+): (\d+) passed, (\d+) failed$`)

// notScored is what it says about those that do not count for a revision:
// extensions, and scenarios younger than the revision.
var notScored = regexp.MustCompile(`(?m)^  [✓✗] ([a-z0-9-]+) \([a-z-]+\)$`)

func TestTheConformanceSuiteFindsOnlyWhatTheContractLacks(t *testing.T) {
	program := node(t)
	endpoint := startSandbox(t, fixturesTag)
	for _, test := range []struct {
		revision string
		scored   int // a suite that runs less than it should is no proof
	}{
		{"2026-07-28", 37},
		{"2025-11-25", 30},
	} {
		t.Run(test.revision, func(t *testing.T) {
			baseline, err := readBaseline("baseline-" + test.revision + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			// Its exit code is a failure as long as the baseline has a line.
			out, runErr := run(t, program, script(t, "@modelcontextprotocol/conformance/dist/index.js"),
				"server", "--url", endpoint, "--requirements", test.revision)
			passed := readSummary(out)
			if len(passed) != test.scored {
				t.Fatalf("the suite judged %d scenarios, want %d: %v", len(passed), test.scored, runErr)
			}
			for _, complaint := range compare(passed, baseline) {
				t.Error(complaint)
			}
			if t.Failed() {
				t.Logf("the suite's output:\n%s", out)
			}
			fmt.Printf("conformance %s: %d of %d scenarios pass, %d in the baseline\n",
				test.revision, count(passed), len(passed), len(baseline))
		})
	}
}

// readSummary finds which scored scenarios passed.
func readSummary(out string) (passed map[string]bool) {
	passed = map[string]bool{}
	for _, line := range summaryLine.FindAllStringSubmatch(out, -1) {
		passed[line[2]] = line[1] == "✓"
	}
	for _, line := range notScored.FindAllStringSubmatch(out, -1) {
		delete(passed, line[1])
	}
	return passed
}

// compare says what the baseline does not say, and what it says wrongly.
func compare(passed map[string]bool, baseline map[string]string) (complaints []string) {
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

func count(passed map[string]bool) (n int) {
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
			return nil, fmt.Errorf("%s: %s is there twice", path, scenario)
		}
		baseline[scenario] = reason
	}
	return baseline, nil
}

func TestABaselineThatIsNotTrueIsNoticed(t *testing.T) {
	t.Parallel()
	passed := readSummary(`
=== SUMMARY ===
✓ ping: 2 passed, 0 failed
✗ tools-list: 3 passed, 1 failed
✗ tools-call-error: 1 passed, 1 failed
✓ prompts-list: 2 passed, 0 failed
✗ tasks-lifecycle: 1 passed, 8 failed

Not scored for 2026-07-28: 1 scenario(s) run, 1 failing.
  ✗ tasks-lifecycle (extension)
`)
	got := compare(passed, map[string]string{"tools-call-error": "known", "prompts-list": "wrong", "gone": "old"})
	want := []string{
		"prompts-list passes: take it out of the baseline",
		"tools-list fails and is not in the baseline",
		"gone is in the baseline, but the suite has no such scenario",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(passed) != 4 || count(passed) != 2 {
		t.Errorf("read %v", passed)
	}
}
