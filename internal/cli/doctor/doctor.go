// Package doctor is the command that tests a running service from outside.
package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
)

type Command struct {
	URL       string `name:"url" help:"The service's base address, as its clients know it." placeholder:"URL"`
	Token     string `env:"DOTKONTOR_TOKEN" help:"Access token of a customer of the service, to look at what needs one. Better in the variable than on the command line, which others can read." placeholder:"TOKEN"`
	JSON      bool   `name:"json" help:"Print one JSON object at the end."`
	Reconcile bool   `help:"Reconcile orders, provision items and domains with the payment provider instead of visiting the service."`
	cli.ServiceFlags
	Patience time.Duration `default:"10m" help:"With --reconcile: do not judge what has changed within this time, because it may still be under way."`
}

// Help is what 'dotkontor doctor --help' adds.
func (Command) Help() string {
	return fmt.Sprintf(`Visits a running service from outside, as a stranger's client would, and prints
a line for each thing that the interface promises: ok, WARN or FAIL, what was
expected and what was seen. It needs no access to the machine and changes
nothing there.

A visit is about %d requests, of which %d count against the limit of the address
that it comes from; near the limit it leaves things out and says so. A request
may take %s, the whole visit %s. A private certificate authority is named by
the variable SSL_CERT_FILE. With a customer's token it also looks at that
customer's list of domains, and prints none of them.

With --reconcile it works on the machine of the service instead: it reads the
database (--config) and the payment provider's lists and changes nothing. Each
FAIL is a sum, an order, a line, a domain or a refund that does not agree with
the others.

Exit code: 0 nothing failed (a WARN is no failure), 1 something failed, 64 the
command line is wrong, 130 interrupted.`, expectedRequests, expectedLimited, requestTimeout, totalTimeout)
}

const (
	requestTimeout = 10 * time.Second
	totalTimeout   = 60 * time.Second
	// expectedRequests and usualCounted are what a visit to a healthy service costs.
	// A test holds them to the truth.
	expectedRequests = 51
	expectedLimited  = 8
	// reservedRequests is how many counted requests are left to others at the same address.
	reservedRequests = 3
)

// check is one thing to look at.
type check struct {
	group, name string
	// cost is how many requests it makes that count against the limit.
	cost int
	// vital: if this fails, nothing else can be looked at.
	vital bool
	run   func(*prober) result
}

// allChecks is everything that a visit looks at, in the order of the visit.
func allChecks() []check {
	return slices.Concat(reachChecks, documentChecks(), restChecks, limitChecks, mcpChecks)
}

// Run visits and prints.
func (c *Command) Run(t *cli.Terminal) error {
	switch {
	case c.Reconcile && c.URL != "":
		return cli.UsageError("--reconcile and --url are two different visits; give one of them")
	case c.Reconcile:
		return c.runReconcile(t)
	case c.URL == "":
		return cli.UsageError("say which service is meant, with --url URL; or --reconcile to compare its books")
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
		encoder := json.NewEncoder(t.Out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(report); err != nil {
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

// baseAddress is the address without the trailing slash, everything else byte
// for byte as given: the documents have to repeat it exactly.
func baseAddress(given string) (string, error) {
	base := strings.TrimSuffix(given, "/")
	address, err := url.Parse(base)
	if err != nil || (address.Scheme != "http" && address.Scheme != "https") || address.Hostname() == "" ||
		address.User != nil || address.Path != "" || strings.ContainsAny(base, "?#") {
		return "", cli.UsageError(fmt.Sprintf("--url %q is not an address like https://domains.example", given))
	}
	return base, nil
}

// reportLine is one line of the report.
type reportLine struct {
	Group    string     `json:"group"`
	Name     string     `json:"name"`
	Status   cli.Status `json:"status"`
	Expected string     `json:"expected,omitempty"`
	Seen     string     `json:"seen"`
}

// String is the line for a person.
func (c reportLine) String() string {
	line := fmt.Sprintf("%-4s  %-9s  %s: ", c.Status, c.Group, c.Name)
	if c.Expected == "" {
		return line + c.Seen
	}
	return line + "expected " + c.Expected + "; saw " + c.Seen
}

// doctorReport is the whole visit.
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

// runChecks runs the checks in order and hands each line on as soon as it is
// there.
func runChecks(v *prober, checks []check, onLine func(reportLine)) doctorReport {
	report := doctorReport{URL: v.base, OK: true, Checks: []reportLine{}}
	for i, c := range checks {
		var r result
		switch {
		case v.ctx.Err() != nil:
			r = fail(fmt.Sprintf("a visit within %s", totalTimeout), "it is over; the rest is not tried")
			c.vital = true
		case c.cost > 0 && v.nearLimit(c.cost):
			r = warn("", fmt.Sprintf("left out: %d requests are left to this address; try again in a minute", v.left))
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

// singleLine makes a stranger's text fit for a line in a terminal.
func singleLine(text string) string {
	const longest = 400
	text = strings.Join(strings.Fields(text), " ")
	if letters := []rune(text); len(letters) > longest {
		text = string(letters[:longest]) + "…"
	}
	return cli.Printable(text)
}
