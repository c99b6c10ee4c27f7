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
	// wantedToolRatio is the minimum ratio of a tool call's CPU time to that of a bare
	// JSON-RPC handler.
	wantedToolRatio = 0.5
	wantedIdleMiB   = 45
	wantedLoadedMiB = 150

	mcpMeasure = "MCP domain_check from memory, as a share of a bare JSON-RPC handler, by CPU time"

	checkTool = "domain_check"
	toolRoute = "/api/mcp"
	// idleSettleDelay is how long the product idles before its memory is read, so that
	// its startup work is done and its garbage returned.
	idleSettleDelay = 4 * time.Second
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

// benchMCP compares a call that is answered from memory with a bare handler, and with a
// minimal server on the official SDK.
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
		{refBareRPC, collector.environment()},
		{refMinimalTool, collector.environment()},
	} {
		s, err := newReferenceSide(ctx, b, other.reference, toolCallSpec(), answer, other.environment...)
		if err != nil {
			return nil, err
		}
		others = append(others, s)
	}
	bare, minimal := others[0], others[1]

	if err := alternateRounds(ctx, b, ours, bare, minimal); err != nil {
		return nil, err
	}
	peak := running.Server.Memory()
	if err := verifyAllObserved(ctx, running, toolRoute, ours.load.sent.Load()); err != nil {
		return nil, err
	}
	return append(compareMCP(ours, bare, minimal, collector), memoryMeasurements(idle, peak, ours.load.sent.Load())...), nil
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
	percent int
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

func (c gcSettings) environment() []string {
	return []string{"GOGC=" + strconv.Itoa(c.percent), "GOMEMLIMIT=" + strconv.FormatInt(c.limit, 10)}
}

// compareMCP turns the rounds into measurements.
func compareMCP(ours, bare, minimal *side, c gcSettings) []measurement {
	note := fmt.Sprintf("limits, metrics and log on; all with GOGC=%d and a limit of %d MiB; the aim is 0.7", c.percent, c.limit>>20)
	var lines []measurement
	if share, known := ours.cpuRatioTo(bare); known {
		lines = append(lines,
			newMeasurement(mcpMeasure, share, ratio, atLeast(wantedToolRatio), note),
			newMeasurement("  product, CPU time for one answer", median(ours.cpuCosts), microseconds, nil, ""),
			newMeasurement("  bare handler", median(bare.cpuCosts), microseconds, nil, ""),
			newMeasurement("  minimal server on the official SDK", median(minimal.cpuCosts), microseconds, nil, ""))
	}
	return append(lines,
		newMeasurement("  as a share of the bare handler's rate", ours.rateRatioTo(bare), ratio, nil, "client and server share the cores"),
		newMeasurement("  product", median(ours.rates), perSecond, nil, ""),
		newMeasurement("  bare handler", median(bare.rates), perSecond, nil, ""),
		newMeasurement("  minimal server on the official SDK", median(minimal.rates), perSecond, nil, ""))
}

// memoryMeasurements returns nothing if the system does not report memory.
func memoryMeasurements(idle, peak testkit.Memory, calls int64) []measurement {
	if idle.RSS == 0 || peak.Peak == 0 {
		return nil
	}
	return []measurement{
		newMeasurement("memory of serve, idle", float64(idle.RSS)/mebi, mebibytes, atMost(wantedIdleMiB), "resident, after the start"),
		newMeasurement("  under this load, at most", float64(peak.Peak)/mebi, mebibytes, atMost(wantedLoadedMiB),
			fmt.Sprintf("resident, after %d calls, each from an address that the limits remember", calls)),
	}
}
