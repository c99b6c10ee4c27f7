package retention

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func TestRules_IncompleteTableIsRejected(t *testing.T) {
	t.Parallel()
	const header = "tables,data,at_closure,years,from,source\n"
	if got := Rules(); len(got) < 5 {
		t.Errorf("%d rules", len(got))
	}
	for name, table := range map[string]string{
		"no header":               "orders,bookings,kept,8,year_end,law\n",
		"no source":               header + "orders,bookings,kept,8,year_end,\n",
		"kept without a period":   header + "orders,bookings,kept,,year_end,law\n",
		"kept without a start":    header + "orders,bookings,kept,8,,law\n",
		"deleted with a start":    header + "orders,bookings,deleted,,year_end,law\n",
		"unknown fate":            header + "orders,bookings,sold,,,law\n",
		"table appears twice":     header + "orders,a,deleted,,,law\norders,b,deleted,,,law\n",
		"period is not a number":  header + "orders,bookings,kept,eight,year_end,law\n",
		"row without all columns": header + "orders,bookings\n",
	} {
		if rules, err := parse(table); err == nil {
			t.Errorf("%s: %+v", name, rules)
		}
	}
}

func TestUntil_PeriodBeginsAtClosureOrAtEndOfYear(t *testing.T) {
	t.Parallel()
	closed := time.Date(2026, 11, 18, 9, 30, 0, 0, time.UTC)
	for from, want := range map[Start]string{FromClosure: "2029-11-18", FromYearEnd: "2029-12-31"} {
		if got := (Rule{Years: 3, From: from}).Until(closed).Format(time.DateOnly); got != want {
			t.Errorf("from %s: until %s, want %s", from, got, want)
		}
	}
}

func TestDocs_PrivacyPageHasTheTable(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/privacy.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range Rules() {
		period := map[Fate]string{Deleted: "at closure", Expires: "by itself"}[rule.AtClosure]
		if rule.AtClosure == Kept {
			period = fmt.Sprintf("%d years from %s", rule.Years, map[Start]string{FromClosure: "the closure", FromYearEnd: "the end of the year"}[rule.From])
		}
		row := fmt.Sprintf("| %s | %s | %s | %s |", rule.Data, "`"+strings.Join(rule.Tables, "` `")+"`", period, rule.Source)
		if !strings.Contains(string(page), row+"\n") {
			t.Errorf("docs/privacy.md lacks:\n%s", row)
		}
	}
}
