package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/dotkontor/dotkontor/internal/hashing"
	"github.com/dotkontor/dotkontor/internal/registrar/customer"
)

// hashWorkerName is the command by which the service runs itself a second time.
const hashWorkerName = "hash-worker"

// hashWorkerCommand computes passwords' hashes for the service that has started
// it. It is not for people.
type hashWorkerCommand struct{}

// Run ends with its input. Signals go to every process of a service at once, but
// this one is needed until the service has answered its last request.
func (hashWorkerCommand) Run(t *terminal) error {
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	return hashing.Serve(t.in, t.out)
}

// newHashWorkers hashes passwords beside the service for as long as it runs.
func (p *product) newHashWorkers() customer.Deriver {
	self, err := hashing.Self()
	if err != nil {
		p.logger.Warn("passwords are hashed inside the service, which slows other answers: the program does not find itself", "err", err)
		return nil
	}
	workers := hashing.New(hashing.Config{
		Command: []string{self, hashWorkerName}, Processes: customer.DefaultHashes(), Logger: p.logger,
	})
	p.closers = append(p.closers, workers.Close)
	return workers
}
