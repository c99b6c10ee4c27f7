package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// The events are those of a run with two passing (one saw a race), one failing, one skipped
// and one panicking test, a broken build and a line that is no event.
const recorded = `go: some complaint that is not JSON
{"Action":"build-output","ImportPath":"x/broken","Output":"broken.go:3: undefined: y\n"}
{"Action":"output","Package":"x/a","Test":"TestGood","Output":"=== RUN   TestGood\n"}
{"Action":"output","Package":"x/a","Test":"TestGood","Output":"    a_test.go:5: chatty\n"}
{"Action":"pass","Package":"x/a","Test":"TestGood"}
{"Action":"output","Package":"x/a","Test":"TestBeside","Output":"WARNING: DATA RACE\n"}
{"Action":"output","Package":"x/a","Test":"TestBeside","Output":"Write at 0x1 by goroutine 7\n"}
{"Action":"pass","Package":"x/a","Test":"TestBeside"}
{"Action":"output","Package":"x/a","Test":"TestBad","Output":"    a_test.go:9: got 1, want 2\n"}
{"Action":"fail","Package":"x/a","Test":"TestBad"}
{"Action":"output","Package":"x/a","Test":"TestNeedsDB","Output":"=== RUN   TestNeedsDB\n"}
{"Action":"output","Package":"x/a","Test":"TestNeedsDB","Output":"    a_test.go:12: no database\n"}
{"Action":"output","Package":"x/a","Test":"TestNeedsDB","Output":"--- SKIP: TestNeedsDB (0.00s)\n"}
{"Action":"skip","Package":"x/a","Test":"TestNeedsDB"}
{"Action":"output","Package":"x/a","Output":"FAIL\tx/a\t0.01s\n"}
{"Action":"fail","Package":"x/a"}
{"Action":"output","Package":"x/b","Test":"TestPanics","Output":"panic: out of luck\n"}
{"Action":"fail","Package":"x/b"}
{"Action":"output","Package":"x/c","Output":"PASS\n"}
{"Action":"output","Package":"x/c","Output":"ok  \tx/c\t0.02s\n"}
{"Action":"pass","Package":"x/c"}
{"Action":"output","Package":"x/d","Output":"?   \tx/d\t[no test files]\n"}
{"Action":"skip","Package":"x/d"}
`

func TestReport_ShowsFailuresAndSkips(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	r, err := report(strings.NewReader(recorded), &out)
	if err != nil {
		t.Fatal(err)
	}
	if r.repeatable() {
		t.Error("a race, a panic and a broken build would be run again")
	}
	for _, want := range []string{
		"some complaint that is not JSON",
		"undefined: y",
		"got 1, want 2",
		"Write at 0x1 by goroutine 7",
		"panic: out of luck",
		"ok  \tx/c\t0.02s",
		"[no test files]",
		"2 tests passed, 1 failed, 1 skipped",
		"SKIPPED x/a TestNeedsDB: a_test.go:12: no database",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	for _, unwanted := range []string{"=== RUN", "chatty", "PASS"} {
		if strings.Contains(out.String(), unwanted) {
			t.Errorf("the report contains %q, which nobody needs to read", unwanted)
		}
	}
	if t.Failed() {
		t.Logf("the report:\n%s", out.String())
	}
}

func TestRun_ReturnsGoTestExitCode(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	code, err := run(t.Context(), []string{"./no-such-folder"}, &out, noRest)
	if err != nil {
		t.Fatal(err)
	}
	if code == 0 {
		t.Errorf("exit code 0 for a package that does not exist; output:\n%s", out.String())
	}
}

func noRest(context.Context, io.Writer) {}

// firstTime is in every package under test: it is true in the first run only.
const firstTime = `package x

import (
	"os"
	"testing"
)

func firstTime(t *testing.T) bool {
	file, err := os.OpenFile(t.Name(), os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		file.Close()
	}
	return err == nil
}

`

func TestRun_RepeatsFewFailedTests(t *testing.T) {
	if testing.Short() {
		t.Skip("builds six packages, most of them twice")
	}
	const failing = "func Test%s(t *testing.T) { if firstTime(t) { %s } }\n"
	var tooMany strings.Builder
	for i := range maxRepeated + 1 {
		fmt.Fprintf(&tooMany, failing, fmt.Sprint(i), `t.Error("no")`)
	}
	for name, test := range map[string]struct {
		tests string
		code  int
		want  string
	}{
		"passes on its own": {fmt.Sprintf(failing, "Slow", `t.Error("no")`), 0, "UNSTEADY x TestSlow"},
		"subtest":           {fmt.Sprintf(failing, "Parent", `t.Run("child", func(t *testing.T) { t.Error("no") })`), 0, "UNSTEADY x TestParent"},
		"fails again":       {`func TestBad(t *testing.T) { t.Error("no") }`, 1, "running again on their own: x TestBad"},
		"panic":             {fmt.Sprintf(failing, "Panics", `panic("no")`), 1, "panic: no"},
		"process exits":     {fmt.Sprintf(failing, "Exits", `os.Exit(3)`), 1, "FAIL\tx"},
		"too many":          {tooMany.String(), 1, fmt.Sprintf("%d failed", maxRepeated+1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			t.Setenv("GOFLAGS", "")
			for file, text := range map[string]string{"go.mod": "module x\n\ngo 1.25\n", "x_test.go": firstTime + test.tests} {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			var out strings.Builder
			code, err := run(t.Context(), []string{"-vet=off", "./..."}, &out, noRest)
			if err != nil || code != test.code || !strings.Contains(out.String(), test.want) {
				t.Errorf("exit code %d (%v), want %d and %q in:\n%s", code, err, test.code, test.want, out.String())
			}
		})
	}
}
