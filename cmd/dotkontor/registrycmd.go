package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
	"github.com/dotkontor/dotkontor/internal/registrar/provision"
	"github.com/dotkontor/dotkontor/internal/upstream/epp"
)

type registryCommand struct {
	Check registryCheckCommand `cmd:"" help:"Ask registries over EPP which names are free, and what they cost there."`
	Info  registryInfoCommand  `cmd:"" help:"Show all that a registry tells us of a domain."`
	Poll  registryPollCommand  `cmd:"" help:"Fetch the messages that wait at registries. The running service does so by itself."`
	Sync  registrySyncCommand  `cmd:"" help:"Compare every domain with its registry, and report what differs."`
}

// orderable reads a name and finds its extension in the price list.
func (d desk) orderable(text string) (registrar.Name, registrar.Extension, error) {
	edition, err := d.people.db.PriceList(d.ctx)
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
		return name, extension, &registrar.Error{Kind: registrar.KindUnsupported, Code: provision.NoAccount}
	}
	return name, extension, nil
}

// provisioning opens the way to the registries. It carries nothing out by itself:
// the lines are the running service's.
func (d desk) provisioning() (*provision.Service, func(), error) {
	if len(d.cfg.EPP) == 0 {
		return nil, nil, errors.New("kein Registry-Konto ist eingestellt ([[epp]], siehe docs/registry.md) / no registry account is configured")
	}
	registries, err := openRegistries(d.cfg, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, nil, err
	}
	lines, err := newProvisioning(provisionParts{
		cfg: d.cfg, people: d.people, registries: registries, node: newNodeName(), now: time.Now, logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		registries.close()
		return nil, nil, err
	}
	return lines, registries.close, nil
}

// registryDesk opens the accounts alone, for questions.
func (d desk) registryDesk() (*registries, error) {
	if len(d.cfg.EPP) == 0 {
		return nil, errors.New("kein Registry-Konto ist eingestellt ([[epp]], siehe docs/registry.md) / no registry account is configured")
	}
	return openRegistries(d.cfg, slog.New(slog.DiscardHandler))
}

type registryCheckCommand struct {
	servicePlace
	Names []string `arg:"" help:"The names."`
}

// Run asks each name's own account.
func (c registryCheckCommand) Run(t *terminal) error {
	return c.operate(t, func(d desk) error {
		registries, err := d.registryDesk()
		if err != nil {
			return err
		}
		defer registries.close()
		for _, text := range c.Names {
			name, extension, err := d.orderable(text)
			if err != nil {
				return fmt.Errorf("%s: %w", printable(text), explain(err))
			}
			client, served := registries.source.Client(name.TLD())
			if !served {
				return fmt.Errorf("%s: %w", name, explain(&registrar.Error{Kind: registrar.KindUnsupported, Code: provision.NoAccount}))
			}
			answer, err := client.CheckDomains(d.ctx, epp.CheckDomains{
				Names: []string{name.ASCII()}, Fee: &epp.FeeQuestion{Commands: []epp.FeeCommand{{Name: "create", Years: extension.Term()}}},
			})
			if errors.Is(err, &registrar.Error{Kind: registrar.KindUnsupported}) {
				answer, err = client.CheckDomains(d.ctx, epp.CheckDomains{Names: []string{name.ASCII()}})
			}
			if err != nil {
				return spoken(err)
			}
			printChecked(d.out, answer[0])
		}
		return nil
	})
}

func printChecked(out io.Writer, checked epp.Checked) {
	word, rest := "frei/free", ""
	if !checked.Available {
		word, rest = "vergeben/taken", checked.Reason
	}
	if checked.Fee != nil && checked.Available {
		if price, known := checked.Fee.Price("create"); known && price.Known {
			rest = price.Amount.String() + " " + checked.Fee.Currency
		}
		if checked.Fee.Premium() {
			rest += " premium (" + checked.Fee.Class + ")"
		}
	}
	fmt.Fprintf(out, "%-40s  %-14s  %s\n", checked.Name, word, printable(rest))
}

// spoken adds the registry's own words, which operators may read.
func spoken(err error) error {
	var refused *epp.ResultError
	var cause *registrar.Cause
	located := errors.As(err, &cause)
	action := ""
	if located && cause.Part == "epp" {
		action = epp.Action(cause.Class)
	}
	switch {
	case errors.As(err, &refused) && action == "": // an answer about the object itself
		words := append([]string{refused.Message}, refused.Reasons...)
		return fmt.Errorf("EPP %d: %s", refused.Code, printable(strings.Join(words, "; ")))
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
	servicePlace
	Name string `arg:"" help:"The domain."`
}

// Run asks the account of the extension.
func (c registryInfoCommand) Run(t *terminal) error {
	return c.operate(t, func(d desk) error {
		registries, err := d.registryDesk()
		if err != nil {
			return err
		}
		defer registries.close()
		name, _, err := d.orderable(c.Name)
		if err != nil {
			return err
		}
		client, served := registries.source.Client(name.TLD())
		if !served {
			return &registrar.Error{Kind: registrar.KindUnsupported, Code: provision.NoAccount}
		}
		info, err := client.InfoDomain(d.ctx, epp.InfoDomain{Name: name.ASCII()})
		if err != nil {
			return spoken(err)
		}
		printInfo(d.out, info)
		return nil
	})
}

func printInfo(out io.Writer, info epp.DomainInfo) {
	row := func(word, value string) {
		if value != "" {
			fmt.Fprintf(out, "  %-12s  %s\n", word, printable(value))
		}
	}
	fmt.Fprintln(out, info.Name)
	for _, status := range info.Statuses {
		row("status", status.Value)
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
	row("created", moment(info.Created))
	row("updated", moment(info.Updated))
	row("transferred", moment(info.Transferred))
	row("expires", moment(info.Expires))
}

type registryPollCommand struct {
	servicePlace
}

// Run stores each message before it is acknowledged, as the service does.
func (c registryPollCommand) Run(t *terminal) error {
	return c.operate(t, func(d desk) error {
		lines, closeIt, err := d.provisioning()
		if err != nil {
			return err
		}
		defer closeIt()
		for _, account := range d.cfg.EPP {
			taken, err := lines.Poll(d.ctx, account.Name, func(m provision.Message) {
				fmt.Fprintf(d.out, "%s  %s  %s  %s  %s\n", account.Name, printable(m.ID), moment(m.Queued), dash(m.Name), printable(m.Text))
			})
			if err != nil {
				return spoken(err)
			}
			if err := d.tell(fmt.Sprintf("%s: %d Nachrichten", account.Name, taken), fmt.Sprintf("%d messages", taken)); err != nil {
				return err
			}
		}
		return nil
	})
}

type registrySyncCommand struct {
	servicePlace
}

// Run prints every domain that differs, and ends with an error if one does.
func (c registrySyncCommand) Run(t *terminal) error {
	return c.operate(t, func(d desk) error {
		lines, closeIt, err := d.provisioning()
		if err != nil {
			return err
		}
		defer closeIt()
		compared, differ, unknown := 0, 0, 0
		err = lines.Sync(d.ctx, d.operator, func(finding provision.Finding) error {
			compared++
			switch {
			case finding.Err != nil:
				unknown++
				fmt.Fprintf(d.out, "%-40s  ?  %v\n", finding.Domain.Name, spoken(finding.Err))
			case len(finding.Drift) > 0:
				differ++
				for _, what := range finding.Drift {
					fmt.Fprintf(d.out, "%-40s  !  %s\n", finding.Domain.Name, what)
				}
			}
			return d.ctx.Err()
		})
		if err != nil {
			return err
		}
		if err := d.tell(fmt.Sprintf("%d verglichen, %d weichen ab, %d ohne Antwort", compared, differ, unknown),
			fmt.Sprintf("%d compared, %d differ, %d without an answer", compared, differ, unknown)); err != nil {
			return err
		}
		if differ+unknown > 0 {
			return exitCode(exitError)
		}
		return nil
	})
}
