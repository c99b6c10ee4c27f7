package admin

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/dotkontor/dotkontor/internal/app"
	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/inbox"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/upstream/epp"
)

type RegistryCommand struct {
	Check registryCheckCommand `cmd:"" help:"Check names and their prices at the registries over EPP."`
	Info  registryInfoCommand  `cmd:"" help:"Show a domain's data at its registry."`
	Poll  registryPollCommand  `cmd:"" help:"Fetch queued poll messages. The running service does this automatically."`
	Funds registryFundsCommand `cmd:"" help:"Record the opening balance, a deposit or a statement of an account that is paid in advance."`
	Rates registryRatesCommand `cmd:"" help:"Import the European Central Bank's exchange rates, for registries that charge in other currencies."`
	Sync  registrySyncCommand  `cmd:"" help:"Compare every domain with its registry and report differences."`
}

func parseListedName(d cli.Session, text string) (registrar.Name, registrar.Extension, error) {
	edition, err := d.Services.DB.PriceList(d.Ctx)
	if err != nil {
		return registrar.Name{}, registrar.Extension{}, err
	}
	list := edition.List
	name, err := registrar.ParseName(text, func(tld string) bool {
		_, listed := list.Extension(tld)
		return listed
	})
	if err != nil {
		return registrar.Name{}, registrar.Extension{}, err
	}
	extension, carried := list.Extension(name.TLD())
	if !carried {
		return name, extension, &registrar.Error{Kind: registrar.KindUnsupported, Code: registrar.NoRegistryAccount}
	}
	return name, extension, nil
}

// openProvisioning connects to the registries. It runs no background work: items are
// executed by the running service.
func openProvisioning(d cli.Session) (*provision.Service, func(), error) {
	registries, err := openRegistries(d)
	if err != nil {
		return nil, nil, err
	}
	provisioning, err := app.NewProvisioning(d.Config, d.Services, registries)
	if err != nil {
		registries.Close()
		return nil, nil, err
	}
	return provisioning, registries.Close, nil
}

func openRegistries(d cli.Session) (*app.Registries, error) {
	if len(d.Config.EPP) == 0 {
		return nil, errors.New("no registry account is configured ([[epp]], see docs/registry.md)")
	}
	return app.OpenRegistries(d.Config, slog.New(slog.DiscardHandler))
}

func clientFor(registries *app.Registries, name registrar.Name) (*epp.Client, error) {
	client, served := registries.Source.Client(name.TLD())
	if !served {
		return nil, &registrar.Error{Kind: registrar.KindUnsupported, Code: registrar.NoRegistryAccount}
	}
	return client, nil
}

type registryCheckCommand struct {
	cli.ServiceFlags
	Names []string `arg:"" help:"The names."`
}

func (c registryCheckCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		registries, err := openRegistries(d)
		if err != nil {
			return err
		}
		defer registries.Close()
		for _, text := range c.Names {
			name, extension, err := parseListedName(d, text)
			if err != nil {
				return fmt.Errorf("%s: %w", cli.Printable(text), cli.ExplainError(err))
			}
			client, err := clientFor(registries, name)
			if err != nil {
				return fmt.Errorf("%s: %w", name, cli.ExplainError(err))
			}
			answer, err := client.CheckDomains(d.Ctx, epp.CheckDomains{
				Names: []string{name.ASCII()}, Fee: epp.FeeCommand{Name: "create", Years: extension.Term()},
			})
			if errors.Is(err, &registrar.Error{Kind: registrar.KindUnsupported}) {
				answer, err = client.CheckDomains(d.Ctx, epp.CheckDomains{Names: []string{name.ASCII()}})
			}
			if err != nil {
				return explainEPPError(err)
			}
			printChecked(d.Out, answer[0])
		}
		return nil
	})
}

func printChecked(out io.Writer, checked epp.CheckResult) {
	state, rest := "free", ""
	if !checked.Available {
		state, rest = "taken", checked.Reason
	}
	if checked.Fee != nil && checked.Available {
		if price, known := checked.Fee.Price("create"); known {
			rest = price.String() + " " + checked.Fee.Currency
		}
		if checked.Fee.Premium("create") {
			rest += " premium (" + checked.Fee.Class + ")"
		}
	}
	fmt.Fprintf(out, "%-40s  %-5s  %s\n", checked.Name, state, cli.Printable(rest))
}

// explainEPPError adds the registry's own message, which operators may read.
func explainEPPError(err error) error {
	var refused *epp.ResultError
	var cause *registrar.Cause
	located := errors.As(err, &cause)
	action := ""
	if located && cause.Part == "epp" {
		action = epp.OperatorAction(cause.Class)
	}
	switch {
	case errors.As(err, &refused) && action == "": // an answer about the object itself
		messages := append([]string{refused.Message}, refused.Reasons...)
		return fmt.Errorf("EPP %d: %s", refused.Code, cli.Printable(strings.Join(messages, "; ")))
	case !located && err != nil && registrar.CauseOf(err) != "":
		return fmt.Errorf("%w: %s", err, registrar.CauseOf(err))
	case !located:
		return err
	case action != "":
		return fmt.Errorf("%w: %s", cause, action)
	default:
		return cause
	}
}

type registryInfoCommand struct {
	cli.ServiceFlags
	Name string `arg:"" help:"The domain."`
}

func (c registryInfoCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		registries, err := openRegistries(d)
		if err != nil {
			return err
		}
		defer registries.Close()
		name, _, err := parseListedName(d, c.Name)
		if err != nil {
			return err
		}
		client, err := clientFor(registries, name)
		if err != nil {
			return err
		}
		info, err := client.InfoDomain(d.Ctx, epp.InfoDomain{Name: name.ASCII()})
		if err != nil {
			return explainEPPError(err)
		}
		printInfo(d.Out, info)
		return nil
	})
}

func printInfo(out io.Writer, info epp.DomainInfo) {
	row := func(label, value string) {
		if value != "" {
			fmt.Fprintf(out, "  %-12s  %s\n", label, cli.Printable(value))
		}
	}
	fmt.Fprintln(out, info.Name)
	for _, status := range info.Statuses {
		row("status", status)
	}
	for _, grace := range info.Grace {
		row("grace", grace)
	}
	row("sponsor", info.Sponsor)
	row("registrant", info.Registrant)
	for _, contact := range info.Contacts {
		row(string(contact.Role), contact.ID)
	}
	for _, server := range info.Nameservers {
		row("nameserver", server.Name)
	}
	row("created", formatTime(info.Created))
	row("updated", formatTime(info.Updated))
	row("transferred", formatTime(info.Transferred))
	row("expires", formatTime(info.Expires))
}

type registryPollCommand struct{ cli.ServiceFlags }

// Run stores each message before it is acknowledged, as the service does.
func (c registryPollCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		provisioning, closeFn, err := openProvisioning(d)
		if err != nil {
			return err
		}
		defer closeFn()
		for _, account := range d.Config.EPP {
			count, err := provisioning.Poll(d.Ctx, account.Name, func(m inbox.Message) {
				printMessage(d.Out, account.Name, m)
			})
			if registrar.CodeOf(err) == inbox.PolledElsewhere {
				fmt.Fprintf(d.Out, "%s: polled by the running service\n", account.Name)
				continue
			}
			if err != nil {
				return explainEPPError(err)
			}
			fmt.Fprintf(d.Out, "%s: %d messages\n", account.Name, count)
		}
		return nil
	})
}

type registrySyncCommand struct{ cli.ServiceFlags }

// Run prints every difference and fails if there is one.
func (c registrySyncCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		provisioning, closeFn, err := openProvisioning(d)
		if err != nil {
			return err
		}
		defer closeFn()
		compared, differ, unknown := 0, 0, 0
		err = provisioning.SyncAll(d.Ctx, d.Operator, func(finding provision.SyncResult) error {
			compared++
			switch {
			case finding.Err != nil:
				unknown++
				fmt.Fprintf(d.Out, "%-40s  ?  %v\n", finding.Domain.Name, explainEPPError(finding.Err))
			case len(finding.Drift) > 0:
				differ++
				for _, what := range finding.Drift {
					fmt.Fprintf(d.Out, "%-40s  !  %s\n", finding.Domain.Name, what)
				}
			}
			return d.Ctx.Err()
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(d.Out, "%d compared, %d differ, %d without a response\n", compared, differ, unknown)
		if differ+unknown > 0 {
			return cli.ExitCode(cli.ExitError)
		}
		return nil
	})
}
