// Command dotkontor is a domain registrar's interface in one binary.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/cli/sandbox"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// Restore the default action after the first signal: a second one kills the process.
	context.AfterFunc(ctx, stop)
	os.Exit(cli.Run(ctx, &commands{}, sandbox.ExpandChaosFlag(os.Args[1:]), os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}
