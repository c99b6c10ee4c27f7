// Command dotkontor is a domain registrar's interface in one binary.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/dotkontor/dotkontor/internal/registrar"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// After the first signal the default action is back: a second one ends the
	// process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(Run(ctx, os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
}

// Exit codes. A wrong command line has sysexits' EX_USAGE, because 2 is what
// scripts read as "nothing is free".
const (
	ExitOK            = 0
	ExitError         = 1
	ExitNoneAvailable = 2
	ExitUsage         = 64
	ExitInterrupted   = 130
)

// Terminal is where a command reads and writes, and what it finds there.
type Terminal struct {
	Ctx context.Context //nolint:containedctx // one command, one terminal, one life
	Env []string
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// Getenv is a variable of the environment, empty if it is not set.
func (t *Terminal) Getenv(name string) string {
	for _, setting := range t.Env {
		if value, found := strings.CutPrefix(setting, name+"="); found {
			return value
		}
	}
	return ""
}

// Notice tells a person something in German and English, beside the output.
func (t *Terminal) Notice(german, english string) {
	fmt.Fprintf(t.Err, "dotkontor: %s / %s\n", german, english)
}

// commands is the whole command line.
type commands struct {
	Sandbox      sandboxCommand    `cmd:"" help:"Run the whole product with a simulated world: no configuration, no network."`
	Serve        serveCommand      `cmd:"" help:"Run the product against the real world."`
	Check        checkCommand      `cmd:"" help:"Say which names are free, and what they cost."`
	Whois        whoisCommand      `cmd:"" help:"Show what a registry says in public about a name; nothing about persons."`
	Doctor       doctorCommand     `cmd:"" help:"Visit a running service as a stranger would, and say what is wrong with it."`
	Config       configCommand     `cmd:"" help:"Look at the configuration."`
	Catalog      catalogCommand    `cmd:"" help:"Look at the price list, or replace it without a restart."`
	Customers    customersCommand  `cmd:"" help:"Look after customers' accounts."`
	Tokens       tokensCommand     `cmd:"" help:"Look after customers' access tokens."`
	Domains      domainsCommand    `cmd:"" help:"Look after customers' domains, and register one for a customer."`
	Orders       ordersCommand     `cmd:"" help:"Look at customers' orders, their payments and refunds."`
	Agents       agentsCommand     `cmd:"" help:"Look after the agents that check out for customers."`
	Operators    operatorsCommand  `cmd:"" help:"Say who may open the operators' pages."`
	Invoices     invoicesCommand   `cmd:"" help:"Look at invoices and corrections, and write them to files."`
	Declarations noticesCommand    `cmd:"" help:"Look at what customers declare about their contracts: withdrawals and terminations."`
	Texts        textsCommand      `cmd:"" help:"Write the texts of the legal pages to a folder, as a starting point for your own."`
	Registry     registryCommand   `cmd:"" help:"Talk to the registries at which there is an account."`
	Backup       backupCommand     `cmd:"" help:"Write all that the database holds to one file, while the service goes on."`
	Restore      restoreCommand    `cmd:"" help:"Fill an empty database from a backup, of SQLite or PostgreSQL, into either."`
	ACP          acpCommand        `cmd:"" name:"acp" help:"Help with requests to the agentic checkout."`
	Version      versionCommand    `cmd:"" help:"Print the version and what it was built from."`
	Help         helpCommand       `cmd:"" help:"Show the help of a command."`
	Completion   completionCommand `cmd:"" help:"Print a completion script for your shell."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version and exit."`

	Complete   completeCommand   `cmd:"" hidden:"" passthrough:"" help:"Print completions of a command line, for the completion scripts."`
	HashWorker hashWorkerCommand `cmd:"" hidden:"" help:"Hash passwords for the service that has started this."`
}

// Run is main without the process: it returns the exit code.
func Run(ctx context.Context, args, environment []string, in io.Reader, out, errOut io.Writer) (code int) {
	defer func() {
		if recover() != nil {
			// The panic's own text may quote a customer's data.
			fmt.Fprintf(errOut, "dotkontor: internal error: %s; this is a bug, please report it with the lines below\n%s", registrar.PanicRecovered, debug.Stack())
			code = ExitError
		}
	}()
	t := &Terminal{Ctx: ctx, Env: environment, In: in, Out: out, Err: errOut}
	var exited *int
	parser, err := kong.New(&commands{},
		kong.Name("dotkontor"),
		kong.Description("A domain registrar's interface in one binary. Start with: dotkontor sandbox"),
		kong.Writers(out, errOut),
		kong.Exit(func(code int) { exited = &code }),
		kong.Bind(t),
		kong.Vars{"sandbox_data": SandboxData, "secret_variable": SecretVariable, "version": VersionText()},
		// Subcommands have help of their own; a list of all of them hides the commands.
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, NoExpandSubcommands: true}),
	)
	if err != nil {
		fmt.Fprintln(errOut, "dotkontor:", err)
		return ExitError
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	command, err := parser.Parse(ExpandChaosFlag(args))
	switch {
	case exited != nil:
		return *exited
	case err != nil:
		fmt.Fprintf(errOut, "dotkontor: %v\nTry: %s --help\n", err, commandPath(err))
		return ExitUsage
	}
	if err := command.Run(t); err != nil {
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

// commandPath is the command that a line which can't be parsed got to, for its help.
func commandPath(err error) string {
	var parse *kong.ParseError
	if errors.As(err, &parse) {
		if at := parse.Context.Selected(); at != nil {
			return at.FullPath()
		}
	}
	return "dotkontor"
}

// UsageError is a mistake on the command line that only the command itself can
// see.
type UsageError string

func (e UsageError) Error() string { return string(e) }

// ExitCode is an error that has already been explained, and only sets the code.
type ExitCode int

func (c ExitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }
