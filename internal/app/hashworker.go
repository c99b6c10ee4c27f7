package app

import (
	"github.com/dotkontor/dotkontor/internal/pwhash"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
)

// HashWorkerArg is the command by which the service runs itself a second time.
const HashWorkerArg = "hash-worker"

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
