package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/dotkontor/dotkontor/internal/pwhash"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
)

// HashWorkerArg is the command by which the service runs itself a second time.
const HashWorkerArg = "hash-worker"

// hashWorkerCommand computes passwords' hashes for the service that has started
// it. It is not for people.
type hashWorkerCommand struct{}

// Run ends with its input. Signals go to every process of a service at once, but
// this one is needed until the service has answered its last request.
func (hashWorkerCommand) Run(t *Terminal) error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	return pwhash.Serve(t.In, t.Out)
}

// newHashWorkers hashes passwords beside the service for as long as it runs.
func (p *App) newHashWorkers() account.Deriver {
	self, err := pwhash.ExecutablePath()
	if err != nil {
		p.logger.Warn("passwords are hashed inside the service, which slows other answers: the program does not find itself", "err", err)
		return nil
	}
	workers := pwhash.New(pwhash.Config{
		Command: []string{self, HashWorkerArg}, Processes: account.DefaultHashes(), Logger: p.logger,
	})
	p.closers = append(p.closers, workers.Close)
	return workers
}
