package cli

import (
	"fmt"

	"github.com/dotkontor/dotkontor/internal/app"
)

type VersionCommand struct{}

// Run prints the version and the build information.
func (VersionCommand) Run(t *Terminal) error {
	_, err := fmt.Fprintln(t.Out, app.VersionText())
	return err
}
