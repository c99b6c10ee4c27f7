package main

import (
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets scripts run this very program as "dotkontor".
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"dotkontor": main,
	})
}

func TestCommandLines(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", RequireExplicitExec: true, Setup: skipRaceExitDelay,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": expectExit, "waitfile": waitFile, "timeless": maskTimes, "grab": captureVar,
		},
	})
}

// skipRaceExitDelay has programs that watch for races end as fast as others do: they would wait a
// second each for races at their very end, and there are hundreds.
func skipRaceExitDelay(env *testscript.Env) error {
	env.Setenv("GORACE", "atexit_sleep_ms=0")
	return nil
}

// expectExit CODE PROGRAM ARGS... runs a program that has to end with that code.
func expectExit(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code program [args...]")
	}
	code := 0
	var ended *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &ended) {
		code = ended.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("the exit code is %d, want %s", code, args[0])
	}
}

// waitfile FILE [REGEXP] waits until a background program has written a file, and
// that into it.
func waitFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: waitfile file [regexp]")
	}
	want, err := regexp.Compile(append(args[1:], ".")[0])
	ts.Check(err)
	for range 600 {
		if text, err := os.ReadFile(ts.MkAbs(args[0])); err == nil && want.Match(text) {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	ts.Fatalf("%s did not appear", args[0])
}

// captureVar VARIABLE FILE REGEXP sets a variable to what the first group matches.
func captureVar(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: grab variable file regexp")
	}
	pattern, err := regexp.Compile(args[2])
	ts.Check(err)
	found := pattern.FindStringSubmatch(ts.ReadFile(args[1]))
	if len(found) < 2 {
		ts.Fatalf("%s does not match in %s", args[2], args[1])
	}
	ts.Setenv(args[0], found[1])
}

var timePattern = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|\d\d:\d\d:\d\d`)

// maskTimes FILE replaces every point in time, so that the rest can be compared.
func maskTimes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: timeless file")
	}
	text := timePattern.ReplaceAllString(ts.ReadFile(args[0]), "TIME")
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}
