// Command bench measures the project's goals for speed and memory, and prints one
// report: measurement, target, and whether it was met.
//
// Absolute figures depend mostly on the machine. So the REST check is compared with a
// bare net/http handler that gets the same bytes from the same client, in alternating
// rounds. Other load on the machine then slows both, and the median of the rounds'
// ratios counts. The bare handler decodes the body into a struct and writes the
// response's bytes; everything the product does beyond that (limits, metrics, log,
// headers, the lookup) counts against it. Every server is a separate process, so that
// none pays for another's garbage or for the client's.
//
// An agent's call is compared in the same way with the minimal server on the same
// library: one tool that returns a prepared result. That server runs with the product's
// garbage collector settings, read from the product's metrics. The same settings do not
// mean the same memory, though: the product holds a catalog and every client address,
// so with the same percentage its heap grows further before it is collected. So the
// same server is measured a second time with a collector that runs only at the memory
// limit, which no larger heap can beat.
//
// The bearer check is compared with a handler that does one indexed SELECT on the same
// database, on SQLite and on PostgreSQL; a token refresh with a bare transaction of as
// many rows. Every query of the product is timed with a thousand and with a million
// rows in each table, alternating between the two databases. And a thousand people sign
// in at the same moment during lookups at a steady rate.
//
// The operators' charts and lists are requested with a million order items in the database, and
// public records at 500 requests a second with a million domains.
//
// Each page that needs no upstream is requested 200 times a second; its time is the one
// in the product's log. Searches are timed until the first row, at the socket and, if
// there is a browser, on the screen.
//
// The verification of an agent's signature is compared with a bare HMAC of the same
// bytes, in this process.
//
// The simulated registry is queried over one EPP connection, and five hundred paid
// items are provisioned on SQLite. Then agents order and customers pay, from
// start_order to the registered domain, on both databases; and checkout agents buy with
// their buyers' tokens. Of five thousand orders on each database, a thousand are refunded,
// disputed or returned at random, and the books must agree. Then a hundred thousand
// automatic renewals are due at once, while other customers buy.
//
// The product is the real binary in front of the sandbox's world, with limits, metrics
// and log enabled; the run fails if they have not seen every request. All traffic stays
// on 127.0.0.1.
//
// The report is Markdown. Its last table has the goals: the measurement, what it must
// reach and what it should reach, with ratios of CPU time before rates.
//
// Missed targets do not fail the run by default, because a noisy machine is no defect.
// With -strict a missed target is exit code 1.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit"
)

// Exit codes.
const (
	exitOK     = 0
	exitMissed = 1 // only with -strict
	exitFailed = 2 // the run failed, so there is no result
)

const (
	// overheadTime is for everything but the rounds: start, warm-up, memory, purchases,
	// and databases with a million customers.
	overheadTime = 3 * time.Hour
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// settings are the flags.
type settings struct {
	rounds      int
	duration    time.Duration
	connections int
	starts      int
	// rows is the number of rows in the large database.
	rows int
	// due is the number of domains in the renewal night.
	due int
	// people is the number of simultaneous sign-ins.
	people int
	// refreshing is how long clients refresh at the token endpoint.
	refreshing time.Duration
	// ordering is how long the orders take at the target rate.
	ordering time.Duration
	// reversed is the number of orders of which a fifth is refunded or disputed, and seed
	// decides how.
	reversed int
	seed     uint64
	json     string
	strict   bool
	only     string
	// binary is measured instead of a new build, to compare two versions on one
	// machine.
	binary string
	// reference makes this process one of the reference servers, and answer is the file
	// with its response. Internal.
	reference, answer string
}

func parse(args []string, errOut io.Writer) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(errOut)
	flags.IntVar(&s.rounds, "rounds", 5, "rounds of each comparison; the median stands")
	flags.DurationVar(&s.duration, "duration", 1500*time.Millisecond, "length of one side of a round")
	flags.IntVar(&s.connections, "connections", 16, "connections that ask at the same time")
	flags.IntVar(&s.starts, "starts", 5, "how often the sandbox is started")
	flags.IntVar(&s.rows, "rows", million, "rows in each table of the large databases")
	flags.IntVar(&s.due, "due", 100_000, "domains that are due in the renewal night")
	flags.IntVar(&s.people, "people", 1000, "people who sign in at the same moment")
	flags.DurationVar(&s.refreshing, "refreshing", time.Minute, "how long clients refresh at the token endpoint")
	flags.DurationVar(&s.ordering, "ordering", 20*time.Second, "how long the orders take at the wanted rate")
	flags.IntVar(&s.reversed, "reversed", 5000, "orders, of which as many as a fifth are refunded or disputed")
	flags.Uint64Var(&s.seed, "seed", 22, "seed of what is refunded and disputed")
	flags.StringVar(&s.json, "json", "", "`file` that gets the report as JSON")
	flags.BoolVar(&s.strict, "strict", false, "exit with 1 if a target is missed")
	flags.StringVar(&s.only, "only", "", "run one `section`: "+strings.Join(sectionNames(), ", "))
	flags.StringVar(&s.binary, "binary", "", "dotkontor `file` to measure instead of a fresh build")
	flags.StringVar(&s.reference, "reference", "", "internal: be a `server` to compare with")
	flags.StringVar(&s.answer, "answer", "", "internal: `file` with that server's answer")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	return s, s.check(flags.Args())
}

func (s settings) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("%q is not a flag", rest[0])
	case s.rounds < 1 || s.rounds > 1000:
		return errors.New("-rounds is from 1 to 1000")
	case s.duration < 10*time.Millisecond || s.duration > time.Minute:
		return errors.New("-duration is from 10ms to 1m")
	case s.connections < 1 || s.connections > 1000:
		return errors.New("-connections is from 1 to 1000")
	case s.starts < 1 || s.starts > 100:
		return errors.New("-starts is from 1 to 100")
	case s.rows <= smallRows || s.rows > 100*million:
		return fmt.Errorf("-rows is from %d to %d", smallRows+1, 100*million)
	case s.due < domainsPerPerson || s.due > million:
		return fmt.Errorf("-due is from %d to %d", domainsPerPerson, million)
	case s.people < 1 || s.people > 10_000:
		return errors.New("-people is from 1 to 10000")
	case s.refreshing < 100*time.Millisecond || s.refreshing > 10*time.Minute:
		return errors.New("-refreshing is from 100ms to 10m")
	case s.ordering < time.Second || s.ordering > time.Minute:
		return errors.New("-ordering is from 1s to 1m")
	case s.only != "" && sectionNamed(s.only) == nil:
		return fmt.Errorf("-only is one of %s", strings.Join(sectionNames(), ", "))
	}
	return nil
}

// section measures one topic.
type section struct {
	name string
	run  func(context.Context, bench) ([]measurement, error)
	// repeat measures it that often, for goals without rounds of their own; 0 means once.
	repeat int
}

// measure runs a section. Of repeated measurements the medians count.
func (s section) measure(ctx context.Context, b bench) ([]measurement, error) {
	if s.repeat == 0 {
		return s.run(ctx, b)
	}
	b.ordering /= 2
	var runs [][]measurement
	for n := range s.repeat {
		b.progress("%s: run %d of %d", s.name, n+1, s.repeat)
		folder, err := os.MkdirTemp(b.folder, s.name+"-")
		if err != nil {
			return nil, err
		}
		one := b
		one.folder = folder
		lines, err := s.run(ctx, one)
		if err := errors.Join(err, os.RemoveAll(folder)); err != nil {
			return nil, err
		}
		runs = append(runs, lines)
	}
	return medianLines(runs)
}

// medianLines merges runs line by line. The notes are those of the last run.
func medianLines(runs [][]measurement) ([]measurement, error) {
	merged := slices.Clone(runs[len(runs)-1])
	for i := range merged {
		var values []float64
		for _, run := range runs {
			if len(run) != len(merged) || run[i].What != merged[i].What {
				return nil, errors.New("two runs measured different things")
			}
			values = append(values, run[i].Measured)
		}
		l := merged[i]
		merged[i] = newMeasurement(l.What, median(values), l.Unit, l.Wanted, l.Note)
	}
	return merged, nil
}

var sections = []section{
	{name: "rest", run: benchREST},
	{name: "mcp", run: benchMCP},
	{name: "limiter", run: benchLimiter},
	{name: "shared", run: benchShared},
	{name: "start", run: benchStart},
	{name: "lookup", run: benchLookup},
	{name: "cold", run: benchCold},
	{name: "checkall", run: benchCheckAll},
	{name: "pages", run: benchPages},
	{name: "bearer", run: benchBearer},
	{name: "refresh", run: benchRefresh},
	{name: "signin", run: benchSignIn},
	{name: "signing", run: benchSigning},
	{name: "epp", run: benchEPP},
	{name: "provision", run: benchProvision},
	{name: "orders", run: benchOrders},
	{name: "checkout", run: benchCheckout, repeat: 5},
	{name: "reversals", run: benchReversals},
	{name: "renewals", run: benchRenewals},
	{name: "charts", run: benchCharts},
	{name: "rdap", run: benchRDAP},
	{name: "scale", run: benchScale},
}

func sectionNames() []string {
	var names []string
	for _, s := range sections {
		names = append(names, s.name)
	}
	return names
}

func sectionNamed(name string) *section {
	for i := range sections {
		if sections[i].name == name {
			return &sections[i]
		}
	}
	return nil
}

// bench has what every section needs.
type bench struct {
	settings
	folder string // for all files; removed at the end
	// progress reports what is being measured.
	progress func(format string, args ...any)
}

func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	s, err := parse(args, errOut)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		fmt.Fprintln(errOut, "bench:", err)
		return exitFailed
	case s.reference != "":
		err = serveReference(ctx, s.reference, s.answer, in, out)
	default:
		var met bool
		met, err = measure(ctx, s, out, errOut)
		if err == nil && s.strict && !met {
			return exitMissed
		}
	}
	if err != nil {
		fmt.Fprintln(errOut, "bench:", err)
		return exitFailed
	}
	return exitOK
}

// measure runs the sections one after another, because concurrent ones would disturb
// each other.
func measure(ctx context.Context, s settings, out, errOut io.Writer) (met bool, err error) {
	folder, err := os.MkdirTemp("", "dotkontor-bench-")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	b := bench{
		settings: s,
		folder:   folder,
		progress: func(format string, args ...any) { fmt.Fprintf(errOut, format+"\n", args...) },
	}
	if b.binary != "" {
		if b.binary, err = filepath.Abs(b.binary); err != nil {
			return false, err
		}
	} else {
		b.binary = filepath.Join(folder, "dotkontor")
		b.progress("building cmd/dotkontor as a release does")
		if err := testkit.Build(ctx, b.binary, errOut, "-trimpath", "-ldflags=-s -w"); err != nil {
			return false, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, overheadTime+time.Duration(16*s.rounds+s.starts)*s.duration)
	defer cancel()

	report := newReport(ctx, s)
	var failed error // a section that fails leaves the others' measurements
	for _, part := range sections {
		if s.only != "" && s.only != part.name || ctx.Err() != nil {
			continue
		}
		lines, err := part.measure(ctx, b)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", part.name, err))
		}
		for _, l := range lines {
			l.Section = part.name
			report.Lines = append(report.Lines, l)
		}
	}
	report.print(out)
	if s.json != "" {
		failed = errors.Join(failed, report.write(s.json))
	}
	return report.met() && report.goalsMet(), failed
}
