package app

import (
	"github.com/dotkontor/dotkontor/internal/pwhash"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
)

// HashWorkerArg is the command that the service starts as a child process.
const HashWorkerArg = "hash-worker"

// newHashWorkers starts child processes that hash passwords at a low priority.
func (p *App) newHashWorkers() account.Deriver {
	self, err := pwhash.ExecutablePath()
	if err != nil {
		p.logger.Warn("passwords are hashed in the service process: executable not found", "err", err)
		return nil
	}
	workers := pwhash.New(pwhash.Config{
		Command: []string{self, HashWorkerArg}, Processes: account.DefaultHashes(), Logger: p.logger,
	})
	p.closers = append(p.closers, workers.Close)
	return workers
}
