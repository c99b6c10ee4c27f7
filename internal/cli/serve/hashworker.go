package serve

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/pwhash"
)

// HashWorkerCommand computes passwords' hashes for the service that has started
// it. It is not for people.
type HashWorkerCommand struct{}

// Run ends with its input. Signals go to every process of a service at once, but
// this one is needed until the service has answered its last request.
func (HashWorkerCommand) Run(t *cli.Terminal) error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	return pwhash.Serve(t.In, t.Out)
}
