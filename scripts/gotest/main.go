// Command gotest runs "go test" with the arguments it is given and prints what
// a reader needs: one line for each package, the full output of what failed,
// and at the end each skipped test by name with its reason. Plain "go test"
// passes over skipped tests in silence, so a missing database looks like a
// green run.
//
// A few failed tests are run once more, one package at a time, after all the
// others have ended and the host gives this machine its cores (see rests).
// The suites start databases, browsers and hundreds of processes; on a machine
// whose host takes most of the CPU time, the product correctly gives up a
// request that a test waits for. A test that passes on its own doesn't fail the
// run, but is listed as UNSTEADY with the output of its failure above, because
// load also brings real races to light. These are never repeated: more than
// maxRepeated failed tests, a race report, a panic, a package that timed out or
// does not build.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, os.Args[1:], os.Stdout, newRests().await)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
	}
	os.Exit(code)
}

// maxRepeated bounds the tests that are run again. More failures than this have
// a common cause, which is better seen at once.
const maxRepeated = 20

// run runs the tests and repeats a few that failed, each package after a rest.
func run(ctx context.Context, args []string, out io.Writer, rest func(context.Context, io.Writer)) (exitCode int, err error) {
	first, code, err := goTest(ctx, args, out)
	if code == 0 || err != nil || !first.repeatable() {
		return code, err
	}
	// A package argument is a path; everything before the first is a flag.
	flags := args
	if i := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "./") }); i >= 0 {
		flags = args[:i]
	}
	for _, pkg := range slices.Sorted(maps.Keys(first.failed)) {
		tests := first.failed[pkg]
		fmt.Fprintln(out)
		rest(ctx, out)
		fmt.Fprintf(out, "running again on their own: %s %s\n", pkg, strings.Join(tests, " "))
		pattern := "^(" + strings.Join(tests, "|") + ")$"
		_, code, err := goTest(ctx, append(slices.Clone(flags), "-run", pattern, pkg), out)
		if code != 0 || err != nil {
			return code, err
		}
	}
	fmt.Fprintln(out)
	for pkg, tests := range first.failed {
		for _, test := range tests {
			fmt.Fprintln(out, "  UNSTEADY", pkg, test+": failed beside the others, passed on its own")
		}
	}
	return 0, nil
}

// goTest has no deadline of its own: go test's -timeout bounds every package.
func goTest(ctx context.Context, args []string, out io.Writer) (r result, exitCode int, err error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return result{}, 1, err
	}
	if err := cmd.Start(); err != nil {
		return result{}, 1, err
	}
	r, reportErr := report(events, out)
	err = cmd.Wait()
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed) && failed.Exited():
		return r, failed.ExitCode(), reportErr // go test has said why
	case err != nil:
		return result{}, 1, err
	case reportErr != nil:
		return r, 1, reportErr
	}
	return r, 0, nil
}

// event is one line of "go test -json"; see "go doc test2json" and
// "go help buildjson".
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

type testID struct{ pkg, test string }

// result is what decides whether failed tests are run again.
type result struct {
	failed map[string][]string // top-level tests by package
	broken bool                // something failed that no repetition excuses
}

func (r result) repeatable() bool {
	count := 0
	for _, tests := range r.failed {
		count += len(tests)
	}
	return !r.broken && count > 0 && count <= maxRepeated
}

// raceReport is the line with which the race detector begins.
const raceReport = "WARNING: DATA RACE\n"

// report turns the events into text. A test's output is held back until the
// test has ended, and printed only if it failed.
func report(events io.Reader, out io.Writer) (result, error) {
	r := result{failed: map[string][]string{}}
	buffered := map[testID][]string{}
	var skipped []string
	counts := map[string]int{}

	lines := bufio.NewReader(events)
	for {
		line, readErr := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				fmt.Fprintf(out, "%s", line) // not an event: go itself complains
				e = event{}
			}
			id := testID{e.Package, e.Test}
			switch {
			case e.Action == "build-output":
				r.broken = true
				fmt.Fprint(out, e.Output)
			case e.Action == "output" && !isProgress(e.Output):
				r.broken = r.broken || endsProcess(e.Output)
				buffered[id] = append(buffered[id], e.Output)
			case e.Test != "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip"):
				counts[e.Action]++
				// A race is reported where it was seen, which may be in another test than
				// the one that fails for it.
				raced := slices.Contains(buffered[id], raceReport)
				r.broken = r.broken || raced
				if e.Action == "fail" || raced {
					fmt.Fprint(out, strings.Join(buffered[id], ""))
				}
				if e.Action == "fail" && !strings.Contains(e.Test, "/") {
					r.failed[e.Package] = append(r.failed[e.Package], e.Test)
				}
				if e.Action == "skip" {
					skipped = append(skipped, fmt.Sprintf("%s %s: %s", e.Package, e.Test, reason(buffered[id])))
				}
				delete(buffered, id)
			case e.Test == "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip"):
				cutShort := endPackage(buffered, e, out)
				// Without a failed test, the package itself failed: TestMain or the build.
				r.broken = r.broken || cutShort || e.Action == "fail" && len(r.failed[e.Package]) == 0
			}
		}
		if errors.Is(readErr, io.EOF) {
			break
		}
		if readErr != nil {
			return r, fmt.Errorf("reading go test's events: %w", readErr)
		}
	}

	fmt.Fprintf(out, "\n%d tests passed, %d failed, %d skipped\n", counts["pass"], counts["fail"], counts["skip"])
	for _, s := range skipped {
		fmt.Fprintln(out, "  SKIPPED", s)
	}
	return r, nil
}

// endPackage prints the package's own lines. A test that still holds output
// was cut short by a panic or a time-out, and its output says by which.
func endPackage(buffered map[testID][]string, e event, out io.Writer) (cutShort bool) {
	for id, lines := range buffered {
		if id.pkg != e.Package || id.test == "" {
			continue
		}
		if e.Action == "fail" {
			cutShort = true
			fmt.Fprint(out, strings.Join(lines, ""))
		}
		delete(buffered, id)
	}
	own := testID{pkg: e.Package}
	fmt.Fprint(out, strings.Join(buffered[own], ""))
	delete(buffered, own)
	return cutShort
}

// endsProcess reports the lines after which the rest of a package did not run.
func endsProcess(line string) bool {
	return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")
}

// isProgress tells the lines that only say that something goes on as planned.
func isProgress(line string) bool {
	return strings.HasPrefix(line, "=== ") || line == "PASS\n"
}

// reason is what the test said when it skipped: its lines but the last, which
// is go test's "--- SKIP".
func reason(lines []string) string {
	var parts []string
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "--- SKIP") {
			parts = append(parts, line)
		}
	}
	if len(parts) == 0 {
		return "no reason given"
	}
	return strings.Join(parts, " ")
}
