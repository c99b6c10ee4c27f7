// Command dotkontor is a domain registrar's interface in one binary.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the default action is back: a second one ends the
	// process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}

// Exit codes.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
)

// terminal is where a command reads and writes, and what it finds there.
type terminal struct {
	ctx         context.Context //nolint:containedctx // one command, one terminal, one life
	environment []string
	in          io.Reader
	out         io.Writer
	err         io.Writer
}

// commands is the whole command line.
type commands struct {
	Sandbox sandboxCommand `cmd:"" help:"Run the whole product with a simulated world: no configuration, no network."`
	Serve   serveCommand   `cmd:"" help:"Run the product against the real world."`
	Config  configCommand  `cmd:"" help:"Look at the configuration."`
	Catalog catalogCommand `cmd:"" help:"Look at the price list, or replace it without a restart."`
	Version versionCommand `cmd:"" help:"Say which version this is."`
}

// run is main without the process: it returns the exit code.
func run(ctx context.Context, args, environment []string, in io.Reader, out, errOut io.Writer) int {
	t := &terminal{ctx: ctx, environment: environment, in: in, out: out, err: errOut}
	var exited *int
	parser, err := kong.New(&commands{},
		kong.Name("dotkontor"),
		kong.Description("A domain registrar's interface in one binary. Start with: dotkontor sandbox"),
		kong.Writers(out, errOut),
		kong.Exit(func(code int) { exited = &code }),
		kong.Bind(t),
		kong.Vars{"sandbox_data": sandboxData},
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		fmt.Fprintln(errOut, "dotkontor:", err)
		return exitError
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	command, err := parser.Parse(giveChaosAShare(args))
	switch {
	case exited != nil:
		return *exited
	case err != nil:
		fmt.Fprintf(errOut, "dotkontor: %v\nTry: dotkontor --help\n", err)
		return exitUsage
	}
	if err := command.Run(t); err != nil {
		var code exitCode
		if errors.As(err, &code) {
			return int(code)
		}
		fmt.Fprintln(errOut, "dotkontor:", err)
		return exitError
	}
	return exitOK
}

// exitCode is an error that has already been explained, and only sets the code.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }
