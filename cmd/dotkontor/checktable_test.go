package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/registrar"
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

// fakeTerminal understands the few sequences that the table uses, and keeps what
// a person would see, scrolled lines included.
type fakeTerminal struct {
	lines [][]rune
	row   int
}

func (f *fakeTerminal) Write(text []byte) (int, error) {
	rest := string(text)
	for rest != "" {
		var up int
		switch {
		case strings.HasPrefix(rest, "\x1b[J"):
			f.lines = f.lines[:f.row]
			rest = rest[3:]
		case strings.HasPrefix(rest, "\x1b["):
			end := strings.IndexByte(rest, 'A')
			for _, digit := range rest[2:end] {
				up = up*10 + int(digit-'0')
			}
			f.row -= up
			rest = rest[end+1:]
		case rest[0] == '\r':
			rest = rest[1:]
		default:
			line, after, _ := strings.Cut(rest, "\n")
			f.lines = append(f.lines[:f.row], []rune(line))
			f.row++
			rest = after
		}
	}
	return len(text), nil
}

func (f *fakeTerminal) screen() string {
	var text strings.Builder
	for _, line := range f.lines {
		text.WriteString(string(line) + "\n")
	}
	return text.String()
}

func TestLivePrinter_KeepsOrderForUnorderedAnswers(t *testing.T) {
	t.Parallel()
	names := []string{"kaffeehaus.de", "google.de", "a_b.de", "bücher.de", "日本.de"}
	terminal := &fakeTerminal{}
	p := newLivePrinter(terminal, screen80x(24), names, false)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(p.tick(progress{total: 5, left: -1}))
	assertScreen(t, "at the start", terminal.screen(), `
Domain         Status             EUR netto  Folgejahr  Quelle  Zeit
domain         state                EUR net  next year  source  time
kaffeehaus.de  …
google.de      …
a_b.de         …
bücher.de      …
日本.de        …
0/5, 0 frei/free
`)
	must(p.add(1, takenRow("google.de"), false))
	must(p.add(4, freeRow("日本.de"), false))
	must(p.tick(progress{total: 5, done: 2, free: 1, left: 2500 * time.Millisecond}))
	assertScreen(t, "in the middle", terminal.screen(), `
Domain         Status             EUR netto  Folgejahr  Quelle  Zeit
domain         state                EUR net  next year  source  time
kaffeehaus.de  …
google.de      vergeben/taken                           rdap    12:00:05
a_b.de         …
bücher.de      …
日本.de        frei/free               6.90       5.90  rdap    12:00:05
2/5, 1 frei/free, noch/left 3 s
`)
	must(p.add(0, freeRow("kaffeehaus.de"), false))
	must(p.add(2, row{Domain: "a_b.de", Error: errorInvalid, Message: errorTexts[registrar.NameUnderscore]}, false))
	must(p.tick(progress{total: 5, done: 4, free: 2, failed: 1, left: -1}))
	must(p.add(3, row{Domain: "bücher.de", CheckedAt: "x"}, false))
	must(p.finish(progress{total: 5, done: 5, free: 2, failed: 1, took: 1234 * time.Millisecond}))
	assertScreen(t, "at the end", terminal.screen(), `
Domain         Status             EUR netto  Folgejahr  Quelle  Zeit
domain         state                EUR net  next year  source  time
kaffeehaus.de  frei/free               6.90       5.90  rdap    12:00:05
google.de      vergeben/taken                           rdap    12:00:05
a_b.de         Fehler/error       Unterstrich / underscore
bücher.de      unbekannt/unknown
日本.de        frei/free               6.90       5.90  rdap    12:00:05
2 von 5 frei / 2 of 5 free, 1 Fehler/errors, 1.2 s
`)
}

func assertScreen(t *testing.T, when, got, want string) {
	t.Helper()
	if want = strings.TrimPrefix(want, "\n"); got != want {
		t.Errorf("%s the screen shows\n%s\nwant\n%s", when, got, want)
	}
}

func TestLivePrinter_RedrawStaysInsideWindow(t *testing.T) {
	t.Parallel()
	const height = 10
	names := manyNames(200)
	terminal := &fakeTerminal{}
	p := newLivePrinter(terminal, screen80x(height), names, false)
	for i := range names {
		at := (i*37 + 5) % len(names) // all places, in a mixed order
		if err := p.add(at, freeRow(names[at]), false); err != nil {
			t.Fatal(err)
		}
		if err := p.tick(progress{total: 200, done: i + 1, left: -1}); err != nil {
			t.Fatal(err)
		}
		if p.drawn >= height {
			t.Fatalf("%d lines are drawn over in a window of %d", p.drawn, height)
		}
	}
	if err := p.finish(progress{total: 200, done: 200, free: 200}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(terminal.screen(), "\n")
	for i, name := range names {
		if !strings.HasPrefix(lines[i+2], name+" ") {
			t.Fatalf("line %d is %q, want %s", i+2, lines[i+2], name)
		}
	}
}

func TestLivePrinter_OnlyFreeHidesOthers(t *testing.T) {
	t.Parallel()
	names := []string{"google.de", "kaffeehaus.de", "amazon.de"}
	terminal := &fakeTerminal{}
	p := newLivePrinter(terminal, screen80x(24), names, true)
	_ = p.add(1, freeRow("kaffeehaus.de"), false)
	_ = p.add(2, takenRow("amazon.de"), true)
	_ = p.tick(progress{total: 3, done: 2, free: 1, left: -1})
	if screen := terminal.screen(); !strings.Contains(screen, "kaffeehaus.de") || strings.Contains(screen, "amazon") || strings.Contains(screen, "google") {
		t.Errorf("the screen shows\n%s", screen)
	}
	_ = p.add(0, takenRow("google.de"), true)
	_ = p.finish(progress{total: 3, done: 3, free: 1})
	if screen := terminal.screen(); strings.Contains(screen, "google") || !strings.Contains(screen, "1 von 3 frei / 1 of 3 free") {
		t.Errorf("the screen shows\n%s", screen)
	}
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
			lines := table.header(width)
			for _, r := range rows {
				lines = append(lines, table.line(r, width), table.pending(r.Domain, width))
			}
			for _, line := range lines {
				if got := CellWidth(stripColour(line)); got > width {
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
		"frei/free": freeRow("x.de"), "vergeben/taken": takenRow("x.de"), "reserviert": reserved, "premium": premium,
		"unbekannt/unknown": {Domain: "x.de", CheckedAt: "x"}, "Fehler/error": {Domain: "x.de", Error: "x"},
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

func TestScreen_FollowsEnvironment(t *testing.T) {
	t.Parallel()
	// Not a terminal: nothing is drawn over, whatever the environment says.
	s := newScreen(&Terminal{Out: &bytes.Buffer{}, Env: []string{"TERM=xterm", "COLUMNS=120"}})
	if width, _ := s.size(); s.live || s.colour || width != 120 {
		t.Errorf("got %+v with a width of %d", s, width)
	}
	s = newScreen(&Terminal{Out: &bytes.Buffer{}, Env: []string{"COLUMNS=nonsense"}})
	if width, height := s.size(); width != defaultWidth || height != defaultHeight {
		t.Errorf("got %d by %d", width, height)
	}
}

func TestProgress_ExitCodes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		p    progress
		want int
	}{
		{progress{total: 3, done: 3, free: 1, failed: 2}, 0},
		{progress{total: 3, done: 3, failed: 2}, 2},
		{progress{total: 3, done: 3}, 2},
		{progress{total: 3, done: 3, failed: 3}, 1},
		{progress{total: 3, done: 1, free: 1, interrupted: true}, 130},
	} {
		if got := test.p.exitCode(); got != test.want {
			t.Errorf("%+v: exit code %d, want %d", test.p, got, test.want)
		}
	}
}
