package domainchange

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// defaultDSTTL applies to TLDs without a known TTL. It is the longest that is common.
const defaultDSTTL = 24 * time.Hour

// dsTTLFile has the TTL of DS records in the zones of TLDs, in hours, with its source. A row
// must not be shorter than what the zone publishes: resolvers that still have the DS record
// reject the new nameservers.
//
//go:embed dsttl.csv
var dsTTLFile string

var dsTTLs = mustParseDSTTLs(dsTTLFile)

// DSTTL returns how long resolvers keep a DS record of a TLD's zone after its removal.
func DSTTL(tld string) time.Duration {
	if ttl, known := dsTTLs[tld]; known {
		return ttl
	}
	return defaultDSTTL
}

// mustParseDSTTLs panics on a mistake in the embedded file; a test finds it first.
func mustParseDSTTLs(file string) map[string]time.Duration {
	rows, err := csv.NewReader(strings.NewReader(file)).ReadAll()
	if err != nil {
		panic(fmt.Sprintf("domainchange: dsttl.csv: %v", err))
	}
	table := make(map[string]time.Duration)
	for _, row := range rows[1:] {
		hours, err := strconv.Atoi(row[1])
		if _, twice := table[row[0]]; err != nil || hours < 1 || twice || !strings.HasPrefix(row[0], ".") || row[2] == "" {
			panic(fmt.Sprintf("domainchange: dsttl.csv: bad row %q", row))
		}
		table[row[0]] = time.Duration(hours) * time.Hour
	}
	return table
}
