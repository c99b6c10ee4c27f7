// Package testkit runs the built binary and its simulated world, and has what suites
// share: MCP calls, the inbox, waiting, and reconciliation.
package testkit

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

const (
	readyTimeout = 60 * time.Second
	// stopTimeout is how long a process may take to exit before it is killed, by default.
	stopTimeout = 5 * time.Second
	// clockTicks is the kernel's CPU time unit per second, USER_HZ, in /proc.
	clockTicks = 100
)

// Process is a child process that has printed its "ready" line.
type Process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	end   context.CancelFunc
	// Ready is the rest of the "ready" line.
	Ready string
}

// Command describes a child process.
type Command struct {
	Path        string
	Args        []string
	Environment []string
	Stderr      *os.File // nil discards it
	// StopTimeout is how long it may take to exit before it is killed; 0 means 5 s.
	StopTimeout time.Duration
}

// Start runs a child process and waits for its line "ready …".
func Start(ctx context.Context, c Command) (*Process, error) {
	ctx, end := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = cmp.Or(c.StopTimeout, stopTimeout)
	cmd.Env = append(Environment(), c.Environment...)
	if c.Stderr != nil {
		cmd.Stderr = c.Stderr
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		end()
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		end()
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		end()
		return nil, err
	}
	p := &Process{cmd: cmd, stdin: stdin, end: end}
	tooLate := time.AfterFunc(readyTimeout, end)
	p.Ready, err = ReadyLine(stdout)
	tooLate.Stop()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", strings.Join(c.Args, " "), err), p.Stop())
	}
	// Drain the pipe, so that the child does not block on it.
	go func() { _, _ = io.Copy(io.Discard, stdout) }()
	return p, nil
}

// Stop interrupts the process and waits for it. Its exit status is ignored.
func (p *Process) Stop() error {
	p.end()
	err := errors.Join(p.stdin.Close(), p.cmd.Wait())
	var exit *exec.ExitError
	if errors.As(err, &exit) || errors.Is(err, context.Canceled) || errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// Kill sends SIGKILL and waits for the process.
func (p *Process) Kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return p.Stop()
}

// Frozen reports whether the process is stopped by a signal.
func (p *Process) Frozen() bool {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/stat")
	_, state, found := strings.Cut(string(text), ") ")
	return err == nil && found && strings.HasPrefix(state, "T")
}

// Signal sends a signal to the process.
func (p *Process) Signal(signal os.Signal) error { return p.cmd.Process.Signal(signal) }

// ReadyLine reads up to a line that begins with "ready" and returns the rest of it.
func ReadyLine(r io.Reader) (string, error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if rest, found := strings.CutPrefix(lines.Text(), "ready"); found {
			return strings.TrimSpace(rest), nil
		}
	}
	if err := lines.Err(); err != nil {
		return "", err
	}
	return "", errors.New("exited or timed out before its ready line")
}

// Environment returns this process's environment without the product's settings.
func Environment() []string { return withoutProductSettings(os.Environ()) }

// withoutProductSettings drops the user's own settings of the product, which would
// change results.
func withoutProductSettings(environment []string) []string {
	var filtered []string
	for _, variable := range environment {
		if !strings.HasPrefix(variable, "DOTKONTOR_") {
			filtered = append(filtered, variable)
		}
	}
	return filtered
}

// CPU returns the CPU time of the process. known is false on systems without /proc.
func (p *Process) CPU() (spent time.Duration, known bool) { return CPUOf(p.cmd.Process.Pid) }

// CPUOf returns the CPU time of any process, if the system reports it.
func CPUOf(pid int) (spent time.Duration, known bool) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, false
	}
	return parseStat(string(text))
}

// parseStat adds utime and stime, fields 14 and 15 of /proc/PID/stat. Fields are counted
// after the program's name, which may contain spaces.
func parseStat(text string) (time.Duration, bool) {
	end := strings.LastIndexByte(text, ')')
	if end < 0 {
		return 0, false
	}
	fields := strings.Fields(text[end+1:])
	const user, system = 14 - 3, 15 - 3
	if len(fields) <= system {
		return 0, false
	}
	var ticks int64
	for _, field := range []int{user, system} {
		n, err := strconv.ParseInt(fields[field], 10, 64)
		if err != nil {
			return 0, false
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / clockTicks, true
}
