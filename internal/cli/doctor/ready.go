package doctor

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
)

const readyTimeout = 5 * time.Second

// askReady prints what a node says about itself, and fails unless it accepts requests. The image
// has no other program that could ask.
func (c *Command) askReady(t *cli.Terminal) error {
	base, err := baseAddress(c.Ready)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(t.Ctx, readyTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	if err != nil {
		return err
	}
	if _, err := fmt.Fprint(t.Out, string(text)); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return cli.ExitCode(cli.ExitError)
	}
	return nil
}
