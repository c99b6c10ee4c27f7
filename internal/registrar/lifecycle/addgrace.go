package lifecycle

import (
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// AddGrace is the period after a registration within which a deletion returns the registry's
// fee (RFC 3915).
type AddGrace struct {
	Days    int  // 0: there is none
	Unknown bool // no source says whether there is one
	Source  string
}

//go:embed addgrace.csv
var addGraceTable string

var addGraces = sync.OnceValues(func() (map[string]AddGrace, error) { return parseAddGraces(addGraceTable) })

func parseAddGraces(table string) (map[string]AddGrace, error) {
	rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("lifecycle: add grace periods: %w", err)
	}
	parsed := make(map[string]AddGrace, len(rows))
	for line, row := range rows[1:] {
		grace := AddGrace{Unknown: row[1] == "", Source: row[2]}
		if grace.Days, err = strconv.Atoi(row[1]); !grace.Unknown && (err != nil || grace.Days < 0) {
			return nil, fmt.Errorf("lifecycle: add grace periods: line %d: %q is not a number of days", line+2, row[1])
		}
		parsed[row[0]] = grace
	}
	return parsed, nil
}

// AddGraceOf returns the add grace period of a TLD (".co.uk"). A TLD without a row has that of
// its kind: two letters make a ccTLD.
func AddGraceOf(tld string) AddGrace {
	all, err := addGraces()
	if err != nil {
		panic(err) // the table is compiled in, and a test reads it
	}
	if grace, found := all[tld]; found {
		return grace
	}
	if last := tld[strings.LastIndexByte(tld, '.')+1:]; len(last) == 2 {
		return all["cctld"]
	}
	return all["gtld"]
}
