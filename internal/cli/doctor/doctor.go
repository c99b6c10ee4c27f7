// Package doctor is the command that tests a running service from outside.
package doctor

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
)

type Command struct {
	URL       string `name:"url" help:"Base URL of the service, as clients use it." placeholder:"URL"`
	Token     string `env:"DOTKONTOR_TOKEN" help:"Access token of a customer, for the checks that need one. Prefer the variable: other users can read the command line." placeholder:"TOKEN"`
	JSON      bool   `name:"json" help:"Print one JSON object at the end."`
	Ready     string `help:"Only ask the /readyz of a node, such as http://127.0.0.1:9464, as a health check of a container." placeholder:"URL"`
	Reconcile bool   `help:"Reconcile orders, provision items and domains with the payment provider instead of testing the interface."`
	Books     bool   `help:"Compare what registries charge with completed items and account balances instead of testing the interface."`
	cli.ServiceFlags
	Patience time.Duration `default:"10m" help:"With --reconcile: skip what changed within this time, because it may still be in progress."`
}

// Help extends the output of --help.
func (Command) Help() string {
	return fmt.Sprintf(`Tests a running service from outside, as any client could, and prints a line for
each promise of the interface: ok, WARN or FAIL, what was expected and what was
seen. It needs no access to the machine and changes nothing.

A run sends about %d requests, of which %d count against the rate limit of your
address; near the limit, checks are skipped and reported. A request may take %s,
the whole run %s. To trust a private certificate authority, set SSL_CERT_FILE.
With a customer's token it also tests that customer's lists of domains and
orders, without printing their entries.

With --reconcile it runs on the machine of the service instead: it reads the
database (--config) and the payment provider's records and changes nothing. Each
FAIL is an amount, order, provision item, domain or refund that does not match
the others.

With --books it compares what registries charge with the completed provision
items, the sums of the margin page and the balances of accounts that are paid in
advance. Each FAIL is a difference; each WARN is a charge of unknown amount.

Exit code: 0 nothing failed (WARN is not a failure), 1 something failed, 64
usage error, 130 interrupted.`, expectedRequests, expectedLimited, requestTimeout, totalTimeout)
}

const (
	requestTimeout = 10 * time.Second
	totalTimeout   = 60 * time.Second
	// expectedRequests and expectedLimited are the cost of a run against a healthy
	// service. A test keeps them correct.
	expectedRequests = 55
	expectedLimited  = 8
	// reservedRequests of the rate limit are left for other clients at the same address.
	reservedRequests = 3
)

// check tests one promise of the interface.
type check struct {
	group, name string
	// cost is the number of its requests that count against the rate limit.
	cost int
	// vital means that no other check makes sense if this one fails.
	vital bool
	run   func(*prober) result
}

func allChecks() []check {
	return slices.Concat(reachChecks, documentChecks(), restChecks, limitChecks, mcpChecks, rdapChecks)
}

// Run runs the checks and prints the results.
func (c *Command) Run(t *cli.Terminal) error {
	switch {
	case c.Ready != "" && (c.URL != "" || c.Reconcile || c.Books):
		return cli.UsageError("--ready can't be combined with other checks")
	case c.Ready != "":
		return c.askReady(t)
	case c.Reconcile && c.URL != "":
		return cli.UsageError("--reconcile and --url can't be combined")
	case c.Books && (c.URL != "" || c.Reconcile):
		return cli.UsageError("--books can't be combined with --url or --reconcile")
	case c.Reconcile:
		return c.runReconcile(t)
	case c.Books:
		return c.runBooks(t)
	case c.URL == "":
		return cli.UsageError("select a service with --url URL, or use --reconcile or --books")
	}
	base, err := baseAddress(c.URL)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(t.Ctx, totalTimeout)
	defer cancel()
	checks := allChecks()
	if c.Token != "" {
		if err := checkTokenTransport(base); err != nil {
			return err
		}
		checks = append(checks, tokenChecks(c.Token)...)
	}
	report := runChecks(newProber(ctx, base, nil), checks, func(line reportLine) {
		if !c.JSON {
			fmt.Fprintln(t.Out, line)
		}
	})
	if t.Ctx.Err() != nil {
		return cli.ExitCode(cli.ExitInterrupted)
	}
	if c.JSON {
		if err := t.PrintJSON(report); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(t.Out, report.summary())
	}
	if !report.OK {
		return cli.ExitCode(cli.ExitError)
	}
	return nil
}

// baseAddress returns the URL without a trailing slash. The rest stays byte for byte as
// given, because the documents must repeat it exactly.
func baseAddress(given string) (string, error) {
	base := strings.TrimSuffix(given, "/")
	address, err := url.Parse(base)
	if err != nil || (address.Scheme != "http" && address.Scheme != "https") || address.Hostname() == "" ||
		address.User != nil || address.Path != "" || strings.ContainsAny(base, "?#") {
		return "", cli.UsageError(fmt.Sprintf("--url %q is not a URL like https://domains.example", given))
	}
	return base, nil
}

type reportLine struct {
	Group    string     `json:"group"`
	Name     string     `json:"name"`
	Status   cli.Status `json:"status"`
	Expected string     `json:"expected,omitempty"`
	Seen     string     `json:"seen"`
}

func (c reportLine) String() string {
	line := fmt.Sprintf("%-4s  %-9s  %s: ", c.Status, c.Group, c.Name)
	if c.Expected == "" {
		return line + c.Seen
	}
	return line + "expected " + c.Expected + "; saw " + c.Seen
}

type doctorReport struct {
	URL      string       `json:"url"`
	OK       bool         `json:"ok"`
	Requests int          `json:"requests"`
	Counted  int          `json:"counted"`
	NotTried int          `json:"notTried"`
	Checks   []reportLine `json:"checks"`
}

func (r doctorReport) count(s cli.Status) (n int) {
	for _, c := range r.Checks {
		if c.Status == s {
			n++
		}
	}
	return n
}

func (r doctorReport) summary() string {
	text := fmt.Sprintf("%s: %d ok, %d WARN, %d FAIL; %d requests, %d of them counted by the limit",
		r.URL, r.count(cli.StatusOK), r.count(cli.StatusWarn), r.count(cli.StatusFail), r.Requests, r.Counted)
	if r.NotTried > 0 {
		text += fmt.Sprintf("; %d checks not tried", r.NotTried)
	}
	return text
}

// runChecks runs the checks in order and calls onLine after each.
func runChecks(v *prober, checks []check, onLine func(reportLine)) doctorReport {
	report := doctorReport{URL: v.base, OK: true, Checks: []reportLine{}}
	for i, c := range checks {
		var r result
		switch {
		case v.ctx.Err() != nil:
			r = fail(fmt.Sprintf("a run within %s", totalTimeout), "time is up; the other checks are not tried")
			c.vital = true
		case c.cost > 0 && v.nearLimit(c.cost):
			r = warn("", fmt.Sprintf("skipped: this address has %d requests left; try again in a minute", v.left))
		default:
			r = c.run(v)
		}
		line := reportLine{c.group, c.name, r.status, singleLine(r.expected), singleLine(r.seen)}
		report.Checks = append(report.Checks, line)
		onLine(line)
		if r.status == cli.StatusFail {
			report.OK = false
			if c.vital {
				report.NotTried = len(checks) - i - 1
				break
			}
		}
	}
	report.Requests, report.Counted = v.requests, v.limited
	return report
}

// singleLine makes foreign text printable in one terminal line.
func singleLine(text string) string {
	const longest = 400
	text = strings.Join(strings.Fields(text), " ")
	if letters := []rune(text); len(letters) > longest {
		text = string(letters[:longest]) + "…"
	}
	return cli.Printable(text)
}
