package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit"
)

// side is one of the compared servers.
type side struct {
	name    string
	process *testkit.Process
	load    *load
	// rates and cpuCosts have one value for each round: responses per second, and
	// microseconds of CPU time per response.
	rates, cpuCosts []float64
}

// newSide connects to a server and also returns its first response.
func newSide(ctx context.Context, name string, p *testkit.Process, asked requestSpec, connections int) (*side, []byte, error) {
	l, first, err := dial(ctx, strings.TrimPrefix(p.Ready, "http://"), asked, connections)
	if err != nil {
		return nil, nil, fmt.Errorf("the %s side: %w", name, err)
	}
	return &side{name: name, process: p, load: l}, first, nil
}

// newReferenceSide starts a reference server and connects to it. It must return the
// given response.
func newReferenceSide(ctx context.Context, b bench, name string, asked requestSpec, answer []byte, environment ...string) (*side, error) {
	process, err := startReference(ctx, b, name, answer, environment...)
	if err != nil {
		return nil, err
	}
	s, same, err := newSide(ctx, name, process, asked, b.connections)
	if err != nil {
		return nil, errors.Join(err, process.Stop())
	}
	if !bytes.Equal(answer, same) {
		return nil, errors.Join(fmt.Errorf("the %s side says %s where the product says %s", name, same, answer), s.stop())
	}
	return s, nil
}

// stop stops a side that has its own process.
func (s *side) stop() error {
	s.load.close()
	return s.process.Stop()
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
		s.cpuCosts = append(s.cpuCosts, float64((cpuAfter-cpuBefore).Microseconds())/float64(answered))
	}
	return nil
}

// alternateRounds warms all sides up and then runs the rounds. The order changes, so
// that leftovers of a round affect all sides alike.
func alternateRounds(ctx context.Context, b bench, sides ...*side) error {
	b.progress("comparing: %d rounds of %d × %s over %d connections", b.rounds, len(sides), b.duration, b.connections)
	for _, s := range sides {
		if err := s.round(ctx, b.duration); err != nil {
			return err
		}
		s.rates, s.cpuCosts = nil, nil
	}
	for n := range b.rounds {
		for i := range sides {
			if err := sides[(n+i)%len(sides)].round(ctx, b.duration); err != nil {
				return err
			}
		}
		summaries := make([]string, 0, len(sides))
		for _, s := range sides {
			summaries = append(summaries, fmt.Sprintf("%s %.0f/s", s.name, s.rates[n]))
		}
		b.progress("  round %d: %s", n+1, strings.Join(summaries, ", "))
	}
	return nil
}

// rateRatioTo is the median ratio of the rates of s and other. Ratios are taken per
// round, because only the sides of one round ran under the same conditions.
func (s *side) rateRatioTo(other *side) float64 { return median(elementRatios(s.rates, other.rates)) }

// cpuRatioTo is the same for the servers' CPU time, if the system reports it.
func (s *side) cpuRatioTo(other *side) (share float64, known bool) {
	if len(s.cpuCosts) != len(s.rates) || len(other.cpuCosts) != len(other.rates) {
		return 0, false
	}
	return median(elementRatios(other.cpuCosts, s.cpuCosts)), true
}

func elementRatios(over, under []float64) []float64 {
	var all []float64
	for i := range min(len(over), len(under)) {
		all = append(all, over[i]/under[i])
	}
	return all
}

// verifyAllObserved checks that the product was measured with everything enabled: log
// and metrics have all requests of a route, and the limits have the addresses. A log
// line may be written after the response, so it waits for the log to catch up.
func verifyAllObserved(ctx context.Context, product *testkit.Product, route string, sent int64) error {
	ctx, cancel := context.WithTimeout(ctx, responseTimeout)
	defer cancel()
	for {
		what, err := missingObservations(ctx, product, route, sent)
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

// missingObservations says which of them lacks requests, or returns nothing.
func missingObservations(ctx context.Context, product *testkit.Product, route string, sent int64) (string, error) {
	logged, err := countLines(product.Log.Name(), `"msg":"request"`)
	if err != nil {
		return "", err
	}
	metrics, err := product.Metrics(ctx)
	if err != nil {
		return "", fmt.Errorf("the metrics: %w", err)
	}
	counted := metrics.Sample(`dotkontor_http_request_duration_seconds_count{route="` + route + `",status="200"}`)
	limited := metrics.Sample("dotkontor_ratelimit_addresses")
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
