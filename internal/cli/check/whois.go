package check

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar/lookup"
	"github.com/dotkontor/dotkontor/internal/web/httpjson"
)

type WhoisCommand struct {
	Name string `arg:"" help:"The name, with its extension."`
	JSON bool   `name:"json" help:"Print JSON."`
	lookupFlags
}

// Help extends the output of --help.
func (WhoisCommand) Help() string {
	return `Shows status, dates, nameservers and registrar, but never personal data. A name
that is not registered is a valid result.

Exit code: 0 there is a result, 1 it can't be determined, 64 usage error, 130
interrupted.`
}

// Run looks up the name and prints the result.
func (c *WhoisCommand) Run(t *cli.Terminal) error {
	cfg, list, err := c.load(t)
	if err != nil {
		return err
	}
	lookups, err := c.open(t, cfg, list, 1)
	if err != nil {
		return err
	}
	answer, err := interruptible(t.Ctx, func() (lookup.WhoisAnswer, error) { return lookups.Engine.Whois(t.Ctx, c.Name) })
	if t.Ctx.Err() != nil {
		return cli.ExitCode(cli.ExitInterrupted)
	}
	lookups.Close()
	if err != nil {
		return errors.New(cli.Printable(c.Name) + ": " + errorText(err))
	}
	if c.JSON { // the result of the tool whois_lookup, its source and time
		return t.PrintJSON(struct {
			httpjson.WhoisResult
			Source    lookup.Source `json:"source"`
			CheckedAt string        `json:"checkedAt"`
		}{httpjson.NewWhoisResult(answer), answer.Source, formatRFC3339(answer.CheckedAt)})
	}
	printWhois(t.Out, answer)
	return nil
}

func formatRFC3339(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func printWhois(out io.Writer, a lookup.WhoisAnswer) {
	registered := "no"
	if a.Registered {
		registered = "yes"
	}
	for _, line := range []struct {
		key    string
		values []string
	}{
		{"domain", []string{a.Domain}},
		{"registered", []string{registered}},
		{"status", a.Record.Status},
		{"created", []string{formatRFC3339(a.Record.Created)}},
		{"updated", []string{formatRFC3339(a.Record.Updated)}},
		{"expires", []string{formatRFC3339(a.Record.Expires)}},
		{"nameserver", a.Record.Nameservers},
		{"registrar", []string{a.Record.Registrar}},
		{"source", []string{string(a.Source)}},
		{"checked at", []string{formatRFC3339(a.CheckedAt)}},
	} {
		for i, value := range line.values {
			if value == "" {
				continue
			}
			key := line.key
			if i > 0 {
				key = ""
			}
			fmt.Fprintf(out, "%-10s  %s\n", key, cli.Printable(value))
		}
	}
}
