package main

import (
	"fmt"
	"io"
	"strings"
)

// goal is one row of the summary: a measurement with what it must reach and what it
// should reach.
type goal struct {
	metric string
	// line begins the text of a measurement; sub, if set, is one of those below it.
	line, sub    string
	must, target *target // target may be nil
}

// goals are printed last. Ratios of CPU time come first, because rates fluctuate on shared
// cores.
var goals = []goal{
	{metric: "REST check / bare net/http, by CPU time", line: restMeasure, must: atLeast(wantedRESTRatio), target: atLeast(0.92)},
	{metric: "MCP domain_check / bare JSON-RPC handler, by CPU time", line: mcpMeasure, must: atLeast(wantedToolRatio), target: atLeast(0.7)},
	{metric: "bearer check on PostgreSQL / one indexed SELECT, by CPU time", line: "bearer check on PostgreSQL", must: atLeast(wantedBearerRatio), target: atLeast(0.95)},
	{metric: "product CPU per purchase, SQLite", line: "purchases on SQLite", sub: "CPU time of the product for each", must: atMost(10), target: atMost(7)},
	{metric: "product CPU per purchase, PostgreSQL with fsync", line: "purchases on PostgreSQL", sub: "CPU time of the product for each", must: atMost(8), target: atMost(6)},
	// Half of the statements at 078a1ef.
	{metric: "SQL statements per purchase, SQLite", line: "purchases on SQLite", sub: "SQL statements for each", must: atMost(126.5 / 2)},
	{metric: "SQL statements per purchase, PostgreSQL", line: "purchases on PostgreSQL", sub: "SQL statements for each", must: atMost(130.3 / 2)},
	{metric: "memory under that MCP load", line: "memory of serve, idle", sub: "under this load, at most", must: atMost(wantedLoadedMiB), target: atMost(100)},
	{metric: "memory, idle", line: "memory of serve, idle", must: atMost(wantedIdleMiB), target: atMost(35)},
	{metric: checkAllMeasure + ", with process start", line: checkAllMeasure, must: atMost(wantedCheckAll), target: atMost(0.3)},
	{metric: "operator page, median of the slowest, SQLite", line: chartMeasure + onSQLite.name, must: atMost(wantedChart)},
	{metric: "operator page, median of the slowest, PostgreSQL", line: chartMeasure + onPostgres.name, must: atMost(wantedChart)},
	{metric: "RDAP p99 at 500 requests a second, PostgreSQL", line: rdapMeasure + onPostgres.name, must: atMost(wantedRDAP)},
	{metric: "distributed decision / bare EVALSHA round trip", line: decisionMeasure, must: atLeast(wantedDecisionRatio)},
	{metric: "REST check with shared limits / single node, by CPU time", line: sharedRESTMeasure, must: atLeast(wantedSharedREST)},
	{metric: "CPU time per request on three nodes / one", line: threeNodesMeasure, must: atMost(wantedThreeNodes)},
	{metric: "purchases per second, SQLite", line: "purchases on SQLite", must: atLeast(95), target: atLeast(110)},
	{metric: "purchases per second, PostgreSQL with fsync", line: "purchases on PostgreSQL", must: atLeast(80), target: atLeast(95)},
}

// find returns the measurement of a goal.
func (r report) find(g goal) (measurement, bool) {
	inside := false
	for _, l := range r.Lines {
		if name, below := strings.CutPrefix(l.What, "  "); !below {
			inside = strings.HasPrefix(l.What, g.line)
			if inside && g.sub == "" {
				return l, true
			}
		} else if inside && name == g.sub {
			return l, true
		}
	}
	return measurement{}, false
}

// verdict compares a measurement with both bounds.
func (g goal) verdict(measured float64) string {
	switch {
	case !g.must.met(measured):
		return "MISSED"
	case g.target == nil || !g.target.met(measured):
		return "reached"
	default:
		return "target reached"
	}
}

// printGoals prints the goals that were measured.
func (r report) printGoals(out io.Writer) {
	var rows [][]string
	for _, g := range goals {
		if l, measured := r.find(g); measured {
			rows = append(rows, []string{g.metric, l.Unit.text(l.Measured), g.must.text(l.Unit), g.target.text(l.Unit), g.verdict(l.Measured)})
		}
	}
	if len(rows) > 0 {
		fmt.Fprintf(out, "\n## Must reach\n\n")
		printTable(out, []string{"metric", "measured", "must", "target", "verdict"}, rows)
	}
}

// goalsMet reports whether every measured goal reached what it must.
func (r report) goalsMet() bool {
	for _, g := range goals {
		if l, measured := r.find(g); measured && !g.must.met(l.Measured) {
			return false
		}
	}
	return true
}
