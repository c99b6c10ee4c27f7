// Command rig runs three nodes behind HAProxy on one machine, with PostgreSQL, a synchronous
// replica, Redis and the simulated world. It sends mixed traffic, injects faults, and decides
// from what every client saw whether the promises for several nodes hold. It writes a report
// with charts, prints PASS, FAIL or NONE (nothing to judge) for each rule, and exits with 1 if
// one fails.
//
// Everything listens on loopback. As root, PostgreSQL runs as Debian's user postgres, and
// one node has a small disk that can be filled.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar/order"
	"github.com/dotkontor/dotkontor/test/testkit"
)

// options are the flags.
type options struct {
	minutes        float64
	seed           uint64
	rate           float64
	report, binary string
	faults         string
}

func main() {
	var o options
	flag.Float64Var(&o.minutes, "minutes", 30, "how long faults are injected")
	flag.Uint64Var(&o.seed, "seed", rand.Uint64(), "seed of the faults")
	flag.Float64Var(&o.rate, "rate", 1, "factor of the traffic; 1 is about 20 requests a second")
	flag.StringVar(&o.report, "report", "cluster-report", "folder of the report")
	flag.StringVar(&o.binary, "binary", "", "the product, built with -tags failpoint; empty builds it")
	flag.StringVar(&o.faults, "faults", "", "comma-separated kinds of faults; empty means all")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	passed, err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
	}
	if err != nil || !passed {
		os.Exit(1)
	}
}

// rig is a cluster under traffic.
type rig struct {
	*cluster
	traffic *traffic
	dice    *rand.Rand
	faults  []fault
}

func run(ctx context.Context, o options) (passed bool, err error) {
	chosen, err := choose(o.faults)
	if err != nil {
		return false, err
	}
	folder, err := os.MkdirTemp("", "dotkontor-rig-")
	if err != nil {
		return false, err
	}
	if err := os.Chmod(folder, 0o711); err != nil { // PostgreSQL's user must reach its own
		return false, err
	}
	defer func() {
		if err == nil && passed {
			err = os.RemoveAll(folder)
			return
		}
		fmt.Fprintln(os.Stderr, "cluster: logs and data are kept in", folder)
	}()
	began := time.Now()
	progress := func(format string, args ...any) {
		fmt.Printf("%6s  %s\n", time.Since(began).Round(time.Second), strings.TrimSpace(fmt.Sprintf(format, args...)))
	}
	if o.binary == "" {
		o.binary = filepath.Join(folder, "dotkontor")
		progress("building")
		if err := testkit.Build(ctx, o.binary, os.Stderr, "-tags", "failpoint"); err != nil {
			return false, err
		}
	}
	c, err := newCluster(ctx, folder, o.binary, progress)
	defer func() { err = errors.Join(err, c.close()) }() //nolint:contextcheck // everything is stopped, even if the run is canceled
	if err != nil {
		return false, err
	}
	finished, err := runFaults(ctx, c, o, chosen, progress)
	if err != nil {
		return false, err
	}
	if err := finished.write(o.report); err != nil {
		return false, err
	}
	return finished.print(o.report), nil
}

// choose returns the kinds of faults with these names.
func choose(names string) ([]scenario, error) {
	if names == "" {
		return slices.Clone(scenarios), nil
	}
	var chosen []scenario
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(scenarios, func(s scenario) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no fault %q", name)
		}
		chosen = append(chosen, scenarios[i])
	}
	return chosen, nil
}

func runFaults(ctx context.Context, c *cluster, o options, chosen []scenario, progress func(string, ...any)) (result, error) {
	out := result{seed: o.seed, command: "make cluster"}
	chosen = slices.DeleteFunc(chosen, func(s scenario) bool {
		reason := ""
		if s.unavailable != nil {
			reason = s.unavailable(c)
		}
		if reason != "" {
			out.skipped = append(out.skipped, "skipped: "+s.name+": "+reason)
		}
		return reason != ""
	})
	r := &rig{cluster: c, dice: rand.New(rand.NewPCG(o.seed, o.seed)), traffic: &traffic{base: c.base, info: c.info, scale: o.rate}}
	length := time.Duration(o.minutes * float64(time.Minute))
	progress("traffic begins, faults for %s, seed %d", length, o.seed)
	out.began = time.Now()
	sending, stopSending := context.WithCancel(ctx)
	sent := make(chan struct{})
	go func() {
		r.traffic.run(sending)
		close(sent)
	}()
	err := r.schedule(ctx, chosen, length, progress)
	if err == nil {
		err = sleep(ctx, pauseAtLeast) // what follows the last fault counts, too
	}
	stopSending()
	<-sent
	out.ended = time.Now()
	if err != nil {
		return out, err
	}
	progress("traffic has ended; waiting for all orders")
	out.facts = facts{records: r.traffic.records, faults: r.faults}
	out.purchases = len(r.traffic.purchases)
	out.notes = r.figures(ctx, out.facts)
	ordersEnd, err := r.checkOrders(ctx, progress)
	if err != nil {
		return out, err
	}
	recovered, recoveries := out.recovery()
	out.recoveries = recoveries
	out.verdicts = append([]verdict{out.limits(), recovered, out.resumption(), out.withoutDatabase(), out.retries()}, ordersEnd...)
	return out, nil
}

// figures returns what is reported without a rule.
func (r *rig) figures(ctx context.Context, f facts) []string {
	rejected, shared, alone := f.premature()
	lines := []string{fmt.Sprintf("%d lookups were rejected, %d of them prematurely while Redis was up, and %d around its outages", rejected, shared, alone)}
	slow, slowest := 0, record{}
	for _, one := range f.records {
		took := one.Answered.Sub(one.Sent)
		if took > recoverWithin {
			slow++
		}
		if took > slowest.Answered.Sub(slowest.Sent) {
			slowest = one
		}
	}
	lines = append(lines, fmt.Sprintf("%d requests took longer than %s; the slowest was %s", slow, recoverWithin, describe(slowest)))
	for _, n := range r.nodes {
		m := n.metrics(ctx)
		lines = append(lines, fmt.Sprintf("%s since its last start: %.0f recoveries of the shared limits, %.0f lookups admitted and %.0f rejected on its own, %.0f of them prematurely, %.0f log records with level error",
			n.name, m.Sample("dotkontor_shared_limits_recoveries_total"), m.Sample("dotkontor_local_limits_admitted_total"), m.Sample("dotkontor_local_limits_refused_total"),
			m.Sample("dotkontor_local_limits_premature_total"), m.Sample(`dotkontor_log_records_total{level="error"}`)))
	}
	return lines
}

// settleWithin is how long orders may take after the end of the traffic.
const settleWithin = 4 * time.Minute

// checkOrders waits until all orders have ended and compares them with the purchases, the
// registry and the payment provider.
func (r *rig) checkOrders(ctx context.Context, progress func(string, ...any)) ([]verdict, error) {
	began := time.Now()
	settled := eventually(ctx, "end of all orders", settleWithin, func(ctx context.Context) bool {
		open, err := r.ordersInProgress(ctx)
		return err == nil && len(open) == 0
	})
	took := time.Since(began)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	var lost, unpaid, slow []string
	outcomes, declined := make(map[order.State]int), 0
	for _, p := range r.traffic.purchases {
		if p.Session == "" {
			unpaid = append(unpaid, fmt.Sprintf("%s: %v", p.Name, p.Err))
			continue
		}
		o, found, err := r.db.OrderByID(ctx, p.Session)
		switch {
		case err != nil:
			return nil, err
		case !found:
			lost = append(lost, fmt.Sprintf("%s: order %s was answered but is not stored", p.Name, p.Session))
			continue
		case !p.Paid.IsZero() && !o.State.Final():
			lost = append(lost, fmt.Sprintf("%s: order %s was paid and is %s", p.Name, o.ID, o.State))
		case !p.Paid.IsZero() && o.State != order.Completed:
			if o.RefundCount == 0 {
				lost = append(lost, fmt.Sprintf("%s: order %s was paid, is %s and has no refund", p.Name, o.ID, o.State))
			}
		}
		if p.Paid.IsZero() {
			unpaid = append(unpaid, fmt.Sprintf("%s: order %s is %s: %v", p.Name, o.ID, o.State, p.Err))
		}
		outcomes[o.State]++
		declined += p.Declined
		ended := o.UpdatedAt
		if ended.After(time.Now()) { // stored by the node whose clock was ahead
			ended = ended.Add(-clockJump)
		}
		if span := ended.Sub(o.PaidAt); !o.PaidAt.IsZero() && span > resumeWithin {
			slow = append(slow, fmt.Sprintf("%s: paid at %s, ended %s later", o.ID, clock(o.PaidAt), span.Round(time.Second/10)))
		}
	}
	if settled != nil {
		lost = append(lost, settled.Error())
	}
	detail := fmt.Sprintf("%d purchases, %v, the last order ended %s after the traffic", len(r.traffic.purchases), outcomes, took.Round(time.Second/10))
	verdicts := []verdict{
		newVerdict("no order is lost: each paid one ends as a registered domain or a refund", detail, lost),
		newVerdict(fmt.Sprintf("every order ends within %s after its payment", resumeWithin), fmt.Sprintf("%d did not", len(slow)), slow),
		newVerdict(fmt.Sprintf("every purchase is confirmed within %s, with repeated requests", purchaseWithin), fmt.Sprintf("%d of %d; %d payment tokens were declined", len(r.traffic.purchases)-len(unpaid), len(r.traffic.purchases), declined), unpaid),
	}
	progress("reconciling")
	environment, err := r.settings()
	if err != nil {
		return nil, err
	}
	problems, err := testkit.ReconcileProblems(ctx, r.world.Ready, environment, time.Minute)
	if err != nil {
		return nil, err
	}
	doctor := exec.CommandContext(ctx, r.binary, "doctor", "--reconcile", "--patience", "0s", "--config", r.world.Ready)
	doctor.Env = append(testkit.Environment(), environment...)
	if output, err := doctor.CombinedOutput(); err != nil {
		problems = append(problems, fmt.Sprintf("doctor --reconcile: %v: %s", err, output))
	}
	return append(verdicts, newVerdict("orders, payments and registry agree: no order is duplicated", "doctor --reconcile and every registry object", problems)), nil
}

// print prints the verdicts and returns whether all rules hold.
func (r result) print(folder string) bool {
	passed := true
	fmt.Println()
	for _, v := range r.verdicts {
		passed = passed && v.Pass
		fmt.Printf("%s  %s: %s\n", v.outcome(), v.Rule, v.Detail)
		for _, line := range v.Evidence {
			fmt.Println("        " + line)
		}
	}
	for _, line := range slices.Concat(r.notes, r.skipped) {
		fmt.Println("      " + line)
	}
	fmt.Println("      the report is", filepath.Join(folder, "report.md"))
	return passed
}
