// Package cli runs the command line and has the code that commands share.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/alecthomas/kong"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// Exit codes. A usage error is 64 (EX_USAGE of sysexits), because 2 means that no name is available.
const (
	ExitOK            = 0
	ExitError         = 1
	ExitNoneAvailable = 2
	ExitIncompatible  = 3 // migrations that running nodes can't survive
	ExitUsage         = 64
	ExitInterrupted   = 130
)

// UsageError is a mistake on the command line that the parser can't detect.
type UsageError string

func (e UsageError) Error() string { return string(e) }

// ExitCode sets the exit code of an error that is already printed.
type ExitCode int

func (c ExitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// Status is the result of a check.
type Status string

const (
	StatusOK   Status = "ok"
	StatusWarn Status = "WARN"
	StatusFail Status = "FAIL"
)

// Run parses args by the kong grammar, runs the command and returns the exit code.
func Run(ctx context.Context, grammar any, args, environment []string, in io.Reader, out, errOut io.Writer) (code int) {
	defer func() {
		if recover() != nil {
			// The panic's own message may contain a customer's data.
			fmt.Fprintf(errOut, "dotkontor: internal error: %s; this is a bug, please report it with the lines below\n%s", registrar.PanicRecovered, debug.Stack())
			code = ExitError
		}
	}()
	checked := &output{Writer: out}
	t := &Terminal{Ctx: ctx, Env: environment, In: in, Out: checked, Err: errOut}
	var exited *int
	parser, err := kong.New(grammar,
		kong.Name("dotkontor"),
		kong.Description("A domain registrar's interface in one binary. Start with: dotkontor sandbox"),
		kong.Writers(out, errOut),
		kong.Exit(func(code int) { exited = &code }),
		kong.Bind(t),
		kong.Vars{"sandbox_data": SandboxData, "secret_variable": SecretVariable, "version": app.VersionText()},
		// Subcommands have their own help; listing all of them would hide the commands.
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
	)
	if err != nil {
		fmt.Fprintln(errOut, "dotkontor:", err)
		return ExitError
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	command, err := parser.Parse(args)
	switch {
	case exited != nil:
		return *exited
	case err != nil:
		fmt.Fprintf(errOut, "dotkontor: %v\nTry: %s --help\n", err, commandPath(err))
		return ExitUsage
	}
	run := func() error { return command.Run(t) }
	if selected, ok := command.Selected().Target.Addr().Interface().(interface{ Run(*Terminal) error }); ok {
		// Only commands that need others are run by the parser: its model of all commands is
		// garbage while a service runs.
		run = func() error { return selected.Run(t) }
	}
	if err := cmp.Or(run(), checked.err); err != nil {
		var code ExitCode
		if errors.As(err, &code) {
			return int(code)
		}
		fmt.Fprintln(errOut, "dotkontor:", err)
		var wrong UsageError
		if errors.As(err, &wrong) {
			return ExitUsage
		}
		return ExitError
	}
	return ExitOK
}

// commandPath returns the last command that was parsed before an error.
func commandPath(err error) string {
	var parse *kong.ParseError
	if errors.As(err, &parse) {
		if at := parse.Context.Selected(); at != nil {
			return at.FullPath()
		}
	}
	return "dotkontor"
}
