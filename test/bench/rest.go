package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/test/rig"
)

const (
	// wantedRatio is the share of a bare handler's speed that a check must have.
	wantedRatio = 0.6
	// takenName is registered in the sandbox's world. Taken names are remembered
	// longest, for two minutes.
	takenName  = "google.com"
	checkRoute = "/api/domain/check"
)

// side is one of the two servers that are compared.
type side struct {
	name    string
	process *rig.Process
	load    *load
	// rates and costs have one value for each round: answers per second, and
	// microseconds of CPU time for each.
	rates, costs []float64
}

func (s *side) round(ctx context.Context, duration time.Duration) error {
	sentBefore := s.load.sent.Load()
	cpuBefore, known := s.process.CPU()
	rate, err := s.load.run(ctx, duration)
	if err != nil {
		return fmt.Errorf("the %s side: %w", s.name, err)
	}
	s.rates = append(s.rates, rate)
	cpuAfter, stillKnown := s.process.CPU()
	if answered := s.load.sent.Load() - sentBefore; known && stillKnown && answered > 0 {
		s.costs = append(s.costs, float64((cpuAfter-cpuBefore).Microseconds())/float64(answered))
	}
	return nil
}

// benchREST compares a check that is answered from memory with a bare handler.
func benchREST(ctx context.Context, b bench) (lines []line, err error) {
	running, err := rig.StartProduct(ctx, b.binary, b.folder, nil, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, running.Stop()) }()

	ours, answer, err := newSide(ctx, "product", running.Server, b.connections)
	if err != nil {
		return nil, err
	}
	defer ours.load.close()
	bare, err := startBare(ctx, b, answer)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, bare.Stop()) }()
	theirs, same, err := newSide(ctx, "bare", bare, b.connections)
	if err != nil {
		return nil, err
	}
	defer theirs.load.close()
	if !bytes.Equal(answer, same) {
		return nil, errors.New("the two servers give different answers")
	}

	b.progress("comparing: %d rounds of 2 × %s over %d connections", b.rounds, b.duration, b.connections)
	if err := takeTurns(ctx, b, ours, theirs); err != nil {
		return nil, err
	}
	if err := sawAll(ctx, running, ours.load.sent.Load()); err != nil {
		return nil, err
	}
	return compare(ours, theirs), nil
}

func newSide(ctx context.Context, name string, p *rig.Process, connections int) (*side, []byte, error) {
	l, first, err := dial(ctx, strings.TrimPrefix(p.Ready, "http://"), takenName, connections)
	if err != nil {
		return nil, nil, fmt.Errorf("the %s side: %w", name, err)
	}
	return &side{name: name, process: p, load: l}, first, nil
}

// takeTurns warms both sides up, and then runs the rounds. Who goes first
// changes, so that what a round leaves behind burdens both alike.
func takeTurns(ctx context.Context, b bench, ours, theirs *side) error {
	for _, s := range []*side{ours, theirs} {
		if err := s.round(ctx, b.duration); err != nil {
			return err
		}
		s.rates, s.costs = nil, nil
	}
	for n := range b.rounds {
		first, second := ours, theirs
		if n%2 == 1 {
			first, second = theirs, ours
		}
		if err := errors.Join(first.round(ctx, b.duration), second.round(ctx, b.duration)); err != nil {
			return err
		}
		b.progress("  round %d: product %.0f/s, bare %.0f/s", n+1, ours.rates[n], theirs.rates[n])
	}
	return nil
}

// compare turns the rounds into lines. Ratios are taken round by round, because
// only the two halves of one round met the same machine.
func compare(ours, theirs *side) []line {
	lines := []line{
		measured("REST check from memory, as a share of bare net/http", median(quotients(ours.rates, theirs.rates)),
			ratio, atLeast(wantedRatio), "answers per second; limits, metrics and log on; the aim is 0.8"),
		measured("  product", median(ours.rates), perSecond, nil, "client and server share the cores"),
		measured("  bare net/http handler", median(theirs.rates), perSecond, nil, ""),
	}
	if len(ours.costs) != len(ours.rates) || len(theirs.costs) != len(theirs.rates) {
		return lines // this system does not tell
	}
	return append(lines,
		measured("  the same by the servers' CPU time", median(quotients(theirs.costs, ours.costs)), ratio, nil, "without the client's share"),
		measured("  product, CPU time for one answer", median(ours.costs), microseconds, nil, ""),
		measured("  bare, CPU time for one answer", median(theirs.costs), microseconds, nil, ""))
}

func quotients(over, under []float64) []float64 {
	var all []float64
	for i := range min(len(over), len(under)) {
		all = append(all, over[i]/under[i])
	}
	return all
}

// startBare runs this program again, as the bare server.
func startBare(ctx context.Context, b bench, answer []byte) (*rig.Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(b.folder, "answer.json")
	if err := os.WriteFile(path, answer, 0o600); err != nil {
		return nil, err
	}
	return rig.Start(ctx, rig.Command{Path: self, Args: []string{"-bare", path}})
}

// sawAll makes sure that what was measured was the product with everything on:
// log and metrics know all requests, and the limits know the addresses. A log
// may be written a little later than the answer, so it gets time to catch up.
func sawAll(ctx context.Context, product *rig.Product, sent int64) error {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	for {
		what, err := missing(ctx, product, sent)
		if err != nil || what == "" {
			return err
		}
		select {
		case <-ctx.Done():
			return errors.New(what)
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// missing says what does not know all of the requests, or nothing.
func missing(ctx context.Context, product *rig.Product, sent int64) (string, error) {
	logged, err := countLines(product.Log.Name(), `"msg":"request"`)
	if err != nil {
		return "", err
	}
	metrics, err := product.Metrics(ctx)
	if err != nil {
		return "", fmt.Errorf("the metrics: %w", err)
	}
	counted := metrics.Sample(`dotkontor_http_request_duration_seconds_count{route="` + checkRoute + `",status="200"}`)
	limited := metrics.Sample("dotkontor_limits_addresses")
	if logged < sent || counted < float64(sent) || limited < float64(min(sent, addresses)) {
		return fmt.Sprintf("of %d requests the log has %d, the metrics %.0f, and the limits know %.0f addresses: something was off",
			sent, logged, counted, limited), nil
	}
	return "", nil
}

func countLines(path, having string) (n int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if bytes.Contains(lines.Bytes(), []byte(having)) {
			n++
		}
	}
	return n, lines.Err()
}
