package contract

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit"
)

// stopTimeout is how long an idle process may take to exit after SIGTERM.
const stopTimeout = 5 * time.Second

// process is a running dotkontor.
type process struct {
	name string
	cmd  *exec.Cmd
	// ready is the rest of the "ready" line.
	ready string
	// stderr is the path of the file with standard error.
	stderr string
	exited chan struct{}
	// err is the exit error, valid after ended is closed.
	err error
}

// start runs the binary with a minimal environment and waits until it is ready.
func start(name string, env []string, args ...string) (*process, error) {
	p := &process{name: name, exited: make(chan struct{}), stderr: filepath.Join(suite.folder, name+".stderr")}
	stderr, err := os.Create(p.stderr)
	if err != nil {
		return nil, err
	}
	defer stderr.Close() // the process has its own handle
	p.cmd = exec.CommandContext(context.Background(), suite.binary, args...)
	p.cmd.Env = append(baseEnvironment(), env...)
	p.cmd.Dir = suite.folder
	p.cmd.Stderr = stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	suite.running.add(p)
	ready := make(chan string, 1)
	go func() {
		defer close(p.exited)
		lines := bufio.NewScanner(stdout)
		for lines.Scan() {
			if where, found := strings.CutPrefix(lines.Text(), "ready "); found {
				select {
				case ready <- where:
				default: // only the first line counts
				}
			}
		}
		p.err = p.cmd.Wait()
	}()
	select {
	case p.ready = <-ready:
		return p, nil
	case <-p.exited:
	case <-time.After(waitTimeout):
	}
	output, _ := os.ReadFile(p.stderr) // may be missing
	return nil, errors.Join(fmt.Errorf("%s did not become ready:\n%s", name, output), p.cmd.Process.Kill())
}

func baseEnvironment() []string {
	return append(testkit.RaceEnvironment(), "PATH="+os.Getenv("PATH"), "HOME="+suite.folder)
}

func (p *process) terminate() error { return p.cmd.Process.Signal(syscall.SIGTERM) }

// wait returns an error unless the process exits properly.
func (p *process) wait(within time.Duration) error {
	select {
	case <-p.exited:
	case <-time.After(within):
		return errors.Join(fmt.Errorf("%s did not exit within %s after SIGTERM", p.name, within), p.cmd.Process.Kill())
	}
	if p.err != nil {
		return fmt.Errorf("%s exited with %w, not with exit code 0", p.name, p.err)
	}
	return nil
}

// stop sends SIGTERM and waits. It may be called twice.
func (p *process) stop() error {
	if err := p.terminate(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return p.wait(stopTimeout)
}

// processGroup has all started processes.
type processGroup struct {
	mu  sync.Mutex
	all []*process
}

func (h *processGroup) add(p *process) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, p)
}

func (h *processGroup) members() []*process {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]*process(nil), h.all...)
}

func (h *processGroup) stop() error {
	var problems []error
	for _, p := range h.members() {
		problems = append(problems, p.stop())
	}
	return errors.Join(problems...)
}

// kill kills all processes after an error.
func (h *processGroup) kill() {
	for _, p := range h.members() {
		select {
		case <-p.exited:
		default:
			_ = p.cmd.Process.Kill() // it may have exited
		}
	}
}

// target is a running product.
type target struct {
	name       string
	base       string
	metricsURL string // metrics and health; empty if switched off
	log        string // file
	data       string // folder
	process    *process
	spec       *openAPIDoc
	demo       demoCustomer // may be empty
}

// demoCustomer is the demo customer of a sandbox.
type demoCustomer struct{ Email, Password, Token string }

// readDemo reads the --info file.
func readDemo(info string) (demoCustomer, error) {
	text, err := os.ReadFile(info)
	if err != nil {
		return demoCustomer{}, err
	}
	var parsed struct{ Demo demoCustomer }
	if err := json.Unmarshal(text, &parsed); err != nil {
		return demoCustomer{}, err
	}
	if parsed.Demo.Email == "" || parsed.Demo.Password == "" || parsed.Demo.Token == "" {
		return demoCustomer{}, fmt.Errorf("%s has no demo customer", filepath.Base(info))
	}
	return parsed.Demo, nil
}

func newTarget(name string, p *process) (*target, error) {
	spec, err := fetchOpenAPI(p.ready)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &target{name: name, base: p.ready, process: p, log: p.stderr, spec: spec}, nil
}

func startSandbox(name string) (*target, error) {
	data, err := os.MkdirTemp(suite.folder, name+"-data-")
	if err != nil {
		return nil, err
	}
	p, err := start(name, nil, "sandbox", "--listen", "127.0.0.1:0", "--data", data,
		"--info", filepath.Join(suite.folder, name+".json"))
	if err != nil {
		return nil, err
	}
	target, err := newTarget(name, p)
	if err != nil {
		return nil, err
	}
	target.data, target.log = data, filepath.Join(data, "dotkontor.log")
	target.demo, err = readDemo(filepath.Join(suite.folder, name+".json"))
	return target, err
}

// startServe runs the product in front of the shared world, with environment variables.
func startServe(name string, settings ...string) (*target, error) {
	return startServeWithConfig(name, suite.worldConfig, settings...)
}

// startServeWithConfig is startServe with another configuration file.
func startServeWithConfig(name, config string, settings ...string) (*target, error) {
	// The system chooses the port, on an address of this test alone, so the port stays
	// free until the product listens on it.
	reserved, err := net.Listen("tcp", net.JoinHostPort(suite.addresses.next().String(), "0"))
	if err != nil {
		return nil, err
	}
	private := reserved.Addr().String()
	if err := reserved.Close(); err != nil {
		return nil, err
	}
	data, err := os.MkdirTemp(suite.folder, name+"-data-")
	if err != nil {
		return nil, err
	}
	env := append([]string{"DOTKONTOR_DATA=" + data, "DOTKONTOR_SERVER_METRICS_LISTEN=" + private}, settings...)
	p, err := start(name, env, "serve", "--config", config)
	if err != nil {
		return nil, err
	}
	target := &target{name: name, base: p.ready, process: p, log: p.stderr}
	if strings.HasPrefix(p.ready, "http:") {
		if target, err = newTarget(name, p); err != nil {
			return nil, err
		}
	}
	target.data, target.metricsURL = data, "http://"+private
	return target, nil
}

// startOwnServe is startServe for one test, which fails unless it exits properly.
func startOwnServe(t *testing.T, name string, settings ...string) *target {
	t.Helper()
	return startOwnServeWithConfig(t, name, suite.worldConfig, settings...)
}

func startOwnServeWithConfig(t *testing.T, name, config string, settings ...string) *target {
	t.Helper()
	target, err := startServeWithConfig(name, config, settings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := target.process.stop(); err != nil {
			t.Error(err)
		}
	})
	return target
}

// commandResult is the result of a command.
type commandResult struct {
	code        int
	out, errOut string
}

// runCLI runs a command of the binary.
func runCLI(t *testing.T, args ...string) commandResult {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	var out, errOut strings.Builder
	cmd := exec.CommandContext(ctx, suite.binary, args...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr = baseEnvironment(), suite.folder, &out, &errOut
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return commandResult{code: cmd.ProcessState.ExitCode(), out: out.String(), errOut: errOut.String()}
}
