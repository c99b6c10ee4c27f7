package check

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/dotkontor/dotkontor/internal/cli"
	"github.com/dotkontor/dotkontor/internal/registrar"
)

// fakeTerminal interprets the escape sequences of the table and records the visible text,
// including lines that scrolled away.
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
domain         state                EUR net    renewal  source  time
kaffeehaus.de  …
google.de      …
a_b.de         …
bücher.de      …
日本.de        …
0/5, 0 free
`)
	must(p.add(1, takenRow("google.de"), false))
	must(p.add(4, freeRow("日本.de"), false))
	must(p.tick(progress{total: 5, done: 2, free: 1, left: 2500 * time.Millisecond}))
	assertScreen(t, "in the middle", terminal.screen(), `
domain         state                EUR net    renewal  source  time
kaffeehaus.de  …
google.de      taken                                    rdap    12:00:05
a_b.de         …
bücher.de      …
日本.de        free                    6.90       5.90  rdap    12:00:05
2/5, 1 free, 3 s left
`)
	must(p.add(0, freeRow("kaffeehaus.de"), false))
	must(p.add(2, row{Domain: "a_b.de", Error: errorInvalid, Message: errorText(registrar.Invalid(registrar.NameUnderscore))}, false))
	must(p.tick(progress{total: 5, done: 4, free: 2, failed: 1, left: -1}))
	must(p.add(3, row{Domain: "bücher.de", CheckedAt: "x"}, false))
	must(p.finish(progress{total: 5, done: 5, free: 2, failed: 1, took: 1234 * time.Millisecond}))
	assertScreen(t, "at the end", terminal.screen(), `
domain         state                EUR net    renewal  source  time
kaffeehaus.de  free                    6.90       5.90  rdap    12:00:05
google.de      taken                                    rdap    12:00:05
a_b.de         error              underscore
bücher.de      unknown
日本.de        free                    6.90       5.90  rdap    12:00:05
2 of 5 free, 1 failed, 1.2 s
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
		at := (i*37 + 5) % len(names) // every position, in mixed order
		if err := p.add(at, freeRow(names[at]), false); err != nil {
			t.Fatal(err)
		}
		if err := p.tick(progress{total: 200, done: i + 1, left: -1}); err != nil {
			t.Fatal(err)
		}
		if p.drawn >= height {
			t.Fatalf("%d lines are redrawn in a window of %d", p.drawn, height)
		}
	}
	if err := p.finish(progress{total: 200, done: 200, free: 200}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(terminal.screen(), "\n")
	for i, name := range names {
		if !strings.HasPrefix(lines[i+1], name+" ") {
			t.Fatalf("line %d is %q, want %s", i+1, lines[i+1], name)
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
	if screen := terminal.screen(); strings.Contains(screen, "google") || !strings.Contains(screen, "1 of 3 free") {
		t.Errorf("the screen shows\n%s", screen)
	}
}

func TestScreen_FollowsEnvironment(t *testing.T) {
	t.Parallel()
	// Without a terminal nothing is redrawn, regardless of the environment.
	s := newScreen(&cli.Terminal{Out: &bytes.Buffer{}, Env: []string{"TERM=xterm", "COLUMNS=120"}})
	if width, _ := s.size(); s.live || s.colour || width != 120 {
		t.Errorf("got %+v with a width of %d", s, width)
	}
	s = newScreen(&cli.Terminal{Out: &bytes.Buffer{}, Env: []string{"COLUMNS=nonsense"}})
	if width, height := s.size(); width != defaultWidth || height != defaultHeight {
		t.Errorf("got %d by %d", width, height)
	}
}
