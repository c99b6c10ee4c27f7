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

// clockTimeout limits a request to advance the clock. The response comes only after
// everything that falls due in that time has happened.
const clockTimeout = 10 * time.Minute

// clockCommand controls the clock of a sandbox in another process.
type clockCommand struct {
	Show    clockShow    `cmd:"" default:"1" help:"Print the time in the sandbox."`
	Advance clockAdvance `cmd:"" help:"Advance the clock: domains expire, transfers complete, names are released."`
}

type clockShow struct{}

func (clockShow) Run(sandbox *Command, t *cli.Terminal) error {
	return sandbox.requestClock(t, http.MethodGet, "/clock")
}

type clockAdvance struct {
	By string `arg:"" help:"Duration, such as 1y, 30d, 2w or 12h. The clock never goes back."`
}

func (c clockAdvance) AfterApply() error {
	_, err := registry.ParseDuration(c.By)
	return err
}

func (c clockAdvance) Run(sandbox *Command, t *cli.Terminal) error {
	return sandbox.requestClock(t, http.MethodPost, "/clock/advance?by="+url.QueryEscape(c.By))
}

// requestClock sends a request to the running sandbox and prints the time in the response.
func (c Command) requestClock(t *cli.Terminal, method, path string) error {
	var clock registry.Clock
	if err := c.requestControl(t, "clock", method, path, &clock); err != nil {
		return err
	}
	return t.Println("%s", clock.Now.Format(time.RFC3339))
}

// requestControl finds the running sandbox by its data folder, sends the request and decodes
// the response. what names the command in errors.
func (c Command) requestControl(t *cli.Terminal, what, method, path string, into any) error {
	if c.Info != "" {
		return fmt.Errorf("sandbox %s: --info only applies to the command that starts the sandbox; a running one is found by --data %s", what, c.Data)
	}
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
		return fmt.Errorf("no sandbox is running on the data folder %s; start one with: dotkontor sandbox --data %s", c.Data, c.Data)
	}
	if err != nil {
		return fmt.Errorf("sandbox %s: %w", what, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	if err != nil {
		return fmt.Errorf("sandbox %s: %w", what, err)
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("sandbox %s: %s", what, strings.TrimSpace(string(body)))
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("sandbox %s: %w", what, err)
	}
	return nil
}
