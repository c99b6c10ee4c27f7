package check

import (
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
)

func freeRow(name string) row {
	return row{
		Domain: name, TLD: ".de", Available: new(true), RegisterEUR: cents(690), RenewEUR: cents(590), TransferEUR: cents(590),
		Source: "rdap", CheckedAt: time.Date(2027, 1, 31, 12, 0, 5, 0, time.Local).Format(time.RFC3339),
	}
}

func takenRow(name string) row {
	r := freeRow(name)
	r.Available, r.Reason = new(false), "registered"
	return r
}

func screen80x(height int) screen {
	return screen{live: true, size: func() (int, int) { return 81, height }}
}

func TestTable_LinesFitWindow(t *testing.T) {
	t.Parallel()
	failed := row{Domain: strings.Repeat("lang", 30) + ".de", Error: errorUpstream, Message: strings.Repeat("warum ", 40)}
	rows := []row{freeRow("kaffeehaus.de"), takenRow("東京.de"), failed, {Domain: "x.de", CheckedAt: "x"}}
	var names []string
	for _, r := range rows {
		names = append(names, r.Domain)
	}
	for _, colour := range []bool{false, true} {
		table := newTable(names, colour)
		for width := minWindowWidth - 1; width < 200; width++ {
			lines := []string{table.header(width)}
			for _, r := range rows {
				lines = append(lines, table.line(r, width), table.pending(r.Domain, width))
			}
			for _, line := range lines {
				if got := cli.CellWidth(stripColour(line)); got > width {
					t.Fatalf("%d cells in a window of %d: %q", got, width, line)
				}
			}
		}
	}
}

func stripColour(text string) string {
	for {
		before, after, found := strings.Cut(text, "\x1b[")
		if !found {
			return text
		}
		_, rest, _ := strings.Cut(after, "m")
		text = before + rest
	}
}

func TestTable_EveryStateHasLabelAndColour(t *testing.T) {
	t.Parallel()
	premium := freeRow("gold.de")
	premium.Premium, premium.Reason, premium.RegisterEUR = true, "premium", nil
	reserved := takenRow("nic.dev")
	reserved.Reason = "reserved"
	for word, r := range map[string]row{
		"free": freeRow("x.de"), "taken": takenRow("x.de"), "reserved": reserved, "premium": premium,
		"unknown": {Domain: "x.de", CheckedAt: "x"}, "error": {Domain: "x.de", Error: "x"},
	} {
		plain, coloured := table{domain: 10}.line(r, 80), table{domain: 10, colour: true}.line(r, 80)
		if !strings.Contains(plain, word) || strings.Contains(plain, "\x1b") {
			t.Errorf("without colour: %q", plain)
		}
		if !strings.Contains(coloured, "m"+word+"\x1b[0m") {
			t.Errorf("with colour: %q", coloured)
		}
	}
}

func TestTable_EscapesControlCharacters(t *testing.T) {
	t.Parallel()
	r := row{Domain: "x\x1b[2J.de\u009b", Error: errorInvalid, Message: "a\rb\u202ec"}
	if line := (table{domain: 20}).line(r, 80); strings.ContainsAny(line, "\x1b\r\u009b\u202e") {
		t.Errorf("got %q", line)
	}
}
