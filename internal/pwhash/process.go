package pwhash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// process is a running process that has sent its greeting.
type process struct {
	cmd   *exec.Cmd
	in    *os.File      // requests
	out   *os.File      // responses
	ended chan struct{} // closed when the process has exited
}

// startProcess runs the command and waits for its greeting.
func startProcess(ctx context.Context, command []string) (*process, error) {
	if len(command) == 0 {
		return nil, errors.New("pwhash: Config.Command is required")
	}
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("pwhash: %w", err)
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("pwhash: %w", err), childIn.Close(), in.Close())
	}
	cmd := exec.Command(command[0], command[1:]...) //nolint:noctx // it lives longer than the request that starts it, and ends with its input
	cmd.Args[0] = "dotkontor"
	// One core, and none of the service's environment, which may hold secrets.
	cmd.Env = []string{"GOMAXPROCS=1"}
	cmd.Dir = os.TempDir() // keep no directory in use
	cmd.Stdin, cmd.Stdout = childIn, childOut
	setProcessGroup(cmd)
	err = cmd.Start()
	err = errors.Join(err, childIn.Close(), childOut.Close())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("pwhash: %w", err), in.Close(), out.Close())
	}
	p := &process{cmd: cmd, in: in, out: out, ended: make(chan struct{})}
	go p.wait()
	greetingCtx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := p.readGreeting(greetingCtx); err != nil {
		p.kill()
		return nil, err
	}
	// Without permission it runs at normal priority.
	_ = lowerPriority(cmd.Process.Pid)
	return p, nil
}

// wait reaps the process.
func (p *process) wait() {
	_ = p.cmd.Wait() // how it ended doesn't matter: it is not reused
	close(p.ended)
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

func (p *process) readGreeting(ctx context.Context) error {
	return p.runWithContext(ctx, func() error {
		got := make([]byte, len(greeting))
		if _, err := io.ReadFull(p.out, got); err != nil {
			return fmt.Errorf("pwhash: process exited at start: %w", err)
		}
		if string(got) != greeting {
			return errors.New("pwhash: unexpected greeting")
		}
		return nil
	})
}

func (p *process) roundTrip(ctx context.Context, q request) (key []byte, err error) {
	payload, err := q.payload()
	if err != nil {
		return nil, err
	}
	defer clear(payload) // it contains the password
	err = p.runWithContext(ctx, func() error {
		if err := writeFrame(p.in, payload); err != nil {
			return fmt.Errorf("pwhash: write request: %w", err)
		}
		response, err := readFrame(p.out)
		if err != nil {
			return fmt.Errorf("pwhash: read response: %w", err)
		}
		key, err = q.parseResponse(response)
		return err
	})
	return key, err
}

// runWithContext kills the process if ctx ends first, which ends every wait for it.
func (p *process) runWithContext(ctx context.Context, exchange func() error) error {
	stop := context.AfterFunc(ctx, func() { _ = p.cmd.Process.Kill() })
	err := exchange()
	if !stop() {
		// The process is being killed, whatever it has sent.
		return context.Cause(ctx)
	}
	return err
}

// kill ends the process at once.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails if it has already exited
	_ = p.in.Close()
	_ = p.out.Close()
}

// close closes the process's input and waits for it to exit.
func (p *process) close(ctx context.Context) {
	_ = p.in.Close()
	select {
	case <-p.ended:
	case <-ctx.Done():
	}
	p.kill()
}
