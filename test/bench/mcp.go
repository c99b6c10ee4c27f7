package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/dotkontor/dotkontor/test/rig"
)

const (
	// wantedToolRatio is the share of a minimal server's speed, on the same
	// library, that a call of a tool must have.
	wantedToolRatio = 0.75
	wantedIdleMiB   = 60
	wantedLoadedMiB = 512

	checkTool = "domain_check"
	toolRoute = "/api/mcp"
	// restBeforeLook is how long the product is left alone before its idle memory
	// is read: what it does at its start is done by then.
	restBeforeLook = time.Second
)

// callInquiry is a call of a tool as clients of the second newest revision send
// it. The product in the bench is at home on a loopback address, and so obeys
// only those who call it by such a name.
func callInquiry() inquiry {
	return inquiry{
		path: toolRoute, host: "localhost",
		fields: "Accept: application/json, text/event-stream\r\nMcp-Protocol-Version: 2025-11-25\r\n",
		body: `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + checkTool +
			`","arguments":{"domain":"` + takenName + `"}}}`,
	}
}

// benchMCP compares a call that is answered from memory with the least that could
// be built on the same library, and with none.
func benchMCP(ctx context.Context, b bench) (lines []line, err error) {
	running, err := rig.StartProduct(ctx, b.binary, filepath.Join(b.folder, "mcp"), nil, nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, running.Stop()) }()
	idle, err := idleMemory(ctx, running.Server)
	if err != nil {
		return nil, err
	}
	ours, answer, err := newSide(ctx, "product", running.Server, callInquiry(), b.connections)
	if err != nil {
		return nil, err
	}
	defer ours.load.close()
	collector, err := collectorOf(ctx, running)
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
		{refMinimalTool, collector.lazy().environment()},
		{refBareRPC, collector.environment()},
	} {
		s, err := newReferenceSide(ctx, b, other.reference, callInquiry(), answer, other.environment...)
		if err != nil {
			return nil, err
		}
		others = append(others, s)
	}
	minimal, lazy, bare := others[0], others[1], others[2]
	lazy.name += ", lazy"

	if err := takeTurns(ctx, b, ours, minimal, lazy, bare); err != nil {
		return nil, err
	}
	peak := running.Server.Memory()
	if err := sawAll(ctx, running, toolRoute, ours.load.sent.Load()); err != nil {
		return nil, err
	}
	return append(compareMCP(ours, minimal, lazy, bare, collector), memoryLines(idle, peak, ours.load.sent.Load())...), nil
}

// idleMemory leaves a server alone for a moment, and looks.
func idleMemory(ctx context.Context, p *rig.Process) (rig.Memory, error) {
	select {
	case <-ctx.Done():
		return rig.Memory{}, ctx.Err()
	case <-time.After(restBeforeLook):
		return p.Memory(), nil
	}
}

// collector is how a process collects its garbage.
type collector struct {
	percent int // negative: only the limit counts
	limit   int64
}

// collectorOf asks the product how it has set its own.
func collectorOf(ctx context.Context, product *rig.Product) (collector, error) {
	metrics, err := product.Metrics(ctx)
	if err != nil {
		return collector{}, err
	}
	c := collector{
		percent: int(metrics.Sample("go_gc_gogc_percent")),
		limit:   int64(metrics.Sample("go_gc_gomemlimit_bytes")),
	}
	if c.percent <= 0 || c.limit <= 0 {
		return collector{}, errors.New("the product's metrics do not say how its garbage collector is set")
	}
	return c, nil
}

// lazy waits for the memory limit of the contract.
func (c collector) lazy() collector { return collector{percent: -1, limit: wantedLoadedMiB << 20} }

func (c collector) environment() []string {
	percent := "off"
	if c.percent >= 0 {
		percent = strconv.Itoa(c.percent)
	}
	return []string{"GOGC=" + percent, "GOMEMLIMIT=" + strconv.FormatInt(c.limit, 10)}
}

// compareMCP turns the rounds into lines.
func compareMCP(ours, minimal, lazy, bare *side, c collector) []line {
	lines := []line{
		measured("MCP domain_check from memory, as a share of a minimal server on the same library", ours.asShareOf(minimal),
			ratio, atLeast(wantedToolRatio),
			fmt.Sprintf("limits, metrics and log on; both with GOGC=%d and a limit of %d MiB; the aim is 0.9", c.percent, c.limit>>20)),
		measured("  as a share of the same with GOGC=off", ours.asShareOf(lazy), ratio, nil,
			fmt.Sprintf("a collector that waits for %d MiB", wantedLoadedMiB)),
		measured("  as a share of bare net/http", ours.asShareOf(bare), ratio, nil,
			"half of it is out of the library's reach: it decodes a call about a dozen times, with 32 KiB each, and opens a session for it; "+
				"it would take a dispatcher of our own for tools/call"),
		measured("  product", median(ours.rates), perSecond, nil, "client and server share the cores"),
		measured("  minimal server", median(minimal.rates), perSecond, nil, ""),
		measured("  minimal server, GOGC=off", median(lazy.rates), perSecond, nil, ""),
		measured("  bare net/http JSON-RPC handler", median(bare.rates), perSecond, nil, ""),
	}
	share, known := ours.cheapnessBeside(minimal)
	if !known {
		return lines
	}
	return append(lines,
		measured("  beside the minimal server, by CPU time", share, ratio, nil, "without the client's share"),
		measured("  product, CPU time for one answer", median(ours.costs), microseconds, nil, ""),
		measured("  minimal server, CPU time for one answer", median(minimal.costs), microseconds, nil, ""))
}

// memoryLines are left out where the system does not tell.
func memoryLines(idle, peak rig.Memory, calls int64) []line {
	if idle.Now == 0 || peak.Most == 0 {
		return nil
	}
	const mebi = 1 << 20
	return []line{
		measured("memory of serve, idle", float64(idle.Now)/mebi, mebibytes, atMost(wantedIdleMiB), "resident, after the start"),
		measured("  under this load, at most", float64(peak.Most)/mebi, mebibytes, atMost(wantedLoadedMiB),
			fmt.Sprintf("resident, after %d calls, each from an address that the limits remember", calls)),
	}
}
