package admin

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar/account"
	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/signing"
)

type AgentsCommand struct {
	Add    agentsAddCommand    `cmd:"" help:"Add a checkout agent and print its key and secret."`
	List   agentsListCommand   `cmd:"" help:"List all agents, oldest first, without their secrets."`
	Rotate agentsRotateCommand `cmd:"" help:"Replace an agent's secret, key or webhook."`
	Remove agentsRemoveCommand `cmd:"" help:"Remove an agent: its requests are rejected and its links to customers end."`
	Link   agentsLinkCommand   `cmd:"" help:"Link an agent to a customer, whose orders it may then see and pay, or remove the link."`
}

type agentsAddCommand struct {
	cli.ServiceFlags
	Name              string `arg:"" help:"Name that customers see."`
	Profile           string `default:"ours" enum:"ours,body,canonical" help:"Signature profile: ours, body or canonical (docs/checkout.md)."`
	SecretFile        string `help:"File with an existing secret; - for standard input. Default: a new one is generated." placeholder:"FILE"`
	Webhook           string `help:"URL that receives order webhooks. Default: none." placeholder:"URL"`
	WebhookVersion    string `help:"Protocol version of webhooks: 2026-04-17 or 2025-09-29. Default: the newest." placeholder:"VERSION"`
	WebhookSecretFile string `help:"File with the secret that signs webhooks; - for standard input. Default: a new one is generated." placeholder:"FILE"`
	JSON              bool   `name:"json" help:"Print one JSON object."`
}

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
		return printIssued(d, "agent added", added.ID, cli.Printable(added.Name), issued, c.JSON)
	})
}

// printIssued prints credentials, which are shown only once.
func printIssued(d cli.Session, done, id, name string, issued agent.IssuedSecrets, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(d.Out).Encode(struct {
			ID            string `json:"id"`
			Name          string `json:"name,omitempty"`
			Key           string `json:"key,omitempty"`
			Secret        string `json:"secret,omitempty"`
			WebhookSecret string `json:"webhook_secret,omitempty"`
		}{id, name, issued.Key, issued.Secret, issued.WebhookSecret})
	}
	if name != "" {
		id = name + " (" + id + ")"
	}
	fmt.Fprintf(d.Out, "%s: %s\n", done, id)
	if issued != (agent.IssuedSecrets{}) {
		fmt.Fprint(d.Out, "Send these over a secure channel. They are not shown again:\n\n")
	}
	for _, line := range []struct{ label, value string }{
		{"key", issued.Key}, {"secret", issued.Secret}, {"webhook secret", issued.WebhookSecret},
	} {
		if line.value != "" {
			fmt.Fprintf(d.Out, "%-14s  %s\n", line.label, line.value)
		}
	}
	return nil
}

type agentsListCommand struct{ listFlags }

func (c agentsListCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		agents, err := d.Services.Agents.List(d.Ctx, d.Operator)
		if err != nil {
			return err
		}
		list := newList(t, c.JSON, "%-30s  %-10s  %-9s  %-16s  %s", "ID", "Status", "Profile", "Created (UTC)", "Name")
		for _, one := range agents {
			status := "active"
			if !one.RemovedAt.IsZero() {
				status = "removed"
			}
			list.add(struct {
				ID        string          `json:"id"`
				Name      string          `json:"name"`
				Status    string          `json:"status"`
				Profile   signing.Profile `json:"profile"`
				Webhook   string          `json:"webhook,omitempty"`
				CreatedAt *time.Time      `json:"created_at"`
				RemovedAt *time.Time      `json:"removed_at"`
			}{one.ID, one.Name, status, one.Profile, one.WebhookURL, jsonTime(one.CreatedAt), jsonTime(one.RemovedAt)},
				one.ID, status, one.Profile, formatTime(one.CreatedAt), cli.Printable(one.Name))
		}
		return list.end(nil)
	})
}

type agentsRotateCommand struct {
	cli.ServiceFlags
	ID             string `arg:"" help:"The agent's ID, as shown by list (agt_…)."`
	SecretFile     string `help:"File with an existing secret; - for standard input. Default: a new one is generated." placeholder:"FILE" xor:"what"`
	Only           bool   `help:"Revoke all other secrets at once. Without it the previous secret stays valid until the next rotation."`
	Key            bool   `help:"Replace the key instead of the secret; the old key is revoked at once." xor:"what"`
	Webhook        string `help:"Set another webhook URL instead of a secret, or 'off'." placeholder:"URL" xor:"what"`
	WebhookVersion string `help:"With --webhook: protocol version, 2026-04-17 or 2025-09-29. Default: the newest." placeholder:"VERSION"`
	JSON           bool   `name:"json" help:"Print one JSON object."`
}

func (c agentsRotateCommand) Run(t *cli.Terminal) error {
	if c.WebhookVersion != "" && (c.Webhook == "" || c.Webhook == "off") {
		return cli.UsageError("--webhook-version requires --webhook URL")
	}
	if c.Only && (c.Key || c.Webhook != "") {
		return cli.UsageError("--only revokes secrets and can't be combined with --key or --webhook")
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
		return printIssued(d, "agent changed", c.ID, "", issued, c.JSON)
	})
}

type agentsRemoveCommand struct {
	cli.ServiceFlags
	ID string `arg:"" help:"The agent's ID, as shown by list (agt_…)."`
}

func (c agentsRemoveCommand) Run(t *cli.Terminal) error {
	return c.WithSession(t, func(d cli.Session) error {
		return d.Report(d.Services.Agents.Remove(d.Ctx, d.Operator, c.ID), "removed: %s", c.ID)
	})
}

type agentsLinkCommand struct {
	cli.ServiceFlags
	ID    string `arg:"" help:"The agent's ID, as shown by list (agt_…)."`
	Email string `arg:"" help:"The customer's email address. The customer is notified by mail."`
	End   bool   `help:"Remove the link instead."`
}

func (c agentsLinkCommand) Run(t *cli.Terminal) error {
	return c.WithCustomer(t, c.Email, func(d cli.Session, account account.Customer) error {
		operator := d.Operator
		operator.Customer = account.ID
		if c.End {
			return d.Report(d.Services.Agents.Unlink(d.Ctx, operator, c.ID), "link removed: %s", account.Email)
		}
		return d.Report(d.Services.Agents.Link(d.Ctx, operator, c.ID), "linked: %s", account.Email)
	})
}
