package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/test/testkit"
)

const (
	// wantedToolRatio is the minimum ratio of a tool call's rate to that of a minimal
	// server on the same library.
	wantedToolRatio = 0.75
	wantedIdleMiB   = 60
	wantedLoadedMiB = 512

	checkTool = "domain_check"
	toolRoute = "/api/mcp"
	// idleSettleDelay is how long the product idles before its memory is read, so that
	// its startup work is done.
	idleSettleDelay = time.Second
)

// toolCallSpec is a tool call as clients of the second newest revision send it. The
// product's base URL in the bench has a loopback address, so it accepts only requests
// with a loopback Host.
func toolCallSpec() requestSpec {
	return requestSpec{
		path: toolRoute, host: "localhost",
		fields: "Accept: application/json, text/event-stream\r\nMcp-Protocol-Version: 2025-11-25\r\n",
		body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + checkTool +
			`","arguments":{"domain":"` + takenName + `"}}}`,
	}
}

// benchMCP compares a call that is answered from memory with the minimal server on the
// same library, and with a handler without it.
func benchMCP(ctx context.Context, b bench) (lines []measurement, err error) {
	running, err := testkit.StartProduct(ctx, b.binary, filepath.Join(b.folder, "mcp"), nil, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, running.Stop()) }()
	idle, err := idleMemory(ctx, running.Server)
	if err != nil {
		return nil, err
	}
	ours, answer, err := newSide(ctx, "product", running.Server, toolCallSpec(), b.connections)
	if err != nil {
		return nil, err
	}
	defer ours.load.close()
	collector, err := readGCSettings(ctx, running)
	if err != nil {
		return nil, err
	}

	var others []*side
	defer func() {
		for _, s := range others {
			err = errors.Join(err, s.stop())
		}
	}()
	for _, other := range []struct {
		reference   string
		environment []string
	}{
		{refMinimalTool, collector.environment()},
		{refMinimalTool, collector.withLimitOnly().environment()},
		{refBareRPC, collector.environment()},
	} {
		s, err := newReferenceSide(ctx, b, other.reference, toolCallSpec(), answer, other.environment...)
		if err != nil {
			return nil, err
		}
		others = append(others, s)
	}
	minimal, lazy, bare := others[0], others[1], others[2]
	lazy.name += ", lazy"

	if err := alternateRounds(ctx, b, ours, minimal, lazy, bare); err != nil {
		return nil, err
	}
	peak := running.Server.Memory()
	if err := verifyAllObserved(ctx, running, toolRoute, ours.load.sent.Load()); err != nil {
		return nil, err
	}
	return append(compareMCP(ours, minimal, lazy, bare, collector), memoryMeasurements(idle, peak, ours.load.sent.Load())...), nil
}

// idleMemory returns the memory of a server after a short idle time.
func idleMemory(ctx context.Context, p *testkit.Process) (testkit.Memory, error) {
	select {
	case <-ctx.Done():
		return testkit.Memory{}, ctx.Err()
	case <-time.After(idleSettleDelay):
		return p.Memory(), nil
	}
}

// gcSettings are the garbage collector settings of a process.
type gcSettings struct {
	percent int // negative: only the limit counts
	limit   int64
}

// readGCSettings reads the product's settings from its metrics.
func readGCSettings(ctx context.Context, product *testkit.Product) (gcSettings, error) {
	metrics, err := product.Metrics(ctx)
	if err != nil {
		return gcSettings{}, err
	}
	c := gcSettings{
		percent: int(metrics.Sample("go_gc_gogc_percent")),
		limit:   int64(metrics.Sample("go_gc_gomemlimit_bytes")),
	}
	if c.percent <= 0 || c.limit <= 0 {
		return gcSettings{}, errors.New("the product's metrics do not say how its garbage collector is set")
	}
	return c, nil
}

// withLimitOnly collects only at the memory limit of the contract.
func (c gcSettings) withLimitOnly() gcSettings {
	return gcSettings{percent: -1, limit: wantedLoadedMiB << 20}
}

func (c gcSettings) environment() []string {
	percent := "off"
	if c.percent >= 0 {
		percent = strconv.Itoa(c.percent)
	}
	return []string{"GOGC=" + percent, "GOMEMLIMIT=" + strconv.FormatInt(c.limit, 10)}
}

// compareMCP turns the rounds into measurements.
func compareMCP(ours, minimal, lazy, bare *side, c gcSettings) []measurement {
	lines := []measurement{
		newMeasurement("MCP domain_check from memory, as a share of a minimal server on the same library", ours.rateRatioTo(minimal),
			ratio, atLeast(wantedToolRatio),
			fmt.Sprintf("limits, metrics and log on; both with GOGC=%d and a limit of %d MiB; the aim is 0.9", c.percent, c.limit>>20)),
		newMeasurement("  as a share of the same with GOGC=off", ours.rateRatioTo(lazy), ratio, nil,
			fmt.Sprintf("a collector that waits for %d MiB", wantedLoadedMiB)),
		newMeasurement("  as a share of bare net/http", ours.rateRatioTo(bare), ratio, nil,
			"half of it is out of the library's reach: it decodes a call about a dozen times, with 32 KiB each, and opens a session for it; "+
				"it would take a dispatcher of our own for tools/call"),
		newMeasurement("  product", median(ours.rates), perSecond, nil, "client and server share the cores"),
		newMeasurement("  minimal server", median(minimal.rates), perSecond, nil, ""),
		newMeasurement("  minimal server, GOGC=off", median(lazy.rates), perSecond, nil, ""),
		newMeasurement("  bare net/http JSON-RPC handler", median(bare.rates), perSecond, nil, ""),
	}
	share, known := ours.cpuRatioTo(minimal)
	if !known {
		return lines
	}
	return append(lines,
		newMeasurement("  beside the minimal server, by CPU time", share, ratio, nil, "without the client's share"),
		newMeasurement("  product, CPU time for one answer", median(ours.cpuCosts), microseconds, nil, ""),
		newMeasurement("  minimal server, CPU time for one answer", median(minimal.cpuCosts), microseconds, nil, ""))
}

// memoryMeasurements returns nothing if the system does not report memory.
func memoryMeasurements(idle, peak testkit.Memory, calls int64) []measurement {
	if idle.RSS == 0 || peak.Peak == 0 {
		return nil
	}
	const mebi = 1 << 20
	return []measurement{
		newMeasurement("memory of serve, idle", float64(idle.RSS)/mebi, mebibytes, atMost(wantedIdleMiB), "resident, after the start"),
		newMeasurement("  under this load, at most", float64(peak.Peak)/mebi, mebibytes, atMost(wantedLoadedMiB),
			fmt.Sprintf("resident, after %d calls, each from an address that the limits remember", calls)),
	}
}
