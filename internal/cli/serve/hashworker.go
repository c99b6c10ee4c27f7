package serve

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/pwhash"
)

// HashWorkerCommand hashes passwords for the service, which starts it as a child process.
type HashWorkerCommand struct{}

// Run returns when its input ends. It ignores signals, which are sent to every process of
// a service at once, because the service needs it until its last request is done.
func (HashWorkerCommand) Run(t *cli.Terminal) error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	return pwhash.Serve(t.In, t.Out)
}
