package admin

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/signing"
)

type AgentsCommand struct {
	Add    agentsAddCommand    `cmd:"" help:"Let a checkout agent in, and print its key and secret."`
	List   agentsListCommand   `cmd:"" help:"Show all agents, the oldest first. Never their secrets."`
	Rotate agentsRotateCommand `cmd:"" help:"Give an agent another secret, key or webhook."`
	Remove agentsRemoveCommand `cmd:"" help:"End an agent: its next request is refused, and no customer is linked to it any more."`
	Link   agentsLinkCommand   `cmd:"" help:"Let an agent see and pay a customer's orders, or end that."`
}

type agentsAddCommand struct {
	cli.ServiceFlags
	Name              string `arg:"" help:"What customers read."`
	Profile           string `default:"ours" enum:"ours,body,canonical" help:"Which bytes it signs: ours, body or canonical (docs/checkout.md)."`
	SecretFile        string `help:"File with a secret that the agent has already; - for standard input. Default: one is made." placeholder:"FILE"`
	Webhook           string `help:"Address at which it hears of its orders. Default: none." placeholder:"URL"`
	WebhookVersion    string `help:"The protocol's version in which it hears: 2026-04-17 or 2025-09-29. Default: the newest." placeholder:"VERSION"`
	WebhookSecretFile string `help:"File with the secret that our messages to it are signed with; - for standard input. Default: one is made." placeholder:"FILE"`
	JSON              bool   `name:"json" help:"Print one JSON object."`
}

// Run lets the agent in.
func (c agentsAddCommand) Run(t *cli.Terminal) error {
	admission := agent.AddParams{Name: c.Name, Profile: signing.Profile(c.Profile), WebhookURL: c.Webhook, WebhookVersion: c.WebhookVersion}
	var err error
	if admission.Secret, err = t.ReadSecret(c.SecretFile); err != nil {
		return err
	}
	if admission.WebhookSecret, err = t.ReadSecret(c.WebhookSecretFile); err != nil {
		return err
	}
	return c.WithSession(t, func(d cli.Session) error {
		added, issued, err := d.Services.Agents.Add(d.Ctx, d.Operator, admission)
		if err != nil {
			return err
		}
		return printIssued(d, "zugelassen", "let in", added.ID, cli.Printable(added.Name), issued, c.JSON)
	})
}

// printIssued prints what is shown once, each on a line of its own.
func printIssued(d cli.Session, german, english, id, name string, issued agent.IssuedSecrets, asJSON bool) error {
	if asJSON {
		text, err := json.Marshal(struct {
			ID            string `json:"id"`
			Name          string `json:"name,omitempty"`
			Key           string `json:"key,omitempty"`
			Secret        string `json:"secret,omitempty"`
			WebhookSecret string `json:"webhook_secret,omitempty"`
		}{id, name, issued.Key, issued.Secret, issued.WebhookSecret})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(d.Out, "%s\n", text)
		return err
	}
	if name != "" {
		id = name + " (" + id + ")"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s / %s: %s\n", german, english, id)
	if issued != (agent.IssuedSecrets{}) {
		text.WriteString("Bitte sicher übergeben; es wird nur dieses eine Mal gezeigt:\nPlease hand it over safely; it is shown this one time only:\n\n")
	}
	for _, line := range []struct{ label, value string }{
		{"Schlüssel / key", issued.Key}, {"Geheimnis / secret", issued.Secret}, {"Webhook", issued.WebhookSecret},
	} {
		if line.value != "" {
			fmt.Fprintf(&text, "%s  %s\n", cli.Pad(line.label, 18, false), line.value)
		}
	}
	_, err := io.WriteString(d.Out, text.String())
	return err
}

type agentsListCommand struct {
	cli.ServiceFlags
	JSON bool `name:"json" help:"Print one JSON array."`
}

// Run prints the agents.
func (c agentsListCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		agents, err := d.Services.Agents.List(d.Ctx, d.Operator)
		if err != nil {
			return err
		}
		list := newRowPrinter(d.Out, c.JSON, fmt.Sprintf("%-30s  %-10s  %-9s  %-16s  %s", "ID", "Status", "Profil", "seit/since (UTC)", "Name"))
		for _, one := range agents {
			if err := list.add(newAgentRow(one)); err != nil {
				return err
			}
		}
		return list.end()
	})
}

// agentRow is one agent in a list.
type agentRow struct {
	ID        string     `json:"id"`
	Name      string     `json:"name"`
	Status    string     `json:"status"`
	Profile   string     `json:"profile"`
	Webhook   string     `json:"webhook,omitempty"`
	CreatedAt *time.Time `json:"created_at"`
	RemovedAt *time.Time `json:"removed_at"`

	since time.Time
}

func newAgentRow(one agent.Agent) agentRow {
	row := agentRow{
		ID: one.ID, Name: one.Name, Status: "active", Profile: string(one.Profile), Webhook: one.WebhookURL, since: one.CreatedAt,
		CreatedAt: jsonTime(one.CreatedAt), RemovedAt: jsonTime(one.RemovedAt),
	}
	if !one.RemovedAt.IsZero() {
		row.Status = "removed"
	}
	return row
}

func (r agentRow) String() string {
	labels := map[string]string{"active": "aktiv", "removed": "entfernt"}
	return fmt.Sprintf("%-30s  %s  %-9s  %-16s  %s", r.ID, cli.Pad(labels[r.Status], 10, false), r.Profile, formatTime(r.since), cli.Printable(r.Name))
}

type agentsRotateCommand struct {
	cli.ServiceFlags
	ID             string `arg:"" help:"The agent's id, as the list shows it (agt_…)."`
	SecretFile     string `help:"File with a secret that the agent has already; - for standard input. Default: one is made." placeholder:"FILE" xor:"what"`
	Only           bool   `help:"End all other secrets at once. Without it the one before goes on working until the next time."`
	Key            bool   `help:"Another key instead of a secret; the old one ends at once." xor:"what"`
	Webhook        string `help:"Another address for messages instead of a secret, or 'off'." placeholder:"URL" xor:"what"`
	WebhookVersion string `help:"With --webhook: the protocol's version in which it hears, 2026-04-17 or 2025-09-29. Default: the newest." placeholder:"VERSION"`
	JSON           bool   `name:"json" help:"Print one JSON object."`
}

// Run gives the agent something new.
func (c agentsRotateCommand) Run(t *cli.Terminal) error {
	if c.WebhookVersion != "" && (c.Webhook == "" || c.Webhook == "off") {
		return cli.UsageError("--webhook-version goes with the address: say it as well, with --webhook")
	}
	if c.Only && (c.Key || c.Webhook != "") {
		return cli.UsageError("--only ends secrets, and no secret is changed here: leave it out, or call rotate twice")
	}
	given, err := t.ReadSecret(c.SecretFile)
	if err != nil {
		return err
	}
	return c.WithSession(t, func(d cli.Session) error {
		var issued agent.IssuedSecrets
		var err error
		switch {
		case c.Key:
			issued, err = d.Services.Agents.ReplaceKey(d.Ctx, d.Operator, c.ID)
		case c.Webhook == "off":
			issued, err = d.Services.Agents.SetWebhook(d.Ctx, d.Operator, c.ID, agent.Webhook{})
		case c.Webhook != "":
			issued, err = d.Services.Agents.SetWebhook(d.Ctx, d.Operator, c.ID, agent.Webhook{URL: c.Webhook, Version: c.WebhookVersion})
		default:
			issued, err = d.Services.Agents.RotateSecret(d.Ctx, d.Operator, c.ID, given, c.Only)
		}
		if err != nil {
			return err
		}
		return printIssued(d, "gewechselt", "changed", c.ID, "", issued, c.JSON)
	})
}

type agentsRemoveCommand struct {
	cli.ServiceFlags
	ID string `arg:"" help:"The agent's id, as the list shows it (agt_…)."`
}

// Run ends the agent.
func (c agentsRemoveCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		if err := d.Services.Agents.Remove(d.Ctx, d.Operator, c.ID); err != nil {
			return err
		}
		return d.PrintBilingual("entfernt: "+c.ID, "removed")
	})
}

type agentsLinkCommand struct {
	cli.ServiceFlags
	ID    string `arg:"" help:"The agent's id, as the list shows it (agt_…)."`
	Email string `arg:"" help:"The customer's e-mail address. The customer gets a mail about it."`
	End   bool   `help:"End the link instead."`
}

// Run links, or ends a link.
func (c agentsLinkCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		account, err := d.FindCustomer(c.Email)
		if err != nil {
			return err
		}
		operator := d.Operator
		operator.Customer = account.ID
		if c.End {
			if err := d.Services.Agents.Unlink(d.Ctx, operator, c.ID); err != nil {
				return err
			}
			return d.PrintBilingual("getrennt: "+account.Email, "no longer linked")
		}
		if err := d.Services.Agents.Link(d.Ctx, operator, c.ID); err != nil {
			return err
		}
		return d.PrintBilingual("verbunden: "+account.Email, "linked")
	})
}
