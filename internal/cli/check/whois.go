package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
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
	type result struct {
		answer lookup.WhoisAnswer
		err    error
	}
	done := make(chan result, 1)
	go func() {
		answer, err := lookups.Engine.Whois(t.Ctx, c.Name)
		done <- result{answer, err}
	}()
	select {
	case <-t.Ctx.Done(): // the query in flight ends with the process
		return cli.ExitCode(cli.ExitInterrupted)
	case r := <-done:
		lookups.Close()
		if r.err != nil {
			return errors.New(cli.Printable(c.Name) + ": " + errorText(r.err))
		}
		if c.JSON {
			return printWhoisJSON(t.Out, r.answer)
		}
		return printWhois(t.Out, r.answer)
	}
}

// whoisJSON is the result of the whois_lookup tool with its source and time.
type whoisJSON struct {
	httpjson.WhoisResult
	Source    string `json:"source"`
	CheckedAt string `json:"checkedAt"`
}

func printWhoisJSON(out io.Writer, a lookup.WhoisAnswer) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(whoisJSON{
		WhoisResult: httpjson.NewWhoisResult(a), Source: string(a.Source), CheckedAt: formatRFC3339(a.CheckedAt),
	})
}

func formatRFC3339(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func printWhois(out io.Writer, a lookup.WhoisAnswer) error {
	registered := "no"
	if a.Registered {
		registered = "yes"
	}
	var text strings.Builder
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
			fmt.Fprintf(&text, "%s  %s\n", cli.Pad(key, len("registered"), false), cli.Printable(value))
		}
	}
	_, err := io.WriteString(out, text.String())
	return err
}
