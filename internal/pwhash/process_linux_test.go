package pwhash

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// isRunning returns false for a process that is gone or a zombie.
func isRunning(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

func TestProcess_ExitsWhenParentIsKilled(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	parent := exec.CommandContext(t.Context(), self, "parent")
	in, err := parent.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var child int
	if _, err := fmt.Fscan(out, &child); err != nil || !isRunning(child) {
		t.Fatalf("process %d, %v", child, err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed
	for range 1000 {
		if !isRunning(child) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("process outlives its parent")
}

func TestProcess_AllThreadsRunAtLowPriority(t *testing.T) {
	t.Parallel()
	w := newWorkers(t, "good", nil)
	if _, err := w.Derive(testContext(t), newDerivation(secret)); err != nil {
		t.Fatal(err)
	}
	pid := w.pids()[0]
	stats, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(stats) == 0 {
		t.Fatalf("%d threads, %v", len(stats), err)
	}
	for _, stat := range stats {
		text, err := os.ReadFile(stat)
		if err != nil {
			continue // the thread has ended
		}
		const nice = 19 - 3 // proc(5), counted from after the name
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		if len(fields) <= nice || fields[nice] != strconv.Itoa(niceness) {
			t.Errorf("%s: %s", stat, text)
		}
	}
}

func TestProcess_InheritsNoEnvironmentArgumentsOrSockets(t *testing.T) {
	t.Setenv("DOTKONTOR_SECRET_KEY", "a secret of the service")
	w := newWorkers(t, "good", nil)
	if _, err := w.Derive(testContext(t), newDerivation(secret)); err != nil {
		t.Fatal(err)
	}
	folder := fmt.Sprintf("/proc/%d/", w.pids()[0])
	environment, err := os.ReadFile(folder + "environ")
	if err != nil || string(environment) != "GOMAXPROCS=1\x00" {
		t.Errorf("environment = %q, %v", environment, err)
	}
	arguments, err := os.ReadFile(folder + "cmdline")
	if err != nil || string(arguments) != "dotkontor\x00good\x00" {
		t.Errorf("arguments = %q, %v", arguments, err)
	}
	files, err := filepath.Glob(folder + "fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if target, _ := os.Readlink(file); strings.HasPrefix(target, "socket:") {
			t.Errorf("open socket: %s", target)
		}
	}
}
