package pwhash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// process is one that has greeted.
type process struct {
	cmd *exec.Cmd
	in  *os.File // what it is asked
	out *os.File // what it answers
	// ended is closed when it has.
	ended chan struct{}
}

// startProcess runs the command and waits for its greeting.
func startProcess(ctx context.Context, command []string) (*process, error) {
	if len(command) == 0 {
		return nil, errors.New("hashing: there is no command")
	}
	childIn, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("hashing: %w", err)
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("hashing: %w", err), childIn.Close(), in.Close())
	}
	cmd := exec.Command(command[0], command[1:]...) //nolint:noctx // it lives longer than the request that starts it, and ends with its input
	cmd.Args[0] = "dotkontor"
	// One core, and nothing of the service's environment, which may hold secrets.
	cmd.Env = []string{"GOMAXPROCS=1"}
	cmd.Dir = os.TempDir() // no folder is held in use
	cmd.Stdin, cmd.Stdout = childIn, childOut
	setProcessGroup(cmd)
	err = cmd.Start()
	err = errors.Join(err, childIn.Close(), childOut.Close())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("hashing: %w", err), in.Close(), out.Close())
	}
	p := &process{cmd: cmd, in: in, out: out, ended: make(chan struct{})}
	go p.wait()
	greetingCtx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := p.readGreeting(greetingCtx); err != nil {
		p.kill()
		return nil, err
	}
	// Where the system does not let us, it computes at the priority of all others.
	_ = lowerPriority(cmd.Process.Pid)
	return p, nil
}

// wait takes note of the end, so that nothing is left of it in the system.
func (p *process) wait() {
	_ = p.cmd.Wait() // how it ended is of no interest: it is not asked again
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
			return fmt.Errorf("hashing: the process ended at once: %w", err)
		}
		if string(got) != greeting {
			return errors.New("hashing: the process is another program")
		}
		return nil
	})
}

func (p *process) roundTrip(ctx context.Context, q request) (key []byte, err error) {
	payload, err := q.payload()
	if err != nil {
		return nil, err
	}
	defer clear(payload) // the password is in it
	err = p.runWithContext(ctx, func() error {
		if err := writeFrame(p.in, payload); err != nil {
			return fmt.Errorf("hashing: the process takes no question: %w", err)
		}
		response, err := readFrame(p.out)
		if err != nil {
			return fmt.Errorf("hashing: the process gave no answer: %w", err)
		}
		key, err = q.parseResponse(response)
		return err
	})
	return key, err
}

// runWithContext ends the process if ctx ends first, which ends every wait for it.
func (p *process) runWithContext(ctx context.Context, exchange func() error) error {
	stop := context.AfterFunc(ctx, func() { _ = p.cmd.Process.Kill() })
	err := exchange()
	if !stop() {
		// It is being ended, whatever it has said.
		return context.Cause(ctx)
	}
	return err
}

// kill ends it at once.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails if it has ended already
	_ = p.in.Close()
	_ = p.out.Close()
}

// close tells it that nothing will be asked any more.
func (p *process) close(ctx context.Context) {
	_ = p.in.Close()
	select {
	case <-p.ended:
	case <-ctx.Done():
	}
	p.kill()
}
