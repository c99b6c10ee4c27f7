package main

import (
	"github.com/alecthomas/kong"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/cli/admin"
	"github.com/dotkontor/dotkontor/internal/cli/check"
	"github.com/dotkontor/dotkontor/internal/cli/doctor"
	"github.com/dotkontor/dotkontor/internal/cli/sandbox"
	"github.com/dotkontor/dotkontor/internal/cli/serve"
)

// commands is the whole command line.
type commands struct {
	Sandbox      sandbox.Command        `cmd:"" help:"Run the whole product with a simulated world: no configuration, no network."`
	Serve        serve.Command          `cmd:"" help:"Run the product against the real world."`
	Check        check.Command          `cmd:"" help:"Say which names are free, and what they cost."`
	Whois        check.WhoisCommand     `cmd:"" help:"Show what a registry says in public about a name; nothing about persons."`
	Doctor       doctor.Command         `cmd:"" help:"Visit a running service as a stranger would, and say what is wrong with it."`
	Config       admin.ConfigCommand    `cmd:"" help:"Look at the configuration."`
	Catalog      admin.CatalogCommand   `cmd:"" help:"Look at the price list, or replace it without a restart."`
	Customers    admin.CustomersCommand `cmd:"" help:"Look after customers' accounts."`
	Tokens       admin.TokensCommand    `cmd:"" help:"Look after customers' access tokens."`
	Domains      admin.DomainsCommand   `cmd:"" help:"Look after customers' domains, and register one for a customer."`
	Orders       admin.OrdersCommand    `cmd:"" help:"Look at customers' orders, their payments and refunds."`
	Agents       admin.AgentsCommand    `cmd:"" help:"Look after the agents that check out for customers."`
	Operators    admin.OperatorsCommand `cmd:"" help:"Say who may open the operators' pages."`
	Invoices     admin.InvoicesCommand  `cmd:"" help:"Look at invoices and corrections, and write them to files."`
	Declarations admin.NoticesCommand   `cmd:"" help:"Look at what customers declare about their contracts: withdrawals and terminations."`
	Texts        admin.TextsCommand     `cmd:"" help:"Write the texts of the legal pages to a folder, as a starting point for your own."`
	Registry     admin.RegistryCommand  `cmd:"" help:"Talk to the registries at which there is an account."`
	Backup       admin.BackupCommand    `cmd:"" help:"Write all that the database holds to one file, while the service goes on."`
	Restore      admin.RestoreCommand   `cmd:"" help:"Fill an empty database from a backup, of SQLite or PostgreSQL, into either."`
	ACP          admin.ACPCommand       `cmd:"" name:"acp" help:"Help with requests to the agentic checkout."`
	Version      cli.VersionCommand     `cmd:"" help:"Print the version and what it was built from."`
	Help         cli.HelpCommand        `cmd:"" help:"Show the help of a command."`
	Completion   cli.CompletionCommand  `cmd:"" help:"Print a completion script for your shell."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version and exit."`

	Complete   cli.CompleteCommand     `cmd:"" hidden:"" passthrough:"" help:"Print completions of a command line, for the completion scripts."`
	HashWorker serve.HashWorkerCommand `cmd:"" name:"hash-worker" hidden:"" help:"Hash passwords for the service that has started this."`
}
