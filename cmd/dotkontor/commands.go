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

// commands is the grammar of the command line.
type commands struct {
	Sandbox    sandbox.Command        `cmd:"" help:"Run the service against simulated upstreams: no configuration, no network."`
	Serve      serve.Command          `cmd:"" help:"Run the service."`
	Check      check.Command          `cmd:"" help:"Check which names are available, and what they cost."`
	Whois      check.WhoisCommand     `cmd:"" help:"Show a name's public registration data, without personal data."`
	Doctor     doctor.Command         `cmd:"" help:"Check a running service from outside, or reconcile orders with payments."`
	Config     admin.ConfigCommand    `cmd:"" help:"Check the configuration and manage secret keys."`
	Catalog    admin.CatalogCommand   `cmd:"" help:"Show the price list, or replace it without a restart."`
	Customers  admin.CustomersCommand `cmd:"" help:"Manage customer accounts."`
	Tokens     admin.TokensCommand    `cmd:"" help:"Manage customers' access tokens."`
	Domains    admin.DomainsCommand   `cmd:"" help:"Show customers' domains, and register or renew one manually."`
	Terms      admin.TermsCommand     `cmd:"" help:"Decide about domains that were not renewed, and show and release the safety brake."`
	Orders     admin.OrdersCommand    `cmd:"" help:"Show orders, payments and refunds."`
	Agents     admin.AgentsCommand    `cmd:"" help:"Manage checkout agents."`
	Operators  admin.OperatorsCommand `cmd:"" help:"Manage operator accounts."`
	Invoices   admin.InvoicesCommand  `cmd:"" help:"Show and export invoices and credit notes."`
	Notices    admin.NoticesCommand   `cmd:"" help:"Show withdrawals and terminations sent by customers."`
	Texts      admin.TextsCommand     `cmd:"" help:"Write the shipped legal texts to a folder, as a starting point for your own."`
	Registry   admin.RegistryCommand  `cmd:"" help:"Query the registries over EPP."`
	Migrate    admin.MigrateCommand   `cmd:"" help:"Migrate the database to this program's schema, or show what that would do."`
	Backup     admin.BackupCommand    `cmd:"" help:"Back up the database to a file while the service runs."`
	Restore    admin.RestoreCommand   `cmd:"" help:"Restore a backup into an empty SQLite or PostgreSQL database."`
	ACP        admin.ACPCommand       `cmd:"" name:"acp" help:"Sign requests to the agentic checkout."`
	Version    cli.VersionCommand     `cmd:"" help:"Print the version and build revision."`
	Help       cli.HelpCommand        `cmd:"" help:"Show the help of a command."`
	Completion cli.CompletionCommand  `cmd:"" help:"Print a shell completion script."`

	ShowVersion kong.VersionFlag `name:"version" help:"Print the version and exit."`

	Complete   cli.CompleteCommand     `cmd:"" hidden:"" passthrough:"" help:"Print completions of a command line, for the completion scripts."`
	HashWorker serve.HashWorkerCommand `cmd:"" name:"hash-worker" hidden:"" help:"Hash passwords for the service that started this process."`
}
