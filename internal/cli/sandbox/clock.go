package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/sandbox/registry"
)

// clockTimeout bounds a move of the clock: everything that falls due on the way
// happens before the answer.
const clockTimeout = time.Minute

// clockCommand is the clock of a sandbox that runs in another process.
type clockCommand struct {
	Show    clockShow    `cmd:"" default:"1" help:"Say what time it is in the sandbox."`
	Advance clockAdvance `cmd:"" help:"Move the clock on: domains expire, transfers complete, names are freed."`
}

type clockShow struct{}

// Run says what time it is in the sandbox.
func (clockShow) Run(sandbox *Command, t *cli.Terminal) error {
	return sandbox.requestClock(t, http.MethodGet, "/clock")
}

type clockAdvance struct {
	By string `arg:"" help:"How far, like 30d, 2w or 12h. The clock never goes back."`
}

// AfterApply refuses what is no span of time.
func (c clockAdvance) AfterApply() error {
	_, err := registry.ParseDuration(c.By)
	return err
}

// Run moves the clock.
func (c clockAdvance) Run(sandbox *Command, t *cli.Terminal) error {
	return sandbox.requestClock(t, http.MethodPost, "/clock/advance?by="+url.QueryEscape(c.By))
}

// requestClock finds the running sandbox by its data folder, asks it, and prints the
// time that it answers with.
func (c Command) requestClock(t *cli.Terminal, method, path string) error {
	control, err := registry.ReadControl(c.Data)
	if err != nil {
		return fmt.Errorf("%w; start one with: dotkontor sandbox --data %s", err, c.Data)
	}
	ctx, cancel := context.WithTimeout(t.Ctx, clockTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, control.Address+path, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+control.Secret)
	res, err := http.DefaultClient.Do(req)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("no sandbox runs on the data folder %s any more; start one with: dotkontor sandbox --data %s", c.Data, c.Data)
	}
	if err != nil {
		return fmt.Errorf("the sandbox's clock: %w", err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	if err != nil {
		return fmt.Errorf("the sandbox's clock: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the sandbox's clock: %s", strings.TrimSpace(string(body)))
	}
	var clock registry.Clock
	if err := json.Unmarshal(body, &clock); err != nil {
		return fmt.Errorf("the sandbox's clock: %w", err)
	}
	_, err = fmt.Fprintln(t.Out, clock.Now.Format(time.RFC3339))
	return err
}
