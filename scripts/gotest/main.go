// Command gotest runs "go test" with the arguments it is given and tells what
// a reader needs: one line for each package, the full output of what failed,
// and at the end each skipped test by name with its reason.
//
// It exists for the last part. Plain "go test" passes over skipped tests in
// silence, so a missing database looks like a green run. It refuses to judge:
// its exit code is go test's own.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "gotest:", err)
	}
	os.Exit(code)
}

// run has no deadline of its own: go test's -timeout bounds every package.
func run(ctx context.Context, args []string, out io.Writer) (exitCode int, err error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stderr = os.Stderr
	events, err := cmd.StdoutPipe()
	if err != nil {
		return 1, err
	}
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	reportErr := report(events, out)
	err = cmd.Wait()
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed) && failed.Exited():
		return failed.ExitCode(), reportErr // go test has said why
	case err != nil:
		return 1, err
	case reportErr != nil:
		return 1, reportErr
	}
	return 0, nil
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

// raceReport is the line with which the race detector begins.
const raceReport = "WARNING: DATA RACE\n"

// report turns the events into text. A test's output is held back until the
// test has ended, and printed only if it failed.
func report(events io.Reader, out io.Writer) error {
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
				fmt.Fprint(out, e.Output)
			case e.Action == "output" && !isProgress(e.Output):
				buffered[id] = append(buffered[id], e.Output)
			case e.Test != "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip"):
				counts[e.Action]++
				// A race is reported where it was seen, which may be in another test than
				// the one that fails for it.
				if e.Action == "fail" || slices.Contains(buffered[id], raceReport) {
					fmt.Fprint(out, strings.Join(buffered[id], ""))
				}
				if e.Action == "skip" {
					skipped = append(skipped, fmt.Sprintf("%s %s: %s", e.Package, e.Test, reason(buffered[id])))
				}
				delete(buffered, id)
			case e.Test == "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip"):
				endPackage(buffered, e, out)
			}
		}
		if errors.Is(readErr, io.EOF) {
			break
		}
		if readErr != nil {
			return fmt.Errorf("reading go test's events: %w", readErr)
		}
	}

	fmt.Fprintf(out, "\n%d tests passed, %d failed, %d skipped\n", counts["pass"], counts["fail"], counts["skip"])
	for _, s := range skipped {
		fmt.Fprintln(out, "  SKIPPED", s)
	}
	return nil
}

// endPackage prints the package's own lines. A test that still holds output
// was cut short by a panic or a time-out, and its output says by which.
func endPackage(buffered map[testID][]string, e event, out io.Writer) {
	for id, lines := range buffered {
		if id.pkg != e.Package || id.test == "" {
			continue
		}
		if e.Action == "fail" {
			fmt.Fprint(out, strings.Join(lines, ""))
		}
		delete(buffered, id)
	}
	own := testID{pkg: e.Package}
	fmt.Fprint(out, strings.Join(buffered[own], ""))
	delete(buffered, own)
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
