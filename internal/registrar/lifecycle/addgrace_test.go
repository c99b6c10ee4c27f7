package lifecycle

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/dotkontor/dotkontor/internal/registrar/catalog"
)

// The first two rows are the defaults; the others are sorted, for sale and have a source.
func TestAddGrace_EachRowIsOfAListedExtensionWithSource(t *testing.T) {
	t.Parallel()
	list, err := catalog.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(addGraceTable)).ReadAll()
	if err != nil || len(rows) < 4 || !slices.Equal(rows[0], []string{"tld", "days", "source"}) || rows[1][0] != "gtld" || rows[2][0] != "cctld" {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	last := ""
	for _, row := range rows[1:] {
		tld, source := row[0], row[2]
		if strings.TrimSpace(source) == "" {
			t.Errorf("%s has no source", tld)
		}
		if tld == "gtld" || tld == "cctld" {
			continue
		}
		if tld <= last {
			t.Errorf("%s is not sorted, or there twice", tld)
		}
		last = tld
		if _, listed := list.Extension(tld); !listed {
			t.Errorf("%s is not in the price list", tld)
		}
		if grace := AddGraceOf(tld); grace.Source != source || grace.Unknown != (row[1] == "") || grace.Days > 30 {
			t.Errorf("%s: %+v", tld, grace)
		}
	}
}

func TestAddGrace_OthersFollowTheirKind(t *testing.T) {
	t.Parallel()
	for tld, want := range map[string]AddGrace{".com": {Days: 5}, ".shop": {Days: 5}, ".io": {Unknown: true}, ".co.uk": {Unknown: true}, ".de": {}, ".us": {Days: 5}} {
		if got := AddGraceOf(tld); got.Days != want.Days || got.Unknown != want.Unknown {
			t.Errorf("%s: %+v", tld, got)
		}
	}
	for _, table := range []string{"tld,days,source\n.com,five,x\n", "tld,days,source\n.com,-1,x\n", "tld,days,source\n.com,5\n"} {
		if _, err := parseAddGraces(table); err == nil {
			t.Errorf("%q is accepted", table)
		}
	}
}
