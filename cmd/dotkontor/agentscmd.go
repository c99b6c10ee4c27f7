package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/agent"
	"github.com/dotkontor/dotkontor/internal/registrar/signing"
)

type agentsCommand struct {
	Add    agentsAddCommand    `cmd:"" help:"Let a checkout agent in, and print its key and secret."`
	List   agentsListCommand   `cmd:"" help:"Show all agents, the oldest first. Never their secrets."`
	Rotate agentsRotateCommand `cmd:"" help:"Give an agent another secret, key or webhook."`
	Remove agentsRemoveCommand `cmd:"" help:"End an agent: its next request is refused, and no customer is linked to it any more."`
	Link   agentsLinkCommand   `cmd:"" help:"Let an agent see and pay a customer's orders, or end that."`
}

type agentsAddCommand struct {
	servicePlace
	Name              string `arg:"" help:"What customers read."`
	Profile           string `default:"ours" enum:"ours,body,canonical" help:"Which bytes it signs: ours, body or canonical (docs/checkout.md)."`
	SecretFile        string `help:"File with a secret that the agent has already; - for standard input. Default: one is made." placeholder:"FILE"`
	Webhook           string `help:"Address at which it hears of its orders. Default: none." placeholder:"URL"`
	WebhookVersion    string `help:"The protocol's version in which it hears: 2026-04-17 or 2025-09-29. Default: the newest." placeholder:"VERSION"`
	WebhookSecretFile string `help:"File with the secret that our messages to it are signed with; - for standard input. Default: one is made." placeholder:"FILE"`
	JSON              bool   `name:"json" help:"Print one JSON object."`
}

// Run lets the agent in.
func (c agentsAddCommand) Run(t *terminal) error {
	wanted := agent.Admission{Name: c.Name, Profile: signing.Profile(c.Profile), WebhookURL: c.Webhook, WebhookVersion: c.WebhookVersion}
	var err error
	if wanted.Secret, err = t.secretIn(c.SecretFile); err != nil {
		return err
	}
	if wanted.WebhookSecret, err = t.secretIn(c.WebhookSecretFile); err != nil {
		return err
	}
	return c.operate(t, func(d desk) error {
		added, issued, err := d.people.agents.Add(d.ctx, d.operator, wanted)
		if err != nil {
			return err
		}
		return d.printIssued("zugelassen", "let in", added.ID, printable(added.Name), issued, c.JSON)
	})
}

// secretIn reads a secret from a file. An empty path is an empty secret.
func (t *terminal) secretIn(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	text, err := t.read(path)
	if err != nil {
		return "", fmt.Errorf("the secret: %w", err)
	}
	secret := strings.TrimSpace(string(text))
	if secret == "" {
		return "", errors.New("the file with the secret is empty")
	}
	return secret, nil
}

// largestRead bounds what a command reads into memory.
const largestRead = 1 << 20

// read reads a file, or standard input for a hyphen.
func (t *terminal) read(path string) ([]byte, error) {
	from := t.in
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		from = file
	}
	text, err := io.ReadAll(io.LimitReader(from, largestRead+1))
	if err == nil && len(text) > largestRead {
		err = errors.New("that is more than a megabyte")
	}
	return text, err
}

// printIssued prints what is shown once, each on a line of its own.
func (d desk) printIssued(german, english, id, name string, issued agent.Issued, asJSON bool) error {
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
		_, err = fmt.Fprintf(d.out, "%s\n", text)
		return err
	}
	if name != "" {
		id = name + " (" + id + ")"
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s / %s: %s\n", german, english, id)
	if issued != (agent.Issued{}) {
		text.WriteString("Bitte sicher übergeben; es wird nur dieses eine Mal gezeigt:\nPlease hand it over safely; it is shown this one time only:\n\n")
	}
	for _, line := range []struct{ label, value string }{
		{"Schlüssel / key", issued.Key}, {"Geheimnis / secret", issued.Secret}, {"Webhook", issued.WebhookSecret},
	} {
		if line.value != "" {
			fmt.Fprintf(&text, "%s  %s\n", pad(line.label, 18, false), line.value)
		}
	}
	_, err := io.WriteString(d.out, text.String())
	return err
}

type agentsListCommand struct {
	servicePlace
	JSON bool `name:"json" help:"Print one JSON array."`
}

// Run prints the agents.
func (c agentsListCommand) Run(t *terminal) error {
	return c.operate(t, func(d desk) error {
		agents, err := d.people.agents.List(d.ctx, d.operator)
		if err != nil {
			return err
		}
		list := newList(d.out, c.JSON, fmt.Sprintf("%-30s  %-10s  %-9s  %-16s  %s", "ID", "Status", "Profil", "seit/since (UTC)", "Name"))
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
		CreatedAt: stamp(one.CreatedAt), RemovedAt: stamp(one.RemovedAt),
	}
	if !one.RemovedAt.IsZero() {
		row.Status = "removed"
	}
	return row
}

func (r agentRow) String() string {
	words := map[string]string{"active": "aktiv", "removed": "entfernt"}
	return fmt.Sprintf("%-30s  %s  %-9s  %-16s  %s", r.ID, pad(words[r.Status], 10, false), r.Profile, moment(r.since), printable(r.Name))
}

type agentsRotateCommand struct {
	servicePlace
	ID             string `arg:"" help:"The agent's id, as the list shows it (agt_…)."`
	SecretFile     string `help:"File with a secret that the agent has already; - for standard input. Default: one is made." placeholder:"FILE" xor:"what"`
	Only           bool   `help:"End all other secrets at once. Without it the one before goes on working until the next time."`
	Key            bool   `help:"Another key instead of a secret; the old one ends at once." xor:"what"`
	Webhook        string `help:"Another address for messages instead of a secret, or 'off'." placeholder:"URL" xor:"what"`
	WebhookVersion string `help:"With --webhook: the protocol's version in which it hears, 2026-04-17 or 2025-09-29. Default: the newest." placeholder:"VERSION"`
	JSON           bool   `name:"json" help:"Print one JSON object."`
}

// Run gives the agent something new.
func (c agentsRotateCommand) Run(t *terminal) error {
	if c.WebhookVersion != "" && (c.Webhook == "" || c.Webhook == "off") {
		return usageError("--webhook-version goes with the address: say it as well, with --webhook")
	}
	if c.Only && (c.Key || c.Webhook != "") {
		return usageError("--only ends secrets, and no secret is changed here: leave it out, or call rotate twice")
	}
	given, err := t.secretIn(c.SecretFile)
	if err != nil {
		return err
	}
	return c.operate(t, func(d desk) error {
		var issued agent.Issued
		var err error
		switch {
		case c.Key:
			issued, err = d.people.agents.Rekey(d.ctx, d.operator, c.ID)
		case c.Webhook == "off":
			issued, err = d.people.agents.SetWebhook(d.ctx, d.operator, c.ID, agent.Webhook{})
		case c.Webhook != "":
			issued, err = d.people.agents.SetWebhook(d.ctx, d.operator, c.ID, agent.Webhook{URL: c.Webhook, Version: c.WebhookVersion})
		default:
			issued, err = d.people.agents.Rotate(d.ctx, d.operator, c.ID, given, c.Only)
		}
		if err != nil {
			return err
		}
		return d.printIssued("gewechselt", "changed", c.ID, "", issued, c.JSON)
	})
}

type agentsRemoveCommand struct {
	servicePlace
	ID string `arg:"" help:"The agent's id, as the list shows it (agt_…)."`
}

// Run ends the agent.
func (c agentsRemoveCommand) Run(t *terminal) error {
	return c.operate(t, func(d desk) error {
		if err := d.people.agents.Remove(d.ctx, d.operator, c.ID); err != nil {
			return err
		}
		return d.tell("entfernt: "+c.ID, "removed")
	})
}

type agentsLinkCommand struct {
	servicePlace
	ID    string `arg:"" help:"The agent's id, as the list shows it (agt_…)."`
	Email string `arg:"" help:"The customer's e-mail address. The customer gets a mail about it."`
	End   bool   `help:"End the link instead."`
}

// Run links, or ends a link.
func (c agentsLinkCommand) Run(t *terminal) error {
	return c.operate(t, func(d desk) error {
		account, err := d.find(c.Email)
		if err != nil {
			return err
		}
		operator := d.operator
		operator.Customer = account.ID
		if c.End {
			if err := d.people.agents.Unlink(d.ctx, operator, c.ID); err != nil {
				return err
			}
			return d.tell("getrennt: "+account.Email, "no longer linked")
		}
		if err := d.people.agents.Link(d.ctx, operator, c.ID); err != nil {
			return err
		}
		return d.tell("verbunden: "+account.Email, "linked")
	})
}
